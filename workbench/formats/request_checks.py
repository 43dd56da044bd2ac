"""Whether the contexts shown are those that were sent, by the requests that a file itself records.

A turn is everything between two answers of the agent's. Within one, tools move what they put beside the person's words,
join texts and put them into a result; so a turn is compared by its texts, wherever they stand in it, and by white space
only as far as it parts words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from workbench.base.text import clip_at_word
from workbench.formats.format import Sent
from workbench.session import Block, Media, Message, Session, Text, ToolResult, ToolUse


class RequestComparison(Struct, frozen=True):
    """A recorded request beside the context shown for its answer. `difference` is the first one, in a phrase; "" where
    they are equal. `more` are characters that were sent and are not shown."""

    answer: str
    difference: str
    more: int = 0


def last_text(messages: Sequence[Message]) -> str:
    """The text of the user that a request ends with; "" where it ends otherwise, and for a request of one message."""
    if len(messages) < 2 or messages[-1].role not in ("user", "tool"):
        return ""
    texts = [block.text for block in messages[-1].blocks if isinstance(block, Text)]
    return texts[-1].strip() if texts else ""


def compare_requests(session: Session, requests: Iterable[Sent]) -> Iterator[RequestComparison]:
    """Each request whose answer stands in an epoch, beside what stands before the answer there."""
    place = {
        session.messages[member].id: (epoch.number, at)
        for epoch in reversed(session.epochs)  # what a later epoch keeps was answered in the first that holds it
        for at, member in enumerate(epoch.members)
    }
    for sent in requests:
        if sent.answer in place:
            number, at = place[sent.answer]
            yield _compared(sent, session.context(number)[:at])


def _compared(sent: Sent, shown: Sequence[Message]) -> RequestComparison:
    theirs, ours = _turns(sent.messages), _turns(shown)
    more = 0
    first = ""
    for number, (there, here) in enumerate(zip(theirs, ours, strict=False), 1):
        difference, unseen = _turn_differs(there, here)
        more += unseen
        first = first or (f"in turn {number} {difference}" if difference else "")
    if not first and len(theirs) != len(ours):
        first = f"{len(theirs)} turns were sent, {len(ours)} are shown"
    return RequestComparison(sent.answer, first, more)


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """The agent's messages each alone, all between two of them together; a message that says nothing is none."""
    speaking = [message for message in messages if any(map(_says, message.blocks))]
    runs = groupby(enumerate(speaking), key=lambda one: one[0] if one[1].role == "assistant" else -1)
    return [[message for _, message in run] for _, run in runs]


def _says(block: Block) -> bool:
    return bool(block.text.strip()) if isinstance(block, Text) else isinstance(block, ToolUse | ToolResult | Media)


def _turn_differs(theirs: list[Message], ours: list[Message]) -> tuple[str, int]:
    """The first difference of a turn, and how many characters more were sent in it."""
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
    """Calls with what they were given, results by whom they answer, whatever their order, and how many media."""
    blocks = [block for message in messages for block in message.blocks]
    calls = [(block.id, (block.name, block.input)) for block in blocks if isinstance(block, ToolUse)]
    results = sorted((block.call_id, "result") for block in blocks if isinstance(block, ToolResult))
    inside = [part for block in blocks if isinstance(block, ToolResult) for part in block.content]
    media = sum(isinstance(one, Media) for one in [*blocks, *inside])
    return [*calls, *results, ("media", media)]


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    """The texts of a turn, those of results too, without the white space round them and at the ends of their lines."""
    for block in (block for message in messages for block in message.blocks):
        for part in block.content if isinstance(block, ToolResult) else (block,):
            if isinstance(part, Text) and (text := _even(part.text)):
                yield text


def _even(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
