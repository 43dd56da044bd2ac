"""A tool's SQLite database, read without ever touching it: from its bytes in memory.

What the tool has not yet moved from the write-ahead log beside it is read too, from copies of both.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput

_STEPS = 50_000
"""Calls of the progress handler, one per 10,000 instructions of SQLite, after which a query is given up."""


@contextmanager
def opened(path: Path, data: bytes, tables: frozenset[str], tool: str) -> Iterator[sqlite3.Connection]:
    """The database, to be read only. Raises BadInput where it lacks one of `tables`, and for any trouble."""
    try:
        with tempfile.TemporaryDirectory() as folder, closing(_connection(path, data, Path(folder))) as database:
            database.text_factory = lambda raw: raw.decode(errors="replace")
            steps = iter(range(_STEPS))
            database.set_progress_handler(lambda: next(steps, -1) < 0, 10_000)
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA query_only = ON")
            known = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            if not tables <= {name for (name,) in known}:
                raise BadInput(f"{path} is a database without {tool}'s tables; name {tool}'s own.")
            yield database
    except (sqlite3.Error, OSError, ValueError, OverflowError, MemoryError) as error:
        raise BadInput(f"{path}: the database cannot be read ({error}); close {tool} and try a copy of it.") from None


def rows(database: sqlite3.Connection, query: str, *values: str) -> list[dict[str, Any]]:
    """What a query gives, a row by the names of its columns."""
    cursor = database.execute(query, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


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
