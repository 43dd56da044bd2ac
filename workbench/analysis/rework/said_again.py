"""What the user had to say again after a compaction, and what the agent asked them again."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from workbench.analysis.needed_items import sentences, words_of
from workbench.analysis.rework.taken import Taken
from workbench.base.session_caches import session_cache
from workbench.facts.calls import ToolCall
from workbench.facts.pastes import passages
from workbench.facts.standing import RuleFinder, is_compaction_prompt
from workbench.facts.tools import tool_name
from workbench.facts.wording import is_agent_message
from workbench.session import Message

ALIKE = 0.7
"""Two sentences say the same where they share this part of all the words that are in either."""

FEWEST_WORDS = 4
"""Sentences of fewer words that say something are too short to be known again."""

LONGEST = 600
"""Characters: a longer message that comes again is a template or a paste."""

COMPARED = 1_000
"""A message is compared with so many before it, the newest."""

_TOLD = (
    r"(?:as|like) I(?:'ve| have)? (?:already |just )?(?:said|told|mentioned|asked|explained|wrote)|"
    r"I(?:'ve| have)? (?:already|just) (?:said|told|mentioned|asked|explained|gave|showed)|"
    r"I (?:said|told you|asked you)(?! to (?:you )?(?:him|her|them))"
)
_REMINDS = re.compile(
    rf"\b(?:{_TOLD}|"
    r"(?:we|you)(?:'ve| have)? already (?:did|done|discussed|decided|agreed|tried|fixed|talked|tested|checked)|"
    r"did(?:n't| not) (?:I|we) (?:already |just )?(?:say|tell|ask|agree|decide|discuss)|"
    r"(?:again|once more|remember)[,:] (?:please |don't |do not |never |we |I |you |the )|"
    r"how many times|(?:you|did you) forg[eo]t|remember (?:that )?(?:I|we) |"
    r"wie (?:ich )?(?:schon |bereits )?gesagt|habe? ich (?:dir )?(?:schon|bereits|doch)|haben wir (?:schon|bereits)|"
    r"(?:je t'ai|j'ai) déjà|comme je l'ai dit|ya te (?:dije|lo dije)|como (?:te )?dije)"
    r"|我(?:已经|刚才|刚刚)?(?:说过|告诉过|讲过)|之前说",
    re.IGNORECASE,
)
_TELLS_AGAIN = re.compile(rf"(?<!\bhad )(?<!\bdid )(?<!\bhave )\b(?:{_TOLD})", re.IGNORECASE)
"""Who asks "what had I asked you?" tries what is still known, and says nothing again."""

_ASKS = re.compile(r"ask.*question|ask.*user|request_user_input|^question$|ask_followup|clarif|^ask$")
_QUESTION_KEYS = ("question", "prompt", "text", "message", "title")


class SaidAgain(Struct, frozen=True):
    """The sentence of message `after` that says what message `before` said. Both are indexes of the course."""

    kind: Literal["said", "question"]
    sentence: str
    before: int
    after: int
    epoch: int


def said_again(typed: Sequence[tuple[int, str]], taken: Taken, rules_in: RuleFinder) -> Iterator[SaidAgain]:
    """Instructions that the user gave again behind a compaction, and what they say they had said:
    at most one for each message. What was said again and again before is a habit, not a loss. `typed` is what the user
    typed, with the indexes of the messages, in order; `rules_in` the instructions in such words."""
    earlier: list[_Earlier] = []
    newest = taken.epoch_of(typed[-1][0]) if typed else 0
    for index, words in typed:
        if is_compaction_prompt(words):
            continue
        epoch = taken.epoch_of(index)
        stop = bisect_left(earlier, epoch, key=lambda one: one.epoch)
        before = earlier[max(0, stop - COMPARED) : stop]
        if before and len(words) <= LONGEST and (found := _repeated(words, rules_in, before)):
            sentence, at = found
            yield SaidAgain("said", sentence, at, index, epoch - 1)
        if epoch < newest:  # nothing is said behind the compaction that took what comes later
            earlier.append(_Earlier(index, epoch, words, tuple(words_of(text) for text, _ in rules_in(words))))


@dataclass(frozen=True)
class _Earlier:
    """A message of an epoch, and the words of each of its instructions."""

    index: int
    epoch: int
    words: str
    rules: tuple[frozenset[str], ...]

    @cached_property
    def sentences(self) -> list[frozenset[str]]:
        """The words of all its sentences, for messages that remind of one: there are few."""
        own = [self.words[one.start : one.stop] for one in passages(self.words) if one.own]
        return [said for passage in own for _, said in sentences(passage)]


def _repeated(words: str, rules_in: RuleFinder, before: Sequence[_Earlier]) -> tuple[str, int] | None:
    """The sentence that is said again, and the message that said it first."""
    every = words_of(words)
    near = [(one.index, rule) for one in before for rule in one.rules if len(every & rule) >= ALIKE * len(rule)]
    for text, _ in rules_in(words) if near else ():
        said = words_of(text)
        same = {index for index, theirs in near if _alike(said, theirs)}
        if len(same) == 1:
            return text, same.pop()
    reminding = [one for one in sentences(words) if _REMINDS.search(one[0])]
    for sentence, said in reminding:
        theirs = [(one.index, words) for one in before for words in (*one.sentences, *one.rules)]
        best = max(theirs, key=lambda one: len(said & one[1]) / (len(one[1]) + 3), default=None)
        if best and len(said & best[1]) >= 2:
            return sentence, best[0]
    told = next((sentence for sentence, _ in reminding if _TELLS_AGAIN.search(sentence)), None)
    return _likeliest(told, every, before) if told else None


def _likeliest(told: str, every: frozenset[str], before: Sequence[_Earlier]) -> tuple[str, int] | None:
    """The message that is meant where "as I told you" names it by hardly a word: the newest of the short ones that
    share most with the whole message; None where none shares a word."""
    shared = [(len(every & words_of(one.words)), one.index) for one in before if len(one.words) <= LONGEST]
    most, index = max(shared, default=(0, 0))
    return (told, index) if most else None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one) >= FEWEST_WORDS and len(one & other) >= ALIKE * len(one | other)


def asked_again(messages: Sequence[Message], calls: Sequence[ToolCall], taken: Taken) -> Iterator[SaidAgain]:
    """Questions that the agent put to the user, answered before a compaction and put again behind it: those of its
    question tools, and those with which it ends its turn."""
    earlier: list[tuple[int, frozenset[str]]] = []
    for index, question in sorted((*_through_tools(calls), *_in_words(messages))):
        said = words_of(question)
        same = {at for at, theirs in earlier[-COMPARED:] if _alike(said, theirs)}
        if len(same) == 1 and taken.between(at := same.pop(), index):
            yield SaidAgain("question", question, at, index, taken.epoch_of(index) - 1)
        earlier.append((index, said))


def _through_tools(calls: Sequence[ToolCall]) -> Iterator[tuple[int, str]]:
    for one in calls:
        if one.result is not None and _asks(one.call.name):
            yield from ((one.index, text) for text in _questions(one.call.input))


@session_cache(1_024)
def _asks(tool: str) -> bool:
    """Whether a tool asks the user."""
    return _ASKS.search(tool_name(tool)) is not None


def _questions(given: Any) -> Iterator[str]:
    if isinstance(given, dict):
        found = next((given[key] for key in _QUESTION_KEYS if isinstance(given.get(key), str)), None)
        if found:
            yield found
        yield from _questions(given.get("questions"))
    elif isinstance(given, list):
        for one in given:
            yield from _questions(one)


def _in_words(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """The questions in an answer that a message of the user's follows."""
    for index, message in enumerate(messages[:-1]):
        if messages[index + 1].starts_round and is_agent_message(message) and not message.calls:
            text = message.text
            if "?" in text or "？" in text:
                yield from ((index, one) for one, _ in sentences(text) if one.endswith(("?", "？")))
