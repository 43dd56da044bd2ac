"""Read the end of a large session first: its newest two epochs, the same as in the complete file.

Two, because the bench shows the newest epoch that ended. The file's first lines are read, which identify the session,
and all lines from the second-newest boundary on, or from the first line that it keeps. The part between is only
searched. Return None wherever the result could differ from the complete file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from msgspec import Struct

from workbench.formats.claude_code.events import Event, event_of_system_line
from workbench.formats.claude_code.lines import NOTIFICATION, MessageDraft, Prompt, Reading, add_record
from workbench.formats.claude_code.read import is_model, session_of
from workbench.formats.format import no_progress
from workbench.formats.kit.jsonl import object_of, objects_of, records_of
from workbench.formats.kit.values import text_of
from workbench.session import Records, Session, Text, ToolUse

_BOUNDARY = b'"compact_boundary"'
"""Never found inside a text, where quotes are escaped; an object from a tool may contain it."""

_PROMPTS = (b'"prompt_snapshot"', b'"api-request')
"""Marks of lines with the system prompt or a recorded request."""

_ANSWERED = b'"usage":'
_UUID = re.compile(rb'"uuid": ?"([^"]*)"')
_ANSWER = re.compile(rb'"tool_use_id": ?"([^"]*)"')
_ID = re.compile(rb'"id": ?"([^"]*)"')


class _Cut(Struct, frozen=True):
    """The parts of a file that are read: its first `head` bytes (`lines` lines) and everything from byte `tail` on.
    `uuid`: that of the boundary in the tail. `keeps`: True if the boundary keeps earlier lines."""

    head: int
    lines: int
    tail: int
    uuid: str
    keeps: bool


def newest(path: Path, data: bytes) -> Session | None:
    """Return the session with only its newest epochs, numbered from 1; None if the file's end is not sufficient."""
    cut = _cut_of(data)
    if cut is None:
        return None
    prompt_may_change = any(data.find(mark, cut.head, cut.tail) >= 0 for mark in _PROMPTS)
    reading = _reading_of(data[: cut.head] + data[cut.tail :], cut, prompt_may_change=prompt_may_change)
    if not _is_linked(reading, cut) or not _has_session_facts(reading, cut, prompt_may_change=prompt_may_change):
        return None
    return None if _repeats(reading, data, cut) else _with_newest(session_of(path, reading, on_web=False), reading, cut)


def _cut_of(data: bytes) -> _Cut | None:
    found = next(islice(_boundaries(data), 1, None), None)
    first = data.find(_ANSWERED)
    if data[:1] != b"{" or found is None or first < 0:
        return None
    start, uuid, event = found
    preserved = event.preserved.uuids or ((event.preserved.head,) if event.preserved.head else ())
    places = [data.rfind(b'"uuid":"%b"' % one.encode(), 0, start) for one in preserved]
    tail = min((data.rfind(b"\n", 0, place) + 1 for place in places), default=start)
    head = data.find(b"\n", first) + 1
    if not uuid or any(place < 0 for place in places) or head > tail:
        return None
    return _Cut(head, data.count(b"\n", 0, head), tail, uuid, keeps=bool(preserved))


def _boundaries(data: bytes) -> Iterator[tuple[int, str, Event]]:
    """Yield the summary boundaries of the main conversation, newest first: offset in bytes, uuid and event."""
    at = len(data)
    while (at := data.rfind(_BOUNDARY, 0, at)) >= 0:
        start, stop = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = object_of(data[start : stop if stop >= 0 else len(data)]) or {}
        event = event_of_system_line(line, None) if line.get("type") == "system" else None
        if event and event.compaction.way == "summary" and line.get("isSidechain") is not True:
            yield start, text_of(line.get("uuid")), event
        at = start


def _reading_of(data: bytes, cut: _Cut, *, prompt_may_change: bool) -> Reading:
    """Read head and tail. `prompt_may_change`: the skipped part may contain a newer system prompt."""
    reading = Reading(Records(data))
    found = records_of(data)
    for value, index, line in objects_of(found, len(data), reading.records, reading.warnings, no_progress):
        if prompt_may_change and line == cut.lines + 1:
            reading.prompts.clear()
        add_record(reading, value, index, line)
    return reading


