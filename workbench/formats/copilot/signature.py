"""By what a file is known: Copilot CLI events."""

from __future__ import annotations

from workbench.formats.kit.document import glimpse
from workbench.formats.kit.jsonl import first_records

ID = "copilot"

_TYPES = ("session.", "user.message", "assistant.", "tool.execution_", "system.", "hook.")


def recognise(head: bytes) -> str:
    for record in first_records(head)[:5]:
        value = record.value if record.readable else glimpse(head[record.start : record.stop])
        if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
            continue
        if value.get("type") == "session.start" and value["data"].get("producer") == "copilot-agent":
            return f"line {record.line} is the session.start event of Copilot CLI"
        if "parentId" in value and "timestamp" in value and str(value.get("type")).startswith(_TYPES):
            return f"line {record.line} is a {value['type']} event of Copilot CLI"
    return ""
