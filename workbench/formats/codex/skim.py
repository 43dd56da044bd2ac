"""Read only the usage of a rollout, for audits of thousands of files.

The rollout is read normally up to its first usage. After that, the start of a line tells the group of an item
(`items.ItemGroup`), and only the events that affect usage are decoded. The result is None if an audit's row needs the
complete file: with a compaction, a rolled-back turn, a rollout that continues another one, or usage that may be wrong.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from workbench.base.values import json_value
from workbench.formats.codex.items import SUMMARIES, ItemGroup, group_of
from workbench.formats.codex.read import ItemDraft, Reader
from workbench.formats.format import Skimmed
from workbench.formats.kit.jsonl import records_of
from workbench.formats.kit.marks import EXPORT_NOTE, MARK
from workbench.formats.kit.values import dict_of, text_of
from workbench.formats.usage_checks import CHARACTERS_PER_TOKEN, may_be_too_large
from workbench.session import Billed, Epoch, Records

_LINE = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"(response_item|event_msg)","payload":\{"type":"(\w+)"'
    rb'(?:,"id":(?:"[^"\\]*"|null))?(?:,"role":"(\w+)")?'
)
"""Start of a line as Codex writes it. A line with another start is decoded."""

_USAGE_EVENTS = (b"token_count", b"task_started", b"thread_rolled_back")
_TOKENS = b'"token_count"'
_NO_SKIM = (b'"history_base"', b'"forked_from_id"', f'"{EXPORT_NOTE}"'.encode(), f'"{MARK}"'.encode())
"""Marks in a first line that require reading the complete file."""


def skim(path: Path, data: bytes) -> Skimmed | None:
    """Return the session up to its first usage, and all usage. None if the complete file must be read."""
    first = data.find(_TOKENS)
    if data[:1] != b"{" or first < 0 or any(mark in data[: data.find(b"\n")] for mark in _NO_SKIM):
        return None
    reader = Reader(path, Records(data))
    stop = _read_to_first_usage(reader, data, first)
    draft_count = len(reader.drafts)
    if not stop or not _skim_rest(reader, data, stop):
        return None
    if any(_may_be_too_small(reader, draft) for draft in reader.drafts):
        return None
    reader.finish()
    session = reader.session()
    members = range(draft_count)
    epoch = Epoch(1, members, window=session.epochs[0].window)
    start_session = replace(session, messages=session.messages[:draft_count], branch=members, epochs=(epoch,))
    billed = [(message.model, message.usage) for message in session.messages if message.usage and message.bill]
    if may_be_too_large([usage.context for _, usage in billed]):
        return None
    bills = tuple(
        Billed(model, usage.input, usage.output, usage.cache_read, usage.cache_write) for model, usage in billed
    )
    return Skimmed(start_session, bills) if bills and session.title else None


def _may_be_too_small(reader: Reader, draft: ItemDraft) -> bool:
    """Return True if a draft's usage may be too small for the text before it."""
    before = reader.records.starts[draft.source[0]]
    return draft.usage is not None and before > draft.usage.context * CHARACTERS_PER_TOKEN


def _read_to_first_usage(reader: Reader, data: bytes, at: int) -> int:
    """Read complete lines up to the token count of the first answer. Return the offset after it in bytes, 0 if there is
    none or the complete file must be read."""
    start = 0
    while at >= 0:
        stop = data.find(b"\n", at) + 1 or len(data)
        for record in records_of(data[start:stop]):
            if record.problem or not isinstance(record.value, dict):
                return 0
            index = reader.records.add(start + record.start, start + record.stop, record.line)
            reader.take(record.value, index, record.line)
        if not _context_is_unchanged(reader):
            return 0
        if reader.billed is not None and reader.billed.usage:
            return stop
        start, at = stop, data.find(_TOKENS, stop)
    return 0


def _skim_rest(reader: Reader, data: bytes, at: int) -> bool:
    """Add the lines from byte `at` on. Return False if the complete file must be read."""
    for line in data[at:].split(b"\n"):
        start, at = at, at + len(line) + 1
        head = _LINE.match(line) if line.endswith(b"}") else None
        if head and head[1] == b"event_msg" and head[2] not in _USAGE_EVENTS:
            continue
        index = reader.records.add(start, start + len(line), 1)
        if head and head[1] == b"response_item" and (head[3] or head[2] != b"message"):
            kind, role = head[2].decode(), head[3].decode() if head[3] else None
        elif line.strip():
            value = json_value(line)
            if not isinstance(value, dict):
                return False
            item = dict_of(value.get("payload")) if value.get("type") == "response_item" else {}
            kind, role = text_of(item.get("type")), item.get("role")
            if not kind:
                reader.take(value, index, 1)
                if not _context_is_unchanged(reader):
                    return False
                continue
        else:
            continue
        if kind in SUMMARIES:
            return False
        _add_item(reader, group_of({"type": kind, "role": role}), index)
    return True


def _context_is_unchanged(reader: Reader) -> bool:
    """Return True if no line so far changes the context."""
    newest = reader.drafts[-1:]
    return not (reader.epochs or reader.rolled_back or reader.warnings or any(one.kind == "boundary" for one in newest))


def _add_item(reader: Reader, group: ItemGroup, index: int) -> None:
    """Add an item of which only the group is known. The first item of a response begins an answer, which gets the
    pending usage; other items only end a response."""
    if group == "response" != reader.group:
        usage, id = reader.pending_usage, f"item-{index + 1}"
        draft = ItemDraft(id, "assistant", "normal", [], [index], None, reader.model, usage)
        reader.pending_usage, reader.billed = None, draft
        reader.begin(draft, group)
    reader.group = group or reader.group
