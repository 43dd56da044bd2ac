"""Which tables a database has is asked of the database, wherever in it that stands, and nothing beside it changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.formats.kit import database
from workbench.formats.kit.database import WORDS, connect_to_bytes, rows, tables_of


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
