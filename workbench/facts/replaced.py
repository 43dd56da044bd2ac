"""Which later sentence takes an earlier one's place: only where both speak of the same thing, in the same scope.

A sentence has words, and values of some kind: numbers, days, languages, currencies. It takes another's place where both
have the same words and one value is another, or one forbids what the other asks for. What says itself that it corrects
("actually", "from now on", "moved to") may leave words out, put one phrase in a phrase's place ("paint the fence blue"
for "paint the fence green"), or turn down what was chosen ("no longer in S3"). Without words of its own ("make that
eight") it leans on the last sentence with such a value.

One word more is another scope ("in answers about travel"), and then both stay: one that is wrongly taken for replaced
is lost, one that stays too many is only told twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from workbench.facts.tables import SPACED, UNSPACED, alternatives, pattern, table
from workbench.facts.terms import DIGITS, GLUE, LANGUAGES_OF_STEMS, TOKEN, language_of, stemmed, terms
from workbench.facts.wording import plain


@dataclass(frozen=True, slots=True)
class Topic:
    """What a sentence is about.

    `order` are its words in order, without values, what it turns down and what says nothing of its own; `names` those
    that are written as names; `beside` those of a clause that only tells of a change ("they moved my flight, it leaves
    at 11 now"); `values` the values with their kinds; `state` what it tells a state of, with the little word that says
    how ("the office", "at"). It `rejects` some words for others, and some are `gone` ("S3 is gone"); `withdraws` are
    those of what it takes back ("forget the limit of 100 words").

    What it `frees` it permits without what was asked for. It `speaks`: it says in which language to speak, and nothing
    else. It `chooses`: "use", "is"; it says `instead`. It `corrects` an earlier word, `leans` on one ("make that …"),
    or stands `apart`: it holds once, or besides.
    """

    order: tuple[str, ...]
    names: frozenset[str]
    beside: frozenset[str]
    values: tuple[tuple[str, str], ...]
    state: tuple[frozenset[str], str]
    rejects: tuple[frozenset[str], ...]
    gone: frozenset[str]
    withdraws: frozenset[str]
    forbids: bool
    permits: bool
    frees: bool
    speaks: bool
    chooses: bool
    instead: bool
    corrects: bool
    leans: bool
    apart: bool

    @property
    def about(self) -> frozenset[str]:
        return frozenset(self.order)

    def of(self, kind: str) -> list[str]:
        return [value for one, value in self.values if one == kind]


def topic_of(text: str, language: str) -> Topic:
    low = pattern("sense", "no_more", "no_less").sub(" ", plain(text))
    rest, leads = _without_leads(low)
    new, apart = (pattern("replaced", *names).search(low) is not None for names in (("new",), ("once", "adds")))
    clauses = [clause for clause in _CLAUSE.split(rest) if clause]
    told, beside = rest, ""
    if changes := [clause for clause in clauses if pattern("replaced", "moved").search(clause)]:
        telling = ", ".join(clause for clause in clauses if clause not in changes)
        told, beside = (telling, " ".join(changes)) if _tells(telling, language) else (rest, "")
    rejected = [*_rejected(told, language)]
    if rejected and _tells(chosen := _without(told, [span for span, _ in rejected]), language):
        told = chosen
    rejected += _rejected(beside, language)
    permits = (
        pattern("replaced", "may").match(told) is not None or pattern("replaced", "allowed").search(told) is not None
    )
    without = pattern("replaced", "without")
    values, order = tuple(_values(told)), _order(told, language)
    speaks = any(kind == "tongue" for kind, _ in values) and _speaking().issuperset(order)
    return Topic(
        order=() if speaks else order,
        names=frozenset(term for match in _NAME.finditer(text) for term in _order(plain(match[0]), language)),
        beside=frozenset(_order(beside, language)),
        values=values,
        state=_state(told, language),
        rejects=tuple(words for _, words in rejected),
        gone=frozenset(term for clause in clauses for term in _gone(clause, language)),
        withdraws=_withdrawn(low, language),
        forbids=_forbids().search(without.sub(" ", told) if permits else told) is not None,
        permits=permits,
        frees=permits and without.search(told) is not None,
        speaks=speaks,
        chooses=pattern("replaced", "use", "state").search(told) is not None,
        instead=leads or pattern("replaced", "instead").search(rest) is not None,
        corrects=(leads or new or bool(changes)) and not apart,
        leans=(leads or pattern("replaced", "elliptic").match(rest) is not None) and not apart,
        apart=apart,
    )


def amends(sentence: str) -> bool:
    """Whether a sentence says itself that it corrects another, or turns something down for something else."""
    low = plain(sentence)
    return _amending().search(low) is not None


# --- which replaces which ---------------------------------------------------------------------------------------------


def replaced(sentences: Sequence[str]) -> list[int | None]:
    """For each the number of the last later one that replaces it, None where none does. What two share tells which are
    compared: near linear."""
    if len(sentences) < 2:
        return [None] * len(sentences)
    # By the endings of one language all: that two sentences are read alike says more than that each is read well.
    language = language_of(" ".join(sentences))
    topics = [topic_of(text, language) for text in sentences]
    near: dict[object, list[int]] = {}
    for number, one in enumerate(topics):
        for key in _offers(one):
            near.setdefault(key, []).append(number)
    found: list[int | None] = []
    for number, one in enumerate(topics):
        later = {other for key in _asks(one) for other in near.get(key, ())[-COMPARED:] if other > number}
        found.append(max((other for other in later if takes_place(topics[other], one)), default=None))
    for number, one in enumerate(topics):
        before = range(number - 1, max(-1, number - 1 - COMPARED), -1)
        if one.leans and (meant := next((at for at in before if _leans_on(one, topics[at])), None)) is not None:
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
    yield one.about, one.speaks
    if one.corrects or one.rejects or one.gone:
        # in an order of their own: that of a set is another in every run
        yield from islice(sorted(one.about.union(one.beside, one.gone, *one.rejects)), MOST_WORDS)


def _asks(one: Topic) -> Iterator[object]:
    yield one.about, one.speaks
    yield from islice(sorted(one.about), MOST_WORDS)


def takes_place(later: Topic, one: Topic) -> bool:
    """Whether a later sentence says of the same another thing, so that the earlier one holds no more."""
    if later.apart or later.speaks != one.speaks:
        return False
    if later.about == one.about and (one.about or one.speaks):
        return _of_the_same(later, one)
    return _turns_down(later, one) or (later.corrects and (_said_anew(later, one) or _state_anew(later, one)))


def _of_the_same(later: Topic, one: Topic) -> bool:
    """Of the same words: another value, or the opposite."""
    if one.forbids and later.forbids:  # two days or languages that are both forbidden are forbidden both
        return later.permits != one.permits or (later.of("number") != one.of("number") and _same_kinds(later, one))
    if later.forbids != one.forbids:
        return later.values == one.values or not later.values or not one.values
    if later.frees and not one.permits:
        return True
    others = sum(mine != yours for mine, yours in zip(one.values, later.values, strict=False))
    return _same_kinds(later, one) and (others == 1 or (others > 1 and later.corrects))


def _same_kinds(later: Topic, one: Topic) -> bool:
    return [kind for kind, _ in later.values] == [kind for kind, _ in one.values]


def _said_anew(later: Topic, one: Topic) -> bool:
    """What says that it corrects: fewer words and another value, or one phrase in a phrase's place."""
    if later.forbids != one.forbids:
        return later.permits and later.about <= one.about and bool(later.about)
    same, left, more = one.about & later.about, one.about - later.about, later.about - one.about
    if not more and (same or later.beside & one.about) and _another_value(later, one):
        return left <= later.beside or len(left) <= max(len(same), 1)
    if _another_value(later, one) or one.forbids or not (same and left and more):
        return False
    chosen = later.instead or (later.chooses and one.chooses) or (left <= one.names and more <= later.names)
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
    if one.forbids:
        return False
    known = later.about | later.beside | later.gone | _speaking()
    chosen = [some for some in later.rejects if some <= one.about]
    if later.gone & one.about:
        chosen.append(later.gone & one.about)
    return any(len(one.about - some - known) <= later.corrects for some in chosen)


def _state_anew(later: Topic, one: Topic) -> bool:
    """Whether both tell a state of the same subject, in the same manner."""
    return bool(one.state[0]) and later.state == one.state and later.forbids == one.forbids


def _leans_on(later: Topic, one: Topic) -> bool:
    """Whether what has no words of its own can be said of an earlier sentence: another value of its kind, or another
    phrase beside a word that both have."""
    if later.forbids != one.forbids:
        return False
    if later.values:
        return later.about <= one.about and _another_value(later, one)
    same, more = later.about & one.about, later.about - one.about
    return bool(same and more) and later.leans and not later.corrects and len(later.about) <= LEANING


LEANING = 3
"""A sentence of more words has words of its own."""


# --- how a sentence is read -------------------------------------------------------------------------------------------

_CLAUSE = re.compile(r"[,;:—–] |[，、；：]|(?<=\w): ")


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
            words = _order(token[0], language)
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
                pattern("replaced", "new", "rejected", "gone", "moved", "withdraw", "allowed").pattern,
            )
        )
    )


def _gone(clause: str, language: str) -> tuple[str, ...]:
    found = pattern("replaced", "gone").search(clause)
    return _order(clause[: found.start()], language) if found else ()


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

KINDS = ("tongue", "day", "currency", "mask", "number")


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
    bare = _value().sub(" ", pattern("replaced", "new", "may", "allowed").sub(" ", text))
    found = (term for match in TOKEN.finditer(bare) for term in _terms(match[0], language))
    return tuple(dict.fromkeys(term for term in found if term not in _light(language)))


def _terms(token: str, language: str) -> Sequence[str]:
    """Chinese characters one by one: in a short sentence pairs would tie a word to its neighbour."""
    if "\u3400" <= token[0] <= "\u9fff":
        return tuple(token)
    return (token.lower(),) if "/" in token else terms(token, language)


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
