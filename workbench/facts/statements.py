"""Statements of the user in conversation: who, what, when, where, how much. A chat without tools has no other source
for these facts.

A statement is a typed sentence that neither asks nor orders and has something specific: a number, a name, an id, a
quoted word, or a property of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from workbench.facts.answers import typed_texts
from workbench.facts.fact import Fact
from workbench.facts.pastes import without_paste
from workbench.facts.standing import rule_reason
from workbench.facts.supersession import superseding
from workbench.facts.word_tables import pattern
from workbench.facts.wording import LONGEST_SENTENCE, is_question, normalize, sentences
from workbench.session import Message


class SentenceState(Struct, frozen=True):
    """A sentence that the user typed, and the later one that supersedes it; None while it holds."""

    fact: Fact
    superseded_by: Fact | None = None


def sentence_states(messages: Sequence[Message]) -> tuple[SentenceState, ...]:
    """Return the user's typed sentences in order, except questions; a repeated one stands at its last place.
    `workbench.facts.supersession` finds the superseded ones. Linear in the number of words."""
    found: dict[str, Fact] = {}
    for fact in _sentences(messages):
        key = fact.text.lower()
        found.pop(key, None)
        found[key] = fact
    facts = [*found.values()]
    newer = superseding(
        tuple(fact.text for fact in facts),
        tuple(fact.index for fact in facts),
        works=any(message.calls for message in messages),
    )
    return tuple(
        SentenceState(fact, None if later is None else facts[later]) for fact, later in zip(facts, newer, strict=True)
    )


def statement_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """Yield every statement with its message, repeated ones too. In a session with tool calls only statements about the
    user count, because files and results hold the rest."""
    works = any(message.calls for message in messages)
    return (fact for fact in _sentences(messages) if is_statement(fact.text, personal=works))


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
