"""Statements that the user repeated after a compaction, and questions that the agent asked again."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from workbench.analysis.mentions import sentences, words_of
from workbench.analysis.rework.removed import RemovedText
from workbench.base.session_caches import session_cache
from workbench.facts.calls import ToolCall
from workbench.facts.pastes import passages
from workbench.facts.standing import RuleFinder, is_compaction_prompt
from workbench.facts.tools import tool_name
from workbench.facts.wording import is_agent_message
from workbench.session import Message

ALIKE = 0.7
"""Share of common words from which two sentences are equal."""

FEWEST_WORDS = 4
"""Meaningful words that a sentence needs to be recognised."""

LONGEST = 600
"""Longest message that is compared, in characters; longer ones are templates or pastes."""

COMPARED = 1_000
"""Number of the newest earlier messages with which a message is compared."""

_I_SAID = (
    r"(?:as|like) I(?:'ve| have)? (?:already |just )?(?:said|told|mentioned|asked|explained|wrote)|"
    r"I(?:'ve| have)? (?:already|just) (?:said|told|mentioned|asked|explained|gave|showed)|"
    r"I (?:said|told you|asked you)(?! to (?:you )?(?:him|her|them))"
)
_REMINDS = re.compile(
    rf"\b(?:{_I_SAID}|"
    r"(?:we|you)(?:'ve| have)? already (?:did|done|discussed|decided|agreed|tried|fixed|talked|tested|checked)|"
    r"did(?:n't| not) (?:I|we) (?:already |just )?(?:say|tell|ask|agree|decide|discuss)|"
    r"(?:again|once more|remember)[,:] (?:please |don't |do not |never |we |I |you |the )|"
    r"how many times|(?:you|did you) forg[eo]t|remember (?:that )?(?:I|we) |"
    r"wie (?:ich )?(?:schon |bereits )?gesagt|habe? ich (?:dir )?(?:schon|bereits|doch)|haben wir (?:schon|bereits)|"
    r"(?:je t'ai|j'ai) déjà|comme je l'ai dit|ya te (?:dije|lo dije)|como (?:te )?dije)"
    r"|我(?:已经|刚才|刚刚)?(?:说过|告诉过|讲过)|之前说",
    re.IGNORECASE,
)
_SAYS_AGAIN = re.compile(rf"(?<!\bhad )(?<!\bdid )(?<!\bhave )\b(?:{_I_SAID})", re.IGNORECASE)
"""Reference to an earlier request. "What had I asked you?" is excluded, because it only tests the agent's memory."""

_ASKS = re.compile(r"ask.*question|ask.*user|request_user_input|^question$|ask_followup|clarif|^ask$")
_QUESTION_KEYS = ("question", "prompt", "text", "message", "title")


class Repetition(Struct, frozen=True):
    """Sentence of message `after` that repeats message `before`. Both are indexes of the course."""

    kind: Literal["said", "question"]
    sentence: str
    before: int
    after: int
    epoch: int


def repeated_statements(
    typed: Sequence[tuple[int, str]], removed: RemovedText, rules_in: RuleFinder
) -> Iterator[Repetition]:
    """Yield rules that the user repeated after a compaction, and statements to which the user refers ("as I told you"):
    at most one per message. A rule that was in several earlier messages is a habit and left out. `typed` has the user's
    texts with message indexes, in order; `rules_in` finds the rules in a text."""
    earlier: list[_Earlier] = []
    newest = removed.epoch_of(typed[-1][0]) if typed else 0
    for index, words in typed:
        if is_compaction_prompt(words):
            continue
        epoch = removed.epoch_of(index)
        stop = bisect_left(earlier, epoch, key=lambda one: one.epoch)
        before = earlier[max(0, stop - COMPARED) : stop]
        if before and len(words) <= LONGEST and (found := _repeated_sentence(words, rules_in, before)):
            sentence, at = found
            yield Repetition("said", sentence, at, index, epoch - 1)
        if epoch < newest:  # nothing is compared with messages of the newest epoch
            earlier.append(_Earlier(index, epoch, words, tuple(words_of(text) for text, _ in rules_in(words))))


