"""The unchanged end of a context: kept messages in the file's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.session import Message


def tail_of(messages: Sequence[Message]) -> int:
    """Return the index of the first message of the unbroken run of kept messages at the context's end."""
    start = len(messages)
    while start and messages[start - 1].source:
        if start < len(messages) and messages[start - 1].source[0] > messages[start].source[0]:
            break
        start -= 1
    return start


def usage_reset(raw: bytes, zeros: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the change that sets a record's usage to `zeros`: agents compact by the last recorded usage."""
    body = field_of(raw, "message") or b""
    usage = field_of(body, "usage") if body.startswith(b"{") else None
    if usage is None or not usage.startswith(b"{"):
        return {}
    return {"message": replace_fields(body, {"usage": replace_fields(usage, zeros)})}
