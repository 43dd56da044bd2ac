"""Recognise goose sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.formats.kit.database import Tables
from workbench.formats.look import Look

ID = "goose"
KEYS = frozenset(["content", "conversation", "created_at", "id", "message_count", "role", "working_dir"])

_CONTENT = frozenset(["text", "image", "toolRequest", "toolResponse", "thinking", "redactedThinking"])


def recognise(look: Look) -> str:
    if look.tables:
        return "an SQLite database with goose's sessions and messages" if is_database(look.tables) else ""
    if isinstance(look.first.get("conversation"), list) and "working_dir" in look.first:
        return "conversation with working_dir, as exported by goose"
    for record in look.records:
        if isinstance(record.value, dict) and is_message(record.value):
            return f"line {record.line} is a message of goose"
    if "working_dir" in look.first and "message_count" in look.first:
        return "line 1 has working_dir and message_count, as goose's has"
    return ""


def is_database(tables: Tables) -> bool:
    """True for goose's tables; `tables` are column names by table."""
    none = frozenset[str]()
    return "working_dir" in tables.get("sessions", none) and "content_json" in tables.get("messages", none)


def is_message(value: Mapping[str, Any]) -> bool:
    content = value.get("content")
    if value.get("role") not in ("user", "assistant") or type(value.get("created")) is not int:
        return False
    return isinstance(content, list) and all(
        isinstance(item, dict) and str(item.get("type")) in _CONTENT for item in content
    )
