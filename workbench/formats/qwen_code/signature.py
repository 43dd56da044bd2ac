"""Recognise Qwen Code sessions."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "qwen-code"
KEYS = frozenset(
    ["cwd", "message", "model", "parentUuid", "sessionId", "systemPayload", "timestamp", "type", "uuid", "version"]
)

_MESSAGE_TYPES = ("user", "assistant", "tool_result")


def recognise(look: Look) -> str:
    for record in look.records:
        if isinstance(record.value, dict) and is_record(record.value):
            return f"line {record.line} is a {record.value['type']} record of Qwen Code"
    return ""


def is_record(value: dict[str, Any]) -> bool:
    """Return True if a line is Qwen Code's: linked as Claude Code's, but a message has parts, and a system record a
    payload."""
    if "uuid" not in value or "sessionId" not in value:
        return False
    if value.get("type") in _MESSAGE_TYPES:
        return isinstance(dict_of(value.get("message")).get("parts"), list)
    return value.get("type") == "system" and isinstance(value.get("systemPayload"), dict)
