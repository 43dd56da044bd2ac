"""Which later sentence takes an earlier one's place: only where both speak of the same thing, in the same scope.

A sentence has words, and values of some kind: numbers, days, paces, languages, currencies. It takes another's place
where both have the same words and one value is another, or one forbids what the other asks for. What says itself that
it changes something ("now", "from now on", "moved to") may leave words out; what revises ("actually", "instead") may
put one phrase in a phrase's place ("paint the fence blue" for "paint the fence green"); what is turned down ("no longer
in S3", "8080 is taken") holds no more. Without words of its own ("make that eight") it leans on the last sentence with
such a value.

One word more is another scope ("in answers about travel"), and then both stay: one that is wrongly taken for replaced
is lost, one that stays too many is only told twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import Literal

from workbench.facts.tables import SPACED, UNSPACED, alternatives, pattern, table
from workbench.facts.tables import words as listed
from workbench.facts.terms import DIGITS, GLUE, LANGUAGES_OF_STEMS, TOKEN, language_of, stemmed, terms
from workbench.facts.wording import plain

Mark = Literal["forbids", "permits", "frees", "speaks", "chooses", "changes", "revises", "leans", "apart"]
"""What a sentence does beside telling something: it forbids, permits, or `frees`, permits without what was asked for;
says in which language to speak, and nothing else; chooses ("use", "is"); says that it changes something; puts one thing
in another's place; leans on what was said before ("make that …"); stands `apart`, for it holds once, besides, or if
something is so."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a sentence is about.

    `order` are its words in order, without values, what it turns down and what says nothing of its own; `names` those
    that are written as names; `values` the values with their kinds; `state` what it tells a state of, with the little
    word that says how ("the office", "at"). `aside` are words of clauses that only tell of a change or give a reason
    ("they moved my flight, it leaves at 11 now"). It turns down some words and values (`dropped`), phrase by phrase,
    and takes some back (`withdraws`: "forget the limit of 100 words").
    """

    order: tuple[str, ...]
    names: frozenset[str]
    values: tuple[tuple[str, str], ...]
    state: tuple[frozenset[str], str]
    aside: frozenset[str]
    dropped: tuple[frozenset[str], ...]
    withdraws: frozenset[str]
    marks: frozenset[Mark]

    @property
    def about(self) -> frozenset[str]:
        return frozenset(self.order)

    @property
    def all(self) -> frozenset[str]:
        """Its words and its values."""
        return self.about.union(value for _, value in self.values)

    def of(self, kind: str) -> list[str]:
        return [value for one, value in self.values if one == kind]


@lru_cache(maxsize=4_096)
def topic_of(text: str, language: str) -> Topic:
    low = pattern("replaced", "in_the").sub(" ", pattern("sense", "no_more", "no_less").sub(" ", plain(text)))
    rest, leads = _without_leads(low)
    told, aside = _told_and_aside(rest, language)
    spans = [*_rejected(told, language)]
    dropped = [words for _, words in spans]
    if spans and _tells(chosen := _without(told, [span for span, _ in spans]), language):
        told = chosen
    dropped += [words for clause in aside for _, words in _rejected(clause, language)]
    gone = ("gone", "taken") if aside else ("gone",)
    dropped += [words for clause in _clauses(rest) if (words := _gone(clause, gone, language))]
    values, order = tuple(_values(told)), _order(told, language)
    changed = any(pattern("replaced", "moved", *gone).search(clause) for clause in aside)
    marks = frozenset(_marks(low, told, rest, changed=changed, leads=leads))
    if any(kind == "tongue" for kind, _ in values) and _speaking().issuperset(order):
        order, marks = (), marks | {"speaks"}
    return Topic(
        order=order,
        names=frozenset(term for match in _NAME.finditer(text) for term in _order(plain(match[0]), language)),
        values=values,
        state=_state(told, language),
        aside=frozenset(_order(" ".join(aside), language)),
        dropped=tuple(dropped),
        withdraws=_withdrawn(low, language),
        marks=marks,
    )


def _parts(text: str, language: str) -> list[Topic]:
    """The clauses of a sentence that say themselves that they change something, each by itself, unless another one may
    say where or when that holds."""
    clauses = _clauses(text)
    if len(clauses) < 2 or not amends(text) or any(_is_scope(clause) for clause in clauses):
        return []
    return [one for clause in clauses if "changes" in (one := topic_of(clause, language)).marks]


def _is_scope(clause: str) -> bool:
    first = TOKEN.search(clause)
    return first is not None and first[0].lower() in GLUE


def _told_and_aside(rest: str, language: str) -> tuple[str, list[str]]:
    """What a sentence tells, and its clauses that only tell of a change, or why; of a sentence that tells nothing else
    all is told."""
    clauses = _clauses(rest)
    tells_of = pattern("replaced", "moved", "gone", "taken")
    aside = [clause for clause in clauses if tells_of.search(clause) or _why(clause)]
    telling = ", ".join(clause for clause in clauses if clause not in aside)
    return (telling, aside) if aside and _tells(telling, language) else (rest, [])


def _marks(low: str, told: str, rest: str, *, changed: bool, leads: bool) -> Iterator[Mark]:
    def has(*names: str, within: str = told) -> bool:
        return pattern("replaced", *names).search(within) is not None

    permits = pattern("replaced", "may").match(told) is not None or has("allowed")
    if permits:
        yield "permits"
    if permits and has("without"):
        yield "frees"
    if _forbids().search(pattern("replaced", "without").sub(" ", told) if permits else told):
        yield "forbids"
    if has("use", "state"):
        yield "chooses"
    if has("once", "adds", within=low) or any(map(pattern("replaced", "if").match, map(str.strip, _clauses(low)))):
        yield "apart"
        return
    if leads or changed or has("new", "sets", within=low):
        yield "changes"
    if leads or has("instead", "sets", within=rest):
        yield "revises"
    if leads or pattern("replaced", "elliptic").match(rest):
        yield "leans"


def amends(sentence: str) -> bool:
    """Whether a sentence says itself that it corrects another, or turns something down for something else."""
    return _amending().search(plain(sentence)) is not None


# --- which replaces which ---------------------------------------------------------------------------------------------


def replaced(sentences: Sequence[str]) -> list[int | None]:
    """For each the number of the last later one that replaces it, None where none does. What two share tells which are
    compared: near linear."""
    if len(sentences) < 2:
        return [None] * len(sentences)
    # By the endings of one language all: that two sentences are read alike says more than that each is read well.
    language = language_of(" ".join(sentences))
    topics = [topic_of(text, language) for text in sentences]
    parts = [_parts(text, language) for text in sentences]
    near: dict[object, list[int]] = {}
    for number, one in enumerate(topics):
        for key in _offers(one):
            near.setdefault(key, []).append(number)
    found: list[int | None] = []
    for number, one in enumerate(topics):
        later = {other for key in _asks(one) for other in near.get(key, ())[-COMPARED:] if other > number}
        gone = (other for other in later if any(takes_place(part, one) for part in (topics[other], *parts[other])))
        found.append(max(gone, default=None))
    for number, one in enumerate(topics):
        before = range(number - 1, max(-1, number - 1 - COMPARED), -1)
        if (
            "leans" in one.marks
            and (meant := next((at for at in before if _leans_on(one, topics[at])), None)) is not None
        ):
            found[meant] = max(number, found[meant] or 0)
        if one.withdraws:
            # What is taken back has to be told apart from all else that was said.
            named = [at for at in before if one.withdraws <= topics[at].about]
            if len(named) == 1 and found[named[0]] is None:
                found[named[0]] = number
    return found


COMPARED = 100
"""Of those that share something the last so many are compared."""

MOST_WORDS = 60
"""By more of its words no sentence is looked for."""


def _offers(one: Topic) -> Iterator[object]:
    yield one.about, "speaks" in one.marks
    if "changes" in one.marks or one.dropped:
        # in an order of their own: that of a set is another in every run
        yield from islice(sorted(one.all.union(one.aside, *one.dropped)), MOST_WORDS)


def _asks(one: Topic) -> Iterator[object]:
    yield one.about, "speaks" in one.marks
    yield from islice(sorted(one.all), MOST_WORDS)


def takes_place(later: Topic, one: Topic) -> bool:
    """Whether a later sentence says of the same another thing, so that the earlier one holds no more."""
    if "apart" in later.marks or ("speaks" in later.marks) != ("speaks" in one.marks):
        return False
    if later.about == one.about and (one.about or "speaks" in one.marks):
        return _of_the_same(later, one)
    changes = "changes" in later.marks
    return (
        _turns_down(later, one)
        or _lifts_gate(later, one)
        or (changes and (_said_anew(later, one) or _state_anew(later, one)))
    )


def _of_the_same(later: Topic, one: Topic) -> bool:
    """Of the same words: another value, or the opposite."""
    forbid = "forbids" in later.marks, "forbids" in one.marks
    if all(forbid):  # two days or languages that are both forbidden are forbidden both
        freed = ("permits" in later.marks) != ("permits" in one.marks)
        return freed or (later.of("number") != one.of("number") and _same_kinds(later, one))
    if any(forbid):
        return later.values == one.values or not later.values or not one.values
    if "frees" in later.marks and "permits" not in one.marks:
        return True
    if "changes" in later.marks:
        return _another_value(later, one)
    others = sum(mine != yours for mine, yours in zip(one.values, later.values, strict=False))
    return _same_kinds(later, one) and others == 1


def _same_kinds(later: Topic, one: Topic) -> bool:
    return [kind for kind, _ in later.values] == [kind for kind, _ in one.values]


def _said_anew(later: Topic, one: Topic) -> bool:
    """What says that it changes something: fewer words and another value, or the opposite; what revises: one phrase in
    a phrase's place."""
    same, left, more = one.about & later.about, one.about - later.about, later.about - one.about
    if ("forbids" in later.marks) != ("forbids" in one.marks):
        lifted = "permits" in later.marks or one.order[:1] == later.order[:1]
        return lifted and bool(same) and not more and (not later.values or later.values == one.values)
    if not more and (same or later.aside & one.about) and _another_value(later, one):
        named = any(some <= one.all - one.about for some in later.dropped)  # "2 MB is too little, make it 5"
        return named or left <= later.aside or len(left) <= max(len(same), 1)
    if _another_value(later, one) or "forbids" in one.marks or not (same and left and more):
        return False
    both_choose = "chooses" in later.marks and "chooses" in one.marks
    chosen = "revises" in later.marks or both_choose or (left <= one.names and more <= later.names)
    in_one_place = _together(one.order, left) and _together(later.order, more)
    return chosen and in_one_place and len(left) <= len(same) and len(more) <= len(same)


