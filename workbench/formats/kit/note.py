"""Slots for this program's note in a session file, under a key that the file's agent ignores.

Keys lead to a slot from the document or from its first line; a number is the index of an element in a list. A slot is
read and written without changing any other byte.
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
    """Place of the note in files of a format.

    put(data, note): return the file with the note, a JSON object; None if this file has no place for it.
    found(data): return the note's value; None without a note.
    """

    put: Callable[[bytes, bytes], bytes | None]
    found: Callable[[bytes], Any]


def in_document(key: str, *paths: Keys, as_text: bool = False) -> NoteSlot:
    """Slot under `key` in the object at the first of `paths` that exists. `as_text`: stored as a string, for formats
    whose values must be strings."""

    def put(data: bytes, note: bytes) -> bytes | None:
        bom = _BOM if data.startswith(_BOM) else b""
        value = render(note.decode()) if as_text else note
        candidates = (_write_slot(data.removeprefix(_BOM), path, key, value) for path in paths)
        changed = next((one for one in candidates if one is not None), None)
        return None if changed is None else bom + changed

    def found(data: bytes) -> Any:
        if f'"{key}"'.encode() not in data:
            return None
        return _read_slot(_value(data.removeprefix(_BOM)), paths, key)

    return NoteSlot(put, found)


def in_first_line(key: str, *keys: str) -> NoteSlot:
    """Slot under `key` in the object that `keys` lead to in the first line."""

    def put(data: bytes, note: bytes) -> bytes | None:
        line, end, rest = data.partition(b"\n")
        changed = _write_slot(line, keys, key, note)
        return None if changed is None else changed + end + rest

    def found(data: bytes) -> Any:
        end = data.find(b"\n")  # partition would copy the rest, perhaps a hundred megabytes
        line = data[: end if end >= 0 else None]
        return _read_slot(_value(line), [keys], key) if f'"{key}"'.encode() in line else None

    return NoteSlot(put, found)


def in_quoted_line(key: str) -> NoteSlot:
    """Slot in an own line after the first, quoted by `> `."""
    line = re.compile(rb"^> " + key.encode() + rb": (\{.*\})\s*$", re.MULTILINE)

    def put(data: bytes, note: bytes) -> bytes | None:
        heading, end, rest = line.sub(b"", data).partition(b"\n")
        return b"%s\n> %s: %s\n%s" % (heading, key.encode(), note, end and rest)

    def found(data: bytes) -> Any:
        quoted = line.search(data)
        return _value(quoted[1]) if quoted else None

    return NoteSlot(put, found)


def _write_slot(raw: bytes, path: Sequence[str | int], key: str, value: bytes) -> bytes | None:
    try:
        if not path:
            return replace_fields(raw, {key: value}) if raw.lstrip()[:1] == b"{" else None
        step, *rest = path
        if isinstance(step, int):
            start, stop = array_items(raw.decode("latin-1"))[step]
            inner = _write_slot(raw[start:stop], rest, key, value)
            return None if inner is None else raw[:start] + inner + raw[stop:]
        there = field_of(raw, step)
        if rest and there is None:
            return None
        inner = _write_slot(b"{}" if there in (None, b"null") else there or b"", rest, key, value)
        return None if inner is None else replace_fields(raw, {step: inner})
    except (ValueError, IndexError):
        return None


def _read_slot(value: Any, paths: Sequence[Keys], key: str) -> Any:
    for path in paths:
        there = value
        for step in (*path, key):
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
