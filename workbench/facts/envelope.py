"""A tool's result as {status, data, error}: what it holds of such an envelope, or its plain text.

Some agents write every result as one JSON object of `status`, `data`, `text`, `stats`, `error`, `context`; plain text,
which is what most record, is `data`, with the status from the record's own error flag.
"""

from __future__ import annotations

from typing import Any

from workbench.base.values import json_value
from workbench.session import Text, ToolResult

_KEYS = frozenset(("status", "data", "text", "stats", "error", "context"))
_STATUS = ("success", "partial", "error")


def text_of(result: ToolResult) -> str:
    """The texts of a result, one below the other; media are left out."""
    return "\n".join(part.text for part in result.content if isinstance(part, Text))


def result_envelope(result: ToolResult) -> dict[str, Any]:
    """Status (success, partial or error), data, and of an error its code and message. `text`, `stats` and `context`
    are left out: the first is in the data, the last in the call."""
    found = _recorded_envelope(text_of(result))
    if found is None:
        return {"status": "error" if result.is_error else "success", "data": text_of(result)}
    kept = {"status": found["status"], "data": found.get("data")}
    error = found.get("error")
    if found["status"] == "error" and isinstance(error, dict):
        kept["error"] = {key: error[key] for key in ("code", "message") if key in error}
    elif found["status"] == "error" and error is not None:
        kept["error"] = error
    return kept


def envelope_is_partial(result: ToolResult) -> bool:
    """Whether the result was recorded as such an envelope and holds what `envelope` leaves out."""
    found = _recorded_envelope(text_of(result))
    return found is not None and found != result_envelope(result)


def _recorded_envelope(text: str) -> dict[str, Any] | None:
    if text.lstrip()[:1] != "{" or '"status"' not in text:
        return None
    found = json_value(text)
    is_one = isinstance(found, dict) and _KEYS.issuperset(found) and found.get("status") in _STATUS
    return found if is_one else None
