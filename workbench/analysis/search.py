"""Finding a text among everything that a context's messages say."""

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
"""A pattern that needs longer for one text is given up: a nested repetition could need years."""


class Query(Struct, frozen=True):
    """What is looked for, as it was typed, and the pattern that finds it."""

    text: str
    pattern: Any


def query_of(text: str) -> Query:
    """A text to be found in any case, or between slashes (`/tok.n/`) a regular expression, where case counts only
    after `(?-i)`. Raises BadInput for a pattern that is none."""
    literal = not (len(text) > 2 and text[0] == text[-1] == "/")
    try:
        # This library, not `re`: it lets the screen go on while it searches, and it can be stopped.
        return Query(text, regex.compile(regex.escape(text) if literal else text[1:-1], regex.IGNORECASE))
    except regex.error as error:
        raise BadInput(
            f"{text} is not a valid regular expression ({error}); leave out the slashes to search for the text itself."
        ) from None


def hits(messages: Sequence[Message], query: Query, cancelled: Callable[[], bool] = lambda: False) -> array[int]:
    """Indexes of the messages with a match in any text, call, result or thinking; what was found so far if cancelled.

    Raises BadInput when the pattern takes too long.
    """
    search = query.pattern.search
    found = array("q")
    for index, message in enumerate(messages):
        if cancelled():
            break
        try:
            if any(search(text, timeout=LONGEST_S) for text in texts_of(message)):
                found.append(index)
        except TimeoutError:
            raise BadInput(f"{query.text} takes too long on message {index + 1}; make the pattern simpler.") from None
    return found


def marks(query: Query, line: str) -> list[tuple[int, int]]:
    """Where a short line matches, start and stop; nothing where the pattern takes too long for drawing."""
    try:
        found = [match.span() for match in query.pattern.finditer(line, concurrent=False, timeout=0.01)]
    except TimeoutError:
        return []
    return [(start, stop) for start, stop in found if stop > start]


def texts_of(message: Message) -> Iterator[str]:
    """Every text of a message as it was written, not as JSON escapes it."""
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
