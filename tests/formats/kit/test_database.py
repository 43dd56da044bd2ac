"""Which tables a database has is asked of the database, wherever in it that stands, and nothing beside it changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.formats.kit import database, limits
from workbench.formats.kit.database import (
    WORDS,
    connect,
    connect_for_listing,
    connect_to_bytes,
    describe_oversized_value,
    is_database,
    rows,
    tables_in,
    tables_of,
)


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_tables_that_stand_behind_the_first_64_kib(tmp_path: Path) -> None:
    path = tmp_path / "deep.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE first (a)")
    base.executemany("INSERT INTO first VALUES (?)", [("x" * 900,)] * 200)
    for n in range(40):
        base.execute(f"CREATE TABLE filler_{n} ({', '.join(f'column_{n}_{m} TEXT' for m in range(20))})")
    base.execute("CREATE TABLE last (a)")
    base.commit()
    base.close()
    before = files(tmp_path)
    assert b"CREATE TABLE last" not in before["deep.db"][: 64 * 1024]
    assert tables_of(path).keys() == {"first", "last", *(f"filler_{n}" for n in range(40))}
    assert tables_of(path)["filler_3"] == {f"column_3_{m}" for m in range(20)}
    assert files(tmp_path) == before


@pytest.mark.parametrize("copied", [True, False])
def test_tables_that_stand_in_the_write_ahead_log_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: bool
) -> None:
    path = tmp_path / "a log?#%41.db"  # a name with what a URI would take for its own
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("CREATE TABLE logged (a)")
    base.commit()
    if not copied:
        monkeypatch.setattr(database, "COPIED", 0)
    before = files(tmp_path)
    assert tables_of(path) == ({"logged": {"a"}} if copied else {})
    assert files(tmp_path) == before
    base.close()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 4096, b'{"a": 1}'])
def test_what_is_no_database_has_no_tables(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    assert tables_of(path) == {}
    assert tables_of(tmp_path) == tables_of(tmp_path / "none") == {}


def test_a_broken_schema_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE first (a)")
    base.execute("PRAGMA writable_schema = ON")
    base.execute("UPDATE sqlite_master SET name = 'fi\n rst', sql = 'CREATE TABLE ('")
    base.commit()
    base.close()
    with (
        pytest.raises(BadInput, match=r"x.db: the database cannot be read \(malformed database schema \(fi rst\)"),
        connect_to_bytes(path, path.read_bytes(), frozenset(), "Crush"),
    ):
        pass


def test_a_long_schema_is_told_in_few_words(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE first (a)")
        base.execute("PRAGMA writable_schema = ON")
        base.execute("UPDATE sqlite_master SET name = ?, sql = 'CREATE TABLE ('", ("first " * 20_000,))
        base.commit()
    with (
        pytest.raises(BadInput, match="the database cannot be read") as refused,
        connect_to_bytes(path, path.read_bytes(), frozenset(), "Crush"),
    ):
        pass
    assert len(str(refused.value)) < 300 + WORDS


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("hex(zeroblob(450000000))", "string or blob too big"),
        ("zeroblob(900000)", "its rows claim more bytes than the file has"),
    ],
)
def test_what_is_reckoned_anew_for_each_row_is_no_more_than_the_file_holds(column: str, said: str) -> None:
    """A database of 12 kB would be gigabytes."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE messages (id INTEGER)")
    base.executemany("INSERT INTO messages VALUES (?)", [(n,) for n in range(40)])
    base.execute(f"ALTER TABLE messages ADD COLUMN grown AS ({column}) VIRTUAL")
    base.commit()
    data = base.serialize()
    assert len(data) < 20_000
    with (
        pytest.raises(BadInput, match=said),
        connect_to_bytes(Path("x.db"), data, frozenset(["messages"]), "the tool") as found,
    ):
        rows(found, "SELECT * FROM messages")


def test_a_value_may_be_as_long_as_the_file() -> None:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE messages (text)")
    base.execute("INSERT INTO messages VALUES (?)", ("x" * 3_000_000,))
    base.commit()
    with connect_to_bytes(Path("x.db"), base.serialize(), frozenset(["messages"]), "the tool") as found:
        assert rows(found, "SELECT * FROM messages") == [{"text": "x" * 3_000_000}]


def test_a_column_is_known_by_its_name_in_any_letters() -> None:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE messages (ID, Session_Id)")
        base.execute("INSERT INTO messages VALUES ('m', 's')")
        assert rows(base, "SELECT * FROM messages WHERE id = 'm'") == [{"id": "m", "session_id": "s"}]


NOTES = frozenset(["notes"])


def made(path: Path, *, logged: bool = False) -> bytes:
    """A database with two rows; `logged`: in write-ahead mode, the log written to it."""
    with closing(sqlite3.connect(path)) as base:
        if logged:
            base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE notes (id, Text)")
        base.executemany("INSERT INTO notes VALUES (?, ?)", [(1, "a"), (2, b"\xff")])
        base.execute("INSERT INTO notes VALUES (3, CAST(x'ff41' AS TEXT))")
        base.commit()
    return path.read_bytes()


