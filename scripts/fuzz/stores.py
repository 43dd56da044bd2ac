"""Databases that lie: views and triggers named as tables are, columns that are missing or computed, damaged pages."""

from __future__ import annotations

import random
import re
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from typing import Any

import zstandard

from scripts.fuzz.inputs import ODD, seed_of, seeds
from scripts.fuzz.structure import CHANGES, NUMBERS, changed
from tests.paths import SAMPLES
from workbench.formats.kit.database import SQLITE

TOOLS = ("goose", "opencode", "crush", "cursor")

VALUES: tuple[str, ...] = (
    *(
        "NULL",
        "''",
        "0",
        "-1",
        "9e999",
        "-9e999",
        "1e308",
        str(2**63 - 1),
        str(-(2**63)),
        "x''",
        "x'ff00fe'",
        "zeroblob(100)",
    ),
    *(
        "zeroblob(200000000)",
        "printf('%.*c', 200000000, 'x')",
        "randomblob(3000)",
        "CAST(x'eda0bd' AS TEXT)",
        "char(0)",
    ),
    *(
        "char(55357)",
        "CAST(x'7b2261223a00' AS TEXT)",
        "'[]'",
        "'{}'",
        "'null'",
        "'NaN'",
        "replace(hex(zeroblob(50000)), '0', '[')",
    ),
    *(
        "'[' || (SELECT group_concat(name) FROM sqlite_master) || ']'",
        "(SELECT max(rowid) FROM sqlite_master)",
        "'2026'",
    ),
)
"""SQL values of every type, some that grow beyond the file when they are read."""

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
"""Rows without end, to be followed by a SELECT."""

Change = Callable[[sqlite3.Connection, str, list[str], random.Random], None]


@cache
def stores() -> tuple[bytes, ...]:
    """Small databases of the tools that keep their sessions in one."""
    found = [seed.data for tool in TOOLS for seed in seeds(tool) if seed.data.startswith(SQLITE)]
    return (*found, zed())


def zed() -> bytes:
    """A database of Zed's with two threads."""
    data = (SAMPLES / "zed-mention.json").read_bytes()
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)"
        )
        rows = [("new", "Newest", "2026-05-03", "zstd", zstandard.compress(data)), ("old", "Old", "2026", "json", data)]
        base.executemany("INSERT INTO threads VALUES (?, ?, ?, ?, ?)", rows)
        base.commit()
        return base.serialize()


def made(dice: random.Random) -> bytes:
    """A database changed by SQL, in its pages, or both."""
    data = dice.choice(stores())
    if dice.random() < 0.75:
        data = _by_sql(data, dice)
    if dice.random() < 0.35:
        data = _by_bytes(data, dice)
    return data


