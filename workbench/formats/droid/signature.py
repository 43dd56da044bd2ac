"""Recognise Droid sessions."""

from __future__ import annotations

from workbench.formats.look import Look

ID = "droid"
KEYS = frozenset({"owner", "hostId", "parentId", "visibility", "compactionSummaryId", "summaryText", "anchorMessage"})

_LINES = ("message", "compaction_state", "todo_state", "session_settings", "agent_turn_outcome")


def recognise(look: Look) -> str:
    """Recognise a file by its `session_start` line, or without it by a compaction among Droid's kinds of line."""
    for number, record in enumerate(look.records):
        value = record.value
        if not isinstance(value, dict):
            continue
        kind = value.get("type")
        if kind == "session_start" and "id" in value and {"cwd", "version", "owner", "title"} & value.keys():
            return f"line {record.line} is the start of a Droid session"
        if number and kind == "compaction_state" and "summaryText" in value:
            return f"line {record.line} is a compaction of Droid"
        if kind not in _LINES:
            return ""
    return ""
