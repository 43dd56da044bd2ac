"""Repair Gemini CLI sessions in JSONL: the header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.fixes import Fault
from workbench.formats.kit.links import drop_copies
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, new_entry
from workbench.formats.kit.values import text_of

_TYPES = ("user", "gemini", "info", "error", "warning")
_HASH = re.compile(r"[0-9a-f]{64}")


def is_headless(values: Sequence[dict[str, Any]]) -> bool:
    """Return True if the records belong to a Gemini CLI session without its header."""
    first = [value for value in values[:20] if "id" in value]
    return bool(first) and all(
        value.get("type") in _TYPES and {"timestamp", "content"} <= value.keys() and "parentId" not in value
        for value in first
    )


def records(sheet: RepairSheet) -> None:
    """Repair the header: session id and project hash, which is also the name of the folder."""
    if not sheet.lines or not sheet.entries:
        return
    drop_copies(sheet, [entry for entry in sheet.entries if "id" in entry.object])
    headers = [entry for entry in sheet.entries if _is_header(entry)]
    first = sheet.entries[0]
    if first in headers[:1]:
        return
    if headers:
        sheet.move_header(headers[0])
        return
    stamp = text_of(first.object.get("timestamp")) or iso()
    project = sheet.folder.parent.name
    value = {
        "sessionId": str(uuid4()),
        "projectHash": project if _HASH.fullmatch(project) else sha256(str(sheet.folder).encode()).hexdigest(),
        "startTime": stamp,
        "lastUpdated": stamp,
        "kind": "main",
    }
    sheet.entries.insert(0, new_entry(value, 1))
    sheet.fixed(Fault.MISSING_HEADER, first, "sessionId and projectHash")


def _is_header(entry: SheetEntry) -> bool:
    return "sessionId" in entry.object and "projectHash" in entry.object