def _by_sql(data: bytes, dice: random.Random) -> bytes:
    with closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(data[:18] + b"\x01\x01" + data[20:])  # in memory it can have no log
        steps = iter(range(100))
        base.set_progress_handler(lambda: next(steps, -1) < 0, 100_000)  # a view may have rows without end
        base.execute("PRAGMA legacy_alter_table = ON")
        base.execute("PRAGMA foreign_keys = OFF")
        for _ in range(dice.choice((1, 1, 2, 3))):
            with suppress(sqlite3.Error, UnicodeEncodeError, OverflowError, IndexError):  # a table without columns
                names = [str(name) for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                table = dice.choice([name for name in names if not name.startswith("sqlite_")])
                columns = [str(row[1]) for row in base.execute(f"PRAGMA table_info({_quoted(table)})")]
                dice.choice(SQL)(base, table, columns, dice)
        with suppress(sqlite3.Error):
            base.commit()
            return base.serialize()
    return data


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _view(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """A view of the table's name: of its rows, of more of them, or of rows without end."""
    inside = f"{table}_rows"
    base.execute(f"ALTER TABLE {_quoted(table)} RENAME TO {_quoted(inside)}")
    named = ", ".join(_quoted(name) for name in columns)
    odd = ", ".join(
        f"{dice.choice(VALUES) if dice.random() < 0.3 else _quoted(name)} AS {_quoted(name)}" for name in columns
    )
    of = _quoted(inside)
    bodies = (
        f"SELECT * FROM {of}",
        f"SELECT {odd} FROM {of}",
        f"SELECT {named} FROM {of} UNION ALL SELECT {named} FROM {of}",
        f"{ENDLESS} SELECT {odd} FROM {of}, n",
        f"{ENDLESS} SELECT {named} FROM {of} WHERE (SELECT max(i) FROM n) > 0",
        f"SELECT {', '.join('a.' + _quoted(name) for name in columns)} FROM {of} a, {of} b, {of} c, {of} d, {of} e",
        f"SELECT * FROM {_quoted(table + '_ring')}",
        f"SELECT * FROM {_quoted(table)}",
        "SELECT 1",
        "SELECT * FROM nowhere",
    )
    base.execute(f"CREATE VIEW {_quoted(table)} AS {dice.choice(bodies)}")
    with suppress(sqlite3.Error):
        base.execute(f"CREATE VIEW {_quoted(table + '_ring')} AS SELECT * FROM {_quoted(table)}")


def _view_of_a_name(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """The table renamed in the schema only, and a view beside it: two things of one name."""
    base.execute(f"CREATE VIEW {_quoted(table + '_v')} AS SELECT * FROM {_quoted(table)}")
    base.execute("PRAGMA writable_schema = ON")
    base.execute("UPDATE sqlite_master SET name = ?, tbl_name = ? WHERE name = ?", (table, table, f"{table}_v"))
    base.execute("PRAGMA writable_schema = OFF")


def _trigger(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    when = dice.choice(("BEFORE", "AFTER"))
    what = dice.choice(("INSERT", "UPDATE", "DELETE"))
    body = dice.choice((f"DELETE FROM {_quoted(table)}", "SELECT RAISE(ABORT, 'no')", f"{ENDLESS} SELECT i FROM n"))
    base.execute(f"CREATE TRIGGER {_quoted(table)} {when} {what} ON {_quoted(table)} BEGIN {body}; END")


def _column_gone(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    column = dice.choice(columns)
    with suppress(sqlite3.Error):
        base.execute(f"ALTER TABLE {_quoted(table)} DROP COLUMN {_quoted(column)}")
        return
    _again(base, table, [name for name in columns if name != column])


def _column_renamed(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    new = dice.choice(("x", "ID", "rowid", "select", "", "a b", 'q"', "é", dice.choice(columns)))
    base.execute(f"ALTER TABLE {_quoted(table)} RENAME COLUMN {_quoted(dice.choice(columns))} TO {_quoted(new)}")


def _column_computed(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """A column whose values are reckoned when they are read."""
    column = dice.choice(columns)
    rest = [name for name in columns if name != column]
    inside = f"{table}_rows"
    base.execute(f"ALTER TABLE {_quoted(table)} RENAME TO {_quoted(inside)}")
    kept = ", ".join(map(_quoted, rest))
    value = dice.choice([one for one in VALUES if "SELECT" not in one and "random" not in one])
    base.execute(f"CREATE TABLE {_quoted(table)} ({kept}, {_quoted(column)} AS ({value}))")
    base.execute(f"INSERT INTO {_quoted(table)} ({kept}) SELECT {kept} FROM {_quoted(inside)}")


def _again(base: sqlite3.Connection, table: str, columns: list[str]) -> None:
    """The table with these columns alone, without types and keys."""
    inside, kept = f"{table}_rows", ", ".join(map(_quoted, columns))
    base.execute(f"ALTER TABLE {_quoted(table)} RENAME TO {_quoted(inside)}")
    base.execute(f"CREATE TABLE {_quoted(table)} ({kept})")
    base.execute(f"INSERT INTO {_quoted(table)} SELECT {kept} FROM {_quoted(inside)}")


def _cells(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """Values of another type, of one row or of all."""
    if dice.random() < 0.5:
        _again(base, table, columns)  # no types and keys: whatever is written stays as it is
    value = dice.choice([one for one in VALUES if "200000000" not in one])
    where = "" if dice.random() < 0.4 else f"WHERE rowid = (SELECT min(rowid) FROM {_quoted(table)})"
    base.execute(f"UPDATE {_quoted(table)} SET {_quoted(dice.choice(columns))} = {value} {where}")


def _json_cells(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """Structural changes of the JSON in a cell."""
    column = dice.choice(columns)
    for rowid, value in base.execute(f"SELECT rowid, {_quoted(column)} FROM {_quoted(table)}").fetchall():
        if isinstance(value, str) and value[:1] in ("{", "[") and dice.random() < 0.5:
            new: Any = changed(seed_of(value.encode("utf-8", "replace")), dice.choice((*CHANGES, "encodings")), dice)
            new = new if dice.random() < 0.1 else new.decode("utf-8", "replace")
            base.execute(f"UPDATE {_quoted(table)} SET {_quoted(column)} = ? WHERE rowid = ?", (new, rowid))
        elif isinstance(value, int | float) and dice.random() < 0.3:
            new = dice.choice(
                (dice.choice(NUMBERS), dice.choice([one for one in ODD if not isinstance(one, list | dict)]))
            )
            base.execute(f"UPDATE {_quoted(table)} SET {_quoted(column)} = ? WHERE rowid = ?", (new, rowid))


def _rows_again(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """Rows twice, or many times."""
    _again(base, table, columns)
    for _ in range(dice.choice((1, 3, 6))):
        base.execute(f"INSERT INTO {_quoted(table)} SELECT * FROM {_quoted(table)} LIMIT 2000")


def _rows_gone(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    base.execute(f"DELETE FROM {_quoted(table)} WHERE rowid % {dice.choice((1, 2, 3))} = 0")


def _schema(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """The schema itself changed: a page that is another table's, SQL that is none, a type that there is not."""
    base.execute("PRAGMA writable_schema = ON")
    change = dice.choice(
        (
            "rootpage = rootpage + 1", "rootpage = 1", "rootpage = 99999", "rootpage = 0", "sql = 'CREATE TABLE'",
            "sql = NULL", "type = 'view'", "type = 'trigger'", "type = 'index'", "type = 'table'", "name = NULL",
            "name = x'ff'", "name = 7", "tbl_name = 'x'", "sql = replace(sql, ' TEXT', ' BLOB')",
            "sql = replace(sql, 'CREATE TABLE', 'CREATE VIRTUAL TABLE')", "sql = sql || ' WITHOUT ROWID'",
            "sql = sql || ' STRICT'", "sql = substr(sql, 1, length(sql) / 2)", "name = upper(name)", "sql = x'00'",
        )
    )  # fmt: skip
    where, values = ("WHERE name = ?", (table,)) if dice.random() < 0.8 else ("", ())
    base.execute(f"UPDATE sqlite_master SET {change} {where}", values)
    base.execute("PRAGMA writable_schema = OFF")


def _virtual(base: sqlite3.Connection, table: str, columns: list[str], dice: random.Random) -> None:
    """A virtual table in the table's place."""
    base.execute(f"ALTER TABLE {_quoted(table)} RENAME TO {_quoted(f'{table}_rows')}")
    kept = ", ".join(map(_quoted, columns))
    if dice.random() < 0.5:
        base.execute(f"CREATE VIRTUAL TABLE {_quoted(table)} USING fts5({kept}, content={_quoted(f'{table}_rows')})")
    else:
        base.execute("PRAGMA writable_schema = ON")
        sql = f"CREATE VIRTUAL TABLE {_quoted(table)} USING nothing({kept})"
        base.execute("INSERT INTO sqlite_master VALUES ('table', ?, ?, 0, ?)", (table, table, sql))
        base.execute("PRAGMA writable_schema = OFF")


SQL: tuple[Change, ...] = (
    *(_view, _view, _view_of_a_name, _trigger, _column_gone, _column_renamed, _column_computed, _cells, _cells),
    *(_json_cells, _json_cells, _json_cells, _rows_again, _rows_gone, _schema, _virtual),
)


def _by_bytes(data: bytes, dice: random.Random) -> bytes:
    """Pages overwritten, repeated or cut off, figures of the header that are not true, garbage in a page."""
    changed = bytearray(data)
    size = max(512, struct.unpack(">H", data[16:18])[0])
    pages = max(1, len(data) // size)
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(pages) * size
        match dice.randrange(8):
            case 0:
                changed[at : at + size] = dice.choice((b"\x00" * size, dice.randbytes(size), b"\xff" * size))
            case 1:
                other = dice.randrange(pages) * size
                changed[at : at + size] = changed[other : other + size]
            case 2:
                del changed[dice.randrange(len(changed) + 1) :]
            case 3:  # page size, versions, reserved bytes, counts of pages, encoding, formats
                place, width = dice.choice(
                    ((16, 2), (18, 2), (20, 1), (21, 3), (28, 4), (32, 8), (44, 4), (52, 4), (56, 4), (96, 4))
                )
                changed[place : place + width] = dice.choice(
                    (b"\x00" * width, b"\xff" * width, dice.randbytes(width), b"\x00" * (width - 1) + b"\x02")
                )
            case 4:  # the head of a b-tree page: its type, its cells, where they begin
                place = (at or 100) + dice.randrange(12)
                changed[place : place + 2] = dice.choice((b"\x00\x00", b"\xff\xff", b"\x05\x0d", dice.randbytes(2)))
            case 5:
                for _ in range(20):
                    if len(changed) > 100:
                        changed[dice.randrange(100, len(changed))] = dice.randrange(256)
            case 6:  # lengths of records, which are varints before their values
                for found in list(re.finditer(rb"[\x81-\xff][\x00-\x7f]", changed[:4_000_000]))[:400]:
                    if dice.random() < 0.02:
                        changed[found.start() : found.end()] = b"\xff\x7f"
            case _:
                changed += dice.choice((b"\x00" * size, dice.randbytes(100), SQLITE))
    return bytes(changed)
