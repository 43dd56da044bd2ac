"""Append a compaction as pi does: the loaded session under a new id, with a `compaction` entry after its newest one.

Nothing is deleted. If the context ends with the last loaded messages, the entry names the first of them. Otherwise all
messages after the summary are repeated after the entry. pi wraps the summary in its own text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.format import Written
from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads, object_of
from workbench.formats.kit.line_writer import usage_reset
from workbench.formats.kit.marks import STALE_USAGE
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, LossKind
from workbench.formats.pi import ID
from workbench.formats.pi.write import NO_USAGE, Writer, addressed, header, last_response, write
from workbench.session import Message, Session, Text, Usage, leading_system

WRAPPED = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{}\n</summary>"
)
"""Text in which pi sends a compaction to the model."""


def append(session: Session, messages: Sequence[Message]) -> Written:
    """Append the messages to the loaded session, or write a new chain if that is impossible. Never raises."""
    messages = [message for message in messages if message.kind != "boundary"]
    lead = leading_system(messages)
    opening = messages[lead] if lead < len(messages) else None
    system = _recorded_system(session, messages[:lead])
    if (lead and not system) or any(message.is_own_system for message in messages[lead:]):
        return write(session, messages)
    if session.format != ID or opening is None or opening.kind != "summary" or opening.role == "assistant":
        return write(session, messages)
    if not all(isinstance(block, Text) for block in opening.blocks):
        return write(session, messages)
    rest = messages[lead + 1 :]
    writer = Writer(session, messages, own=True)
    entries = _entries(writer)
    if not entries or len(writer.ids) < len(entries):
        return write(session, messages)
    id_of = {record: id for record, id, _ in entries}
    writer.parent = entries[-1][1]
    first = _first_retained_id(session, rest, id_of)
    rest = rest if first else writer.results_next(rest)
    id = writer.new_id()
    compaction: dict[str, Any] = {
        "type": "compaction",
        "id": id,
        "parentId": writer.parent,
        "timestamp": iso(opening.time),
    }
    usage = next((message.usage for message in reversed(session.context()) if message.usage), Usage())
    compaction |= {"summary": _unwrapped(opening.text), "firstKeptEntryId": first or id}
    compaction["tokensBefore"] = usage.context + usage.output
    compaction |= {"systemMessage": system} if system else {}
    writer.unbilled = last_response(rest)
    stale = next((message.source[0] for message in rest if message.id == writer.unbilled), -1) if first else -1
    lines = [_with_stale_usage(raw) if record == stale else raw for record, _, raw in entries]
    writer.lines = [*lines, render(compaction)]
    writer.ids.add(id)
    writer.parent = id
    writer.write_messages(rest if not first else (), 0, ())
    new = str(uuid4())
    head = header(session, new, own=True)
    return addressed(
        session,
        head + b"\n" + writer.data,
        new,
        [*writer.losses, Loss(LossKind.SUMMARY_WRAPPED, details=("pi",))],
    )


def _recorded_system(session: Session, lead: Sequence[Message]) -> dict[str, Any]:
    """Return the single leading system message as recorded; {} if it is not from the file, or if there are several."""
    if len(lead) != 1 or not lead[0].source or session.format != ID:
        return {}
    value = loads(session.records[lead[0].source[0]])
    return dict_of(value.get("systemMessage") or value.get("message"))


def _with_stale_usage(raw: bytes) -> bytes:
    """Return an entry with its usage set to zero, and marked as stale."""
    reset = usage_reset(raw, NO_USAGE)
    return replace_fields(raw, {**reset, STALE_USAGE: b"true"}) if reset else raw


def _entries(writer: Writer) -> list[tuple[int, str, bytes]]:
    """Return record, id and line of each loaded entry; version 1 entries get the ids and links that they lack.

    Empty if the chain is damaged. `writer.ids` receives the ids.
    """
    session = writer.session
    values: list[tuple[int, bytes, dict[str, Any]]] = []
    for record, raw in enumerate(session.records):
        value = object_of(raw)
        if isinstance(value, dict):
            values.append((record, raw, value))
        else:
            writer.losses.append(Loss(LossKind.DAMAGED_RECORDS))
    head = next((value for _, _, value in values if value.get("type") == "session"), {})
    linear = type(version := head.get("version")) is not int or version == 1
    places: list[str] = []
    entries: list[tuple[int, str, bytes]] = []
    parent: str | None = None
    for record, raw, value in values:
        if value.get("type") == "session":
            places.append("")
            continue
        recorded_id = value.get("id")
        id = writer.new_id() if linear else recorded_id
        above = None if linear else value.get("parentId")
        chained = above is None or (isinstance(above, str) and above in writer.ids)
        if not isinstance(id, str) or id in writer.ids or not chained:
            return []
        changes = {"id": render(id), "parentId": render(parent)} if linear else {}
        index = value.get("firstKeptEntryIndex")
        if linear and type(index) is int and 0 <= index < len(places):
            changes["firstKeptEntryId"] = render(places[index])
        writer.ids.add(id)
        places.append(id)
        entries.append((record, id, replace_fields(raw, changes).replace(b"\n", b" ")))
        parent = id
    return entries


def _first_retained_id(session: Session, rest: Sequence[Message], id_of: dict[int, str]) -> str:
    """Return the id of the first kept entry. Return "" if `rest` is not the end of the current context, or if an older
    compaction is between a call and its result, where pi 0.80.6 to 0.86 would send its summary."""
    end = session.context()[-len(rest) :] if rest else ()
    if not rest or list(end) != list(rest) or any(message.kind == "summary" for message in rest):
        return ""
    if not rest[0].source or any(_splits_pair(session, record, rest) for record in id_of):
        return ""
    return id_of.get(rest[0].source[0], "")


def _splits_pair(session: Session, record: int, rest: Sequence[Message]) -> bool:
    """Return True for the record of a compaction between a call and its result."""
    if (object_of(session.records[record]) or {}).get("type") != "compaction":
        return False
    calls = {call.id for message in rest for call in message.calls if message.source and message.source[0] < record}
    results = {one.call_id for message in rest for one in message.results if message.source[:1] > (record,)}
    return bool(calls & results)


def _unwrapped(text: str) -> str:
    before, after = WRAPPED.split("{}")
    return text[len(before) : -len(after)] if text.startswith(before) and text.endswith(after) else text
