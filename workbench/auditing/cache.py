"""Cache of rows: an SQLite file from the path of a session to its rows, valid while the file is unchanged.

A file is unchanged if its size and time of change are the same, or, where only the time differs, its digest: then the
file is read but not parsed. Two files with the same content are two entries. The cache only saves time: a broken,
locked or unwritable one is not used, and `trouble` gives the reason.
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

FIGURES = 7
"""Version of the figures. Raise it when a figure changes its meaning: cached rows are then computed again."""

MAX_BYTES = 256_000_000
"""Size of about 200 000 sessions. A larger file loses its older half."""

LOCK_SECONDS = 2.0

COMMIT_EVERY = 500
"""Files per commit; at most as many are read again after a killed run."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files_1 (
  path TEXT PRIMARY KEY, basis BLOB NOT NULL, mark BLOB NOT NULL, size INTEGER NOT NULL, digest TEXT,
  rows BLOB NOT NULL, day INTEGER NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class CachedRows:
    """Cached rows of a file, its size, and the digest of its bytes (None without one). `same`: size and time of change
    are unchanged."""

    rows: tuple[SessionRow, ...]
    size: int
    digest: str | None
    same: bool


def mark(path: Path | str) -> bytes:
    """Return a digest of the sizes and times of change of a file and the files that belong to it."""
    return _digest([one[1:] for one in file_mark(path) or ()])


def _basis() -> bytes:
    """Return a digest of everything else that a row depends on: program, triggers, and the user's table of models."""
    return _digest([__version__, FIGURES, TRIGGERS, file_mark(paths.models())])


def _digest(value: object) -> bytes:
    return hashlib.blake2b(orjson.dumps(value), digest_size=16).digest()


class RowCache:
    """Connection to the cache, for one run and one thread."""

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
            # A power cut may damage the cache, which can be rebuilt; waiting for the disk would slow down every run.
            self._use(lambda base: base.execute("PRAGMA synchronous = OFF"))
            self._use(lambda base: base.execute(_SCHEMA))
            try:
                yield self
            finally:
                self._commit()
                self._use(_prune)
                self._base = None

    def get(self, path: str, now: bytes) -> CachedRows | None:
        """Return the cached rows of the file, or None."""
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
        return CachedRows(rows, found[1], found[2], found[0] == now)

    def put(self, path: str, now: bytes, size: int, digest: str | None, rows: Sequence[SessionRow]) -> None:
        """Cache a file's rows; they are on the disk at the end of the run at the latest. A file whose name is not valid
        Unicode is not cached."""
        if valid_unicode(path) != path:
            return
        packed, day = orjson.dumps(rows), int(time.time() // 86_400)
        line = (path, self._basis, now, size, digest, packed, day)
        self._use(lambda base: base.execute("INSERT OR REPLACE INTO files_1 VALUES (?, ?, ?, ?, ?, ?, ?)", line))
        self._waiting += 1
        if self._waiting >= COMMIT_EVERY:
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
