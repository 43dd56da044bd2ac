"""By what a file is known: goose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.formats.kit.document import glimpse
from workbench.formats.kit.jsonl import first_records
from workbench.formats.kit.magic import SQLITE

ID = "goose"

_CONTENT = frozenset(["text", "image", "toolRequest", "toolResponse", "thinking", "redactedThinking"])


def recognise(head: bytes) -> str:
    if head.startswith(SQLITE):
        return "an SQLite database with goose's sessions and messages" if is_goose(head) else ""
    first = next(iter(first_records(head)), None)
    value = first.value if first and first.readable else glimpse(head)
    if isinstance(value, dict) and isinstance(value.get("conversation"), list) and "working_dir" in value:
        return "conversation beside working_dir, as goose exports a session"
    for record in first_records(head):
        if isinstance(record.value, dict) and is_message(record.value):
            return f"line {record.line} is a message of goose"
    if first and isinstance(first.value, dict) and "working_dir" in first.value and "message_count" in first.value:
        return "line 1 has working_dir and message_count, as goose's has"
    return ""


def is_goose(head: bytes) -> bool:
    """Whether the schema at the start of a database is goose's."""
    return head.startswith(SQLITE) and b"content_json" in head and b"working_dir" in head


def is_message(value: Mapping[str, Any]) -> bool:
    content = value.get("content")
    if value.get("role") not in ("user", "assistant") or type(value.get("created")) is not int:
        return False
    return isinstance(content, list) and all(
        isinstance(item, dict) and str(item.get("type")) in _CONTENT for item in content
    )