@dataclass(frozen=True)
class _Earlier:
    """Message of an epoch, and the words of each of its rules."""

    index: int
    epoch: int
    words: str
    rules: tuple[frozenset[str], ...]

    @cached_property
    def sentences(self) -> list[frozenset[str]]:
        """Words of all its sentences. Computed lazily: few messages need them."""
        own = [self.words[one.start : one.stop] for one in passages(self.words) if one.own]
        return [words for passage in own for _, words in sentences(passage)]


def _repeated_sentence(words: str, rules_in: RuleFinder, before: Sequence[_Earlier]) -> tuple[str, int] | None:
    """Return the repeating sentence, and the index of the earlier message that it repeats; None if it repeats none."""
    every = words_of(words)
    near = [(one.index, rule) for one in before for rule in one.rules if len(every & rule) >= ALIKE * len(rule)]
    for text, _ in rules_in(words) if near else ():
        own = words_of(text)
        same = {index for index, theirs in near if _alike(own, theirs)}
        if len(same) == 1:
            return text, same.pop()
    reminding = [one for one in sentences(words) if _REMINDS.search(one[0])]
    for sentence, own in reminding:
        theirs = [(one.index, words) for one in before for words in (*one.sentences, *one.rules)]
        best = max(theirs, key=lambda one: len(own & one[1]) / (len(one[1]) + 3), default=None)
        if best and len(own & best[1]) >= 2:
            return sentence, best[0]
    reminder = next((sentence for sentence, _ in reminding if _SAYS_AGAIN.search(sentence)), None)
    return _likeliest_message(reminder, every, before) if reminder else None


def _likeliest_message(sentence: str, every: frozenset[str], before: Sequence[_Earlier]) -> tuple[str, int] | None:
    """Return `sentence` ("as I told you") and the index of the message to which it refers: of the short messages the
    one with most words in common with `every`, the newest of equals. None without a common word."""
    shared = [(len(every & words_of(one.words)), one.index) for one in before if len(one.words) <= LONGEST]
    most, index = max(shared, default=(0, 0))
    return (sentence, index) if most else None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one) >= FEWEST_WORDS and len(one & other) >= ALIKE * len(one | other)


def repeated_questions(
    messages: Sequence[Message], calls: Sequence[ToolCall], removed: RemovedText
) -> Iterator[Repetition]:
    """Yield questions of the agent that were answered before a compaction and asked again after it: by question tools,
    and at the end of a turn."""
    earlier: list[tuple[int, frozenset[str]]] = []
    for index, question in sorted((*_through_tools(calls), *_in_words(messages))):
        words = words_of(question)
        same = {at for at, theirs in earlier[-COMPARED:] if _alike(words, theirs)}
        if len(same) == 1 and removed.between(at := same.pop(), index):
            yield Repetition("question", question, at, index, removed.epoch_of(index) - 1)
        earlier.append((index, words))


def _through_tools(calls: Sequence[ToolCall]) -> Iterator[tuple[int, str]]:
    for one in calls:
        if one.result is not None and _asks(one.call.name):
            yield from ((one.index, text) for text in _questions(one.call.input))


@session_cache(1_024)
def _asks(tool: str) -> bool:
    """True for a tool that asks the user."""
    return _ASKS.search(tool_name(tool)) is not None


def _questions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        found = next((value[key] for key in _QUESTION_KEYS if isinstance(value.get(key), str)), None)
        if found:
            yield found
        yield from _questions(value.get("questions"))
    elif isinstance(value, list):
        for one in value:
            yield from _questions(one)


def _in_words(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """Yield the questions in answers that a user message follows."""
    for index, message in enumerate(messages[:-1]):
        if messages[index + 1].starts_round and is_agent_message(message) and not message.calls:
            text = message.text
            if "?" in text or "？" in text:
                yield from ((index, one) for one, _ in sentences(text) if one.endswith(("?", "？")))
