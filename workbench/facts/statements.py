"""What a person states in conversation: who, what, when, where, how much. In a chat without tools nothing else says it.

A statement is a sentence of the person's own that neither asks nor orders and has something specific: a number, a name,
an id, a quoted word, or that tells what the person is, has or likes. How specific it is and how rare its words are in
the whole conversation is its weight, from 0 up: "the flight is BA 117 on 4 May" outweighs "that sounds nice".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import log

from msgspec import Struct

from workbench.facts.answers import typed_texts
from workbench.facts.fact import Fact
from workbench.facts.pastes import without_paste
from workbench.facts.standing import rule_reason
from workbench.facts.supersession import superseding
from workbench.facts.terms import FUNCTION_WORDS
from workbench.facts.topics import is_correction
from workbench.facts.word_tables import pattern
from workbench.facts.wording import LONGEST_SENTENCE, is_question, normalize, sentences
from workbench.session import Message


class Statement(Struct, frozen=True):
    """A statement, its weight, and the later one that says the same of the same with another value."""

    fact: Fact
    weight: float
    superseded_by: Fact | None = None


def statements(messages: Sequence[Message]) -> tuple[Statement, ...]:
    """What the person stated, in order; what is said again stands where it was said last. A sentence that another
    replaces states something, whatever it says, and so does the other. Linear in the words."""
    found: dict[str, Fact] = {}
    told: set[str] = set()
    for fact, is_told in _statements_and_candidates(messages):
        key = fact.text.lower()
        found.pop(key, None)
        found[key] = fact
        told |= {key} if is_told else set()
    keys, facts = list(found), list(found.values())
    later = superseding(tuple(fact.text for fact in facts))
    if not any(message.calls for message in messages):
        for key, newer in zip(keys, later, strict=True):
            if newer is not None:
                told |= {key, keys[newer]}
    words = {key: frozenset(_WORDS.findall(key)) for key in found if key in told}
    spread = Counter(word for several in words.values() for word in several)
    return tuple(
        Statement(fact, _weight(fact.text, words[key], spread), None if newer is None else facts[newer])
        for (key, fact), newer in zip(found.items(), later, strict=True)
        if key in told
    )


def statement_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """Every statement with the message it stands in, as often as it is made. Where an agent works with tools, what it
    works on says most by itself: there only what a person says of themselves counts."""
    works = any(message.calls for message in messages)
    return (fact for fact in _sentences(messages) if is_statement(fact.text, personal=works))


def _statements_and_candidates(messages: Sequence[Message]) -> Iterator[tuple[Fact, bool]]:
    """Statements, and the sentences that are none by themselves and may replace one or be replaced."""
    works = any(message.calls for message in messages)
    found = [*_sentences(messages)]
    amending = [number for number, fact in enumerate(found) if is_correction(fact.text)]
    open_to = set(amending)
    if not works:
        near = {beginning for number in amending for beginning in _word_prefixes(found[number].text)}
        open_to |= {number for number, fact in enumerate(found) if not near.isdisjoint(_word_prefixes(fact.text))}
        alike = Counter(map(_without_figures, (fact.text for fact in found)))
        open_to |= {number for number, fact in enumerate(found) if alike[_without_figures(fact.text)] > 1}
        short = (number for number in amending if len(found[number].text) <= REFERRING_CHARS)
        open_to.update(before for number in short for before in range(max(0, number - REFERRING_SENTENCES), number))
    for number, fact in enumerate(found):
        told = is_statement(fact.text, personal=works)
        if told or number in open_to:
            yield fact, told


def _without_figures(text: str) -> str:
    """What two sentences have in common that say the same with other figures."""
    return " ".join(word for word in _WORDS.findall(text.lower()) if not word[0].isdigit())


REFERRING_CHARS, REFERRING_SENTENCES = 40, 10
"""So short a sentence may be said of one of so many before it, of whose words it has none ("make that eight")."""


def _word_prefixes(text: str) -> Iterator[str]:
    """How its longer words begin, whatever their endings, and its characters where words have no edges."""
    return (
        word[:4]
        for word in _WORDS.findall(text.lower())
        if (len(word) > 3 and word not in FUNCTION_WORDS) or word > "\u3000"
    )


def _sentences(messages: Sequence[Message]) -> Iterator[Fact]:
    """A person's sentences that ask nothing."""
    for index, words in typed_texts(messages):
        for sentence in sentences(without_paste(words)):
            if len(sentence) <= LONGEST_SENTENCE and not is_question(sentence):
                yield Fact("stated", sentence, messages[index].id, index)


def is_statement(sentence: str, *, personal: bool = False) -> bool:
    """Whether a person's sentence tells something specific, and neither asks nor orders; `personal`: of themselves."""
    if len(sentence) > LONGEST_SENTENCE or is_question(sentence):
        return False
    low = normalize(sentence)
    of_person, told = pattern("stated", "person").search(low) is not None, count_specifics(sentence)
    tells = (
        of_person and told >= 1
        if personal
        else told + of_person >= 2 or pattern("stated", "trait").search(low) is not None
    )
    return tells and not rule_reason(sentence)


def count_specifics(sentence: str) -> int:
    """How many numbers, names, ids and quoted words it has."""
    return sum(1 for _ in _specific().finditer(sentence))


_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


@cache
def _specific() -> re.Pattern[str]:
    """A day, a number, an address of mail, a name, what is quoted, a count in Chinese characters."""
    return re.compile(
        rf"{pattern('replaced', 'day').pattern}"
        r"|\d[\d.,:/-]*|[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?<=[a-zà-ÿ,;:] )(?!I['’])[A-ZÀ-ÞА-Я][\w'’-]+"
        r"(?: [A-ZÀ-ÞА-Я][\w'’-]+){0,3}"
        r"|[\"“«「『]\w[^\"”»」』\n]{0,60}[\"”»」』]|[一二三四五六七八九十百千万]{1,6}[个年月日号点岁元块人次]"
    )


def _weight(text: str, words: frozenset[str], spread: Counter[str]) -> float:
    """Specifics, and how rare the words are among all statements, each word by the logarithm of its rarity."""
    if not words:
        return 0.0
    rarity = sum(log((len(spread) + 1) / spread[word]) for word in words) / len(words)
    return count_specifics(text) + (pattern("stated", "trait").search(normalize(text)) is not None) + rarity