ROWS = [{"id": 1, "text": "a"}, {"id": 2, "text": b"\xff"}, {"id": 3, "text": "�A"}]


@pytest.mark.parametrize("logged", [False, True])
def test_a_database_is_read_from_its_file_and_from_its_bytes(tmp_path: Path, logged: bool) -> None:
    path = tmp_path / "x.db"
    data = made(path, logged=logged)
    before = files(tmp_path)
    assert tables_of(data) == tables_of(path) == {"notes": {"id", "Text"}}
    with connect_to_bytes(path, data, NOTES, "Kit") as found:
        assert rows(found, "SELECT * FROM notes") == ROWS
        assert rows(found, "SELECT id FROM notes WHERE text = ? AND id = ?", "a", "1") == []
        assert rows(found, "SELECT id FROM notes WHERE text = ?", "a") == [{"id": 1}]
    with connect(path) as found:
        assert rows(found, "SELECT * FROM notes") == ROWS
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            found.execute("DELETE FROM notes")
    assert files(tmp_path) == before


def test_a_database_is_read_with_the_log_next_to_it(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE notes (id)")
        base.execute("INSERT INTO notes VALUES (1)")
        base.commit()
        before = files(tmp_path)
        with connect_to_bytes(path, path.read_bytes(), NOTES, "Kit") as found:
            assert rows(found, "SELECT * FROM notes") == [{"id": 1}]
        assert files(tmp_path) == before


def test_another_database_is_refused_with_what_to_open(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    data = made(path)
    with pytest.raises(BadInput) as raised, connect_to_bytes(path, data, NOTES | {"more"}, "Kit"):
        pass
    assert str(raised.value) == f"{path} is a database without Kit's tables; open Kit's own database."


def test_an_error_of_a_query_is_told_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    data = made(path)
    with pytest.raises(BadInput) as raised, connect_to_bytes(path, data, NOTES, "Kit") as found:
        rows(found, "SELECT * FROM more")
    assert str(raised.value) == (
        f"{path}: the database cannot be read (no such table: more); close Kit and open a copy."
    )
    with pytest.raises(BadInput) as raised, connect_for_listing(path) as found:
        rows(found, "SELECT * FROM more")
    assert str(raised.value) == "The database cannot be read (no such table: more)."


@pytest.mark.parametrize(("steps", "fits"), [(40, True), (2, False)])
def test_queries_may_take_so_many_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, fits: bool
) -> None:
    monkeypatch.setattr(database, "_STEPS", steps)
    path = tmp_path / "x.db"
    made(path)
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT count(*) AS c FROM n"
    with connect(path) as found:
        if fits:
            assert rows(found, many) == [{"c": 5000}]
        else:
            with pytest.raises(sqlite3.OperationalError, match="interrupted"):
                rows(found, many)


def test_a_table_whose_module_is_unknown_has_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    made(path)
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA writable_schema = ON")
        base.execute(
            "INSERT INTO sqlite_master VALUES ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING gone(a)')"
        )
        base.commit()
    with connect(path) as found:
        assert tables_in(found) == {"notes": {"id", "Text"}, "odd": frozenset()}


def test_a_database_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    for data, is_one in ((b"SQLite format 3\x00 and more", True), (b"SQLite format 3", False), (b"", False)):
        path.write_bytes(data)
        assert is_database(path) is is_one
    assert not is_database(tmp_path)
    assert not is_database(tmp_path / "gone")


def test_only_a_database_longer_than_a_value_may_be_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.db"
    size = len(made(path))
    with closing(sqlite3.connect(path)) as base:
        base.execute('CREATE TABLE "a ""b" ("c ""d" TEXT)')
        base.execute('INSERT INTO "a ""b" VALUES (?)', ("x" * 1_200_000,))
        base.commit()
    assert size < 1_000_000
    monkeypatch.setattr(limits, "LONGEST_TEXT", path.stat().st_size)
    assert describe_oversized_value(path) == ""
    monkeypatch.setattr(limits, "LONGEST_TEXT", 1_100_000)
    assert describe_oversized_value(path) == "a row of its table 'a \"b' holds more than 1 MB in 'c \"d'"
    path.write_bytes(b"x" * 1_200_000)
    assert describe_oversized_value(path) == ""


@pytest.mark.parametrize(("letters", "fits"), [(20_000, True), (20_001, False)])
def test_the_rows_of_a_query_may_have_so_many_bytes(letters: int, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SMALLEST", 20_000)
    query = f"SELECT printf('%010000d', 0) AS a UNION ALL SELECT printf('%0{letters - 10_000}d', 0)"
    with closing(sqlite3.connect(":memory:")) as base:
        if fits:
            assert [len(row["a"]) for row in rows(base, query)] == [10_000, letters - 10_000]
        else:
            with pytest.raises(sqlite3.DataError, match="its rows claim more bytes than the file has"):
                rows(base, query)
