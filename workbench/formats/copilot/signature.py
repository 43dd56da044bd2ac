"""Recognise Copilot CLI events."""

from __future__ import annotations

from workbench.formats.look import Look

ID = "copilot"
KEYS = frozenset(["data", "id", "parentId", "timestamp", "type"])

_TYPES = ("session.", "user.message", "assistant.", "tool.execution_", "system.", "hook.")


def recognise(look: Look) -> str:
    for record in look.records[:5]:
        value = record.value
        if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
            continue
        if value.get("type") == "session.start" and value["data"].get("producer") == "copilot-agent":
            return f"line {record.line} is the session.start event of Copilot CLI"
        if "parentId" in value and "timestamp" in value and str(value.get("type")).startswith(_TYPES):
            return f"line {record.line} is a {value['type']} event of Copilot CLI"
    return ""
