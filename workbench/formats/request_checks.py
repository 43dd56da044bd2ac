"""Comparison of the contexts shown with the requests that a file itself records.

A turn is everything between two responses. Agents move and join the texts that they add to the user's words, and put
them into results; so a turn is compared by its texts in any order, ignoring the amount of white space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from workbench.base.text import clip_at_word
from workbench.formats.format import RecordedRequest
from workbench.session import Block, Media, Message, Session, Text, ToolResult, ToolUse


class RequestComparison(Struct, frozen=True):
    """A recorded request compared with the context shown for its response. `difference` is the first one, in a phrase;
    "" if they are equal. `more` counts characters that were sent but are not shown."""

    answer: str
    difference: str
    more: int = 0


def last_text(messages: Sequence[Message]) -> str:
    """Return the user text at the end of a request; "" if it ends otherwise, or has only one message."""
    if len(messages) < 2 or messages[-1].role not in ("user", "tool"):
        return ""
    texts = [block.text for block in messages[-1].blocks if isinstance(block, Text)]
    return texts[-1].strip() if texts else ""


def compare_requests(session: Session, requests: Iterable[RecordedRequest]) -> Iterator[RequestComparison]:
    """Compare each request whose response is in an epoch with the messages before the response there."""
    place = {
        session.messages[member].id: (epoch.number, at)
        for epoch in reversed(session.epochs)  # the last entry counts: a kept response was made in its first epoch
        for at, member in enumerate(epoch.members)
    }
    for sent in requests:
        if sent.answer in place:
            number, at = place[sent.answer]
            yield _compare(sent, session.context(number)[:at])


def _compare(sent: RecordedRequest, shown: Sequence[Message]) -> RequestComparison:
    theirs, ours = _turns(sent.messages), _turns(shown)
    more = 0
    first = ""
    for number, (recorded, shown_turn) in enumerate(zip(theirs, ours, strict=False), 1):
        difference, unseen = _turn_differs(recorded, shown_turn)
        more += unseen
        first = first or (f"in turn {number} {difference}" if difference else "")
    if not first and len(theirs) != len(ours):
        first = f"{len(theirs)} turns were sent, {len(ours)} are shown"
    return RequestComparison(sent.answer, first, more)


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Group the messages into turns: each response alone, all messages between two of them together. Messages without
    content are ignored."""
    speaking = [message for message in messages if any(map(_has_content, message.blocks))]
    runs = groupby(enumerate(speaking), key=lambda one: one[0] if one[1].role == "assistant" else -1)
    return [[message for _, message in run] for _, run in runs]


def _has_content(block: Block) -> bool:
    return bool(block.text.strip()) if isinstance(block, Text) else isinstance(block, ToolUse | ToolResult | Media)


def _turn_differs(theirs: list[Message], ours: list[Message]) -> tuple[str, int]:
    """Return the first difference of a turn, and the number of characters sent in addition."""
    calls = [_calls(messages) for messages in (theirs, ours)]
    if calls[0] != calls[1]:
        return f"{len(calls[0])} calls and results were sent, {len(calls[1])} different ones are shown", 0
    left = "\n".join(_texts(theirs))
    missing = ""
    for text in sorted(_texts(ours), key=len, reverse=True):
        if text in left:
            left = left.replace(text, "\n", 1)
        else:
            missing = missing or text
    left = " ".join(left.split())
    if missing:
        return f"“{clip_at_word(missing, 60)}” was not sent", len(left)
    return (f"“{clip_at_word(left, 60)}” was sent but is not shown", len(left)) if left else ("", 0)


def _calls(messages: Sequence[Message]) -> list[tuple[str, object]]:
    """Return calls with their arguments, results by call id in any order, and the number of media."""
    blocks = [block for message in messages for block in message.blocks]
    calls = [(block.id, (block.name, block.input)) for block in blocks if isinstance(block, ToolUse)]
    results = sorted((block.call_id, "result") for block in blocks if isinstance(block, ToolResult))
    inside = [part for block in blocks if isinstance(block, ToolResult) for part in block.content]
    media = sum(isinstance(one, Media) for one in [*blocks, *inside])
    return [*calls, *results, ("media", media)]


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the texts of a turn, those of results included, without white space at their edges and line ends."""
    for block in (block for message in messages for block in message.blocks):
        for part in block.content if isinstance(block, ToolResult) else (block,):
            if isinstance(part, Text) and (text := _without_trailing_space(part.text)):
                yield text


def _without_trailing_space(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