def _is_linked(reading: Reading, cut: _Cut) -> bool:
    """Return True if every line of the tail has its parent in the tail (except the boundary and the first line), and no
    compaction lies before the boundary."""
    tree, boundary = reading.tree, reading.tree.by_uuid.get(cut.uuid, -1)
    tail_links = [at for at, line in enumerate(tree.lines) if line > cut.lines and not tree.sidechains[at]]
    named = {tree.uuids[at] for at in tail_links}
    free = {boundary, *tail_links[:1]}
    loose = (record for record, _ in reading.loose_events)
    return (
        boundary in tail_links
        and all(tree.parents[at] in named for at in tail_links if at not in free)
        and named.issuperset(tree.anchors.values())
        and min(reading.events, default=-1) == tree.messages[boundary]
        and all(record > reading.by_uuid[cut.uuid] for record in loose)
    )


def _has_session_facts(reading: Reading, cut: _Cut, *, prompt_may_change: bool) -> bool:
    """Return True if the newest lines alone give the session's id, folder, version and prompt."""
    prompt = reading.prompts.get(False, Prompt())
    noticed = any(draft.kind == "meta" and _is_notice(draft) for draft in reading.drafts)
    return (
        reading.drafts[0].role == "user"
        and all(isinstance(fact, str) for fact in reading.newest_common[:3])
        and not (prompt_may_change and (noticed or not prompt.system or not prompt.tools))
    )


def _is_notice(draft: MessageDraft) -> bool:
    return any(isinstance(block, Text) and block.text.startswith(NOTIFICATION) for block in draft.blocks)


def _repeats(reading: Reading, data: bytes, cut: _Cut) -> bool:
    """Return True if the skipped part has a uuid, message id or tool result that the tail uses too, or if a line of the
    tail is identified only by its record number, which differs here."""
    lines, drafts = reading.records.lines, [one for one in reading.drafts if _line_of(one, reading) > cut.lines]
    uuids = {uuid for uuid, record in reading.by_uuid.items() if lines[record] > cut.lines}
    api = {id for (id, _), at in reading.by_api_id.items() if _line_of(reading.drafts[at], reading) > cut.lines}
    calls = {block.id for draft in drafts if cut.keeps for block in draft.blocks if isinstance(block, ToolUse)}
    return any(uuid.startswith("record-") or "#" in uuid for uuid in uuids) or any(
        in_tail and not {one.encode() for one in in_tail}.isdisjoint(name.findall(data, cut.head, cut.tail))
        for name, in_tail in ((_UUID, uuids), (_ID, api), (_ANSWER, calls))
    )


def _line_of(draft: MessageDraft, reading: Reading) -> int:
    return reading.records.lines[draft.source[0]]


def _with_newest(session: Session, reading: Reading, cut: _Cut) -> Session | None:
    """Return the session without its first epoch, which is incomplete here; None if the rest is not sufficient."""
    incomplete, *newest = session.epochs
    branch = {session.messages[number].id for number in session.branch}
    boundary = next(number for number, draft in enumerate(reading.drafts) if draft.id == cut.uuid)
    tail_ids = {draft.id for draft in reading.drafts[boundary:] if not draft.sidechain}
    known = any(is_model(session.messages[number]) for epoch in newest for number in epoch.members)
    preserved = incomplete.ended_by.kept_ids if incomplete.ended_by else ()
    first = {draft.id for draft in reading.drafts if _line_of(draft, reading) <= cut.lines}
    if (
        len(newest) < 2
        or not known
        or not tail_ids <= branch
        or cut.keeps != bool(preserved)
        or not first.isdisjoint(preserved)
    ):
        return None
    epochs = tuple(replace(epoch, number=number) for number, epoch in enumerate(newest, 1))
    return replace(session, epochs=epochs, title="", warnings=(), records=Records(b""), begins_at=cut.tail)
