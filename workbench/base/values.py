"""Decoded JSON: encoded again without errors, and walked depth first without recursion, because values can be nested
too deeply for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from workbench.base.text import valid_unicode

if TYPE_CHECKING:
    from pydantic import BaseModel


DEEPEST = 200
"""Deepest nesting that is read. No session has more, and orjson encodes at most 254 levels; a recursive walk takes
several of Python's 1 000 frames per level."""


def json_of(model: BaseModel) -> bytes:
    """Encode a model for a file. Lone surrogates, as in names of files, are replaced."""
    try:
        return model.model_dump_json().encode()
    except ValueError:
        return valid_unicode(json.dumps(model.model_dump(mode="json"), ensure_ascii=False)).encode()


def json_text(value: Any) -> str:
    """Encode a value as compact JSON. Never raises: a value that cannot be encoded becomes a note with its type."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates and integers beyond 64 bits: the standard encoder takes both
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        except (TypeError, ValueError, RecursionError):
            return f"[{type(value).__name__} that is not JSON]"


def json_value(raw: Any) -> Any:
    """Decode text or bytes as JSON; None for damaged or too deeply nested JSON, and for a value of another type."""
    if not isinstance(raw, str | bytes):
        return None
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return None if is_too_deep(value, raw) else value


def is_too_deep(value: Any, raw: bytes | str, start: int = 0, stop: int | None = None) -> bool:
    """True if the value decoded from `raw[start:stop]` is nested deeper than DEEPEST levels."""
    if isinstance(raw, str):
        begun = raw.count("[", start, stop) + raw.count("{", start, stop)
    else:
        begun = raw.count(b"[", start, stop) + raw.count(b"{", start, stop)
    if begun <= DEEPEST:
        return False
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for holder in level
            for inner in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def fields_in(value: object) -> Iterator[tuple[str, object]]:
    """Yield every scalar value with the nearest key above it ("" for none)."""
    waiting = [("", value)]
    while waiting:
        key, one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend((str(name), inner) for name, inner in reversed(one.items()))
        elif isinstance(one, list):
            waiting.extend((key, inner) for inner in reversed(one))
        else:
            yield key, one


def strings_in(value: object) -> Iterator[str]:
    """Yield the strings among the values."""
    return (one for _, one in fields_in(value) if isinstance(one, str))


def words_in(value: object) -> Iterator[str]:
    """Yield keys and values as text, each key before its value; null is skipped."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, inner in reversed(one.items()):
                waiting += (inner, str(name))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
        elif one is not None:
            yield str(one)
