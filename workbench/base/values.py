"""Decoded JSON: as a text again, whatever stands in it, and its values, depth first and without recursion: a file may
nest deeper than Python calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from workbench.base.text import valid_unicode

if TYPE_CHECKING:
    from pydantic import BaseModel


DEEPEST = 200
"""Levels of nesting that are read. More is no session's and more than 254 could not be encoded again; a walk through a
value takes several of Python's 1 000 frames for each."""


def json_of(model: BaseModel) -> bytes:
    """A model as it is kept in a file. Raises nothing for halves of characters, in names of files for example."""
    try:
        return model.model_dump_json().encode()
    except ValueError:
        return valid_unicode(json.dumps(model.model_dump(mode="json"), ensure_ascii=False)).encode()


def json_text(value: Any) -> str:
    """A value as compact JSON. Never raises: what no encoder takes is shown as a note of its type."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates and integers beyond 64 bits: the standard encoder takes both
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        except (TypeError, ValueError, RecursionError):
            return f"[{type(value).__name__} that is not JSON]"


def json_value(raw: Any) -> Any:
    """What a text or bytes hold as JSON; None for JSON that is damaged or nested deeper than is read, and for any other
    value, as a column or field may have."""
    if not isinstance(raw, str | bytes):
        return None
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return None if is_too_deep(value, raw) else value


def is_too_deep(value: Any, raw: bytes | str, start: int = 0, stop: int | None = None) -> bool:
    """Return True where the value decoded from `raw[start:stop]` is nested deeper than DEEPEST levels."""
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
    """Every value that is no object and no list, with the newest key above it ("" for none)."""
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
    """The strings among the values."""
    return (one for _, one in fields_in(value) if isinstance(one, str))


def words_in(value: object) -> Iterator[str]:
    """Keys and values as text, each key before what it holds; null is left out."""
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
