"""Write a compaction as ADK does: every event stays, and an event with `actions.compaction` hides a range of time.

The compaction event follows the events that it hides. Hidden events that the context keeps are repeated as new events,
timed between the end of the range and the first event that is kept unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import uuid4

from workbench.formats.adk.view import compaction_of
from workbench.formats.adk.write import Key, addressed, key_of, own_renderer, view_of, write
from workbench.formats.format import Written
from workbench.formats.kit.document import parse, render, splice
from workbench.formats.kit.item_list import Item
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Losses
from workbench.session import Media, Message, Session, Text

_ID = "adk"
_STEP = 0.001
"""Seconds between repeated events that no kept event follows."""


def append(session: Session, messages: Sequence[Message]) -> Written:
    """Append a compaction event; falls back to `write` where the context does not begin with a summary of plain
    text."""
    messages = [message for message in messages if message.kind != "boundary"]
    opening = messages[0] if messages else None
    times = [message.time for message in session.messages]
    if session.format != _ID or view_of(session).chosen:
        return write(session, messages)
    if opening is None or opening.kind != "summary" or opening.role == "tool":
        return write(session, messages)
    known_times = [time for time in times if time is not None]
    if len(known_times) < len(times) or not all(isinstance(block, Text) and block.text for block in opening.blocks):
        return write(session, messages)
    body = dict_of(parse(session.path or Path(), session.records.data)[0])
    events = [dict_of(event) for event in body["events"]]
    tail = _tail(session, messages[1:])
    first = tail[0].source[0] if tail else len(events)
    if any(map(compaction_of, events[first:])):
        tail, first = [], len(events)  # a later recorded compaction would hide the new one
    hidden = [time for message, time in zip(session.messages, known_times, strict=True) if message.source[0] < first]
    if not hidden:
        return write(session, messages)
    end = max(hidden)
    repeated = messages[1 : len(messages) - len(tail)]
    key = key_of(body, events)
    render_message = own_renderer(session, body, events)
    losses: Losses = []
    new = [event for message in repeated for event in _events_again(message, events, render_message, losses)]
    step = (tail[0].time - end) / (len(new) + 2) if tail and tail[0].time is not None else _STEP
    for number, event in enumerate(new, 1):
        event |= {"id": uuid4().hex[:8], "timestamp": end + number * step}
    inserted = [_compaction(opening, min(hidden), end, key), *new]
    pieces = [*range(first), *map(render, inserted), *range(first, len(events))]
    return addressed(session, splice(session.records.data, "events", pieces), session.id, losses)


def _events_again(
    message: Message, events: Sequence[Item], render_message: Callable[[Message, Losses], list[Item]], losses: Losses
) -> list[Item]:
    """Return a message's events again. A message with media is copied: its blocks do not hold the bytes."""
    if message.source and any(isinstance(block, Media) for block in message.blocks):
        return [dict(events[index]) for index in message.source]
    return render_message(message, losses)


def _tail(session: Session, rest: Sequence[Message]) -> list[Message]:
    """Return the messages at the end of the context that stay unchanged and are later than all earlier messages."""
    context = session.context()
    size = 0
    while size < min(len(rest), len(context)) and rest[-1 - size] == context[-1 - size]:
        size += 1
    while size:
        first = context[-size]
        before = [message for message in session.messages if message.source[0] < first.source[0]]
        later = all(m.source[0] >= first.source[0] for m in context[len(context) - size :])
        if first.kind != "summary" and later and all((m.time or 0) < (first.time or 0) for m in before):
            break
        size -= 1
    return list(context[len(context) - size :])


def _compaction(summary: Message, start: float, end: float, key: Key) -> Item:
    content = {"parts": [{"text": block.text} for block in summary.blocks if isinstance(block, Text)]}
    role = "model" if summary.role == "assistant" else "user"
    fields = {"start_timestamp": start, "end_timestamp": end, "compacted_content": {**content, "role": role}}
    return {
        key("invocation_id"): f"e-{uuid4().hex[:8]}",
        "author": "user",
        "actions": {"compaction": {key(name): value for name, value in fields.items()}},
        "id": uuid4().hex[:8],
        "timestamp": end,
    }
