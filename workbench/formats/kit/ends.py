"""The two ends of a file of any size, read as if nothing lay between them.

Of lines, the whole ones; of one JSON document, the elements of its longest list that stand whole in either end.
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
from workbench.base.reading import not_a_file, open_file
from workbench.formats.kit import zstd
from workbench.formats.kit.document import render
from workbench.formats.kit.magic import ZSTD
from workbench.formats.kit.outline import glimpse

REACH = 64 * 1024
"""Bytes read at each end of a file."""

FURTHER = 8 * REACH
"""Bytes read at its beginning where the first request stands behind a system prompt longer than that."""

_ATTEMPTS = 2_000
_NEXT = re.compile(r"\}\s*,\s*(?=\{)")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Ends:
    """First and last bytes of a file; `size` and `time` of its last change are the file's."""

    head: bytes
    tail: bytes
    size: int
    time: float

    @property
    def is_whole(self) -> bool:
        return self.size <= len(self.head) + len(self.tail)


def ends_of(path: Path, reach: int = REACH, back: int = REACH) -> Ends:
    """The first `reach` and the last `back` bytes. Raises OSError; BadInput for what is not a regular file, which is
    not opened."""
    if what := not_a_file(path.stat()):
        raise BadInput(f"This is {what}, not a regular file.")
    with open_file(path) as file:
        status = os.fstat(file.fileno())
        head = file.read(reach)
        file.seek(max(len(head), status.st_size - back))
        return Ends(head, file.read(back), status.st_size, status.st_mtime)


def joined(ends: Ends) -> Iterator[bytes]:
    """The two ends as one file: of lines, as one document, or as text."""
    head, tail = ends.head, ends.tail
    if head.startswith(ZSTD):
        head = zstd.glimpse(head, FURTHER)
        yield head[: head.rfind(b"\n") + 1]
    elif are_lines(head, tail):
        yield head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]
    elif (document := _short_document(head, tail)) is not None:
        yield document
    else:
        yield head + tail


def are_lines(head: bytes, tail: bytes) -> bool:
    """True where the first whole line of either end is a JSON object by itself, as no line of a document is."""
    for line in (head.partition(b"\n")[0], tail.partition(b"\n")[2].partition(b"\n")[0]):
        try:
            if isinstance(json.loads(line), dict):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _short_document(head: bytes, tail: bytes) -> bytes | None:
    """The document that `head` begins, its longest list continued by the elements that stand whole in `tail`."""
    value = glimpse(head)
    key = None
    items: Any = value
    if isinstance(value, dict):
        lists = {name: item for name, item in value.items() if isinstance(item, list) and item}
        key = max(lists, key=lambda name: len(lists[name]), default=None)
        items = lists.get(key) if key is not None else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    whole = items[:-1] if len(items) > 1 else items  # the last one may be cut
    wanted = set.intersection(*(set(item) for item in whole)) if whole else set()
    elements = [*whole, *_elements(tail.decode(errors="replace"), wanted)]
    return render(elements if key is None else {**value, key: elements})


def _elements(text: str, wanted: set[str]) -> Iterator[dict[str, Any]]:
    """The objects in `text` that follow another one in a list and have the keys `wanted`."""
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
        if wanted and wanted <= value.keys():
            yield value
            at = stop - 1
