"""Repair Copilot CLI sessions: header, links, counts, pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.fixes import Fault
from workbench.formats.kit.links import drop_copies
from workbench.formats.kit.record_repairs import Pairing, no_negative_counts, pair
from workbench.formats.kit.settle import NO_RESULT, ORPHAN
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, new_entry
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Session

_VERSION = "1.0.102"


def records(sheet: RepairSheet) -> None:
    """Repair the header, the links and counts."""
    drop_copies(sheet, sheet.entries)
    _repair_header(sheet)
    _link(sheet)
    for entry in sheet.entries:
        if _kind(entry).startswith("session."):
            no_negative_counts(sheet, entry, ("data",))


def _kind(entry: SheetEntry) -> str:
    return text_of(entry.object.get("type"))


def _data(entry: SheetEntry) -> dict[str, Any]:
    return dict_of(entry.object.get("data"))


def _repair_header(sheet: RepairSheet) -> None:
    first = sheet.entries[0] if sheet.entries else None
    if first is None or _kind(first) == "session.start":
        return
    starts = [entry for entry in sheet.entries if _kind(entry) == "session.start"]
    if starts:
        sheet.drop(lambda entry: entry is starts[0])
        sheet.entries.insert(0, starts[0])
        sheet.fixed(Fault.MISSING_HEADER, starts[0], "it was further down")
        return
    stamp = text_of(first.object.get("timestamp")) or iso()
    data = {
        "sessionId": sheet.folder.name if len(sheet.folder.name) == 36 else str(uuid4()),
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": _VERSION,
        "startTime": stamp,
    }
    value = {"type": "session.start", "data": data, "id": str(uuid4()), "timestamp": stamp, "parentId": None}
    sheet.entries.insert(0, new_entry(value, 1))
    sheet.fixed(Fault.MISSING_HEADER, first, "session.start")


def _link(sheet: RepairSheet, *, report: bool = True) -> None:
    """Link each event to the one before it; events of model calls form a chain of their own."""
    before: SheetEntry | None = None
    seen: dict[str, SheetEntry] = {}
    for entry in sheet.entries:
        if _kind(entry).startswith("model."):
            continue
        id = text_of(entry.object.get("id"))
        if not id or id in seen:
            entry.put(("id",), str(uuid4()))
            if id:
                sheet.fixed(Fault.REPEATED_ID, entry, sheet.named(seen[id]))
            else:
                sheet.fixed(Fault.MISSING_FIELD, entry, "id")
        parent = text_of(before.object.get("id")) if before else None
        if entry.object.get("parentId") != parent:
            entry.put(("parentId",), parent)
            if report:
                sheet.fixed(Fault.DANGLING_PARENT, entry, sheet.named(before) if before else "nothing")
        if not isinstance(entry.object.get("timestamp"), str):
            entry.put(("timestamp",), text_of(before.object.get("timestamp")) if before else iso())
            sheet.fixed(Fault.MISSING_FIELD, entry, "timestamp")
        seen[text_of(entry.object.get("id"))] = before = entry


def context(sheet: RepairSheet, sent: Sequence[SheetEntry], session: Session) -> None:
    """Repair the pairs of calls and results among the events that are sent."""
    pair(sheet, [entry for entry in sent if not _data(entry).get("isUserRequested")], PAIRING)
    _link(sheet, report=False)


def _calls(entry: SheetEntry) -> list[str]:
    if _kind(entry) != "assistant.message":
        return []
    return [text_of(dict_of(request).get("toolCallId")) for request in list_of(_data(entry).get("toolRequests"))]


def _results(entry: SheetEntry) -> list[str]:
    return [text_of(_data(entry).get("toolCallId"))] if _kind(entry) == "tool.execution_complete" else []


def _response(entry: SheetEntry) -> str:
    if _kind(entry) != "assistant.message" or not (_data(entry).get("content") or _calls(entry)):
        return ""
    return text_of(entry.object.get("id"))


def _as_text(entry: SheetEntry, nth: int) -> None:
    result = _data(entry).get("result")
    text = text_of(dict_of(result).get("content")) or text_of(result)
    entry.put(("data",), {"content": f"{ORPHAN}\n{text}", "source": "repair"})
    entry.put(("type",), "user.message")


def _answers(entry: SheetEntry, ids: Sequence[str]) -> list[SheetEntry]:
    stamp = entry.object.get("timestamp")
    return [
        new_entry(
            {
                "type": "tool.execution_complete",
                "data": {"toolCallId": id, "success": False, "error": {"message": NO_RESULT}},
                "id": str(uuid4()),
                "timestamp": stamp,
                "parentId": None,
            },
            entry.place,
        )
        for id in ids
    ]


def _put_before(sheet: RepairSheet, entry: SheetEntry, new: SheetEntry) -> None:
    at = sheet.index(entry)
    while at and _kind(sheet.entries[at - 1]) in ("assistant.turn_start", "assistant.turn_end"):
        at -= 1
    sheet.entries.insert(at, new)


PAIRING = Pairing(_calls, _results, _response, _as_text, _answers, put_before=_put_before)
