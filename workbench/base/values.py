"""Decoded JSON: as a text again, whatever stands in it, and its values, depth first and without recursion: a file may
nest deeper than Python calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from workbench.base.text import whole

if TYPE_CHECKING:
    from pydantic import BaseModel


def json_of(model: BaseModel) -> bytes:
    """A model as it is kept in a file. Raises nothing for halves of characters, in names of files for example."""
    try:
        return model.model_dump_json().encode()
    except ValueError:
        return whole(json.dumps(model.model_dump(mode="json"), ensure_ascii=False)).encode()


def json_text(value: Any) -> str:
    """A value as compact JSON. Never raises: what no encoder takes is shown as a note of its type."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates and integers beyond 64 bits: the standard encoder takes both
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        except (TypeError, ValueError, RecursionError):
            return f"[{type(value).__name__} that is not JSON]"


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
