"""The untouched records of a file, at hand or let go."""

import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.session import Records
from workbench.session.session import digest_of


def records_of(path: Path) -> Records:
    data = path.read_bytes()
    records = Records(data)
    at = 0
    for line, raw in enumerate(data.splitlines(keepends=True), 1):
        records.add(at, at + len(raw.rstrip()), line)
        at += len(raw)
    return records


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"one\ntwo\nthree\n")
    return path


def test_records_are_the_files_own_bytes(file: Path) -> None:
    records = records_of(file)
    assert list(records) == [b"one", b"two", b"three"]
    assert records[1] == b"two"
    assert records[1:] == [b"two", b"three"]


def test_what_was_let_go_is_read_again(file: Path) -> None:
    records = records_of(file)
    records.let_go(file, records.size, digest_of(records.data))
    assert list(records) == [b"one", b"two", b"three"]
    with file.open("ab") as more:
        more.write(b"four\n")
    assert records[2] == b"three", "what is appended later does no harm"
    with records.held():
        file.unlink()
        assert records[0] == b"one", "held bytes are read once"
    with pytest.raises(BadInput, match="cannot be read any more"):
        records[0]


def _unreadable(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _gone(path: Path) -> None:
    shutil.rmtree(path.parent)


def _shorter(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _same_size(path: Path) -> None:
    path.write_bytes(path.read_bytes().swapcase())


def _other_file(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"another session\n")
    other.replace(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_unreadable, "cannot be read any more: Is a directory; put the file back or make it readable."),
        (_pipe, "cannot be read any more: it is a pipe; put the file back or make it readable."),
        (_gone, "cannot be read any more: No such file or directory; put the file back or make it readable."),
        (_shorter, "was changed after it was opened; read it again (on the bench: ctrl+p Read again)."),
        (_same_size, "was changed after it was opened; read it again (on the bench: ctrl+p Read again)."),
        (_other_file, "was changed after it was opened; read it again (on the bench: ctrl+p Read again)."),
    ],
)
def test_each_change_is_told_with_the_file_and_a_remedy(
    file: Path, change: Callable[[Path], None], sentence: str
) -> None:
    records = records_of(file)
    records.let_go(file, records.size, digest_of(records.data))
    change(file)
    with pytest.raises(BadInput) as refused:
        list(records)
    assert str(refused.value) == f"{file} {sentence}"


def test_bytes_that_two_hold_stay_until_the_last_is_done(file: Path) -> None:
    records = records_of(file)
    records.let_go(file, records.size, digest_of(records.data))
    first, second = records.held(), records.held()
    with ExitStack() as one:
        one.enter_context(first)
        second.__enter__()
    file.write_bytes(b"ONE\n")
    assert records[0] == b"one", "the second holds them still"
    second.__exit__(None, None, None)
    with pytest.raises(BadInput):
        records[0]


def test_a_changed_file_is_refused_not_mixed_up(file: Path) -> None:
    records = records_of(file)
    records.let_go(file, records.size, digest_of(records.data))
    file.write_bytes(b"ONE\ntwo\nthree\n")
    with pytest.raises(BadInput, match="was changed after it was opened"):
        records[0]


def test_of_a_file_that_is_being_read_everything_can_be_asked_and_it_goes_on_where_it_was(file: Path) -> None:
    with file.open("rb") as reading:
        records = Records.being_read(reading)
        for start, stop, line in ((0, 3, 1), (4, 7, 2)):
            records.add(start, stop, line)
        assert reading.read(4) == b"one\n"
        assert (records[1], records[:], list(records)) == (b"two", [b"one", b"two"], [b"one", b"two"])
        assert records.data == b"one\ntwo\nthree\n"
        assert reading.read() == b"two\nthree\n"
