"""Repair goose sessions in JSONL: the header."""

from __future__ import annotations

from workbench.formats.fixes import Fault
from workbench.formats.kit.sheet import RepairSheet


def records(sheet: RepairSheet) -> None:
    """Move the header to the first line: elsewhere goose reads it as a message."""
    headers = [entry for entry in sheet.entries if "working_dir" in entry.object and "role" not in entry.object]
    if headers and sheet.lines and sheet.entries[0] is not headers[0]:
        sheet.drop(lambda entry: entry is headers[0])
        sheet.entries.insert(0, headers[0])
        sheet.fixed(Fault.MISSING_HEADER, headers[0], "it was further down")
