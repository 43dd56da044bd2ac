"""Topic of a sentence: its words, values and rejected phrases, and marks such as `forbids` or `changes`.

A sentence is read clause by clause. Clauses that only report a change or give a reason are set aside, and rejected
phrases are removed before the rest is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from workbench.base.session_caches import session_cache
from workbench.facts.terms import FUNCTION_WORDS, LANGUAGES_OF_STEMS, NUMBER_WORDS, TOKEN, stem, token_terms
from workbench.facts.word_tables import SPACED, UNSPACED, alternatives, pattern, table
from workbench.facts.word_tables import words as listed
from workbench.facts.wording import normalize

Mark = Literal["forbids", "permits", "frees", "speaks", "chooses", "changes", "revises", "leans", "apart"]
"""Functions of a sentence: `forbids`; `permits`; `frees`, permits without something ("you may push without asking");
`speaks`, only sets the language; `chooses` ("use", "is"); `changes`, announces a change; `revises`, replaces one thing
by another; `leans`, refers to an earlier sentence ("make that …"); `apart`, holds once, additionally or
conditionally."""


@dataclass(frozen=True)
class Topic:
    """Topic of a sentence.

    `order` holds its terms in order, without values, rejected phrases and light words; `names` those written as names;
    `values` the values with their kinds; `state` the subject of a state and its preposition ("the office", "at").
    `asides` holds terms of clauses that report a change or give a reason ("they moved my flight" in "they moved my
    flight, it leaves at 11 now"). `dropped` holds the terms and values of each rejected phrase, `withdraws` the terms
    of a withdrawn rule ("forget the limit of 100 words").
    """

    order: tuple[str, ...]
    names: frozenset[str]
    values: tuple[tuple[str, str], ...]
    state: tuple[frozenset[str], str]
    asides: frozenset[str]
    dropped: tuple[frozenset[str], ...]
    withdraws: frozenset[str]
    marks: frozenset[Mark]

    @cached_property
    def about(self) -> frozenset[str]:
        return frozenset(self.order)

    @cached_property
    def all(self) -> frozenset[str]:
        """Terms and values together."""
        return self.about.union(value for _, value in self.values)

    @cached_property
    def by_kind(self) -> Mapping[str, list[str]]:
        """Values by kind."""
        found: dict[str, list[str]] = {}
        for kind, value in self.values:
            found.setdefault(kind, []).append(value)
        return found

    def of(self, kind: str) -> list[str]:
        return self.by_kind.get(kind, [])


@session_cache(4_096)
def topic_of(text: str, language: str) -> Topic:
    low = pattern("replaced", "in_the").sub(" ", pattern("sense", "no_more", "no_less").sub(" ", normalize(text)))
    rest, leads = _without_leads(low)
    statement, asides = _split_asides(rest, language)
    spans = [*_rejected_spans(statement, language)]
    dropped = [words for _, words in spans]
    if spans and _has_content(chosen := _cut_spans(statement, [span for span, _ in spans]), language):
        statement = chosen
    dropped += [words for clause in asides for _, words in _rejected_spans(clause, language)]
    absence_entries = ("gone", "taken") if asides else ("gone",)
    dropped += [words for clause in _clauses(rest) if (words := _absent_terms(clause, absence_entries, language))]
    values, order = tuple(_values(statement)), _ordered_terms(statement, language)
    changed = any(pattern("replaced", "moved", *absence_entries).search(clause) for clause in asides)
    marks = frozenset(_marks(low, statement, rest, changed=changed, leads=leads))
    if any(kind == "tongue" for kind, _ in values) and speaking_words().issuperset(order):
        order, marks = (), marks | {"speaks"}
    return Topic(
        order=order,
        names=frozenset(
            term for match in _NAME.finditer(text) for term in _ordered_terms(normalize(match[0]), language)
        ),
        values=values,
        state=_state_of(statement, language),
        asides=frozenset(_ordered_terms(" ".join(asides), language)),
        dropped=tuple(dropped),
        withdraws=_withdrawn_terms(low, language),
        marks=marks,
    )


def changing_clauses(text: str, language: str) -> list[Topic]:
    """Return the topics of the clauses that announce a change by themselves; [] if any clause may limit the scope of
    the others."""
    clauses = _clauses(text)
    if len(clauses) < 2 or not is_correction(text) or any(_is_scope(clause) for clause in clauses):
        return []
    return [one for clause in clauses if "changes" in (one := topic_of(clause, language)).marks]


def _is_scope(clause: str) -> bool:
    first = TOKEN.search(clause)
    return first is not None and first[0].lower() in FUNCTION_WORDS


def _split_asides(rest: str, language: str) -> tuple[str, list[str]]:
    """Split a sentence into its statement and the clauses that only report a change or give a reason. Without any other
    clause the whole sentence is the statement."""
    clauses = _clauses(rest)
    tells_of = pattern("replaced", "moved", "gone", "taken")
    asides = [clause for clause in clauses if tells_of.search(clause) or _is_reason(clause)]
    telling = ", ".join(clause for clause in clauses if clause not in asides)
    return (telling, asides) if asides and _has_content(telling, language) else (rest, [])


def _marks(low: str, statement: str, rest: str, *, changed: bool, leads: bool) -> Iterator[Mark]:
    def has(*names: str, within: str = statement) -> bool:
        return pattern("replaced", *names).search(within) is not None

    permits = pattern("replaced", "may").match(statement) is not None or has("allowed")
    if permits:
        yield "permits"
    if permits and has("without"):
        yield "frees"
    if _forbids().search(pattern("replaced", "without").sub(" ", statement) if permits else statement):
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


def is_correction(sentence: str) -> bool:
    """Return whether a sentence announces that it corrects another or rejects something."""
    return _amending().search(normalize(sentence)) is not None


_CLAUSE = re.compile(r"[,;:—–] |[，、；：]|(?<=\w): ")


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(text) if clause]


def _is_reason(clause: str) -> bool:
    """Return whether a clause gives a reason and no value."""
    return pattern("replaced", "why").match(clause.strip()) is not None and _value().search(clause) is None


def _without_leads(low: str) -> tuple[str, bool]:
    """Return a sentence without leading phrases that only announce a correction, and True if there were any."""
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
"""A word written as a name: capitalized, with a sign within, or quoted."""


@cache
def _forbids() -> re.Pattern[str]:
    return re.compile(f"{pattern('replaced', 'no').pattern}|{pattern('sense', 'denies').pattern}")


def _has_content(text: str, language: str) -> bool:
    return _value().search(text) is not None or bool(_ordered_terms(text, language))


def _rejected_spans(text: str, language: str) -> Iterator[tuple[tuple[int, int], frozenset[str]]]:
    """Yield the spans of rejected phrases with their terms. A phrase ends at punctuation, or before the verb of the
    alternative ("instead of npm use yarn")."""
    for match in pattern("replaced", "rejected").finditer(text):
        end = _END.search(text, match.end())
        found: list[str] = []
        stop = match.end()
        for token in TOKEN.finditer(text, match.end(), end.start() if end else len(text)):
            words = (*_ordered_terms(token[0], language), *(value for _, value in _values(token[0])))
            if found and not words and any(_terms(token[0], language)):
                break
            found += words
            stop = token.end()
        if found:
            yield (match.start(), stop), frozenset(found)


def _cut_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
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


def _absent_terms(clause: str, names: Sequence[str], language: str) -> frozenset[str]:
    """Return the terms of the things that no longer exist or apply, according to a clause."""
    found = pattern("replaced", *names).search(clause)
    if found is None:
        return frozenset()
    subject = clause[: found.start()]
    return frozenset((*_ordered_terms(subject, language), *(value for _, value in _values(subject))))


def _withdrawn_terms(low: str, language: str) -> frozenset[str]:
    """Return the terms that a sentence withdraws."""
    if not _withdraws().search(low):
        return frozenset()
    return frozenset(_ordered_terms(pattern("replaced", "withdraw", "rule").sub(" ", low), language))


@cache
def _withdraws() -> re.Pattern[str]:
    fine, withdraw, rule = (pattern("replaced", name).pattern for name in ("fine", "withdraw", "rule"))
    return re.compile(rf"^\W*(?:{fine})?\W*(?:{withdraw}).{{0,60}}(?:{rule})", re.DOTALL)


def _state_of(statement: str, language: str) -> tuple[frozenset[str], str]:
    """Return the subject of a sentence that states a place or value, with the preposition before that ("at"); empty for
    other sentences."""
    found = pattern("replaced", "state").search(statement)
    if found is None or not (subject := frozenset(_ordered_terms(statement[: found.start()], language))):
        return _NO_STATE
    first = TOKEN.search(statement, found.end())
    if first is None or not _value().search(statement, found.end()):
        return _NO_STATE
    return subject, first[0] if first[0] in FUNCTION_WORDS else ""


_NO_STATE = (frozenset[str](), "")

KINDS = ("tongue", "pace", "day", "currency", "mask", "number")


@cache
def _value() -> re.Pattern[str]:
    """Return the pattern of a value, with a group per kind. A digit in a name (file1, step-3, v2/a.py) is no value."""
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


def _values(statement: str) -> Iterator[tuple[str, str]]:
    for match in _value().finditer(statement):
        kind = match.lastgroup or ""
        yield (
            kind,
            " ".join(NUMBER_WORDS.get(word, word) for word in match[0].split()) if kind == "number" else match[0],
        )


def _ordered_terms(text: str, language: str) -> tuple[str, ...]:
    """Return the terms of a text in order, each once, without values and light words."""
    bare = _value().sub(" ", pattern("replaced", "new", "may", "allowed", "sets").sub(" ", text))
    found = (term for match in TOKEN.finditer(bare) for term in _terms(match[0], language))
    return tuple(dict.fromkeys(term for term in found if term not in _light_words(language)))


def _terms(token: str, language: str) -> Sequence[str]:
    """Return the terms of a token. Each Chinese character is a term, because pairs would link neighbouring words in a
    short sentence. All possessives of other people are the same term."""
    if token.lower() in _possessives():
        return ("=theirs",)
    if "\u3400" <= token[0] <= "\u9fff":
        return tuple(token)
    return (token.lower(),) if "/" in token else token_terms(token, language)


@cache
def _possessives() -> frozenset[str]:
    return listed("replaced", "theirs")


@cache
def _light_words(language: str) -> frozenset[str]:
    """Return the light words (to use, to put, now) as terms."""
    return _word_forms("light", language)


@cache
def speaking_words() -> frozenset[str]:
    """Return the verbs of speaking to the user, which do not change the scope of a sentence."""
    return frozenset().union(*(_word_forms("speaking", language) for language in LANGUAGES_OF_STEMS))


def _word_forms(name: str, language: str) -> frozenset[str]:
    """Return the words of a table entry as terms: of the language, of English (used everywhere), and of languages
    without spaces."""
    found = {character for one in ("zh", "ja") for character in table(one, "replaced").get(name, "")}
    for one in {SPACED[LANGUAGES_OF_STEMS.index(language)], "en"}:
        for word in table(one, "replaced").get(name, "").split():
            found |= {word, stem(word, language), *token_terms(word, language)}
    return frozenset(found | {word[:2] for word in table("ko", "replaced").get(name, "").split()})
