"""API errors from the values in which agents record them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.base.values import json_value
from workbench.formats.kit.values import dict_of, text_of
from workbench.session import ApiError

_TEXTS = ("formatted", "message", "detail", "details", "errorMessage")
_STATUSES = ("status", "statusCode", "status_code", "http_status")
_KINDS = ("type", "name", "code", "errorType", "codex_error_info")
_INSIDE = ("error", "data", "connection")


def api_error(id: str, recorded: Any, time: float | None = None, line: int | None = None) -> ApiError:
    """Return the API error in a recorded value: a text, or an object with message, status and name."""
    if isinstance(recorded, str):
        return ApiError(id, recorded, time, line)
    objects = list(_objects(recorded))
    text = next((text for one in objects for key in _TEXTS if (text := text_of(one.get(key)).strip())), "")
    statuses = (one.get(key) for one in objects for key in _STATUSES)
    status = next((code for code in statuses if type(code) is int and 400 <= code < 600), None)
    kinds = (text_of(one.get(key)) for one in objects for key in _KINDS)
    names = [kind for kind in dict.fromkeys(kinds) if kind and kind.lower() not in ("error", "other")]
    return ApiError(id, text or (" ".join(names) or "without a message"), time, line, status, " ".join(names))


def _objects(value: Any, depth: int = 4) -> Iterator[dict[str, Any]]:
    """Yield an object and the nested objects that describe the same error."""
    one = dict_of(value)
    if one and depth:
        yield one
        for key in _INSIDE:
            inner = one.get(key)
            yield from _objects(json_value(inner) if isinstance(inner, str) else inner, depth - 1)
