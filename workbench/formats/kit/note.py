"""Slots for this program's note in a session file, under a key that the file's agent ignores.

Keys lead to a slot from the document or from its first line; a number is the index of an element in a list. A slot is
read and written without touching any other byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from msgspec import Struct

from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import array_items, field_of, replace_fields
from workbench.formats.kit.jsonl import loads_bounded

Keys = tuple[str | int, ...]

_BOM = b"\xef\xbb\xbf"


class NoteSlot(Struct, frozen=True):
    """put(data, note): the file with the note, a JSON object; None where this file has no room for it.
    found(data): the value that stands there; None where nothing does."""

    put: Callable[[bytes, bytes], bytes | None]
    found: Callable[[bytes], Any]


def in_document(key: str, *ways: Keys, as_text: bool = False) -> NoteSlot:
    """Under `key` in the object that the first of these ways leads to in the document. `as_text`: as a string, where
    values can be nothing else."""

    def put(data: bytes, note: bytes) -> bytes | None:
        bom = _BOM if data.startswith(_BOM) else b""
        value = render(note.decode()) if as_text else note
        made = (_put(data.removeprefix(_BOM), way, key, value) for way in ways)
        whole = next((one for one in made if one is not None), None)
        return None if whole is None else bom + whole

    def found(data: bytes) -> Any:
        if f'"{key}"'.encode() not in data:
            return None
        return _found(_value(data.removeprefix(_BOM)), ways, key)

    return NoteSlot(put, found)


def in_first_line(key: str, *keys: str) -> NoteSlot:
    """Under `key` in the object that these keys lead to in the first line."""

    def put(data: bytes, note: bytes) -> bytes | None:
        line, end, rest = data.partition(b"\n")
        made = _put(line, keys, key, note)
        return None if made is None else made + end + rest

    def found(data: bytes) -> Any:
        end = data.find(b"\n")  # no partition: what is behind the line may be a hundred megabytes
        line = data[: end if end >= 0 else None]
        return _found(_value(line), [keys], key) if f'"{key}"'.encode() in line else None

    return NoteSlot(put, found)


def in_quoted_line(key: str) -> NoteSlot:
    """In a line of its own behind the first, quoted by `> `."""
    line = re.compile(rb"^> " + key.encode() + rb": (\{.*\})\s*$", re.MULTILINE)

    def put(data: bytes, note: bytes) -> bytes | None:
        heading, end, rest = line.sub(b"", data).partition(b"\n")
        return b"%s\n> %s: %s\n%s" % (heading, key.encode(), note, end and rest)

    def found(data: bytes) -> Any:
        quoted = line.search(data)
        return _value(quoted[1]) if quoted else None

    return NoteSlot(put, found)


def _put(raw: bytes, way: Sequence[str | int], key: str, value: bytes) -> bytes | None:
    try:
        if not way:
            return replace_fields(raw, {key: value}) if raw.lstrip()[:1] == b"{" else None
        step, *rest = way
        if isinstance(step, int):
            start, stop = array_items(raw.decode("latin-1"))[step]
            inner = _put(raw[start:stop], rest, key, value)
            return None if inner is None else raw[:start] + inner + raw[stop:]
        there = field_of(raw, step)
        if rest and there is None:
            return None
        inner = _put(b"{}" if there in (None, b"null") else there or b"", rest, key, value)
        return None if inner is None else replace_fields(raw, {step: inner})
    except (ValueError, IndexError):
        return None


def _found(value: Any, ways: Sequence[Keys], key: str) -> Any:
    for way in ways:
        there = value
        for step in (*way, key):
            if isinstance(there, dict) and isinstance(step, str):
                there = there.get(step)
            elif isinstance(there, list) and isinstance(step, int) and step < len(there):
                there = there[step]
            else:
                there = None
        if isinstance(there, str):
            there = _value(there.encode(errors="replace"))
        if there is not None:
            return there
    return None


def _value(raw: bytes) -> Any:
    try:
        return loads_bounded(raw)
    except (ValueError, RecursionError, orjson.JSONDecodeError):
        return None
