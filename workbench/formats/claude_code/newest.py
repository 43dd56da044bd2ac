"""The end of a session, read before the rest: its newest two epochs as the whole file gives them.

Two, for the bench shows the newest one that ended. Read are the file's first lines, by which a session is known again,
and those from the last boundary but one on, or from the first line that it keeps; what lies between is only searched.
Where that could say anything else than the whole does, nothing is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from msgspec import Struct

from workbench.formats.claude_code.events import Event, of_system_line
from workbench.formats.claude_code.lines import NOTIFICATION, Draft, Prompt, Reading, take
from workbench.formats.claude_code.read import is_model, session_of
from workbench.formats.format import no_progress
from workbench.formats.kit.jsonl import object_of, objects_of, records_of
from workbench.formats.kit.values import text_of
from workbench.session import Records, Session, Text, ToolUse

_BOUNDARY = b'"compact_boundary"'
"""No text holds it so, for its quotes are escaped there; an object that a tool gave may."""

_PROMPTS = (b'"prompt_snapshot"', b'"api-request')
"""Lines that say which prompt is sent, or what was."""

_ANSWERED = b'"usage":'
_UUID = re.compile(rb'"uuid": ?"([^"]*)"')
_ANSWER = re.compile(rb'"tool_use_id": ?"([^"]*)"')
_ID = re.compile(rb'"id": ?"([^"]*)"')


class _Cut(Struct, frozen=True):
    """What is read of a file: its first `head` bytes, which are so many `lines`, and all from byte `tail` on. `uuid` is
    that of the boundary there, `keeps` whether it keeps lines before it."""

    head: int
    lines: int
    tail: int
    uuid: str
    keeps: bool


def newest(path: Path, data: bytes) -> Session | None:
    """The session with its newest epochs alone, numbered from 1; None where the file's end does not tell them all."""
    cut = _cut_of(data)
    if cut is None:
        return None
    told_anew = any(data.find(mark, cut.head, cut.tail) >= 0 for mark in _PROMPTS)
    reading = _reading_of(data[: cut.head] + data[cut.tail :], cut, told_anew=told_anew)
    if not _hangs_together(reading, cut) or not _has_facts(reading, cut, told_anew=told_anew):
        return None
    return None if _repeats(reading, data, cut) else _with_newest(session_of(path, reading, on_web=False), reading, cut)


def _cut_of(data: bytes) -> _Cut | None:
    found = next(islice(_boundaries(data), 1, None), None)
    first = data.find(_ANSWERED)
    if data[:1] != b"{" or found is None or first < 0:
        return None
    start, uuid, event = found
    kept = event.kept.uuids or ((event.kept.head,) if event.kept.head else ())
    places = [data.rfind(b'"uuid":"%b"' % one.encode(), 0, start) for one in kept]
    tail = min((data.rfind(b"\n", 0, place) + 1 for place in places), default=start)
    head = data.find(b"\n", first) + 1
    if not uuid or any(place < 0 for place in places) or head > tail:
        return None
    return _Cut(head, data.count(b"\n", 0, head), tail, uuid, keeps=bool(kept))


def _boundaries(data: bytes) -> Iterator[tuple[int, str, Event]]:
    """The boundaries of the conversation itself, the last first: where each begins, its uuid and what it records."""
    at = len(data)
    while (at := data.rfind(_BOUNDARY, 0, at)) >= 0:
        start, stop = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = object_of(data[start : stop if stop >= 0 else len(data)]) or {}
        event = of_system_line(line, None) if line.get("type") == "system" else None
        if event and event.compaction.way == "summary" and line.get("isSidechain") is not True:
            yield start, text_of(line.get("uuid")), event
        at = start


