"""A tool's SQLite database, read without ever touching it, with what its write-ahead log holds.

A database without such a log is read where it lies, or from its bytes in memory. With one, copies of both are read:
SQLite would make files beside it, or move the log into it.
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
from workbench.formats.kit import bounds
from workbench.formats.kit.magic import SQLITE

COPIED = 64 << 20
"""Bytes of a database and its log up to which both are copied to be looked at together; above, only the database."""

Tables = Mapping[str, frozenset[str]]
"""The names of the columns of each table, wherever in a database they are said."""

_STEPS = 50_000
"""Calls of the progress handler, one per 10,000 instructions of SQLite, after which a query is given up."""

SMALLEST = 1_000_000
"""Bytes that a small database may be taken for."""

WORDS = 300
"""Characters of what SQLite says of a database that are shown."""

LISTED = 5_000
"""Sessions listed of one database, the newest."""

_ALONE = b"\x01\x01"
"""Bytes 18 and 19 of a database that needs no log."""

_TROUBLE = (sqlite3.Error, OSError, ValueError, OverflowError, MemoryError)


def is_database(path: Path) -> bool:
    """Whether the file begins as SQLite's do."""
    try:
        with open_file(path) as file:
            return file.read(len(SQLITE)) == SQLITE
    except (OSError, ValueError):
        return False


def tables_of(database: Path | bytes) -> Tables:
    """The tables of a database, given by its path or as its bytes; {} for one that is damaged."""
    try:
        if isinstance(database, Path):
            with connect(database) as found:
                return tables_in(found)
        with closing(_in_memory(database)) as found:
            return tables_in(_only_read(found, len(database)))
    except _TROUBLE:
        return {}


def tables_in(database: sqlite3.Connection) -> Tables:
    """Raises sqlite3.Error."""
    found: dict[str, frozenset[str]] = {}
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        found[str(table)] = frozenset()
        with suppress(sqlite3.Error):  # a virtual table of a module that is not here has columns that nobody can tell
            columns = database.execute("SELECT name FROM pragma_table_info(?)", (table,))
            found[str(table)] = frozenset(name for (name,) in columns)
    return found


def value_beyond(path: Path) -> str:
    """Where a database holds a value that is longer than any session's, in words; "" for nowhere, and for what is no
    database. Looked for where the file lies, a value at a time: read, and made ready to be asked, it would be in memory
    three times."""
    if path.stat().st_size <= bounds.LONGEST_TEXT or not is_database(path):
        return ""
    with suppress(*_TROUBLE), connect(path) as database:
        for table, columns in tables_in(database).items():
            for column in columns:
                try:  # each value is looked at: + keeps SQLite from asking an index
                    database.execute(f"SELECT count(*) FROM {_quoted(table)} WHERE +{_quoted(column)} = x''")
                except sqlite3.DataError:
                    most = f"{bounds.LONGEST_TEXT // 1_000_000} MB"
                    return f"a row of its table {table!r} holds more than {most} in {column!r}"
                except sqlite3.DatabaseError:  # it is damaged there
                    continue
    return ""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """The database of a file, to be asked without reading all of it. Raises sqlite3.Error, OSError or ValueError."""
    with tempfile.TemporaryDirectory() as folder:
        source, mode = path.absolute(), "?mode=ro&immutable=1"
        size, logged = path.stat().st_size, _logged(path)
        if logged and size + logged <= COPIED:
            source, mode = Path(folder) / "copy.db", ""
            shutil.copyfile(path, source)
            shutil.copyfile(_log_of(path), _log_of(source))
        with closing(sqlite3.connect(f"file:{quote(str(source))}{mode}", uri=True)) as database:
            yield _only_read(database, size + logged)


@contextmanager
def connect_for_listing(path: Path) -> Iterator[sqlite3.Connection]:
    """The database of a file whose sessions are listed by queries. Raises BadInput for any trouble with it."""
    try:
        with connect(path) as database:
            yield database
    except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
        told = clip_at_word(str(error), WORDS)  # it may quote a schema of several lines
        raise BadInput(f"The database cannot be read ({told}).") from None


@contextmanager
def connect_to_bytes(path: Path, data: bytes, tables: frozenset[str], tool: str) -> Iterator[sqlite3.Connection]:
    """The database with the bytes `data`, to be read only. Raises BadInput where it lacks one of `tables`, and for any
    trouble."""
    try:
        with _of_bytes(path, data) as database:
            if not tables <= tables_in(_only_read(database, len(data) + _logged(path))).keys():
                raise BadInput(f"{path} is a database without {tool}'s tables; open {tool}'s own database.")
            yield database
    except _TROUBLE as error:
        told = clip_at_word(str(error), WORDS)  # it may quote a schema of several lines
        too_much = isinstance(error, sqlite3.DataError)
        remedy = "delete that from a copy and open the copy" if too_much else f"close {tool} and open a copy"
        raise BadInput(f"{path}: the database cannot be read ({told}); {remedy}.") from None


def rows(database: sqlite3.Connection, query: str, *values: str) -> list[dict[str, Any]]:
    """What a query gives, a row by the names of its columns in small letters, as SQLite takes names in any. Raises
    sqlite3.Error, also where that is more than the file holds: a column may be reckoned anew for each row."""
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
    """In bytes, what stands in its log included."""
    (pages,), (bytes,) = (database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages) * int(bytes)


def _only_read(database: sqlite3.Connection, size: int) -> sqlite3.Connection:
    """`size` is that of its files in bytes: no value in them is longer, and none of a session's beyond its bounds."""
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(size, SMALLEST), bounds.LONGEST_TEXT))
    database.text_factory = lambda raw: raw.decode(errors="replace")
    steps = iter(range(_STEPS))
    database.set_progress_handler(lambda: next(steps, -1) < 0, 10_000)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA query_only = ON")
    return database


@contextmanager
def _of_bytes(path: Path, data: bytes) -> Iterator[sqlite3.Connection]:
    if not _logged(path):
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
    if data[18:20] != _ALONE:  # a database in memory can have no log
        data = data[:18] + _ALONE + data[20:]
    database.deserialize(data)
    return database


def _log_of(path: Path) -> Path:
    return Path(f"{path}-wal")


def _logged(path: Path) -> int:
    """Bytes in the write-ahead log beside a database."""
    log = _log_of(path)
    return log.stat().st_size if log.is_file() else 0
