"""Token figures as a server tells them: read one by one, and refused where no call can have them.

Of streams over Messages and Chat Completions, of batches and of lists of models the official clients give models, not
what was sent: they make 42 of `"42"` and of `42.0`, and 1 of `true`, before anybody sees it. That harms nothing: the
bounds hold for the number that is made, nothing else becomes one, and a server that writes its figures so means them.
All else is read as it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_TOKENS = 100_000_000
"""Tokens that one figure of a call can have: ten times the largest window of any model."""


class ImpossibleUsage(ValueError):
    """A figure that no call can have; the text names its field and says what it holds."""


def token_figure(of: object, name: str) -> int | None:
    """Tokens in the field `name` of a decoded object or of a client's model; None where it is missing or null. Raises
    ImpossibleUsage for anything but a whole number from 0 to MOST_TOKENS."""
    value = field_of(of, name)
    if value is None:
        return None
    if type(value) is int and 0 <= value <= MAX_TOKENS:
        return value
    raise ImpossibleUsage(f"{name} is {_describe_value(value)}")


def field_of(of: object, name: str) -> Any:
    """The field `name` of a decoded object or of a client's model; None where it is missing."""
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def _describe_value(value: Any) -> str:
    """A number as it stands, and the kind of anything else: a text may be a key that the server echoes."""
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
