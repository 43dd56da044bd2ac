"""Positions of values in a JSON text, so that unchanged parts can be copied byte for byte.

Spans are half-open. The standard decoder skips each value; decoded values are discarded. Every function raises
ValueError for unexpected JSON, including JSON nested too deeply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder

_BOM = b"\xef\xbb\xbf"
_DECODER = JSONDecoder(strict=False)
_BLANK = re.compile(r"[ \t\n\r\ufeff]*")


def array_items(text: str, key: str | None = None) -> list[tuple[int, int]]:
    """Return the character spans of the elements of the array at the top-level `key`, or of the document itself for
    None.

    Raises KeyError if the document has no such key.
    """
    start = _skip(text, 0) if key is None else object_items(text)[key][0]
    return list(_walk_array(text, start))


def object_items(text: str) -> dict[str, tuple[int, int]]:
    """Return the character spans of the document's values by key. A repeated key has the span of its last value."""
    return {_key(quoted): (start, stop) for quoted, start, stop in _walk_object(text, _skip(text, 0))}


def byte_items(raw: bytes) -> dict[str, tuple[int, int]]:
    """Return the byte spans of the values of an object by key, decoded from UTF-8."""
    text = raw.decode("latin-1")  # one character per byte
    found = _walk_object(text, _skip(text, 0))
    return {_key(quoted.encode("latin-1").decode("utf-8", "replace")): (start, stop) for quoted, start, stop in found}


def replace_fields(raw: bytes, changes: Mapping[str, bytes]) -> bytes:
    """Return `raw`, one JSON object, with the values of the top-level keys in `changes` replaced.

    Missing keys are added at the end; every other byte is unchanged, whatever its encoding.
    """
    if not changes:
        return raw
    if raw.startswith(_BOM):
        return _BOM + replace_fields(raw.removeprefix(_BOM), changes)
    text = raw.decode("latin-1")  # one character per byte, so that spans of characters are spans of bytes
    parts: list[bytes] = []
    seen: set[str] = set()
    done = 0
    for quoted, start, stop in _walk_object(text, _skip(text, 0)):
        key = _key(quoted.encode("latin-1").decode("utf-8", "replace"))
        seen.add(key)
        if key in changes:
            parts += raw[done:start], changes[key]
            done = stop
    missing = {key: value for key, value in changes.items() if key not in seen}
    if missing:
        end = raw.rindex(b"}")
        parts.append(raw[done:end])
        done = end
        comma = b"," if seen else b""
        for key, value in missing.items():
            parts += comma, json.dumps(key).encode(), b":", value
            comma = b","
    parts.append(raw[done:])
    return b"".join(parts)


def field_of(raw: bytes, key: str) -> bytes | None:
    """Return the bytes of the value of a top-level ASCII key of one JSON object; None if the key is missing."""
    raw = raw.removeprefix(_BOM)
    span = object_items(raw.decode("latin-1")).get(key)
    return raw[span[0] : span[1]] if span else None


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value_end(text: str, at: int) -> int:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _expect(text: str, at: int, mark: str) -> int:
    """Return the index after `mark`, which must be at `at`."""
    if not text.startswith(mark, at):
        raise ValueError(f"expected {mark!r} at character {at}")
    return at + 1


def _key(quoted: str) -> str:
    return str(_DECODER.decode(quoted))


def _walk_object(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield the quoted key and the value's span of each member."""
    at = _skip(text, _expect(text, at, "{"))
    if text.startswith("}", at):
        return
    while True:
        _expect(text, at, '"')
        quoted = text[at : (at := _value_end(text, at))]
        start = _skip(text, _expect(text, _skip(text, at), ":"))
        stop = _value_end(text, start)
        yield quoted, start, stop
        at = _skip(text, stop)
        if text.startswith("}", at):
            return
        at = _skip(text, _expect(text, at, ","))


def _walk_array(text: str, at: int) -> Iterator[tuple[int, int]]:
    at = _skip(text, _expect(text, at, "["))
    if text.startswith("]", at):
        return
    while True:
        stop = _value_end(text, at)
        yield at, stop
        at = _skip(text, stop)
        if text.startswith("]", at):
            return
        at = _skip(text, _expect(text, at, ","))
