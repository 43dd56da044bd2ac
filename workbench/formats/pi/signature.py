"""Recognise pi sessions."""

from __future__ import annotations

from workbench.formats.look import Look

ID = "pi"
KEYS = frozenset(["cwd", "id", "message", "parentId", "timestamp", "type", "version"])


def recognise(look: Look) -> str:
    first = next((record for record in look.records if record.readable), None)
    value = first.value if first else None
    if first is None or not isinstance(value, dict) or value.get("type") != "session":
        return ""
    known = isinstance(value.get("id"), str) and ("cwd" in value or "version" in value)
    return f"line {first.line} is the header of a pi session" if known else ""