def _reading_of(data: bytes, cut: _Cut, *, told_anew: bool) -> Reading:
    """`told_anew`: whether what is not read may say anew which prompt is sent."""
    reading = Reading(Records(data))
    found = records_of(data)
    for value, index, line in objects_of(found, len(data), reading.records, reading.warnings, no_progress):
        if told_anew and line == cut.lines + 1:
            reading.prompts.clear()
        take(reading, value, index, line)
    return reading


def _hangs_together(reading: Reading, cut: _Cut) -> bool:
    """Whether every line of the end names another of it as its parent, but for the boundary and what is read first; and
    nothing was taken out of the context before it."""
    tree, boundary = reading.tree, reading.tree.by_uuid.get(cut.uuid, -1)
    ours = [at for at, line in enumerate(tree.lines) if line > cut.lines and not tree.sides[at]]
    named = {tree.uuids[at] for at in ours}
    free = {boundary, *ours[:1]}
    loose = (record for record, _ in reading.loose_events)
    return (
        boundary in ours
        and all(tree.parents[at] in named for at in ours if at not in free)
        and named.issuperset(tree.anchors.values())
        and min(reading.events, default=-1) == tree.messages[boundary]
        and all(record > reading.by_uuid[cut.uuid] for record in loose)
    )


def _has_facts(reading: Reading, cut: _Cut, *, told_anew: bool) -> bool:
    """Whether what is known of the session is what its newest lines say: id, folder and version, and the prompt."""
    prompt = reading.prompts.get(False, Prompt())
    noticed = any(draft.kind == "meta" and _is_notice(draft) for draft in reading.drafts)
    return (
        reading.drafts[0].role == "user"
        and all(isinstance(fact, str) for fact in reading.told[:3])
        and not (told_anew and (noticed or not prompt.system or not prompt.tools))
    )


def _is_notice(draft: Draft) -> bool:
    return any(isinstance(block, Text) and block.text.startswith(NOTIFICATION) for block in draft.blocks)


def _repeats(reading: Reading, data: bytes, cut: _Cut) -> bool:
    """Whether what is not read has a line or an answer by the name of one of the end, or the answer to one of its
    calls; or a line of the end has no name but the number of its record, which is another here."""
    lines, drafts = reading.records.lines, [one for one in reading.drafts if _line_of(one, reading) > cut.lines]
    uuids = {uuid for uuid, record in reading.by_uuid.items() if lines[record] > cut.lines}
    api = {id for (id, _), at in reading.by_api_id.items() if _line_of(reading.drafts[at], reading) > cut.lines}
    calls = {block.id for draft in drafts if cut.keeps for block in draft.blocks if isinstance(block, ToolUse)}
    return any(uuid.startswith("record-") or "#" in uuid for uuid in uuids) or any(
        ours and not {one.encode() for one in ours}.isdisjoint(name.findall(data, cut.head, cut.tail))
        for name, ours in ((_UUID, uuids), (_ID, api), (_ANSWER, calls))
    )


def _line_of(draft: Draft, reading: Reading) -> int:
    return reading.records.lines[draft.source[0]]


def _with_newest(session: Session, reading: Reading, cut: _Cut) -> Session | None:
    """Without the epoch that the first boundary ended, which is only begun here."""
    begun, *newest = session.epochs
    branch = {session.messages[number].id for number in session.branch}
    boundary = next(number for number, draft in enumerate(reading.drafts) if draft.id == cut.uuid)
    ours = {draft.id for draft in reading.drafts[boundary:] if not draft.side}
    known = any(is_model(session.messages[number]) for epoch in newest for number in epoch.members)
    kept = begun.ended_by.kept if begun.ended_by else ()
    first = {draft.id for draft in reading.drafts if _line_of(draft, reading) <= cut.lines}
    if len(newest) < 2 or not known or not ours <= branch or cut.keeps != bool(kept) or not first.isdisjoint(kept):
        return None
    epochs = tuple(replace(epoch, number=number) for number, epoch in enumerate(newest, 1))
    return replace(session, epochs=epochs, title="", warnings=(), records=Records(b""), begins_at=cut.tail)
