"""Rows that outlive a run: an SQLite file from a session's path to its rows, for as long as the file is the same.

The same is what has the same size and time of change; where only the time differs, what has the same digest, for which
the file is read and not parsed. The path is part of the key, so two files with the same content are two. The cache may
only ever save time: a broken, locked or unwritable one is left alone, and the reason is kept in `trouble`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import orjson

from workbench.auditing.rows import TRIGGERS, SessionRow, row_from
from workbench.base import paths
from workbench.base.text import valid_unicode
from workbench.base.version import __version__
from workbench.finding.following import file_mark

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

FIGURES = 5
"""Raised when a row's figures come to mean something else: rows kept before are then made anew."""

MAX_BYTES = 256_000_000
"""About two hundred thousand sessions. A larger file loses its older half."""

LOCK_SECONDS = 2.0

TOGETHER = 500
"""Files that are written to the disk at once: so many are read again after a run that was killed."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files_1 (
  path TEXT PRIMARY KEY, basis BLOB NOT NULL, mark BLOB NOT NULL, size INTEGER NOT NULL, digest TEXT,
  rows BLOB NOT NULL, day INTEGER NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a file: its rows, its size and the digest of its bytes, None where there is none. `same`: its
    size and time of change are what they were."""

    rows: tuple[SessionRow, ...]
    size: int
    digest: str | None
    same: bool


def mark(path: Path | str) -> bytes:
    """Sizes and times of change of a file and what belongs to it."""
    return _short([one[1:] for one in file_mark(path) or ()])


def _basis() -> bytes:
    """What a row depends on beside its file: the program, what it tries, and the person's table of models."""
    return _short([__version__, FIGURES, TRIGGERS, file_mark(paths.models())])


def _short(told: object) -> bytes:
    return hashlib.blake2b(orjson.dumps(told), digest_size=16).digest()


class RowCache:
    """One connection for a run, in one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""
        self._base: sqlite3.Connection | None = None
        self._waiting = 0
        self._basis = _basis()

    @contextmanager
    def opened(self) -> Iterator[RowCache]:
        import sqlite3

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            base = sqlite3.connect(self.path, timeout=LOCK_SECONDS)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            yield self
            return
        with closing(base):
            self._base = base
            # Losing the file to a power cut costs another reading, waiting for the disk costs every run.
            self._use(lambda base: base.execute("PRAGMA synchronous = OFF"))
            self._use(lambda base: base.execute(_SCHEMA))
            try:
                yield self
            finally:
                self._commit()
                self._use(_prune)
                self._base = None

    def get(self, path: str, now: bytes) -> Kept | None:
        """What is kept of the file, None where nothing is."""
        if valid_unicode(path) != path:
            return None
        query = "SELECT mark, size, digest, rows FROM files_1 WHERE path = ? AND basis = ?"
        found = self._use(lambda base: base.execute(query, (path, self._basis)).fetchone())
        if found is None:
            return None
        try:
            rows = tuple(map(row_from, orjson.loads(found[3])))
        except (ValueError, TypeError, KeyError):
            return None
        return Kept(rows, found[1], found[2], found[0] == now)

    def put(self, path: str, now: bytes, size: int, digest: str | None, rows: Sequence[SessionRow]) -> None:
        """Remember a file's rows. They are on the disk when the run ends, or some time before. A file whose name is no
        text is read each time."""
        if valid_unicode(path) != path:
            return
        told, day = orjson.dumps(rows), int(time.time() // 86_400)
        line = (path, self._basis, now, size, digest, told, day)
        self._use(lambda base: base.execute("INSERT OR REPLACE INTO files_1 VALUES (?, ?, ?, ?, ?, ?, ?)", line))
        self._waiting += 1
        if self._waiting >= TOGETHER:
            self._commit()

    def _commit(self) -> None:
        self._use(lambda base: base.commit())
        self._waiting = 0

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        import sqlite3

        if self._base is None or self.trouble:
            return None
        try:
            return work(self._base)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        self.trouble = f"{self.path}: the cache of rows is not used ({error}); it may be deleted."


def _prune(base: sqlite3.Connection) -> None:
    ((pages,),) = base.execute("PRAGMA page_count")
    ((page_size,),) = base.execute("PRAGMA page_size")
    if pages * page_size <= MAX_BYTES:
        return
    ((rows,),) = base.execute("SELECT count(*) FROM files_1")
    base.execute("DELETE FROM files_1 WHERE path IN (SELECT path FROM files_1 ORDER BY day LIMIT ?)", (rows // 2,))
    base.commit()
    base.execute("VACUUM")
