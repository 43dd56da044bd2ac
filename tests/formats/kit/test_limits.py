"""What no session holds is told from its bytes, before decoding it fills the memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.formats.files import HEAD, bytes_of, load, parts_of
from workbench.formats.kit import limits
from workbench.formats.kit.database import connect_to_bytes, rows
from workbench.formats.kit.document import parse
from workbench.formats.kit.jsonl import records_of
from workbench.formats.kit.limits import beyond, enough, limit_warnings, line_beyond
from workbench.session import LoadWarning

LONGEST, MOST = 100, 20


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds themselves are those of memory."""
    monkeypatch.setattr(limits, "LONGEST_TEXT", LONGEST)
    monkeypatch.setattr(limits, "MOST_VALUES", MOST)


def told(data: bytes) -> str:
    return beyond(b"[[[" + data + b",,,", 3, 3 + len(data))


@pytest.mark.parametrize("inner", [b"x", b"\\n", b"\\\\", b'\\"', b",", b'[{\\"'])
@pytest.mark.parametrize("before", [b"[", b'["a\\\\",', b'{"k": '])
def test_a_text_with_its_quotes_is_too_long_from_one_byte_on(inner: bytes, before: bytes) -> None:
    text = (inner * ((LONGEST - 2) // len(inner))).ljust(LONGEST - 2, b"x")
    assert told(before + b'"' + text + b'"]') == ""
    assert told(before + b'"x' + text + b'"]') == "a text of 0 MB"
    assert told(before + b'"x' + text + b"\\") == "a text of 0 MB"  # cut off


@pytest.mark.parametrize("inner", [b"0", b"{}", b"[]", b'""', b'",,,"', b'"[{"', b'"\\",,"'])
def test_values_are_counted_outside_texts(inner: bytes) -> None:
    own = inner in (b"{}", b"[]")
    count = MOST // 2 if own else MOST
    fits = b"[" + b",".join([inner] * count) + b"]"
    assert told(fits + b" " * LONGEST) == ""
    more = b"[" + b",".join([inner] * (count + 1)) + b"]"
    assert told(more + b" " * LONGEST) == "more than 20 values"


def test_a_document_is_refused_and_a_line_kept_as_it_is() -> None:
    giant = b'{"a":"' + b"x" * LONGEST + b'"}'
    with pytest.raises(
        BadInput, match=r"^x\.json: its 0 MB of JSON hold a text of 0 MB, too much for a session; remove"
    ):
        parse(Path("x.json"), giant)
    found = list(records_of(b'{"b":1}\n' + giant + b'\n{"c":2}\n'))
    assert [(one.value, one.start, one.stop, one.line, one.problem) for one in found] == [
        ({"b": 1}, 0, 7, 1, ""),
        (None, 8, 116, 2, "holds a text of 0 MB, too much for a session; kept in the file, not shown"),
        ({"c": 2}, 117, 124, 3, ""),
    ]


@pytest.mark.parametrize("before", [b"", b"\n", b'{"b": 1}\n', b'\xef\xbb\xbf{"b": 1}\r\n\n'])
@pytest.mark.parametrize("end", [b"\n", b"", b'\n{"c": 2}\n'])
def test_a_file_with_such_a_line_is_refused_wherever_it_is_opened(before: bytes, end: bytes, tmp_path: Path) -> None:
    """Whoever reads it, audits or exports it would have the line in memory several times."""
    path = tmp_path / "session.jsonl"
    fits = b'{"a":"' + b"x" * (LONGEST - 2) + b'"}'
    path.write_bytes(before + fits + end)
    assert bytes_of(path) == path.read_bytes()
    path.write_bytes(before + fits.replace(b"x", b"xx", 1) + end)
    line = before.count(b"\n") + 1
    refused = f"{path}: line {line} holds a text of 0 MB, too much for a session; remove it and try again."
    for way in (bytes_of, load):
        with pytest.raises(BadInput) as raised:
            way(path)
        assert str(raised.value) == refused


def test_it_is_read_once_for_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, reads = tmp_path / "session.json", 0

    def read(path: Path) -> bytes:
        nonlocal reads
        reads += 1
        return bytes_of(path)

    monkeypatch.setattr("workbench.formats.files.bytes_of", read)
    path.write_bytes(b'{"a":"' + b"x" * HEAD + b'"}')
    with pytest.raises(BadInput, match=r"^\S+: line 1 holds a text of 0 MB, too much for a session; remove it"):
        parts_of(path)
    assert reads == 1


@pytest.mark.parametrize("first", [b"SQLite format 3\0", b"PK\x03\x04", b"# aider", b"\x28\xb5\x2f\xfd"])
def test_what_is_no_json_has_no_such_lines(first: bytes, tmp_path: Path) -> None:
    path = tmp_path / "session"
    path.write_bytes(first + b'"' + b"x" * 2 * LONGEST)
    assert bytes_of(path) == path.read_bytes()


def test_a_cell_of_a_database_that_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_TEXT", 2_000_000)
    path = tmp_path / "made.db"
    for length, count in ((1_900_000, 3), (2_000_001, 1)):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as made, made:
            made.execute("CREATE TABLE said (text TEXT)")
            made.executemany("INSERT INTO said VALUES (?)", [("x" * length,)] * count)
        if length < 2_000_000:  # three of them are more than one may be
            assert bytes_of(path) == path.read_bytes()
            with connect_to_bytes(path, path.read_bytes(), frozenset({"said"}), "it") as database:
                assert len(rows(database, "SELECT * FROM said")) == count
            continue
        with (
            pytest.raises(
                BadInput, match=r"cannot be read \(string or blob too big\); delete that from a copy and open"
            ),
            connect_to_bytes(path, path.read_bytes(), frozenset({"said"}), "it") as database,
        ):
            rows(database, "SELECT * FROM said")


def test_the_column_of_such_a_cell_is_named_before_the_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LONGEST_TEXT", 2_000_000)
    path = tmp_path / "made.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE damaged (text)")
        page, size = (made.execute(said).fetchone()[0] for said in (
            "SELECT rootpage FROM sqlite_master", "PRAGMA page_size"
        ))  # fmt: skip
        made.execute('CREATE TABLE few (a PRIMARY KEY, b AS (zeroblob(3000000)), "c ""d")')
        made.execute("CREATE TABLE [it's said] (name TEXT PRIMARY KEY, text BLOB) WITHOUT ROWID")
        made.executemany("INSERT INTO few VALUES (?, ?)", [("x", b"y"), ("z", b"")])
        made.executemany("INSERT INTO [it's said] VALUES (?, ?)", [("a", b"x"), ("b", b"x" * 2_000_001), ("c", "")])
    data = path.read_bytes()
    path.write_bytes(data[: (page - 1) * size] + b"x" * size + data[page * size :])
    refused = f"{path}: a row of its table \"it's said\" holds more than 2 MB in 'text', too much for a session; "
    for way in (bytes_of, load):
        with pytest.raises(BadInput) as raised:
            way(path)
        assert str(raised.value) == refused + "delete that row from a copy and open the copy."


@pytest.mark.parametrize(
    ("longest", "most", "size"), [(100, 20, 40), (100, 49, 98), (100, 50, 100), (100, 51, 100), (30, 20, 30)]
)
def test_so_many_bytes_are_within_each_limit(
    longest: int, most: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LONGEST_TEXT", longest)
    monkeypatch.setattr(limits, "MOST_VALUES", most)
    assert enough() == size


def test_the_size_of_a_text_is_told_in_whole_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_TEXT", 2_000_000)
    for letters, told_of_it in ((1_999_998, ""), (1_999_999, "a text of 2 MB"), (2_999_998, "a text of 3 MB")):
        assert beyond(b'["' + b"x" * letters + b'"]', 0, letters + 4) == told_of_it


@pytest.mark.parametrize(("size", "whole"), [(1_999_999, 1), (2_000_000, 2)])
def test_the_size_of_a_document_is_told_in_whole_megabytes(size: int, whole: int) -> None:
    with pytest.raises(BadInput, match=rf"^x\.json: its {whole} MB of JSON hold a text of 1 MB"):
        parse(Path("x.json"), b'["' + b"x" * (size - 4) + b'"]')


def test_only_what_lies_between_the_ends_is_counted() -> None:
    values = b"[" + b"1," * MOST + b"1]"
    assert beyond(values, 0, len(values)) == "more than 20 values"
    assert beyond(values, 1, len(values)) == ""
    fits = b"," * 50 + b"[" + b"1," * (MOST - 1) + b"1]" + b" " * 40 + b"," * 50
    assert beyond(fits, 50, len(fits) - 50) == ""
    texts = b'["' + b"," * 30 + b'"' + b',"a,"' * 19 + b"]"
    assert beyond(texts, 0, len(texts)) == ""
    assert beyond(texts[:-1] + b",1]", 0, len(texts) + 2) == "more than 20 values"


GIANT = b'{"a":"' + b"x" * (LONGEST - 1) + b'"}'
SHORT = b'{"b": 1}'


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (GIANT, 1),
        (GIANT.replace(b"xx", b"x", 1), None),
        (b"\n" + GIANT, 2),
        (b"\xef\xbb\xbf" + GIANT, 1),
        (b"\n" * 1_000 + GIANT, None),
        (SHORT + b"\n" + GIANT + b"\n" + SHORT, 2),
        ((SHORT + b"\n") * 40 + GIANT, 41),
        (b"[\n" + b"1,\n" * 40 + b'"' + b"x" * LONGEST + b'"]', 42),
        (SHORT + b"\n" + b"x" * 39 + b"\n" + GIANT, 3),
        (SHORT + b"\n" + b" " * 60 + b"\n\n" + GIANT + b"\n" + GIANT, 4),
        (SHORT + b"\n" + b" " * 60 + b"\n" + SHORT, None),
        (b"no JSON\n" + GIANT, None),
    ],
)
def test_the_first_line_that_is_too_much(data: bytes, line: int | None) -> None:
    assert line_beyond(data) == (None if line is None else (line, "a text of 0 MB"))


def test_warnings_of_a_kind_differ_in_names_and_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_WARNINGS", 2)
    given = [
        LoadWarning("has no id", 1),
        LoadWarning("names 'a' 5 times", 2),
        LoadWarning("has no id", 3),
        LoadWarning('names "b\\"c" 12\xa0345 times', 4),
        LoadWarning("has no id", 5),
        LoadWarning("names 'it\\'s' 1\u202f000 times", 6),
        LoadWarning("has no id", 7),
        LoadWarning("names a 5 times", 8),
    ]
    assert limit_warnings(given[:4]) == tuple(given[:4])
    assert limit_warnings(given) == (
        *given[:4],
        given[7],
        LoadWarning("2 more warnings of this kind, the last: has no id", 7),
        LoadWarning("1 more warnings of this kind, the last: names 'it\\'s' 1\u202f000 times", 6),
    )
