"""Token counts saved beyond one run: an SQLite file from text hash to tokens.

A broken, locked or unwritable file never stops counting: the cache then returns nothing, puts the reason in `trouble`,
and leaves the file unchanged.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

MAX_BYTES = 128_000_000
"""About two million counts. A larger file loses its older half."""

LOCK_SECONDS = 2.0
"""Longest wait for another program that is writing to the file."""

_CHUNK = 900
"""Keys per query. SQLite before 3.32 allows 999 variables."""

_PIECE = 1 << 20
"""Characters of a text that are encoded at once."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS counts (key BLOB PRIMARY KEY, tokens INTEGER NOT NULL, day INTEGER NOT NULL) WITHOUT ROWID
"""


def text_key(text: str, family: bytes) -> bytes:
    """Key of a text's count by an engine family (a name of at most 16 bytes): 16 bytes."""
    digest = hashlib.blake2b(digest_size=16, person=family)
    for start in range(0, len(text), _PIECE):
        digest.update(text[start : start + _PIECE].encode("utf-8", "surrogatepass"))
    return digest.digest()


class CountCache:
    """Cache that any thread may use: each call opens the file itself."""

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES, lock_seconds: float = LOCK_SECONDS) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.lock_seconds = lock_seconds
        self.trouble = ""
        """Reason why the cache is not used for the rest of this run, in words; "" while it works."""

    def get(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Known counts by key."""
        found: dict[bytes, int] = {}

        def read(base: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                found.update(base.execute(f"SELECT key, tokens FROM counts WHERE key IN ({marks})", chunk))

        if keys:
            self._use(read)
        return found

    def put(self, counts: Mapping[bytes, int]) -> None:
        """Save counts; removes old ones if the file has become too large."""
        day = int(time.time() // 86_400)

        def write(base: sqlite3.Connection) -> None:
            rows = [(key, tokens, day) for key, tokens in counts.items()]
            base.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", rows)
            base.commit()
            self._prune(base)

        if counts:
            self._use(write)

    def _use(self, work: Callable[[sqlite3.Connection], None]) -> None:
        if self.trouble:
            return
        import sqlite3

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=self.lock_seconds)) as base:
                # A power cut may destroy the file, which costs a recount; waiting for the disk would slow every run.
                base.execute("PRAGMA synchronous = OFF")
                base.execute(_SCHEMA)
                work(base)
        except (sqlite3.Error, OSError) as error:
            self.trouble = f"{self.path}: the cache of token counts is not used ({error})"

    def _prune(self, base: sqlite3.Connection) -> None:
        ((pages,),) = base.execute("PRAGMA page_count")
        ((page_size,),) = base.execute("PRAGMA page_size")
        if pages * page_size <= self.max_bytes:
            return
        ((rows,),) = base.execute("SELECT count(*) FROM counts")
        base.execute("DELETE FROM counts WHERE key IN (SELECT key FROM counts ORDER BY day LIMIT ?)", (rows // 2,))
        base.commit()
        base.execute("VACUUM")
