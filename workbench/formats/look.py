"""View of a file for recognition: its parts are read on first use, and cached for the next format.

The values are shared by all formats and must not be changed.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, overload

import orjson

from workbench.base.errors import BadInput
from workbench.formats.kit.compressed import ZIP, ZSTD, zstd_head
from workbench.formats.kit.database import SQLITE, Tables, tables_of
from workbench.formats.kit.jsonl import Record, is_padding, records_of
from workbench.formats.kit.outline import glimpse, outline
from workbench.formats.kit.values import dict_of

HEAD = 64 * 1024
"""Size of `Look.head` in bytes."""

LONE = 5
"""Number of records after which a truncated record is not completed."""

DECODED = 8_000_000
"""Bytes up to which a document is decoded entirely, which is faster than an outline."""

FIRST = 50
"""Records of a file of lines that recognition sees."""


class Unread(BadInput):
    """Raised for a file that cannot be read entirely, whichever format needs it."""


@dataclass(frozen=True, eq=False)
class Look:
    """A file as each format sees it.

    head: the first 64 KiB.
    read: returns all bytes; called at most once, when a format needs more than the head.
    path: path of the file, None for bytes from elsewhere; a database's write-ahead log is next to it.
    """

    head: bytes
    read: Callable[[], bytes]
    path: Path | None = None

    @classmethod
    def of(cls, data: bytes, path: Path | None = None) -> Look:
        """Return a look at bytes in memory."""
        return cls(data[:HEAD], lambda: data, path)

    @cached_property
    def data(self) -> bytes:
        """All bytes of the file."""
        return self._text.data

    @cached_property
    def document(self) -> Any:
        """Outline of the JSON document in the file; None for any other file.

        All keys of all objects are included. Texts and lists longer than 64 KiB may be cut.
        """
        return self._text.document

    @cached_property
    def records(self) -> Sequence[Record]:
        """First records of a file of lines, at most `FIRST`, decoded on demand. A record cut off by the head is an
        outline, if at most `LONE` records precede it."""
        return _LazySequence(self._text.records())

    @cached_property
    def values(self) -> list[Any]:
        """Values of the first records without damaged ones; [] if most are damaged."""
        found = [record.value for record in self.records if record.readable]
        return found if 2 * len(found) > len(self.records) else []

    @cached_property
    def _text(self) -> _Text:
        return _Text(self.head, self.read)

    @cached_property
    def first(self) -> dict[str, Any]:
        """First object of the file: the document, or the first readable record; {} for neither."""
        if self.document is not None:
            return dict_of(self.document)
        return dict_of(next((record.value for record in self.records if record.readable), None))

    @cached_property
    def tables(self) -> Tables:
        """Columns of each table of an SQLite database, write-ahead log included; {} for other files."""
        if not self.head.startswith(SQLITE):
            return {}
        return tables_of(self.path if self.path is not None else self.data)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """File names in a zip archive, the first ones if it is damaged; () for other files."""
        if not self.head.startswith(ZIP):
            return ()
        try:
            with zipfile.ZipFile(self.path or io.BytesIO(self.data)) as archive:
                return tuple(archive.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            names = (_name_at(self.head, found.start()) for found in re.finditer(re.escape(ZIP), self.head))
            return tuple(filter(None, names))

    @cached_property
    def unpacked(self) -> Look | None:
        """Look at the first 64 KiB of a zstd-compressed file; None for other files, and for a damaged one."""
        inner = zstd_head(self.head, HEAD) if self.head.startswith(ZSTD) else b""
        return Look.of(inner) if inner else None


@dataclass(frozen=True, eq=False)
class _Text:
    """The file as JSON. It holds no `Look`: unread records would reference it, and with it the entire file, in a cycle
    that lives until garbage collection, which is paused while a session is read."""

    head: bytes
    read: Callable[[], bytes]

    @cached_property
    def data(self) -> bytes:
        return self.read()

    @cached_property
    def document(self) -> Any:
        if len(self.head) < HEAD:
            return glimpse(self.head)
        value, stop = outline(self.head)
        if isinstance(value, dict) and stop == HEAD < len(self.data):
            if len(self.data) <= DECODED:
                with suppress(orjson.JSONDecodeError):
                    return orjson.loads(self.data)
            value, stop = self._first
        elif isinstance(value, list):
            return self._first[0]
        more = (self.head if stop < HEAD else self.data)[stop : stop + HEAD].lstrip()
        return value if isinstance(value, dict) and not more.startswith((b"{", b"[")) else None

    def records(self) -> Iterator[Record]:
        cut = self.head.rfind(b"\n") + 1 if len(self.head) == HEAD else len(self.head)
        found = 0
        records = (one for one in records_of(self.head, cut) if not is_padding(one))
        for record in islice(records, FIRST):
            found += 1
            yield record
        if cut < len(self.head) and found <= LONE:
            value = outline(self.data, cut)[0] if cut or self.document is None else self.document
            line = self.head.count(b"\n") + 1
            yield Record(cut, len(self.head), line, value, readable=value is not None)

    @cached_property
    def _first(self) -> tuple[Any, int]:
        return outline(self.data)


class _LazySequence(Sequence[Record]):
    """Sequence over an iterator that takes items on demand: most files are recognised by their first line."""

    def __init__(self, source: Iterator[Record]) -> None:
        self._source, self._items = source, list[Record]()

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        stop = index.stop if isinstance(index, slice) else index + 1
        self._take(stop if isinstance(stop, int) and stop > 0 else FIRST + 1)
        return self._items[index]

    def __len__(self) -> int:
        self._take(FIRST + 1)
        return len(self._items)

    def _take(self, stop: int) -> None:
        self._items += islice(self._source, max(0, stop - len(self._items)))


def _name_at(data: bytes, at: int) -> str:
    """Return the name in the header of an archive's entry at `at`: its length is at byte 26, its text at 30."""
    length = int.from_bytes(data[at + 26 : at + 28], "little")
    return data[at + 30 : at + 30 + length].decode(errors="replace")
