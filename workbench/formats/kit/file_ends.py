"""Both ends of a file of any size, read as one short file.

A file of lines yields its complete lines; one JSON document yields the complete elements of its longest list.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import open_file, special_file_kind
from workbench.formats.kit.compressed import ZSTD, zstd_head
from workbench.formats.kit.document import render
from workbench.formats.kit.outline import glimpse

REACH = 64 * 1024
"""Bytes read at each end of a file."""

FURTHER = 8 * REACH
"""Bytes read from the beginning if a longer system prompt precedes the first request."""

_ATTEMPTS = 2_000
_NEXT = re.compile(r"\}\s*,\s*(?=\{)")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Ends:
    """First and last bytes of a file. `size` in bytes and `time` of the last change are those of the complete file."""

    head: bytes
    tail: bytes
    size: int
    time: float

    @property
    def is_whole(self) -> bool:
        return self.size <= len(self.head) + len(self.tail)


def ends_of(path: Path, reach: int = REACH, back: int = REACH) -> Ends:
    """Read the first `reach` and the last `back` bytes. Raises OSError; BadInput for anything but a regular file, which
    is not opened."""
    if what := special_file_kind(path.stat()):
        raise BadInput(f"This is {what}, not a regular file.")
    with open_file(path) as file:
        status = os.fstat(file.fileno())
        head = file.read(reach)
        file.seek(max(len(head), status.st_size - back))
        return Ends(head, file.read(back), status.st_size, status.st_mtime)


def joined_ends(ends: Ends) -> Iterator[bytes]:
    """Yield the two ends as one file: lines, one document, or text."""
    head, tail = ends.head, ends.tail
    if head.startswith(ZSTD):
        head = zstd_head(head, FURTHER)
        yield head[: head.rfind(b"\n") + 1]
    elif are_lines(head, tail):
        yield head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]
    elif (document := _short_document(head, tail)) is not None:
        yield document
    else:
        yield head + tail


def are_lines(head: bytes, tail: bytes) -> bool:
    """Return True if the first complete line of either end is a JSON object, as in a file of lines."""
    for line in (head.partition(b"\n")[0], tail.partition(b"\n")[2].partition(b"\n")[0]):
        try:
            if isinstance(json.loads(line), dict):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _short_document(head: bytes, tail: bytes) -> bytes | None:
    """Return the document that `head` begins, its longest list continued by the complete elements in `tail`; None if it
    has no list of objects."""
    value = glimpse(head)
    key = None
    items: Any = value
    if isinstance(value, dict):
        lists = {name: item for name, item in value.items() if isinstance(item, list) and item}
        key = max(lists, key=lambda name: len(lists[name]), default=None)
        items = lists.get(key) if key is not None else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    whole = items[:-1] if len(items) > 1 else items  # the last element may be cut
    required = set.intersection(*(set(item) for item in whole)) if whole else set()
    elements = [*whole, *_elements(tail.decode(errors="replace"), required)]
    return render(elements if key is None else {**value, key: elements})


def _elements(text: str, required: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects in `text` that follow another one in a list and have the `required` keys."""
    at = 0
    for _ in range(_ATTEMPTS):
        found = _NEXT.search(text, at)
        if found is None:
            return
        at = found.end()
        try:
            value, stop = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if required and required <= value.keys():
            yield value
            at = stop - 1
