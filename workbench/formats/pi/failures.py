"""API errors that pi records: as an answer that stopped with an error."""

from __future__ import annotations

from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.kit.values import dict_of, text_of
from workbench.session import ApiError


def failure_of(entry: dict[str, Any], id: str, line: int) -> ApiError | None:
    """The API error of an entry; None for an answer that did not fail and for one that the user aborted."""
    body = dict_of(entry.get("message"))
    if body.get("role") != "assistant" or body.get("stopReason") != "error":
        return None
    time = seconds_of(body.get("timestamp")) or seconds_of(entry.get("timestamp"))
    return ApiError(id, text_of(body.get("errorMessage")) or "without a message", time, line)
