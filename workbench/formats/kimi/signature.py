"""Recognise sessions of Kimi Code and Kimi CLI."""

from __future__ import annotations

from workbench.formats.look import Look

ID = "kimi"

_MARKS = ("_system_prompt", "_checkpoint", "_usage")


def recognise(look: Look) -> str:
    """Recognise a context file or a journal. Kimi CLI's journals also begin with a protocol version; a later record of
    Kimi Code's types tells the difference."""
    if is_context(look):
        return "lines with role and content and the marks of Kimi CLI"
    if look.first.get("type") != "metadata" or "protocol_version" not in look.first:
        return ""
    for record in look.records[1:]:
        kind = record.value.get("type") if isinstance(record.value, dict) else None
        if isinstance(kind, str) and kind.startswith(("context.", "profile.", "config.", "turn.", "runtime.")):
            return f"a journal of Kimi Code: metadata, then a {kind} record on line {record.line}"
    return ""


def is_context(look: Look) -> bool:
    """True for a context file of Kimi CLI (`context.jsonl`)."""
    roles = [value.get("role") for value in look.values if isinstance(value, dict)]
    return any(role in _MARKS for role in roles) and len(roles) == len(look.values)
