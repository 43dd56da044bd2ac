"""A large file of lines is read a block at a time, and gives what the whole of it gives."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.formats.claude_code_build import assistant, jsonl, text, user
from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import files
from workbench.formats.files import load, load_bytes
from workbench.formats.kit import jsonl as kit
from workbench.formats.kit import limits
from workbench.formats.kit.jsonl import LineTooLong, Record, lines_in, records_of
from workbench.session import Session
from workbench.session.session import digest_of

SESSIONS = [path for kind in ("claude-code", "codex-[!e]") for path in sorted(SAMPLES.glob(f"{kind}*.jsonl"))]
_PIECES = [
    b'{"a":1}',
    b"[2]",
    b"\n",
    b"\r\n",
    b" \n",
    b"\x00",
    b"\xef\xbb\xbf",
    b'{"cut',
    b'"\\ud800"',
    b"NaN",
    b"\xff",
]


def by_block(data: bytes, size: int) -> list[Record]:
    told: list[bytes] = []
    found = list(lines_in(io.BytesIO(data), len(data), told.append, size).found)
    assert b"".join(told) == data
    return found


@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=12), size=st.integers(1, 9))
@example(pieces=[b'{"a":1}', b"\n", b"\xef\xbb\xbf", b'{"a":1}'], size=8)
@example(pieces=[b"\xef\xbb\xbf", b'{"a":1}'], size=1)
@example(pieces=[b"\x00", b"\n", b"\x00"], size=1)
@example(pieces=[b'{"a":1}', b"\n", b"\x00", b" \n", b"\x00", b"\n", b"\x00", b"\x00", b"[2]"], size=2)
def test_the_records_of_blocks_are_those_of_the_whole(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    assert by_block(data, size) == list(records_of(data))


def both_ways(path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> tuple[Session | str, Session | str]:
    """A file read block by block, with nothing else that reads it, and as a whole."""

    def nothing(path: Path) -> bytes:
        raise AssertionError("the whole file was read")

    with monkeypatch.context() as patch:
        patch.setattr(files, "LARGE", 0)
        patch.setattr(files, "bytes_of", nothing)
        patch.setattr(kit, "BLOCK", block)
        try:
            apart: Session | str = load(path)
        except BadInput as refused:
            apart = str(refused)
    try:
        return apart, load_bytes(path, path.read_bytes())
    except BadInput as refused:
        return apart, str(refused)


def assert_same(apart: Session | str, whole: Session | str, path: Path) -> None:
    if isinstance(apart, str) or isinstance(whole, str):
        assert apart == whole
        return
    assert apart == whole.__class__(**{**_fields(whole), "records": apart.records})
    assert apart.records.packed == whole.records.packed
    assert (apart.records.size, apart.records.digest) == (path.stat().st_size, digest_of(path.read_bytes()))
    assert list(apart.records) == list(whole.records)


def _fields(session: Session) -> dict[str, object]:
    return {name: getattr(session, name) for name in session.__dataclass_fields__}


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_session_is_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apart, whole = both_ways(path, monkeypatch, 10_000)
    assert isinstance(apart, Session)
    assert_same(apart, whole, path)


@pytest.mark.parametrize("seed", range(12))
def test_so_is_a_damaged_one(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    lines = SESSIONS[seed % len(SESSIONS)].read_bytes().splitlines(keepends=True)[:400]
    for _ in range(6):
        at = chance.randrange(1, len(lines))
        line = lines[at]
        lines[at : at + 1] = chance.choice(
            [
                [line, line],
                [line[: len(line) // 2]],
                [],
                [line[:-1], line],
                [b"\n\x00", line],
                [b"\xff", line],
                [b"{}\n"],
            ]
        )
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"".join(lines))
    apart, whole = both_ways(path, monkeypatch, 1_000)
    assert_same(apart, whole, path)


def test_a_line_is_held_against_one_that_was_read_long_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [user("u0", None, "first"), assistant("a0", "u0", "m0", text("x" * 500)), user("u1", "a0", "more")]
    path = tmp_path / "again.jsonl"
    path.write_bytes(jsonl(*lines, lines[1], {**lines[2], "cwd": "/elsewhere"}))
    apart, whole = both_ways(path, monkeypatch, 64)
    assert_same(apart, whole, path)
    assert isinstance(apart, Session)
    assert [str(one) for one in apart.warnings] == [
        "line 4: duplicates line 2; counted once",
        "line 5: has the uuid of line 3; both are kept",
    ]


@pytest.mark.parametrize("most", [60, 61, 62])
def test_of_a_line_that_is_longer_than_enough_the_whole_file_tells(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "enough", lambda: most)
    data = b'{"a":1}\n' + b'{"b":"' + b"x" * 53 + b'"}\n{"c":3}\n'
    assert max(map(len, data.splitlines())) == 61
    found = lines_in(io.BytesIO(data), len(data), lambda block: None, 16).found
    if most < 61:
        with pytest.raises(LineTooLong):
            list(found)
    else:
        assert [record.value for record in found][::2] == [{"a": 1}, {"c": 3}]
    after_a_blank_line = lines_in(io.BytesIO(b"\n" + data), len(data) + 1, lambda block: None, len(data) + 1).found
    assert [record.value for record in after_a_blank_line][::2] == [{"a": 1}, {"c": 3}]


def test_a_file_with_a_line_that_no_session_has_is_refused_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wide.jsonl"
    path.write_bytes(jsonl(user("u0", None, "first")) + b'{"a":[' + b"0," * 2_000 + b"0]}\n")
    monkeypatch.setattr(files, "LARGE", 0)
    monkeypatch.setattr(kit, "BLOCK", 500)
    monkeypatch.setattr(limits, "MOST_VALUES", 1_000)
    with pytest.raises(BadInput, match=r"line 2 holds more than 1 000 values, too much for a session; remove it"):
        load(path)


@pytest.mark.parametrize(("more", "whole"), [(0, True), (-1, False)])
def test_only_a_large_file_is_read_so(more: int, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(user("u0", None, "first"), assistant("a0", "u0", "m0", text("yes"))))
    monkeypatch.setattr(files, "LARGE", path.stat().st_size + more)
    read: list[Path] = []
    monkeypatch.setattr(files, "bytes_of", lambda path: (read.append(path), path.read_bytes())[1])
    load(path)
    assert bool(read) is whole