def _another_value(later: Topic, one: Topic) -> bool:
    """Whether of a kind that both have the later one has another value."""
    return any(later.of(kind) and later.of(kind) != one.of(kind) for kind in {kind for kind, _ in one.values})


def _together(order: Sequence[str], some: frozenset[str]) -> bool:
    """Whether these words stand side by side."""
    places = [at for at, term in enumerate(order) if term in some]
    return places[-1] - places[0] < len(places)


def _turns_down(later: Topic, one: Topic) -> bool:
    """Whether it turns down what that one chose and speaks of nothing that this one does not."""
    if "forbids" in one.marks:
        return False
    known = later.about | later.aside | _speaking()
    slack = "changes" in later.marks or bool(later.about & one.about)
    return any(
        some <= one.all and (len(one.about - some - known) <= slack or _takes_its_part(later, one, some))
        for some in later.dropped
    )


def _takes_its_part(later: Topic, one: Topic, some: frozenset[str]) -> bool:
    """Whether it says of something else what stands beside what it turns down: "ping Ines instead" of "ping Martin"."""
    if "revises" not in later.marks or not later.about - one.about:
        return False
    beside = {frozenset(pair) for pair in pairwise(one.order)}
    return any(frozenset((word, gone)) in beside for word in later.about & one.about for gone in some)


