"""By what a file is known: Claude Code."""

from __future__ import annotations

import re
from typing import Any

from workbench.formats.kit.jsonl import first_records

ID = "claude-code"

_LINKED = ("user", "assistant", "system", "attachment", "progress")
WEB_EXPORT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"loglines"\s*:')
_CUT_LINE = re.compile(
    rb'\{"(?:parentUuid|uuid|type|isSidechain|sessionId|cwd)"\s*:.*?"(?:parentUuid|isSidechain|leafUuid)"'
)


def recognise(head: bytes) -> str:
    """Any kind of line may come first, so up to 50 are looked at; one longer than the head is known by its keys."""
    if WEB_EXPORT.match(head):
        return "a JSON object with loglines, as Claude Code on the web exports it"
    for record in first_records(head):
        value = record.value
        if not record.readable and record.stop == len(head) and _CUT_LINE.match(head, record.start):
            return f"line {record.line} has Claude Code's keys"
        if isinstance(value, dict) and _is_line(value):
            return f"line {record.line} is a {value['type']} line of Claude Code"
    return ""


def _is_line(value: dict[str, Any]) -> bool:
    type = value.get("type")
    if type in _LINKED:
        return "uuid" in value and ("sessionId" in value or "parentUuid" in value)
    return (
        (type == "summary" and "leafUuid" in value)
        or (type == "file-history-snapshot" and "snapshot" in value)
        or (
            type in ("queue-operation", "last-prompt", "mode", "permission-mode", "custom-title")
            and "sessionId" in value
        )
    )
