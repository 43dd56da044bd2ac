"""Checked access to values of decoded JSON, because a file may hold any type anywhere."""

from __future__ import annotations

from math import isfinite
from typing import Any


def dict_of(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return the value if it is a list, else []."""
    return value if isinstance(value, list) else []


def word_of(value: Any) -> str | None:
    """Return the value if it is a nonempty text, else None."""
    return value if isinstance(value, str) and value else None


def text_of(value: Any) -> str:
    """Return the value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def count_of(value: Any) -> int:
    """Return the value if it is a positive integer, else 0."""
    return value if type(value) is int and value > 0 else 0


def dollars_of(value: Any) -> float | None:
    """Return a recorded cost, a number or its text; None for zero, which agents write for unknown prices and
    subscriptions."""
    try:
        cost = float(value) if type(value) in (int, float, str) else 0.0
    except (ValueError, OverflowError):
        return None
    return cost if cost > 0 and isfinite(cost) else None
