"""Formats that are one JSON document: tolerant reading, and byte-exact insertion of messages.

A kept element of the array is copied byte for byte, like all bytes around the array. One element may hold several
messages (a call with its results), and one message may span several elements (reasoning, text and calls of one
response). An element is copied only if all of it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.reading import read_file
from workbench.base.values import DEEPEST, is_too_deep
from workbench.formats.kit.json_spans import array_items, object_items
from workbench.formats.kit.jsonl import loads_bounded, loads_whole, whole
from workbench.formats.kit.limits import beyond
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Losses
from workbench.session import LoadWarning, Message

_BOM = b"\xef\xbb\xbf"


MOST = 1_000_000
"""Largest number of entries in a list. Sessions have fewer messages, and each entry costs a thousand times its
bytes."""


def parse(path: Path, data: bytes) -> tuple[Any, list[LoadWarning]]:
    """Return the document's value, and warnings about its bytes.

    Raises BadInput with line and column for damaged JSON, for a top-level list of more than MOST entries, and for data
    too large or too deep for a session.
    """
    check_size(path, data)
    value, warnings = _parsed(path, data)
    if is_too_deep(value, data):
        raise BadInput(
            f"{path}: its JSON is nested more than {DEEPEST} deep, too much for a session; remove it and try again."
        )
    check_list_lengths(path, value)
    return value, warnings


def check_size(path: Path, data: bytes) -> None:
    """Raise BadInput for JSON that exceeds the limits of a session, before it is decoded."""
    if excess := beyond(data, 0, len(data)):
        size = f"{len(data) // 1_000_000} MB"
        raise BadInput(f"{path}: its {size} of JSON hold {excess}, too much for a session; remove it and try again.")


def check_list_lengths(path: Path, value: Any) -> None:
    """Raise BadInput for a list of more than MOST entries at the top of a document."""
    for one in value.values() if isinstance(value, dict) else (value,):
        if isinstance(one, list) and len(one) > MOST:
            raise BadInput(
                f"{path}: holds a list of {grouped(len(one))} entries, too many for a session; "
                "open the session's original file."
            )


def _parsed(path: Path, data: bytes) -> tuple[Any, list[LoadWarning]]:
    try:
        return orjson.loads(data), []
    except orjson.JSONDecodeError:
        pass
    warnings: list[LoadWarning] = []
    if data.startswith(_BOM):
        warnings.append(LoadWarning("begins with a byte order mark, which was skipped", 1))
        data = data[len(_BOM) :]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        warnings.append(LoadWarning("holds bytes that are not UTF-8; shown as � and kept unchanged", line))
        text = data.decode(errors="replace")
    if (repaired := whole(text)) != text:
        warnings.append(LoadWarning("holds lone surrogates; shown as � and kept unchanged"))
    text = repaired
    try:
        return loads_whole(text), warnings
    except json.JSONDecodeError as error:
        where = f"{path}: line {error.lineno}, column {error.colno}"
        raise BadInput(
            f"{where}: the JSON is damaged or cut off ({error.msg}); restore a whole copy and open that."
        ) from None
    except ValueError as error:
        raise BadInput(f"{path}: its JSON cannot be read ({error}); restore a whole copy and open that.") from None


def read_sidecar(path: Path) -> dict[str, Any]:
    """Return the object in a sidecar file of a session; {} if it is missing or unreadable."""
    try:
        return dict_of(loads_bounded(read_file(path)))
    except (OSError, ValueError):
        return {}


def splice(data: bytes, key: str | None, pieces: Sequence[int | bytes]) -> bytes:
    """Return `data` with the array at the top-level `key` (the document itself for None) replaced by `pieces`.

    A piece is the index of an element to copy byte for byte, or the JSON of a new one. The bytes between two elements
    that stay neighbours are copied; elsewhere the separator of the first two elements is used. Raises KeyError for a
    missing key, ValueError for invalid JSON.
    """
    bom, data = (_BOM, data[len(_BOM) :]) if data.startswith(_BOM) else (b"", data)
    text = data.decode("latin-1")  # one character per byte: spans of characters are spans of bytes
    spans = array_items(text, key)
    if list(pieces) == list(range(len(spans))):
        return bom + data
    if spans:
        before, after = spans[0][0], spans[-1][1]
    else:
        before = after = (text.index("[") if key is None else object_items(text)[key][0]) + 1
    separator = data[spans[0][1] : spans[1][0]] if len(spans) > 1 else b", "
    parts = [bom, data[:before]]
    last: int | bytes | None = None
    for piece in pieces:
        follows = isinstance(piece, int) and isinstance(last, int) and piece == last + 1
        if isinstance(piece, bytes):
            parts += b"" if last is None else separator, piece
        elif follows:
            parts.append(data[spans[piece - 1][1] : spans[piece][1]])  # with the bytes between the two
        else:
            parts += b"" if last is None else separator, data[spans[piece][0] : spans[piece][1]]
        last = piece
    parts.append(data[after:])
    return b"".join(parts)


def elements(data: bytes, key: str | None) -> list[bytes]:
    """Return the bytes of each element of the array at the top-level `key`, or of the document itself for None."""
    data = data.removeprefix(_BOM)
    return [data[start:stop] for start, stop in array_items(data.decode("latin-1"), key)]


def render(value: Any) -> bytes:
    """Return the compact JSON of a value."""
    try:
        return orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):  # lone surrogates, integers beyond 64 bits
        return json.dumps(value, separators=(",", ":"), default=str).encode()


def new_name(path: Path | None) -> str:
    """Return a file name for the export of a session whose agent requires none."""
    return f"{path.name.split('.')[0] or 'session'}.compacted.json" if path else "session.compacted.json"


Item = dict[str, Any]
ToItems = Callable[[Message, Losses], list[Item]]


def pieces(own: Sequence[Message], messages: Sequence[Message], to_items: ToItems, losses: Losses) -> list[int | bytes]:
    """Return the new list for `document.splice`: indexes of items to copy, and the JSON of new ones.

    `own` are the messages of the loaded document, empty if the messages come from another format. An item of which only
    a part is kept is rendered from its blocks. Boundaries are never written.
    """
    whole: dict[tuple[int, ...], list[str]] = {}
    for message in own:
        whole.setdefault(message.source, []).append(message.id)
    items: list[int | bytes] = []
    for source, run in groupby(messages, key=lambda message: message.source):
        group = list(run)
        if source and [message.id for message in group] == whole.get(source):
            items += source
        else:
            for message in group:
                items += map(render, to_items(message, losses) if message.kind != "boundary" else ())
    return items


def with_unread(items: Sequence[int | bytes], unread: Sequence[int]) -> list[int | bytes]:
    """Insert the items without a message into the new list, each before the first kept item that followed it."""
    whole: list[int | bytes] = []
    waiting = list(unread)
    for piece in items:
        while isinstance(piece, int) and waiting and waiting[0] < piece:
            whole.append(waiting.pop(0))
        whole.append(piece)
    return whole + waiting
