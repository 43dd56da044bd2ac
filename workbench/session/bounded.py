"""The part of a message that is searched: both ends of a huge text, the first entries of a huge JSON value.

Searches for facts, names, topics and questions look at each word several times and keep what they find: a pasted log of
50 MB would take minutes and gigabytes. Sizes, checks, requests and exports use whole messages.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeVar

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.session.message import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse

T = TypeVar("T")

LONGEST = 256 * 1024
"""Longest text in characters that is searched completely; of a longer one, this many are searched, three quarters of
them at its beginning. In public sessions the longest user text has 225 039 characters, the longest tool result 70 964.
Users say what they want before or after a paste, and a program's output ends with its result."""

MOST_VALUES = 10_000
"""Most values of a JSON document that are searched, objects and lists included; a call's input has some hundred."""

MOST_CHARS = 4 * LONGEST
"""Most characters that are searched in all texts of a message together, texts in JSON values included; after them,
`LEAST` of each text. Otherwise a message with the results of 200 calls of 250 000 characters each would take
seconds."""

LEAST = 1024

DEEPEST = 100
"""Levels of a JSON document that are shortened; deeper values are kept whole. Each level is a Python call, and readers
accept at most twice as many."""

LONGEST_WORD = 4 * 1024
"""Characters by which a cut is moved to keep words, names and secrets whole."""


def bounded_message(message: Message) -> Message:
    """Shorten each huge text of a message to its two ends, each huge input to its first values, and every text after
    the first `MOST_CHARS` characters. Return the same object if nothing is shortened."""
    room = _Room(MOST_VALUES, MOST_CHARS)
    blocks = tuple(_bounded_block(block, room) for block in message.blocks)
    return message if _are_same(blocks, message.blocks) else replace(message, blocks=blocks)


def bounded_text(text: str, most: int = LONGEST) -> str:
    """Return `text`, or the two ends of one with more than `most` characters and a line between them that says how
    much is left out."""
    if len(text) <= most:
        return text
    head, tail = _word_end(text, most - most // 4), _word_start(text, len(text) - most // 4)
    return f"{text[:head]}\n[… {grouped(tail - head)} characters left out …]\n{text[tail:]}"


def bounded_value(value: Any) -> Any:
    """Shorten a JSON value to its first `MOST_VALUES` values and huge texts to their ends; a shortened object or list
    ends with a text that counts what is missing. Return the same object if nothing is left out."""
    return _Room(MOST_VALUES, MOST_CHARS).document(value)


def _bounded_block(block: Block, room: _Room) -> Block:
    match block:
        case Text(text) | Thinking(text):
            return block if (shorter := room.text(text)) is text else replace(block, text=shorter)
        case ToolUse(_, _, given):
            return block if (shorter := room.document(given)) is given else replace(block, input=shorter)
        case Opaque(_, raw):
            return block if (shorter := room.document(raw)) is raw else replace(block, raw=shorter)
        case ToolResult(_, content):
            parts, words = tuple(_bounded_part(part, room) for part in content), room.text(block.user_text)
            same = words is block.user_text and _are_same(parts, content)
            return block if same else replace(block, content=parts, user_text=words)
        case Media():
            return block


def _bounded_part(part: Text | Media, room: _Room) -> Text | Media:
    shorter = _bounded_block(part, room)
    assert isinstance(shorter, Text | Media)
    return shorter


def _word_end(text: str, at: int) -> int:
    """Return the last place up to `at` where a line or else a word ends; `at` if none is near."""
    ends = (text.rfind(sign, max(at - LONGEST_WORD, 0), at) for sign in ("\n", " "))
    return next((end for end in ends if end > 0), at)


def _word_start(text: str, at: int) -> int:
    """Return the first place from `at` where a line or else a word begins; `at` if none is near."""
    signs = (text.find(sign, at, at + LONGEST_WORD) for sign in ("\n", " "))
    return next((sign + 1 for sign in signs if sign >= 0), at)


@dataclass(slots=True)
class _Room:
    """Values of a document and characters of a message that are still to be searched."""

    values: int
    chars: int

    def text(self, text: str) -> str:
        shorter = bounded_text(text, min(max(self.chars, LEAST), LONGEST))
        self.chars -= len(shorter)
        return shorter

    def document(self, value: Any) -> Any:
        self.values = MOST_VALUES
        return _first_of(value, self, DEEPEST)


def _first_of(value: Any, room: _Room, depth: int) -> Any:
    room.values -= 1
    if not depth:
        return value
    if isinstance(value, str):
        return room.text(value)
    if isinstance(value, dict):
        several = _while(room, value.items())
        entries = {bounded_text(key): _first_of(inner, room, depth - 1) for key, inner in several}
        if _are_same(entries.values(), value.values()) and _are_same(entries, value):
            return value
        return entries | ({"…": _entries_left_out(left)} if (left := len(value) - len(entries)) else {})
    if isinstance(value, list):
        items = [_first_of(inner, room, depth - 1) for inner in _while(room, value)]
        if _are_same(items, value):
            return value
        return items + ([_entries_left_out(left)] if (left := len(value) - len(items)) else [])
    return value


def _entries_left_out(count: int) -> str:
    return f"[… {counted(count, 'entry')} left out …]"


def _while(room: _Room, several: Iterable[T]) -> Iterator[T]:
    """Yield the first entries, as long as there is room."""
    return takewhile(lambda _: room.values > 0, several)


def _are_same(some: Collection[object], others: Collection[object]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))
