"""By what a file is known: Kimi Code, and Kimi CLI before it."""

from __future__ import annotations

from workbench.formats.look import Look

ID = "kimi"

_MARKS = ("_system_prompt", "_checkpoint", "_usage")


def recognise(look: Look) -> str:
    """A journal begins with its protocol's version, as Kimi CLI's does too: that one is no context, and told apart by
    the records behind it."""
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
    """Whether a file is what Kimi CLI kept as `context.jsonl`."""
    roles = [value.get("role") for value in look.values if isinstance(value, dict)]
    return any(role in _MARKS for role in roles) and len(roles) == len(look.values)
