"""Both ends of a file as one short file: which bytes are read, and what is left of lines and documents."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import zstandard

from workbench.base.errors import BadInput
from workbench.formats.kit import file_ends
from workbench.formats.kit.file_ends import FURTHER, Ends, are_lines, ends_of, joined_ends


@pytest.mark.parametrize(
    ("data", "reach", "back", "head", "tail", "whole"),
    [
        (b"", 4, 4, b"", b"", True),
        (b"abc", 4, 4, b"abc", b"", True),
        (b"abcd", 4, 4, b"abcd", b"", True),
        (b"abcde", 4, 4, b"abcd", b"e", True),
        (b"abcdefgh", 4, 4, b"abcd", b"efgh", True),
        (b"abcdefghi", 4, 4, b"abcd", b"fghi", False),
        (b"abcdefghi", 2, 3, b"ab", b"ghi", False),
        (b"abcdefghi", 4, 0, b"abcd", b"", False),
    ],
)
def test_the_ends_of_a_file(
    tmp_path: Path, data: bytes, reach: int, back: int, head: bytes, tail: bytes, whole: bool
) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    os.utime(path, (5, 1234.5))
    found = ends_of(path, reach, back)
    assert (found, found.is_whole) == (Ends(head, tail, len(data), 1234.5), whole)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match=r"^This is a pipe, not a regular file\.$"):
        ends_of(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such file"):
        ends_of(tmp_path / "gone")


def joined(head: bytes, tail: bytes = b"") -> bytes:
    (data,) = joined_ends(Ends(head, tail, 0, 0.0))
    return data


@pytest.mark.parametrize(
    ("head", "tail", "lines"),
    [
        (b'{"a": 1}\n{"b', b"", True),
        (b'{"a": 1}', b"", True),
        (b'{"a": ', b'1}\n{"b": 2}\n{"c"', True),
        (b'{"a": ', b'1}\n{"b": 2}', True),
        (b'{"a": ', b'{"b": 2}\n{"c"', False),
        (b"[1]\n", b"x\n[2]\n", False),
        (b'[\n{"a": 1}\n', b'x\n{"b": 2},\n', False),
        (b"", b"", False),
        (b"[" * 100_000, b'x\n{"b": 2}', True),
        (b"\xff\n", b"", False),
    ],
)
def test_lines_are_told_by_the_first_whole_one_of_either_end(head: bytes, tail: bytes, lines: bool) -> None:
    assert are_lines(head, tail) is lines


def test_of_lines_the_whole_ones_are_left() -> None:
    assert joined(b'{"a": 1}\n{"b": 2}\n{"c', b'3}\n{"d": 4}\n{"e": 5}') == b'{"a": 1}\n{"b": 2}\n{"d": 4}\n{"e": 5}'
    assert joined(b'{"a": 1}\n{"b": 2}\n') == b'{"a": 1}\n{"b": 2}\n'
    assert joined(b'{"a": ', b'1}\n{"b": 2}\n') == b'{"b": 2}\n'


def test_what_is_neither_lines_nor_a_document_is_both_ends() -> None:
    assert joined(b"# aider\n", b"\n> end\n") == b"# aider\n\n> end\n"
    assert joined(b"[1, 2, 3", b", 4]") == b"[1, 2, 3, 4]"
    assert joined(b'{"a": [1, 2', b", 3]}") == b'{"a": [1, 2, 3]}'
    assert joined(b'"text', b' end"') == b'"text end"'


def test_of_a_compressed_file_the_whole_lines_of_its_beginning_are_left() -> None:
    line = b'{"a": "' + bytes(range(97, 123)) * 4 + b'"}\n'
    data = line * (FURTHER // len(line) + 9)
    assert joined(zstandard.ZstdCompressor().compress(data), b"tail") == line * (FURTHER // len(line))


A, B, C, D = ({"id": letter, "at": number} for number, letter in enumerate("abcd"))


@pytest.mark.parametrize(
    ("value", "start", "stop", "expected"),
    [
        ([A, B, C, D], 40, 60, [A, D]),
        ([A, B, C, D], 40, 42, [A, C, D]),
        ([A, B, C, D], 60, 64, [A, B, D]),
        ([A, B, C, D], 60, 65, [A, B]),
        ([A, B, C, D], 19, 20, [{"id": "a"}, B, C, D]),
        ({"v": 1, "m": [A, B, C, D]}, 70, 78, {"v": 1, "m": [A, B, D]}),
        ({"v": [1], "m": [A, B, C, D], "z": 2}, 75, 80, {"v": [1], "m": [A, B, D]}),
        ({"m": [A], "z": [], "y": None}, 40, 46, {"m": [A], "z": []}),
    ],
)
def test_of_a_document_the_whole_elements_of_its_longest_list_are_left(
    value: Any, start: int, stop: int, expected: Any
) -> None:
    data = json.dumps(value).encode()
    assert json.loads(joined(data[:start], data[stop:])) == expected


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b'}, {"id": "b", "at": 1}]', [A, B]),
        (b'} , \n {"id": "b", "at": 1} ,\n{"id": "c", "at": 2}]', [A, B, C]),
        (b'}, {"id": "b"}, {"id": "c", "at": 2}]', [A, C]),
        (b'}, {"id": "b", "at": {"x": 1}, "y": 2}]', [A, {"id": "b", "at": {"x": 1}, "y": 2}]),
        (b'}, {"id": "b", "at": 1', [A]),
        (b'}, {"id": [{"id": 1}, {"id": "c", "at": 2}], "at": 1}]', [A, {"id": [{"id": 1}, C], "at": 1}]),
        (b'}, {"id": [{"id": 1}, {"id": "c", "at": 2}]', [A, C]),
        (b'},[{"id": "b", "at": 1}]', [A]),
        (b'{"id": "b", "at": 1}', [A]),
        (b'}, {"id": "\xff", "at": 1}', [A, {"id": "�", "at": 1}]),
        (b'}, {"id": "a\tb", "at": 1}', [A, {"id": "a\tb", "at": 1}]),
    ],
)
def test_elements_of_the_tail_follow_another_and_have_the_keys_of_all(tail: bytes, expected: list[Any]) -> None:
    assert json.loads(joined(json.dumps([A]).encode()[:-1] + b', {"id', tail)) == expected


@pytest.mark.parametrize(("attempts", "count"), [(2, 3), (3, 4)])
def test_so_many_elements_of_the_tail_are_tried(monkeypatch: pytest.MonkeyPatch, attempts: int, count: int) -> None:
    monkeypatch.setattr(file_ends, "_ATTEMPTS", attempts)
    tail = b"}, " + b", ".join(json.dumps(one).encode() for one in (B, C, D))
    assert len(json.loads(joined(json.dumps([A]).encode()[:-1] + b', {"id', tail))) == count


def test_objects_without_a_key_in_common_have_no_continuation() -> None:
    head = b'[{"a": 1}, {"b": 2}, {"c'
    assert json.loads(joined(head, b'}, {"a": 3}, {"b": 4}]')) == [{"a": 1}, {"b": 2}]
