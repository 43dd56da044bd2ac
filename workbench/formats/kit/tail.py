"""What of the loaded file stays as it was: the kept messages that end a context, in the file's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.session import Message


def tail_of(messages: Sequence[Message]) -> int:
    """Where the unbroken run of kept messages begins that ends the context; what lies between them is kept as well."""
    start = len(messages)
    while start and messages[start - 1].source:
        if start < len(messages) and messages[start - 1].source[0] > messages[start].source[0]:
            break
        start -= 1
    return start


def usage_reset(raw: bytes, nothing: Mapping[str, bytes]) -> dict[str, bytes]:
    """The change to a record that sets the usage of its message to `nothing`: tools compact by the last one."""
    body = field_of(raw, "message") or b""
    usage = field_of(body, "usage") if body.startswith(b"{") else None
    if usage is None or not usage.startswith(b"{"):
        return {}
    return {"message": replace_fields(body, {"usage": replace_fields(usage, nothing)})}
