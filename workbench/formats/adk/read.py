"""Reading: Google ADK session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.adk.signature import ID, either
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text, kind_of
from workbench.formats.kit.document import parse
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.item_list import Item
from workbench.formats.kit.mark import marked
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import count_of, dict_of, word_of
from workbench.session.message import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts


@dataclass(slots=True)
class _Reading:
    messages: list[Message] = field(default_factory=list)
    events: list[Item] = field(default_factory=list)
    """The event of each message."""
    waiting: dict[str, list[str]] = field(default_factory=dict)
    """Ids of open calls by the tool's name."""
    warnings: list[LoadWarning] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session. Raises BadInput when it has no events."""
    progress(0, len(data))
    document, warnings = parse(path, data)
    body = dict_of(document)
    events = body.get("events")
    if not isinstance(events, list):
        raise BadInput(f"{path}: has no list of events; open a session that ADK saved.")
    reading = _Reading(warnings=warnings)
    gone: set[int] = set()
    epochs: list[Epoch] = []
    for index, event in enumerate(events):
        if not isinstance(event, dict):
            warnings.append(LoadWarning(f"event {index + 1} is not an object; it is not shown"))
            continue
        back = word_of(either(dict_of(event.get("actions")), "rewind_before_invocation_id"))
        if back:
            first = next((n for n, e in enumerate(reading.events) if either(e, "invocation_id") == back), None)
            gone.update(range(first, len(reading.messages)) if first is not None else ())
        message = _message(index, event, reading)
        if message is None:
            continue
        if compaction_of(event):
            members = _seen(reading, gone)
            if members:
                end = Compaction(summary=message.id, time=message.time)
                epochs.append(Epoch(len(epochs) + 1, members, end))
        reading.messages.append(message)
        reading.events.append(event)
    progress(len(data), len(data))
    everything = range(len(reading.messages))
    branch = [n for n in everything if n not in gone] if gone else everything
    return Session(
        format=ID,
        path=path,
        messages=tuple(reading.messages),
        branch=branch,
        epochs=(*epochs, Epoch(len(epochs) + 1, _seen(reading, gone))),
        records=Records(data),
        id=word_of(body.get("id")) or "",
        title=first_words(reading.messages),
        model=next((m.model for m in reversed(reading.messages) if m.model), None),
        warnings=tuple(warnings),
        facts=SessionFacts(unread=tuple(_unread(events, reading.messages))),
    )


def _unread(events: Sequence[Any], messages: Sequence[Message]) -> list[int]:
    """Events that hold no message, but for rewinds, which have nothing left to rewind in a new list."""
    read = {index for message in messages for index in message.source}
    rewinds = "rewind_before_invocation_id"
    return [
        n for n, e in enumerate(events) if n not in read and not either(dict_of(dict_of(e).get("actions")), rewinds)
    ]


def compaction_of(event: Item) -> Item:
    return dict_of(dict_of(event.get("actions")).get("compaction"))


def _range(event: Item) -> tuple[float, float] | None:
    compaction = compaction_of(event)
    start, end = (seconds_of(either(compaction, key)) for key in ("start_timestamp", "end_timestamp"))
    return (start, end) if start is not None and end is not None else None


def _seen(reading: _Reading, gone: set[int]) -> list[int]:
    """The context: events in the time of a compaction are hidden, and so is a compaction within another's time.

    A compaction stands where its time ends, before events that were kept although they are older than itself.
    """
    ranges = {n: found for n, event in enumerate(reading.events) if n not in gone and (found := _range(event))}
    seen: list[int] = []
    for n, message in enumerate(reading.messages):
        own = ranges.get(n)
        if n in gone or any(_covers(n, own, message.time, m, other) for m, other in ranges.items()):
            continue
        place = len(seen)
        while (
            own and place and seen[place - 1] not in ranges and (reading.messages[seen[place - 1]].time or 0) > own[1]
        ):
            place -= 1
        seen.insert(place, n)
    return seen


def _covers(n: int, own: tuple[float, float] | None, time: float | None, m: int, other: tuple[float, float]) -> bool:
    if own is not None:
        return n != m and other[0] <= own[0] and own[1] <= other[1] and (own != other or n < m)
    return n < m and time is not None and other[0] <= time <= other[1]


def _message(index: int, event: Item, reading: _Reading) -> Message | None:
    """The message of an event; None for one without content, or with a part of a stream."""
    compaction = compaction_of(event)
    content = dict_of(either(compaction, "compacted_content") if compaction else event.get("content"))
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts or event.get("partial") is True:
        return None
    id = unique_id(word_of(event.get("id")) or f"event-{index + 1}", reading.ids)
    blocks = tuple(_part(part, f"{id}.{n}", reading) for n, part in enumerate(parts))
    role: Role = "assistant" if content.get("role", "model") != "user" else "user"
    if not compaction and event.get("author") == "user":
        role = "user"
    if any(isinstance(block, ToolResult) for block in blocks):
        role = "tool"
    noted = marked(dict_of(either(event, "custom_metadata")))
    return Message(
        id,
        role,
        blocks,
        "summary" if compaction else noted or kind_of(role, blocks),
        seconds_of(event.get("timestamp")),
        _usage(dict_of(either(event, "usage_metadata"))),
        word_of(either(event, "model_version")),
        (index,),
    )


def _usage(given: Item) -> Usage | None:
    sent, cached, said, thought = (
        count_of(either(given, key))
        for key in (
            "prompt_token_count",
            "cached_content_token_count",
            "candidates_token_count",
            "thoughts_token_count",
        )
    )
    return Usage(max(sent - cached, 0), said + thought, cache_read=min(cached, sent)) if sent else None


def _part(part: Any, id: str, reading: _Reading) -> Block:
    if not isinstance(part, dict):
        return Opaque(type(part).__name__, part)
    if isinstance(part.get("text"), str):
        signature = word_of(either(part, "thought_signature")) or ""
        return Thinking(part["text"], signature) if part.get("thought") is True else Text(part["text"])
    call, response = either(part, "function_call"), either(part, "function_response")
    if isinstance(call, dict) and isinstance(call.get("name"), str):
        own = word_of(call.get("id")) or f"{call['name']}-{id}"
        reading.waiting.setdefault(call["name"], []).append(own)
        given = call.get("args")
        return ToolUse(own, call["name"], given if isinstance(given, dict) else {} if given is None else as_text(given))
    if isinstance(response, dict):
        waiting = reading.waiting.get(as_text(response.get("name")), [])
        own = word_of(response.get("id")) or (waiting[0] if waiting else f"{as_text(response.get('name'))}-{id}")
        if own in waiting:
            waiting.remove(own)
        return _result(own, response.get("response"))
    for key in ("inline_data", "file_data"):
        held = either(part, key)
        if isinstance(held, dict):
            return Media(word_of(either(held, "mime_type")) or "file", len(as_text(held.get("data") or "")))
    return Opaque(next((key for key in part if key not in ("thought", "thought_signature")), ""), part)


def _result(call_id: str, response: Any) -> ToolResult:
    """ADK wraps what is no object in `result`, and tools that fail give `error`."""
    failed = isinstance(response, dict) and response.keys() == {"error"}
    if isinstance(response, dict) and len(response) == 1 and response.keys() <= {"result", "error"}:
        response = next(iter(response.values()))
    text = "" if response in (None, {}) else as_text(response)
    return ToolResult(call_id, (Text(text),) if text else (), failed)
