"""Repair pi sessions: header, links, an older compaction inside the kept range, pairs, usage, reasoning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.fixes import Fault
from workbench.formats.kit.links import Links, link
from workbench.formats.kit.record_repairs import (
    SPARE_TOKENS,
    Pairing,
    chars_of,
    no_negative_counts,
    pair,
    refused_reasoning,
    sum_of,
    with_results,
)
from workbench.formats.kit.settle import NO_RESULT, ORPHAN
from workbench.formats.kit.sheet import Path, RepairSheet, SheetEntry, new_entry
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Session

_KINDS = (
    "message", "compaction", "branch_summary", "custom_message", "model_change", "thinking_level_change",
)  # fmt: skip
_COUNTS = ("input", "output", "cacheRead", "cacheWrite")
_ZERO_USAGE = {**dict.fromkeys(_COUNTS, 0), "totalTokens": 0}
_USAGE: Path = ("message", "usage")

LINKS = Links(
    "id",
    "parentId",
    linked=lambda entry: entry.object.get("type") != "session" and bool(entry.object),
    is_message=lambda entry: entry.object.get("type") in ("message", "custom_message"),
    new_id=lambda: uuid4().hex[:8],
)


def is_headless(values: Sequence[dict[str, Any]]) -> bool:
    """Return True if the records belong to a pi session without its header."""
    first = values[:20]
    linked = [value for value in first if {"type", "id", "parentId", "timestamp"} <= value.keys()]
    kinds = [value for value in first if value.get("type") in _KINDS]
    return len(linked) >= len(first) - 1 and 2 * len(kinds) > len(first)


def records(sheet: RepairSheet) -> None:
    """Repair header, links and counts, and unlink older compactions that the newest one would keep."""
    _header(sheet)
    if sheet.entries and sheet.entries[0].object.get("version", 1) == 1:
        return  # version 1 has no links: its entries follow each other in the file
    link(sheet, LINKS)
    for entry in sheet.entries:
        if isinstance(_body(entry).get("usage"), dict):
            no_negative_counts(sheet, entry, _USAGE)
    _older_compactions(sheet)


def _header(sheet: RepairSheet) -> None:
    headers = [entry for entry in sheet.entries if entry.object.get("type") == "session"]
    first = sheet.entries[0] if sheet.entries else None
    if first is None or first in headers[:1]:
        return
    if headers:
        sheet.move_header(headers[0])
        return
    id = sheet.name.partition(".")[0].rpartition("_")[2]
    stamp = text_of(first.object.get("timestamp")) or iso()
    value = {
        "type": "session",
        "version": 3,
        "id": id if len(id) == 36 else str(uuid4()),
        "timestamp": stamp,
        "cwd": "",
    }
    sheet.entries.insert(0, new_entry(value, 1))
    sheet.fixed(Fault.MISSING_HEADER, first, "session")


def _path_to_newest(sheet: RepairSheet) -> list[SheetEntry]:
    """Return the entries from the root to the newest one."""
    chain = LINKS.chain(sheet)
    by_id = {LINKS.id_of(entry): entry for entry in chain}
    path: list[SheetEntry] = []
    here = chain[-1] if chain else None
    while here is not None and here not in path[-1:] and len(path) <= len(chain):
        path.append(here)
        here = by_id.get(LINKS.parent_of(here))
    return path[::-1]


def _older_compactions(sheet: RepairSheet) -> None:
    """Unlink older compactions from the messages that the newest one keeps. pi would send their summaries as well,
    even between a tool call and its result."""
    path = _path_to_newest(sheet)
    places = [place for place, entry in enumerate(path) if entry.object.get("type") == "compaction"]
    if len(places) < 2:
        return
    newest = path[places[-1]]
    first_id = text_of(newest.object.get("firstKeptEntryId"))
    first = next((place for place, entry in enumerate(path) if LINKS.id_of(entry) == first_id), len(path))
    for place in places[:-1]:
        if first <= place:
            LINKS.unlink(sheet, path[place])
            sheet.fixed(Fault.OLDER_COMPACTION, path[place], f"the compaction on {sheet.named(newest)}")


def context(sheet: RepairSheet, sent: Sequence[SheetEntry], session: Session) -> None:
    """Repair the sent records: pairs, reasoning, usage."""
    pair(sheet, with_results(sheet, sent, session, PAIRING), PAIRING)
    refused_reasoning(sheet, _path_to_newest(sheet), _error, _reasoning, PAIRING.response)
    _usage(sheet, sent)


def _calls(entry: SheetEntry) -> list[str]:
    if _body(entry).get("role") != "assistant":
        return []
    return [text_of(part.get("id")) for part in _parts(entry) if part.get("type") == "toolCall"]


def _results(entry: SheetEntry) -> list[str]:
    return [text_of(_body(entry).get("toolCallId"))] if _body(entry).get("role") == "toolResult" else []


def _response(entry: SheetEntry) -> str:
    return LINKS.id_of(entry) if _body(entry).get("role") == "assistant" and not _error(entry) else ""


def _as_text(entry: SheetEntry, nth: int) -> None:
    body = _body(entry)
    content = [{"type": "text", "text": ORPHAN}, *list_of(body.get("content"))]
    entry.put(("message",), {"role": "user", "content": content, "timestamp": body.get("timestamp")})


def _answers(entry: SheetEntry, ids: Sequence[str]) -> list[SheetEntry]:
    names = {text_of(part.get("id")): part.get("name") for part in _parts(entry)}
    stamp = _body(entry).get("timestamp")
    return [
        LINKS.new_record(
            {
                "type": "message",
                "timestamp": entry.object.get("timestamp"),
                "message": {
                    "role": "toolResult",
                    "toolCallId": id,
                    "toolName": text_of(names.get(id)) or "unknown",
                    "content": [{"type": "text", "text": NO_RESULT}],
                    "isError": True,
                    "timestamp": stamp,
                },
            },
            entry.place,
        )
        for id in ids
    ]


PAIRING = Pairing(_calls, _results, _response, _as_text, _answers, put_before=LINKS.insert_before, detach=LINKS.remove)


def _body(entry: SheetEntry) -> dict[str, Any]:
    return dict_of(entry.object.get("message")) if entry.object.get("type") == "message" else {}


def _parts(entry: SheetEntry) -> list[dict[str, Any]]:
    return [part for part in list_of(_body(entry).get("content")) if isinstance(part, dict)]


def _error(entry: SheetEntry) -> str:
    body = _body(entry)
    return text_of(body.get("errorMessage")) or "error" if body.get("stopReason") == "error" else ""


def _reasoning(entry: SheetEntry) -> tuple[Path, list[int]] | None:
    content = list_of(_body(entry).get("content"))
    found = [n for n, part in enumerate(content) if isinstance(part, dict) and part.get("type") == "thinking"]
    return ("message", "content"), found


def _usage(sheet: RepairSheet, sent: Sequence[SheetEntry]) -> None:
    """Set the newest recorded usage to zero if it exceeds the context, because pi decides by it when to compact. Usage
    recorded before the newest compaction is not changed."""
    compacted = max((sheet.index(one) for one in sent if one.object.get("type") == "compaction"), default=-1)
    for entry in reversed(sent):
        if sheet.index(entry) < compacted:
            return
        usage = _body(entry).get("usage")
        if isinstance(usage, dict):
            total = usage.get("totalTokens")
            tokens = total if type(total) is int and total > 0 else sum_of(usage, _COUNTS)
            if tokens > chars_of(one.object for one in sent) + SPARE_TOKENS:
                for key, zero in _ZERO_USAGE.items():
                    if key in usage:
                        entry.put((*_USAGE, key), zero)
                sheet.fixed(Fault.IMPOSSIBLE_USAGE, entry, tokens)
            return