def _lifts_gate(later: Topic, one: Topic) -> bool:
    """Whether it needs no asking for what that one wanted to be asked about."""
    if _ASK not in one.about & (later.about | later.aside) or "forbids" in one.marks:
        return False
    lifts = not later.marks.isdisjoint(("forbids", "permits", "frees"))
    shared = one.about.intersection(later.about | later.aside) - {_ASK}
    return lifts and bool(shared) and later.about <= one.about


_ASK = "=ask"


def _state_anew(later: Topic, one: Topic) -> bool:
    """Whether both tell a state of the same subject, in the same manner."""
    same_mood = ("forbids" in later.marks) == ("forbids" in one.marks)
    return bool(one.state[0]) and later.state == one.state and same_mood


def _leans_on(later: Topic, one: Topic) -> bool:
    """Whether what has no words of its own can be said of an earlier sentence: another value of its kind, or another
    phrase beside a word that both have."""
    if ("forbids" in later.marks) != ("forbids" in one.marks):
        return False
    if later.values:
        return later.about <= one.about and _another_value(later, one)
    same, more = later.about & one.about, later.about - one.about
    if "changes" in later.marks:  # "actually, camel case": another word beside the same
        asks = "forbids" not in later.marks and len(later.order) == 2
        return asks and any(
            pair[1] == later.order[1] and pair[0] in one.about - same for pair in pairwise(one.order[1:])
        )
    return bool(same and more) and len(later.about) <= LEANING


