"""Text search in the messages of a context."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import regex  # type: ignore[import-untyped]
from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.values import words_in
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolUse

LONGEST_S = 1.0
"""Most seconds that a pattern may take on one text, because nested repetition could take years."""


class Query(Struct, frozen=True):
    """Search text as typed, and its pattern."""

    text: str
    pattern: Any


def query_of(text: str) -> Query:
    """Return a query for a text in any case, or between slashes (`/tok.n/`) for a regular expression, case-sensitive
    after `(?-i)`. Raises BadInput for an invalid pattern."""
    literal = not (len(text) > 2 and text[0] == text[-1] == "/")
    try:
        # Unlike `re`, this library has a timeout, and lets other threads run while it searches.
        return Query(text, regex.compile(regex.escape(text) if literal else text[1:-1], regex.IGNORECASE))
    except regex.error as error:
        raise BadInput(
            f"{text} is not a valid regular expression ({error}); leave out the slashes to search for the text itself."
        ) from None


def hits(messages: Sequence[Message], query: Query, cancelled: Callable[[], bool] = lambda: False) -> array[int]:
    """Return indexes of messages with a match in any text, call, result or reasoning; those found so far if cancelled.

    Raises BadInput if the pattern takes too long.
    """
    search = query.pattern.search
    found = array("q")
    for index, message in enumerate(messages):
        if cancelled():
            break
        try:
            if any(search(text, timeout=LONGEST_S) for text in all_texts(message)):
                found.append(index)
        except TimeoutError:
            raise BadInput(f"{query.text} takes too long on message {index + 1}; make the pattern simpler.") from None
    return found


def match_spans(query: Query, line: str) -> list[tuple[int, int]]:
    """Return (start, stop) of each match in a short line; none if the pattern is too slow for drawing."""
    try:
        found = [match.span() for match in query.pattern.finditer(line, concurrent=False, timeout=0.01)]
    except TimeoutError:
        return []
    return [(start, stop) for start, stop in found if stop > start]


def all_texts(message: Message) -> Iterator[str]:
    """Yield every text of a message as written, without JSON escapes."""
    for block in message.blocks:
        yield from _texts(block)


def _texts(block: Block) -> Iterator[str]:
    match block:
        case Text(text) | Thinking(text):
            yield text
        case ToolUse(_, name, given):
            yield name
            yield from words_in(given)
        case Media():
            yield block.placeholder
        case Opaque(_, raw):
            yield from words_in(raw)
        case _:
            for part in block.content:
                yield part.text if isinstance(part, Text) else part.placeholder
