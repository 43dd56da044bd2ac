"""Usage figures of a server: read one by one, and refused if impossible.

In streams of Messages and Chat Completions, batches and model lists, the official clients return pydantic objects, not
the JSON that was sent: `"42"` and `42.0` become 42, and `true` becomes 1. That is harmless: the bounds apply to the
result, and nothing else becomes a number. Other answers are read as sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_TOKENS = 100_000_000
"""Maximum of one figure, in tokens: ten times the largest window of any model."""


class ImpossibleUsage(ValueError):
    """Raised for an impossible figure; the text has its field and value."""


def token_figure(of: object, name: str) -> int | None:
    """Return the tokens in the field `name` of decoded JSON or of a client's object; None if missing or null. Raises
    ImpossibleUsage for anything but an integer from 0 to MAX_TOKENS."""
    value = field_of(of, name)
    if value is None:
        return None
    if type(value) is int and 0 <= value <= MAX_TOKENS:
        return value
    raise ImpossibleUsage(f"{name} is {_describe_value(value)}")


def field_of(of: object, name: str) -> Any:
    """Return the field `name` of decoded JSON or of a client's object; None if missing."""
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def _describe_value(value: Any) -> str:
    """Return a number as text, and only the type of other values, because a string may be a key that the server
    echoes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 10**15:
        return str(value)
    if isinstance(value, int | float):
        try:
            return f"{value:.3g}"
        except OverflowError:
            return "a number of more than 300 digits"
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
