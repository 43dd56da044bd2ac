"""What is kept of large sessions: for what it is of, for its owner only, and not for ever."""

import os
from pathlib import Path

import pytest

from workbench.base import disk_cache, paths


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"{}")
    return path


def keep(of: Path, said: bytes, digest: str = "1") -> Path:
    file = disk_cache.cache_file(of, "words")
    disk_cache.store(file, {"of": str(of), "digest": digest}, lambda new: new.write(said))
    return file


def read(file: Path, of: Path, digest: str = "1") -> bytes | None:
    with disk_cache.open_cached(file, {"of": str(of), "digest": digest}) as found:
        return found.read() if found else None


def test_what_is_kept_is_read_for_what_it_is_of_alone(session: Path) -> None:
    file = keep(session, b"the words")
    assert (read(file, session), read(file, session, "2")) == (b"the words", None)
    assert file.stat().st_mode & 0o777 == 0o600
    assert keep(session, b"other words") == file
    assert read(file, session) == b"the words", "it is kept already"
    keep(session, b"other words", "2")
    assert (read(file, session), read(file, session, "2")) == (None, b"other words")
    assert [one.name for one in paths.sessions().iterdir()] == [file.name]


def test_a_session_and_its_parts_have_places_of_their_own(session: Path) -> None:
    places = {disk_cache.cache_file(session, *more) for more in (("words",), ("words", "1"), ("other",))}
    places.add(disk_cache.cache_file(session.with_name("t.jsonl"), "words"))
    assert len(places) == 4


@pytest.mark.parametrize("said", [b"", b"\n", b"no json\nwords", b"[]\nwords", b'{"of": "elsewhere"}\nwords'])
def test_a_file_that_says_something_else_is_as_none(session: Path, said: bytes) -> None:
    file = keep(session, b"the words")
    file.write_bytes(said)
    assert read(file, session) is None


def test_a_file_that_is_not_what_was_written_is_as_none(session: Path) -> None:
    """Every byte of it changed, and every end of it."""
    file = keep(session, b"the words")
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert read(file, session) is None, at
        file.write_bytes(whole[:at])
        assert read(file, session) is None, at
    file.write_bytes(whole)
    assert read(file, session) == b"the words"


def test_a_session_whose_name_is_no_text_is_kept_like_any(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"b\xff.jsonl")
    odd.write_bytes(b"{}")
    assert read(keep(odd, b"the words"), odd) == b"the words"


def test_the_one_used_least_lately_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [tmp_path / f"{name}.jsonl" for name in "abc"]
    files = []
    for number, one in enumerate(sessions, 1):
        one.write_bytes(b"{}")
        files.append(keep(one, b"w" * 1000))
        os.utime(files[-1], (number, number))
    assert read(files[0], sessions[0]) == b"w" * 1000  # used just now
    size = files[0].stat().st_size
    monkeypatch.setattr(disk_cache, "MAX_BYTES", 3 * size)
    (fourth := tmp_path / "d.jsonl").write_bytes(b"{}")
    files.append(keep(fourth, b"w" * 1000))
    assert [one.exists() for one in files] == [True, False, True, True]
    monkeypatch.setattr(disk_cache, "MAX_BYTES", 3 * size - 1)
    keep(fourth, b"w" * 1000, "2")
    assert [one.exists() for one in files] == [True, False, False, True]


def test_what_is_kept_goes_with_its_session(session: Path, tmp_path: Path) -> None:
    file = keep(session, b"the words")
    session.unlink()
    (other := tmp_path / "t.jsonl").write_bytes(b"{}")
    keep(other, b"words")
    assert not file.exists()


def test_where_nothing_can_be_kept_nothing_is(session: Path) -> None:
    paths.sessions().parent.mkdir(parents=True, exist_ok=True)
    paths.sessions().write_bytes(b"no folder")
    file = keep(session, b"the words")
    assert read(file, session) is None


def test_a_changed_module_is_another_program() -> None:
    assert disk_cache.code_digest("session") == disk_cache.code_digest("session")
    assert disk_cache.code_digest("session") != disk_cache.code_digest("session", "formats")
