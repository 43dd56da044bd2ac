"""Values of decoded JSON, taken only where they are of their kind: a file may hold anything anywhere."""

from __future__ import annotations

from math import isfinite
from typing import Any


def dict_of(value: Any) -> dict[str, Any]:
    """The value where it is an object, an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value where it is a list, an empty one otherwise."""
    return value if isinstance(value, list) else []


def word_of(value: Any) -> str | None:
    """The value where it is a text with something in it."""
    return value if isinstance(value, str) and value else None


def text_of(value: Any) -> str:
    """The value where it is a text, an empty one otherwise."""
    return value if isinstance(value, str) else ""


def count_of(value: Any) -> int:
    """The value where it is a positive whole number, 0 otherwise."""
    return value if type(value) is int and value > 0 else 0


def dollars_of(value: Any) -> float | None:
    """A recorded cost, a number or a text of one; None for zero, too, which tools write where they know no price or pay
    by subscription."""
    try:
        paid = float(value) if type(value) in (int, float, str) else 0.0
    except (ValueError, OverflowError):
        return None
    return paid if paid > 0 and isfinite(paid) else None