LEANING = 3
"""A sentence of more words has words of its own."""


# --- how a sentence is read -------------------------------------------------------------------------------------------

_CLAUSE = re.compile(r"[,;:—–] |[，、；：]|(?<=\w): ")


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(text) if clause]


def _why(clause: str) -> bool:
    """Whether a clause gives a reason, and no value of its own."""
    return pattern("replaced", "why").match(clause.strip()) is not None and _value().search(clause) is None


def _without_leads(low: str) -> tuple[str, bool]:
    """A sentence without what only says that it corrects an earlier one, and whether something did."""
    rest = low
    while found := _lead().match(rest):
        rest = rest[found.end() :]
    return rest, rest != low


@cache
def _lead() -> re.Pattern[str]:
    fine = rf"(?:(?:{alternatives('replaced', 'fine')})[,:，]? )?"
    lead = alternatives("replaced", "lead")
    word = pattern("replaced", "lead_word").pattern
    return re.compile(rf"^\W*{fine}(?:(?:{lead})\s?[:：,，.–-]+|(?:{word})[,:.，、]?)\s*(?=\S)")


_NAME = re.compile(
    r"(?<=[\w,;:] )[A-ZÀ-ÞА-Я][\w-]+|[\w-]+(?:[./@_][\w-]+)+|[a-z]+[A-Z]\w+|(?<=[\"“«„])[^\"“”«»\n]{1,40}(?=[\"”»“])"
)
"""What is written as a name: with a capital, a sign within, or in quotation marks."""


@cache
def _forbids() -> re.Pattern[str]:
    return re.compile(f"{pattern('replaced', 'no').pattern}|{pattern('sense', 'denies').pattern}")


def _tells(text: str, language: str) -> bool:
    return _value().search(text) is not None or bool(_order(text, language))


def _rejected(text: str, language: str) -> Iterator[tuple[tuple[int, int], frozenset[str]]]:
    """What is turned down, where it stands with the words that do so: up to a sign or the verb of what is chosen
    ("instead of npm use yarn")."""
    for match in pattern("replaced", "rejected").finditer(text):
        end = _END.search(text, match.end())
        found: list[str] = []
        stop = match.end()
        for token in TOKEN.finditer(text, match.end(), end.start() if end else len(text)):
            words = (*_order(token[0], language), *(value for _, value in _values(token[0])))
            if found and not words and any(_terms(token[0], language)):
                break
            found += words
            stop = token.end()
        if found:
            yield (match.start(), stop), frozenset(found)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, stop in reversed(spans):
        text = f"{text[:start]} {text[stop:]}"
    return text


_END = re.compile(r"[,;:，。；：、!?]|\.(?!\w)")


@cache
def _amending() -> re.Pattern[str]:
    return re.compile(
        "|".join(
            (
                _lead().pattern,
                rf"^(?:{pattern('replaced', 'elliptic').pattern})",
                pattern("replaced", "new", "sets", "rejected", "gone", "taken", "moved", "withdraw", "allowed").pattern,
            )
        )
    )


def _gone(clause: str, names: Sequence[str], language: str) -> frozenset[str]:
    """What a clause says of that it is there no more."""
    found = pattern("replaced", *names).search(clause)
    if found is None:
        return frozenset()
    subject = clause[: found.start()]
    return frozenset((*_order(subject, language), *(value for _, value in _values(subject))))


