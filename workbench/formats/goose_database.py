"""goose's `sessions.db`, read without ever touching it: from its bytes in memory (formats.md §2.12).

What goose has not yet moved from the write-ahead log beside it is read too, from copies of both.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from workbench.errors import BadInput
from workbench.formats.parts import Part

MAGIC = b"SQLite format 3\x00"
_STEPS = 50_000
"""Calls of the progress handler, one per 10,000 instructions of SQLite, after which a query is given up."""


def is_goose(head: bytes) -> bool:
    """Whether the schema at the start of a database is goose's."""
    return head.startswith(MAGIC) and b"content_json" in head and b"working_dir" in head


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The sessions that have messages, the newest first. Raises BadInput for a database that is none of goose's."""
    with _opened(path, data) as database:
        counts = dict(database.execute("SELECT session_id, COUNT(*) FROM messages GROUP BY session_id").fetchall())
        rows = _rows(database, "SELECT * FROM sessions ORDER BY updated_at DESC, id DESC")
        return tuple(
            Part(id, str(row.get("name") or row.get("description") or ""), counts[id])
            for row in rows
            if isinstance(id := row.get("id"), str) and counts.get(id)
        )


def session_rows(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A session's row and those of its messages, in their order. Raises BadInput where there is no such session."""
    with _opened(path, data) as database:
        found = _rows(database, "SELECT * FROM sessions WHERE id = ?", id)
        messages = _rows(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY timestamp, rowid", id)
    if not found:
        raise BadInput(f"{path} has no session {id!r}; choose one of those it lists.")
    return found[0], messages


@contextmanager
def _opened(path: Path, data: bytes) -> Iterator[sqlite3.Connection]:
    """The database, to be read only. Any trouble in the block becomes one sentence."""
    try:
        with tempfile.TemporaryDirectory() as folder, closing(_connection(path, data, Path(folder))) as database:
            database.text_factory = lambda raw: raw.decode(errors="replace")
            steps = iter(range(_STEPS))
            database.set_progress_handler(lambda: next(steps, -1) < 0, 10_000)
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA query_only = ON")
            known = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            if not {("sessions",), ("messages",)} <= set(known):
                raise BadInput(f"{path} is a database without goose's tables; name goose's sessions.db.")
            yield database
    except (sqlite3.Error, OSError, ValueError, OverflowError, MemoryError) as error:
        raise BadInput(f"{path}: the database cannot be read ({error}); close goose and try a copy of it.") from None


def _connection(path: Path, data: bytes, folder: Path) -> sqlite3.Connection:
    log = Path(f"{path}-wal")
    if log.is_file() and log.stat().st_size:
        copy = folder / "copy.db"
        copy.write_bytes(data)
        shutil.copyfile(log, f"{copy}-wal")
        return sqlite3.connect(copy)
    database = sqlite3.connect(":memory:")
    # A database in memory can have no log: bytes 18 and 19 say that this one needs none.
    database.deserialize(data[:18] + b"\x01\x01" + data[20:])
    return database


def _rows(database: sqlite3.Connection, query: str, *values: str) -> list[dict[str, Any]]:
    cursor = database.execute(query, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
