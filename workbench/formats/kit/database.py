"""Read-only access to an agent's SQLite database, including its write-ahead log.

A database without a log is read in place, or from its bytes in memory. With a log, copies of both are read: SQLite
would otherwise create files next to it, or merge the log into it.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench.base.errors import BadInput
from workbench.base.reading import open_file
from workbench.base.text import clip_at_word
from workbench.formats.kit import limits

SQLITE = b"SQLite format 3\x00"
"""First bytes of a database."""

COPIED = 64 << 20
"""Largest size of database plus log, in bytes, that `connect` copies; above it, the log is ignored."""

Tables = Mapping[str, frozenset[str]]
"""Column names by table name."""

_STEPS = 50_000
"""Calls of the progress handler, one per 10,000 SQLite instructions, after which all queries of a connection are
aborted."""

SMALLEST = 1_000_000
"""Least size in bytes from which the limits of a database are computed."""

WORDS = 300
"""Characters of an SQLite error that are shown."""

LISTED = 5_000
"""Number of sessions listed per database, newest first."""

_ROLLBACK_MODE = b"\x01\x01"
"""Bytes 18 and 19 of a database that is not in write-ahead mode."""

_TROUBLE = (sqlite3.Error, OSError, ValueError, OverflowError, MemoryError)


def is_database(path: Path) -> bool:
    """Return True if the file begins with SQLite's magic bytes."""
    try:
        with open_file(path) as file:
            return file.read(len(SQLITE)) == SQLITE
    except (OSError, ValueError):
        return False


def tables_of(database: Path | bytes) -> Tables:
    """Return the tables of a database, passed as path or bytes; {} if it is damaged."""
    try:
        if isinstance(database, Path):
            with connect(database) as found:
                return tables_in(found)
        with closing(_in_memory(database)) as found:
            return tables_in(_read_only(found, len(database)))
    except _TROUBLE:
        return {}


def tables_in(database: sqlite3.Connection) -> Tables:
    """Return the tables of an open database. Raises sqlite3.Error."""
    found: dict[str, frozenset[str]] = {}
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        found[str(table)] = frozenset()
        with suppress(sqlite3.Error):  # a virtual table whose module is not installed has unknown columns
            columns = database.execute("SELECT name FROM pragma_table_info(?)", (table,))
            found[str(table)] = frozenset(name for (name,) in columns)
    return found


def describe_oversized_value(path: Path) -> str:
    """Describe a database value that exceeds the longest text of a session; "" if there is none, or the file is no
    database.

    SQLite checks the file in place, one value at a time; loading it would hold three copies in memory.
    """
    if path.stat().st_size <= limits.LONGEST_TEXT or not is_database(path):
        return ""
    with suppress(*_TROUBLE), connect(path) as database:
        for table, columns in tables_in(database).items():
            for column in columns:
                try:  # the + prevents use of an index, so that every value is read
                    database.execute(f"SELECT count(*) FROM {_quoted(table)} WHERE +{_quoted(column)} = x''")
                except sqlite3.DataError:
                    most = f"{limits.LONGEST_TEXT // 1_000_000} MB"
                    return f"a row of its table {table!r} holds more than {most} in {column!r}"
                except sqlite3.DatabaseError:  # the table is damaged
                    continue
    return ""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a file without loading it into memory. Raises sqlite3.Error, OSError or ValueError."""
    with tempfile.TemporaryDirectory() as folder:
        source, mode = path.absolute(), "?mode=ro&immutable=1"
        size, logged = path.stat().st_size, _log_size(path)
        if logged and size + logged <= COPIED:
            source, mode = Path(folder) / "copy.db", ""
            shutil.copyfile(path, source)
            shutil.copyfile(_log_of(path), _log_of(source))
        with closing(sqlite3.connect(f"file:{quote(str(source))}{mode}", uri=True)) as database:
            yield _read_only(database, size + logged)


@contextmanager
def connect_for_listing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a file to list its sessions by queries. Raises BadInput for any error."""
    try:
        with connect(path) as database:
            yield database
    except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
        reason = clip_at_word(str(error), WORDS)  # it may quote a schema of several lines
        raise BadInput(f"The database cannot be read ({reason}).") from None


@contextmanager
def connect_to_bytes(path: Path, data: bytes, tables: frozenset[str], agent: str) -> Iterator[sqlite3.Connection]:
    """Open the database with the bytes `data`, read-only. Raises BadInput if it lacks one of `tables`, and for any
    error."""
    try:
        with _of_bytes(path, data) as database:
            if not tables <= tables_in(_read_only(database, len(data) + _log_size(path))).keys():
                raise BadInput(f"{path} is a database without {agent}'s tables; open {agent}'s own database.")
            yield database
    except _TROUBLE as error:
        reason = clip_at_word(str(error), WORDS)  # it may quote a schema of several lines
        too_much = isinstance(error, sqlite3.DataError)
        remedy = "delete that from a copy and open the copy" if too_much else f"close {agent} and open a copy"
        raise BadInput(f"{path}: the database cannot be read ({reason}); {remedy}.") from None


def rows(database: sqlite3.Connection, query: str, *values: str) -> list[dict[str, Any]]:
    """Return the rows of a query as dictionaries by lower-case column name.

    Raises sqlite3.Error, also if the rows hold more bytes than the database: a view may compute columns.
    """
    cursor = database.execute(query, values)
    names = [column[0].lower() for column in cursor.description]
    found: list[dict[str, Any]] = []
    room = max(_size_of(database), SMALLEST)
    for row in cursor:
        room -= sum([len(value) for value in row if isinstance(value, str | bytes)])
        if room < 0:
            raise sqlite3.DataError("its rows claim more bytes than the file has")
        found.append(dict(zip(names, row, strict=True)))
    return found


def _size_of(database: sqlite3.Connection) -> int:
    """Return the size in bytes, log included."""
    (pages,), (bytes,) = (database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages) * int(bytes)


def _read_only(database: sqlite3.Connection, size: int) -> sqlite3.Connection:
    """Make a connection read-only. `size` is the size of the files in bytes; it limits the length of a value."""
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(size, SMALLEST), limits.LONGEST_TEXT))
    database.text_factory = lambda raw: raw.decode(errors="replace")
    steps = iter(range(_STEPS))
    database.set_progress_handler(lambda: next(steps, -1) < 0, 10_000)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA query_only = ON")
    return database


@contextmanager
def _of_bytes(path: Path, data: bytes) -> Iterator[sqlite3.Connection]:
    if not _log_size(path):
        with closing(_in_memory(data)) as database:
            yield database
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        copy.write_bytes(data)
        shutil.copyfile(_log_of(path), _log_of(copy))
        with closing(sqlite3.connect(copy)) as database:
            yield database


def _in_memory(data: bytes) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    if data[18:20] != _ROLLBACK_MODE:  # an in-memory database cannot use write-ahead mode
        data = data[:18] + _ROLLBACK_MODE + data[20:]
    database.deserialize(data)
    return database


def _log_of(path: Path) -> Path:
    return Path(f"{path}-wal")


def _log_size(path: Path) -> int:
    """Return the size in bytes of the write-ahead log next to a database, 0 without a log."""
    log = _log_of(path)
    return log.stat().st_size if log.is_file() else 0
