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
from workbench.facts.phrases import Phrases, phrases_for
from workbench.facts.terms import FUNCTION_WORDS, LANGUAGES_OF_STEMS, TOKEN, stem, token_terms
from workbench.facts.word_tables import SPACED, table
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
    low = normalize(text)
    phrases = phrases_for(low, language)
    low = phrases.pattern("in_the").sub(" ", phrases.comparing.sub(" ", low))
    rest, leads = _without_leads(low, phrases)
    statement, asides = _split_asides(rest, phrases)
    spans = [*_rejected_spans(statement, phrases)]
    dropped = [words for _, words in spans]
    if spans and _has_content(chosen := _cut_spans(statement, [span for span, _ in spans]), phrases):
        statement = chosen
    dropped += [words for clause in asides for _, words in _rejected_spans(clause, phrases)]
    absence_entries = ("gone", "taken") if asides else ("gone",)
    dropped += [words for clause in _clauses(rest) if (words := _absent_terms(clause, absence_entries, phrases))]
    values, order = tuple(phrases.values(statement)), _ordered_terms(statement, phrases)
    changed = any(phrases.pattern("moved", *absence_entries).search(clause) for clause in asides)
    marks = frozenset(_marks(low, statement, rest, phrases, changed=changed, leads=leads))
    if any(kind == "tongue" for kind, _ in values) and speaking_words().issuperset(order):
        order, marks = (), marks | {"speaks"}
    return Topic(
        order=order,
        names=frozenset(
            term for match in _NAME.finditer(text) for term in _ordered_terms(normalize(match[0]), phrases)
        ),
        values=values,
        state=_state_of(statement, phrases),
        asides=frozenset(_ordered_terms(" ".join(asides), phrases)),
        dropped=tuple(dropped),
        withdraws=_withdrawn_terms(low, phrases),
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


def _split_asides(rest: str, phrases: Phrases) -> tuple[str, list[str]]:
    """Split a sentence into its statement and the clauses that only report a change or give a reason. Without any other
    clause the whole sentence is the statement."""
    clauses = _clauses(rest)
    tells_of = phrases.pattern("moved", "gone", "taken")
    asides = [clause for clause in clauses if tells_of.search(clause) or _is_reason(clause, phrases)]
    telling = ", ".join(clause for clause in clauses if clause not in asides)
    return (telling, asides) if asides and _has_content(telling, phrases) else (rest, [])


def _marks(low: str, statement: str, rest: str, phrases: Phrases, *, changed: bool, leads: bool) -> Iterator[Mark]:
    def has(*names: str, within: str = statement) -> bool:
        return phrases.pattern(*names).search(within) is not None

    permits = phrases.pattern("may").match(statement) is not None or has("allowed")
    if permits:
        yield "permits"
    if permits and has("without"):
        yield "frees"
    if phrases.forbids.search(phrases.pattern("without").sub(" ", statement) if permits else statement):
        yield "forbids"
    if has("use", "state"):
        yield "chooses"
    if has("once", "adds", within=low) or any(map(phrases.pattern("if").match, map(str.strip, _clauses(low)))):
        yield "apart"
        return
    if leads or changed or has("new", "sets", within=low):
        yield "changes"
    if leads or has("instead", "sets", within=rest):
        yield "revises"
    if leads or phrases.pattern("elliptic").match(rest):
        yield "leans"


def is_correction(sentence: str) -> bool:
    """Return whether a sentence announces that it corrects another or rejects something."""
    low = normalize(sentence)
    return phrases_for(low).amending.search(low) is not None


_CLAUSE = re.compile(r"[,;:—–] |[，、；：]|(?<=\w): ")


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(text) if clause]


def _is_reason(clause: str, phrases: Phrases) -> bool:
    """Return whether a clause gives a reason and no value."""
    return phrases.pattern("why").match(clause.strip()) is not None and phrases.value.search(clause) is None


