"""Tool results as an envelope {status, data, error}.

Some agents write each result as one JSON object with `status`, `data`, `text`, `stats`, `error` and `context`. Plain
text, the usual form, becomes `data`, with the status from the recorded error flag.
"""

from __future__ import annotations

from typing import Any

from workbench.base.values import json_value
from workbench.session import Text, ToolResult

_KEYS = frozenset(("status", "data", "text", "stats", "error", "context"))
_STATUS = ("success", "partial", "error")


def text_of(result: ToolResult) -> str:
    """Join the texts of a result with newlines, without media."""
    return "\n".join(part.text for part in result.content if isinstance(part, Text))


def result_envelope(result: ToolResult) -> dict[str, Any]:
    """Return the status (success, partial or error), the data, and code and message of an error. Without `text`,
    `stats` and `context`: `text` repeats the data, `context` the call."""
    found = _recorded_envelope(text_of(result))
    if found is None:
        return {"status": "error" if result.is_error else "success", "data": text_of(result)}
    fields = {"status": found["status"], "data": found.get("data")}
    error = found.get("error")
    if found["status"] == "error" and isinstance(error, dict):
        fields["error"] = {key: error[key] for key in ("code", "message") if key in error}
    elif found["status"] == "error" and error is not None:
        fields["error"] = error
    return fields


def envelope_is_partial(result: ToolResult) -> bool:
    """Return whether a result was recorded as an envelope, and `result_envelope` leaves out some of its content."""
    found = _recorded_envelope(text_of(result))
    return found is not None and found != result_envelope(result)


def _recorded_envelope(text: str) -> dict[str, Any] | None:
    if text.lstrip()[:1] != "{" or '"status"' not in text:
        return None
    found = json_value(text)
    is_one = isinstance(found, dict) and _KEYS.issuperset(found) and found.get("status") in _STATUS
    return found if is_one else None
