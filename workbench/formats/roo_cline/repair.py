"""Repair Cline and Roo tasks: a condensation whose summary is not marked as one."""

from __future__ import annotations

from workbench.formats.fixes import Fault
from workbench.formats.kit.sheet import RepairSheet, SheetEntry
from workbench.formats.kit.values import list_of, text_of

_SUMMARY = "## Conversation Summary"
"""Beginning of Roo's summaries."""


def records(sheet: RepairSheet) -> None:
    """Repair messages that name a missing summary, because Roo would show them again: mark the message that is the
    summary, or remove the links if there is none."""
    named: dict[str, list[SheetEntry]] = {}
    for entry in sheet.entries:
        if parent := text_of(entry.object.get("condenseParent")):
            named.setdefault(parent, []).append(entry)
    for parent, hidden in named.items():
        if any(entry.object.get("condenseId") == parent for entry in sheet.entries):
            continue
        summary = _summary_after(sheet, hidden[-1])
        if summary is None:
            for entry in hidden:
                entry.put((), {key: value for key, value in entry.object.items() if key != "condenseParent"})
                sheet.fixed(Fault.DANGLING_PARENT, entry, "no summary")
            continue
        summary.put(("isSummary",), True)
        summary.put(("condenseId",), parent)
        sheet.fixed(Fault.LOST_SUMMARY, summary, parent)


def _summary_after(sheet: RepairSheet, entry: SheetEntry) -> SheetEntry | None:
    """Return the message directly after the hidden ones if it begins like a summary."""
    for found in sheet.entries[sheet.index(entry) + 1 :][:1]:
        content = found.object.get("content")
        first = content if isinstance(content, str) else next(iter(list_of(content)), None)
        text = first if isinstance(first, str) else text_of(first.get("text")) if isinstance(first, dict) else ""
        if text.startswith(_SUMMARY) and not found.object.get("condenseId"):
            return found
    return None
