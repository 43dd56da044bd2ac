"""Reading only what a session was billed: for audits of many thousand files.

Up to its first bill a rollout is read as always. Behind it an item counts only by what it is part of, which the
beginning of its line says, and of the events those are decoded that the reader heeds. Where anything else decides what
the rows of an audit say, nothing is told, and the file must be read whole: a compaction, a turn that was taken back, a
rollout that goes on from another one, a bill that may be absurd.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from workbench.base.values import json_value
from workbench.formats.absurd import CHARACTERS_PER_TOKEN, may_be_too_large
from workbench.formats.codex.items import SUMMARIES, Side, side_of
from workbench.formats.codex.read import Draft, Reader
from workbench.formats.format import Skimmed
from workbench.formats.kit.jsonl import records_of
from workbench.formats.kit.mark import EXPORT_NOTE, MARK
from workbench.formats.kit.values import dict_of, text_of
from workbench.session import Billed, Epoch, Records

_LINE = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"(response_item|event_msg)","payload":\{"type":"(\w+)"'
    rb'(?:,"id":(?:"[^"\\]*"|null))?(?:,"role":"(\w+)")?'
)
"""How Codex writes the beginning of a line. One that begins otherwise is decoded."""

_HEEDED = (b"token_count", b"task_started", b"thread_rolled_back")
_TOKENS = b'"token_count"'
_NO_SKIM = (b'"history_base"', b'"forked_from_id"', f'"{EXPORT_NOTE}"'.encode(), f'"{MARK}"'.encode())
"""What stands in a first line of a rollout of which the others do not tell all."""


def skim(path: Path, data: bytes) -> Skimmed | None:
    """The session up to its first bill, and every bill. None where that would not tell all."""
    first = data.find(_TOKENS)
    if data[:1] != b"{" or first < 0 or any(mark in data[: data.find(b"\n")] for mark in _NO_SKIM):
        return None
    reader = Reader(path, Records(data))
    stop = _begun(reader, data, first)
    whole = len(reader.drafts)
    if not stop or not _skimmed(reader, data, stop):
        return None
    if any(_is_absurd(reader, draft) for draft in reader.drafts):
        return None
    reader.finish()
    session = reader.session()
    here = range(whole)
    epoch = Epoch(1, here, window=session.epochs[0].window)
    begun = replace(session, messages=session.messages[:whole], branch=here, epochs=(epoch,))
    billed = [(message.model, message.usage) for message in session.messages if message.usage and message.bill]
    if may_be_too_large([usage.context for _, usage in billed]):
        return None
    bills = tuple(Billed(model, of.input, of.output, of.cache_read, of.cache_write) for model, of in billed)
    return Skimmed(begun, bills) if bills and session.title else None


def _is_absurd(reader: Reader, draft: Draft) -> bool:
    """Whether a draft's bill may be of too little for all that stands before it."""
    before = reader.records.starts[draft.source[0]]
    return draft.usage is not None and before > draft.usage.context * CHARACTERS_PER_TOKEN


def _begun(reader: Reader, data: bytes, at: int) -> int:
    """Read whole lines up to the count of tokens in whose line, or before it, an answer was billed first; where that
    ends, 0 where there is none."""
    start = 0
    while at >= 0:
        stop = data.find(b"\n", at) + 1 or len(data)
        for record in records_of(data[start:stop]):
            if record.problem or not isinstance(record.value, dict):
                return 0
            index = reader.records.add(start + record.start, start + record.stop, record.line)
            reader.take(record.value, index, record.line)
        if not _tells_all(reader):
            return 0
        if reader.billed is not None and reader.billed.usage:
            return stop
        start, at = stop, data.find(_TOKENS, stop)
    return 0


def _skimmed(reader: Reader, data: bytes, at: int) -> bool:
    """Take in the lines from `at` on; whether they were such that this tells all."""
    for line in data[at:].split(b"\n"):
        start, at = at, at + len(line) + 1
        head = _LINE.match(line) if line.endswith(b"}") else None
        if head and head[1] == b"event_msg" and head[2] not in _HEEDED:
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
                if not _tells_all(reader):
                    return False
                continue
        else:
            continue
        if kind in SUMMARIES:
            return False
        _item(reader, side_of({"type": kind, "role": role}), index)
    return True


def _tells_all(reader: Reader) -> bool:
    """Whether nothing was read that changes the context."""
    newest = reader.drafts[-1:]
    return not (reader.epochs or reader.gone or reader.warnings or any(one.kind == "boundary" for one in newest))


def _item(reader: Reader, side: Side, index: int) -> None:
    """An item of which no more is known than what it is part of."""
    if side == "response" != reader.side:
        draft = Draft(f"item-{index + 1}", "assistant", "normal", [], [index], None, reader.model, reader.waiting)
        reader.waiting, reader.billed = None, draft
        reader.begin(draft, side)
    reader.side = side or reader.side