def _withdrawn(low: str, language: str) -> frozenset[str]:
    """The words of what is taken back."""
    if not _withdraws().search(low):
        return frozenset()
    return frozenset(_order(pattern("replaced", "withdraw", "rule").sub(" ", low), language))


@cache
def _withdraws() -> re.Pattern[str]:
    fine, withdraw, rule = (pattern("replaced", name).pattern for name in ("fine", "withdraw", "rule"))
    return re.compile(rf"^\W*(?:{fine})?\W*(?:{withdraw}).{{0,60}}(?:{rule})", re.DOTALL)


def _state(told: str, language: str) -> tuple[frozenset[str], str]:
    """Of what a sentence tells where or what it is, with the little word that says how ("at"); where it tells a
    value."""
    found = pattern("replaced", "state").search(told)
    if found is None or not (subject := frozenset(_order(told[: found.start()], language))):
        return _NO_STATE
    first = TOKEN.search(told, found.end())
    if first is None or not _value().search(told, found.end()):
        return _NO_STATE
    return subject, first[0] if first[0] in GLUE else ""


_NO_STATE = (frozenset[str](), "")

KINDS = ("tongue", "pace", "day", "currency", "mask", "number")


@cache
def _value() -> re.Pattern[str]:
    """A value, in a group of its kind. A digit in a name (file1, step-3, v2/a.py) is none."""
    spaced = {kind: alternatives("replaced", kind, SPACED) for kind in KINDS}
    unspaced = {kind: alternatives("replaced", kind, UNSPACED) for kind in KINDS}
    spaced["number"] = (
        rf"(?:[$€£¥]?(?<![./\\-])\d(?:[\d,.:/-]*\d)?|(?:{spaced['number']}))"
        rf"(?: ?(?:%|°c|{alternatives('replaced', 'measure', SPACED)}))?"
    )
    unspaced["number"] += r"|(?<![A-Za-z\d_./\\-])\d+(?!\w*\.\w)"
    either = (
        rf"(?P<{kind}>(?<!\w)(?:{spaced[kind]})(?!\w)" + (f"|{unspaced[kind]}" if unspaced[kind] else "") + ")"
        for kind in KINDS
    )
    return re.compile("|".join(either))


def _values(told: str) -> Iterator[tuple[str, str]]:
    for match in _value().finditer(told):
        kind = match.lastgroup or ""
        yield kind, " ".join(DIGITS.get(word, word) for word in match[0].split()) if kind == "number" else match[0]


def _order(text: str, language: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, in order, each once."""
    bare = _value().sub(" ", pattern("replaced", "new", "may", "allowed", "sets").sub(" ", text))
    found = (term for match in TOKEN.finditer(bare) for term in _terms(match[0], language))
    return tuple(dict.fromkeys(term for term in found if term not in _light(language)))


def _terms(token: str, language: str) -> Sequence[str]:
    """Chinese characters one by one: in a short sentence pairs would tie a word to its neighbour. What is theirs is not
    ours."""
    if token.lower() in _theirs():
        return ("=theirs",)
    if "\u3400" <= token[0] <= "\u9fff":
        return tuple(token)
    return (token.lower(),) if "/" in token else terms(token, language)


@cache
def _theirs() -> frozenset[str]:
    return listed("replaced", "theirs")


@cache
def _light(language: str) -> frozenset[str]:
    """Words that say nothing of their own, as they are compared: to use, to put, now."""
    return _compared("light", language)


@cache
def _speaking() -> frozenset[str]:
    """Words of speaking to the person: which of them is used makes no other scope."""
    return frozenset().union(*(_compared("speaking", language) for language in LANGUAGES_OF_STEMS))


def _compared(name: str, language: str) -> frozenset[str]:
    """An entry of a language, of English, whose names are everywhere, and of those without spaces."""
    found = {character for one in ("zh", "ja") for character in table(one, "replaced").get(name, "")}
    for one in {SPACED[LANGUAGES_OF_STEMS.index(language)], "en"}:
        for word in table(one, "replaced").get(name, "").split():
            found |= {word, stemmed(word, language), *terms(word, language)}
    return frozenset(found | {word[:2] for word in table("ko", "replaced").get(name, "").split()})
