"""Statements of the user in conversation: who, what, when, where, how much. A chat without tools has no other source
for these facts.

A statement is a typed sentence that neither asks nor orders and has something specific: a number, a name, an id, a
quoted word, or a property of the user.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

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
    """A statement, and the later statement that changes one of its values; None if none does."""

    fact: Fact
    superseded_by: Fact | None = None


def statements(messages: Sequence[Message]) -> tuple[Statement, ...]:
    """Return the user's statements in order; a repeated one stands at its last place. In a session without tool calls,
    any sentence that supersedes another, or is superseded, is a statement. Linear in the number of words."""
    found: dict[str, Fact] = {}
    stated: set[str] = set()
    for fact, is_stated in _statements_and_candidates(messages):
        key = fact.text.lower()
        found.pop(key, None)
        found[key] = fact
        stated |= {key} if is_stated else set()
    keys, facts = list(found), list(found.values())
    later = superseding(tuple(fact.text for fact in facts))
    if not any(message.calls for message in messages):
        for key, newer in zip(keys, later, strict=True):
            if newer is not None:
                stated |= {key, keys[newer]}
    return tuple(
        Statement(fact, None if newer is None else facts[newer])
        for (key, fact), newer in zip(found.items(), later, strict=True)
        if key in stated
    )


def statement_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """Yield every statement with its message, repeated ones too. In a session with tool calls only statements about the
    user count, because files and results hold the rest."""
    works = any(message.calls for message in messages)
    return (fact for fact in _sentences(messages) if is_statement(fact.text, personal=works))


def _statements_and_candidates(messages: Sequence[Message]) -> Iterator[tuple[Fact, bool]]:
    """Yield (sentence, True) for statements, and (sentence, False) for others that may supersede a sentence or be
    superseded."""
    works = any(message.calls for message in messages)
    found = [*_sentences(messages)]
    amending = [number for number, fact in enumerate(found) if is_correction(fact.text)]
    open_to = set(amending)
    if not works:
        near = {beginning for number in amending for beginning in _word_prefixes(found[number].text)}
        open_to |= {number for number, fact in enumerate(found) if not near.isdisjoint(_word_prefixes(fact.text))}
        counts = Counter(map(_without_figures, (fact.text for fact in found)))
        open_to |= {number for number, fact in enumerate(found) if counts[_without_figures(fact.text)] > 1}
        short = (number for number in amending if len(found[number].text) <= REFERRING_CHARS)
        open_to.update(before for number in short for before in range(max(0, number - REFERRING_SENTENCES), number))
    for number, fact in enumerate(found):
        stated = is_statement(fact.text, personal=works)
        if stated or number in open_to:
            yield fact, stated


def _without_figures(text: str) -> str:
    """Return the words of a sentence without numbers; sentences that differ only in numbers give the same."""
    return " ".join(word for word in _WORDS.findall(text.lower()) if not word[0].isdigit())


REFERRING_CHARS, REFERRING_SENTENCES = 40, 10
"""Longest sentence, in characters, that may refer to an earlier one without sharing a word ("make that eight"), and the
number of earlier sentences to which it may refer."""


def _word_prefixes(text: str) -> Iterator[str]:
    """Yield the first four letters of longer words, and single characters in languages without spaces."""
    return (
        word[:4]
        for word in _WORDS.findall(text.lower())
        if (len(word) > 3 and word not in FUNCTION_WORDS) or word > "\u3000"
    )


def _sentences(messages: Sequence[Message]) -> Iterator[Fact]:
    """Yield the user's typed sentences except questions."""
    for index, words in typed_texts(messages):
        for sentence in sentences(without_paste(words)):
            if len(sentence) <= LONGEST_SENTENCE and not is_question(sentence):
                yield Fact("stated", sentence, messages[index].id, index)


def is_statement(sentence: str, *, personal: bool = False) -> bool:
    """Return whether a user's sentence states something specific and neither asks nor orders; `personal`: about the
    user."""
    if len(sentence) > LONGEST_SENTENCE or is_question(sentence):
        return False
    low = normalize(sentence)
    about_user, stated = pattern("stated", "person").search(low) is not None, count_specifics(sentence)
    is_specific = (
        about_user and stated >= 1
        if personal
        else stated + about_user >= 2 or pattern("stated", "trait").search(low) is not None
    )
    return is_specific and not rule_reason(sentence)


def count_specifics(sentence: str) -> int:
    """Return the number of numbers, names, ids and quoted words in a sentence."""
    return sum(1 for _ in _specific().finditer(sentence))


_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


@cache
def _specific() -> re.Pattern[str]:
    """Return the pattern of a specific: a day, a number, an email address, a name, a quotation, a count in Chinese
    characters."""
    return re.compile(
        rf"{pattern('replaced', 'day').pattern}"
        r"|\d[\d.,:/-]*|[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?<=[a-zà-ÿ,;:] )(?!I['’])[A-ZÀ-ÞА-Я][\w'’-]+"
        r"(?: [A-ZÀ-ÞА-Я][\w'’-]+){0,3}"
        r"|[\"“«「『]\w[^\"”»」』\n]{0,60}[\"”»」』]|[一二三四五六七八九十百千万]{1,6}[个年月日号点岁元块人次]"
    )
