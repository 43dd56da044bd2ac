"""Facts that this program adds to a session file: keys in records, and the slot of the export note.

A path of keys leads from the document, or from its first line, to a slot; a number in it is an index in a list. A slot
is read and written without changing any other byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson
from msgspec import Struct

from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import array_items, field_of, replace_fields
from workbench.formats.kit.jsonl import loads_bounded
from workbench.session import Kind, Message

MARK = "workbench_kind"
"""Kind of a message. Agents ignore unknown keys; our readers restore the kind from it."""

STALE_USAGE = "workbench_spent"
"""Marks usage recorded so far as stale: it counts a longer context than the one now in the file."""

COPY = "workbench_copy"
"""Marks a record that is repeated in the file, at the position where it was read."""


EXPORT_NOTE = "workbench_carried"
"""Note of an export about its context as a whole (`formats/export_note.py`), once per file."""


def marked(record: Mapping[str, Any]) -> Kind | None:
    """Return the kind that this program wrote into a record; None without one."""
    kind = record.get(MARK)
    return kind if kind in ("normal", "summary", "meta") else None


def without_stale_usage(messages: Sequence[Message], context: Sequence[int], last: int) -> tuple[Message, ...]:
    """Remove the usage of the context's messages up to number `last`, whose record is marked with STALE_USAGE.

    Usage of earlier epochs is kept. `context` numbers the messages of the newest context in file order.
    """
    stale = {number for number in context if number <= last}
    return tuple(replace(message, usage=None) if n in stale else message for n, message in enumerate(messages))


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
        inside = field_of(raw, step)
        if rest and inside is None:
            return None
        inner = _write_slot(b"{}" if inside in (None, b"null") else inside or b"", rest, key, value)
        return None if inner is None else replace_fields(raw, {step: inner})
    except (ValueError, IndexError):
        return None


def _read_slot(value: Any, paths: Sequence[Keys], key: str) -> Any:
    for path in paths:
        reached = value
        for step in (*path, key):
            if isinstance(reached, dict) and isinstance(step, str):
                reached = reached.get(step)
            elif isinstance(reached, list) and isinstance(step, int) and step < len(reached):
                reached = reached[step]
            else:
                reached = None
        if isinstance(reached, str):
            reached = _value(reached.encode(errors="replace"))
        if reached is not None:
            return reached
    return None


def _value(raw: bytes) -> Any:
    try:
        return loads_bounded(raw)
    except (ValueError, RecursionError, orjson.JSONDecodeError):
        return None
