"""What recognition sees of a file, whatever its size: found when a format first asks for it, and kept for the next.

Nothing in it is to be changed: every format is shown the same.
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
from workbench.formats.kit import zstd
from workbench.formats.kit.database import Tables, tables_of
from workbench.formats.kit.jsonl import Record, is_padding, records_of
from workbench.formats.kit.magic import SQLITE, ZIP, ZSTD
from workbench.formats.kit.outline import glimpse, outline
from workbench.formats.kit.values import dict_of

HEAD = 64 * 1024
"""How much of a file `Look.head` is, in bytes."""

LONE = 5
"""Records that tell enough: the one behind them is read only as far as the head shows it."""

DECODED = 8_000_000
"""Bytes up to which a document is decoded whole, which is faster than to pass over what is not looked at."""

FIRST = 50
"""Records of a file of lines that are looked at to tell what it is."""


class Unread(BadInput):
    """The file is not to be had as a whole, whichever format asks for it."""


@dataclass(frozen=True, eq=False)
class Look:
    """A file as it is shown to each format.

    head: its first 64 KiB.
    read: gives all its bytes; called when a format asks for more than the head, and then once.
    path: where it lies, None for bytes that came from elsewhere; a database's write-ahead log lies beside it.
    """

    head: bytes
    read: Callable[[], bytes]
    path: Path | None = None

    @classmethod
    def of(cls, data: bytes, path: Path | None = None) -> Look:
        """A look at bytes that were read already."""
        return cls(data[:HEAD], lambda: data, path)

    @cached_property
    def data(self) -> bytes:
        """All bytes of the file."""
        return self._text.data

    @cached_property
    def document(self) -> Any:
        """The outline of the one JSON document that the file is; None where it is something else or holds several.

        All keys of an object are there, wherever they stand in the file, and so are those of the objects within. Of
        texts and lists longer than 64 KiB the beginning may be all that is given.
        """
        return self._text.document

    @cached_property
    def records(self) -> Sequence[Record]:
        """The first records of a file of lines, `FIRST` at most, each decoded when it is first asked for. Of one that
        the head cuts off the outline is given, where no more than `LONE` stand before it."""
        return _AsAsked(self._text.records())

    @cached_property
    def values(self) -> list[Any]:
        """The values of the first records, without those that are damaged; [] where most of them are."""
        found = [record.value for record in self.records if record.readable]
        return found if 2 * len(found) > len(self.records) else []

    @cached_property
    def _text(self) -> _Text:
        return _Text(self.head, self.read)

    @cached_property
    def first(self) -> dict[str, Any]:
        """The object that the file begins with: the document, or the first record of lines that is not damaged; {} for
        neither."""
        if self.document is not None:
            return dict_of(self.document)
        return dict_of(next((record.value for record in self.records if record.readable), None))

    @cached_property
    def tables(self) -> Tables:
        """The columns of each table of an SQLite database, its write-ahead log included; {} for other files."""
        if not self.head.startswith(SQLITE):
            return {}
        return tables_of(self.path if self.path is not None else self.data)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names in a zip archive, the first ones of one that is damaged or unfinished; () for other files."""
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
        """A look at the first 64 KiB that a zstd-compressed file holds; None for other files, and for a damaged one."""
        inner = zstd.glimpse(self.head, HEAD) if self.head.startswith(ZSTD) else b""
        return Look.of(inner) if inner else None


@dataclass(frozen=True, eq=False)
class _Text:
    """The file as JSON. It knows of no `Look`: records that were not all asked for would hold one, and with it the
    whole file, in a circle that only a collection of garbage ends, which is put off while a session is read."""

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


class _AsAsked(Sequence[Record]):
    """What an iterator gives, of which no more is taken than is asked for: most files are known by their first line."""

    def __init__(self, source: Iterator[Record]) -> None:
        self._source, self._taken = source, list[Record]()

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        stop = index.stop if isinstance(index, slice) else index + 1
        self._take(stop if isinstance(stop, int) and stop > 0 else FIRST + 1)
        return self._taken[index]

    def __len__(self) -> int:
        self._take(FIRST + 1)
        return len(self._taken)

    def _take(self, stop: int) -> None:
        self._taken += islice(self._source, max(0, stop - len(self._taken)))


def _name_at(data: bytes, at: int) -> str:
    """The name in the header of an archive's entry that begins at `at`: its length stands at byte 26, itself at 30."""
    length = int.from_bytes(data[at + 26 : at + 28], "little")
    return data[at + 30 : at + 30 + length].decode(errors="replace")