def _without_leads(low: str, phrases: Phrases) -> tuple[str, bool]:
    """Return a sentence without leading phrases that only announce a correction, and True if there were any."""
    rest = low
    while found := phrases.lead.match(rest):
        rest = rest[found.end() :]
    return rest, rest != low


_NAME = re.compile(
    r"(?<=[\w,;:] )[A-ZÀ-ÞА-Я][\w-]+|[\w-]+(?:[./@_][\w-]+)+|[a-z]+[A-Z]\w+|(?<=[\"“«„])[^\"“”«»\n]{1,40}(?=[\"”»“])"
)
"""A word written as a name: capitalized, with a sign within, or quoted."""


def _has_content(text: str, phrases: Phrases) -> bool:
    return phrases.value.search(text) is not None or bool(_ordered_terms(text, phrases))


def _rejected_spans(text: str, phrases: Phrases) -> Iterator[tuple[tuple[int, int], frozenset[str]]]:
    """Yield the spans of rejected phrases with their terms. A phrase ends at punctuation, or before the verb of the
    alternative ("instead of npm use yarn")."""
    for match in phrases.pattern("rejected").finditer(text):
        end = _END.search(text, match.end())
        found: list[str] = []
        stop = match.end()
        for token in TOKEN.finditer(text, match.end(), end.start() if end else len(text)):
            words = (*_ordered_terms(token[0], phrases), *(value for _, value in phrases.values(token[0])))
            if found and not words and any(_terms(token[0], phrases)):
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


def _absent_terms(clause: str, names: Sequence[str], phrases: Phrases) -> frozenset[str]:
    """Return the terms of the things that no longer exist or apply, according to a clause."""
    found = phrases.pattern(*names).search(clause)
    if found is None:
        return frozenset()
    subject = clause[: found.start()]
    return frozenset((*_ordered_terms(subject, phrases), *(value for _, value in phrases.values(subject))))


def _withdrawn_terms(low: str, phrases: Phrases) -> frozenset[str]:
    """Return the terms that a sentence withdraws."""
    if not phrases.withdraws.search(low):
        return frozenset()
    return frozenset(_ordered_terms(phrases.pattern("withdraw", "rule").sub(" ", low), phrases))


def _state_of(statement: str, phrases: Phrases) -> tuple[frozenset[str], str]:
    """Return the subject of a sentence that states a place or value, with the preposition before that ("at"); empty for
    other sentences."""
    found = phrases.pattern("state").search(statement)
    if found is None or not (subject := frozenset(_ordered_terms(statement[: found.start()], phrases))):
        return _NO_STATE
    first = TOKEN.search(statement, found.end())
    if first is None or not phrases.value.search(statement, found.end()):
        return _NO_STATE
    return subject, first[0] if first[0] in FUNCTION_WORDS else ""


_NO_STATE = (frozenset[str](), "")


def _ordered_terms(text: str, phrases: Phrases) -> tuple[str, ...]:
    """Return the terms of a text in order, each once, without values and light words."""
    bare = phrases.value.sub(" ", phrases.pattern("new", "may", "allowed", "sets").sub(" ", text))
    found = (term for match in TOKEN.finditer(bare) for term in _terms(match[0], phrases))
    return tuple(dict.fromkeys(term for term in found if term not in light_words(phrases.stems)))


def _terms(token: str, phrases: Phrases) -> Sequence[str]:
    """Return the terms of a token. Each Chinese character is a term, because pairs would link neighbouring words in a
    short sentence. All possessives of other people are the same term."""
    if token.lower() in _possessives():
        return ("=theirs",)
    if "\u3400" <= token[0] <= "\u9fff":
        return tuple(token)
    return (token.lower(),) if "/" in token else token_terms(token, phrases.stems)


@cache
def _possessives() -> frozenset[str]:
    return listed("replaced", "theirs")


@cache
def light_words(language: str) -> frozenset[str]:
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
