"""JSON documents: warnings and refusals while reading, and the bytes of a changed list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.base.values import DEEPEST
from workbench.formats.kit import document
from workbench.formats.kit.document import (
    check_list_lengths,
    elements,
    new_name,
    parse,
    pieces,
    read_sidecar,
    render,
    splice,
    with_unread,
)
from workbench.formats.loss import Losses
from workbench.session import LoadWarning, Message, Text

HERE = Path("x.json")
BOM = b"\xef\xbb\xbf"
SKIPPED = LoadWarning("begins with a byte order mark, which was skipped", 1)
HALVES = LoadWarning("holds lone surrogates; shown as � and kept unchanged")


def not_utf8(line: int) -> LoadWarning:
    return LoadWarning("holds bytes that are not UTF-8; shown as � and kept unchanged", line)


@pytest.mark.parametrize(
    ("data", "value", "warnings"),
    [
        (b'{"a": [1]}', {"a": [1]}, []),
        (BOM + b"[1]", [1], [SKIPPED]),
        (b'{"a":\n"\xff"}', {"a": "�"}, [not_utf8(2)]),
        (BOM + b'["\xff\\ud83d"]', ["��"], [SKIPPED, not_utf8(1), HALVES]),
        (b'["\\ud83d"]', ["�"], [HALVES]),
        (b"[Infinity]", [float("inf")], []),
        (b'["a\tb"]', ["a\tb"], []),
        (b"7", 7, []),
    ],
)
def test_a_document_is_read_with_what_is_wrong_with_its_bytes(
    data: bytes, value: Any, warnings: list[LoadWarning]
) -> None:
    assert parse(HERE, data) == (value, warnings)


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (b'{"a": \n 1', "line 2, column 3: the JSON is damaged or cut off (Expecting ',' delimiter); {remedy}"),
        (b"", "line 1, column 1: the JSON is damaged or cut off (Expecting value); {remedy}"),
        (b"[1] 2", "line 1, column 5: the JSON is damaged or cut off (Extra data); {remedy}"),
        (b"[" * 100_000, "its JSON cannot be read (nested too deeply); {remedy}"),
        (
            b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
            f"its JSON is nested more than {DEEPEST} deep, too much for a session; remove it and try again.",
        ),
    ],
    ids=range(5),
)
def test_a_document_that_cannot_be_read_is_refused_with_its_place(data: bytes, refused: str) -> None:
    with pytest.raises(BadInput) as raised:
        parse(HERE, data)
    assert str(raised.value) == "x.json: " + refused.format(remedy="restore a whole copy and open that.")


def test_a_document_may_be_nested_so_deeply() -> None:
    assert json.dumps(parse(HERE, b"[" * DEEPEST + b"]" * DEEPEST)[0]) == "[" * DEEPEST + "]" * DEEPEST


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: {"a": 1, "m": one}])
def test_a_list_at_the_top_may_have_so_many_entries(wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MOST", 3)
    check_list_lengths(HERE, wrap([1, 2, 3]))
    check_list_lengths(HERE, [wrap([1, 2, 3, 4])])
    with pytest.raises(BadInput) as raised:
        parse(HERE, json.dumps(wrap([1, 2, 3, 4])).encode())
    assert str(raised.value) == (
        "x.json: holds a list of 4 entries, too many for a session; open the session's original file."
    )


def test_a_sidecar_is_an_object_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "side.json"
    assert read_sidecar(path) == {}
    for data, found in ((b'{"a": 1}', {"a": 1}), (b"[1]", {}), (b"{", {})):
        path.write_bytes(data)
        assert read_sidecar(path) == found
    assert read_sidecar(tmp_path) == {}


LIST = b'{"m": [ 1 ,\n2 , 3 ], "z": 4}\n'


@pytest.mark.parametrize(
    ("pieces", "data"),
    [
        ([0, 1, 2], LIST),
        ([], b'{"m": [  ], "z": 4}\n'),
        ([0], b'{"m": [ 1 ], "z": 4}\n'),
        ([1, 2], b'{"m": [ 2 , 3 ], "z": 4}\n'),
        ([0, 2], b'{"m": [ 1 ,\n3 ], "z": 4}\n'),
        ([2, 0], b'{"m": [ 3 ,\n1 ], "z": 4}\n'),
        ([0, b"9", 1], b'{"m": [ 1 ,\n9 ,\n2 ], "z": 4}\n'),
        ([b"8", b"9"], b'{"m": [ 8 ,\n9 ], "z": 4}\n'),
        ([0, 1, 2, b"9"], b'{"m": [ 1 ,\n2 , 3 ,\n9 ], "z": 4}\n'),
        ([1, 1], b'{"m": [ 2 ,\n2 ], "z": 4}\n'),
    ],
)
def test_a_list_is_replaced_and_every_other_byte_stays(pieces: list[int | bytes], data: bytes) -> None:
    assert splice(LIST, "m", pieces) == data
    assert splice(BOM + LIST, "m", pieces) == BOM + data


@pytest.mark.parametrize(
    ("data", "key", "pieces", "expected"),
    [
        (b" [ ]", None, [b"1", b"2"], b" [1, 2 ]"),
        (b'{"a": "[", "m": []}', "m", [b"1"], b'{"a": "[", "m": [1]}'),
        (b"[1]", None, [0, b"2"], b"[1, 2]"),
        (b"[1 ,2]", None, [0, b"3", 1], b"[1 ,3 ,2]"),
        ('["é", "ü"]'.encode(), None, [1], '["ü"]'.encode()),
    ],
)
def test_a_list_without_a_separator_gets_commas(data: bytes, key: str | None, pieces: Any, expected: bytes) -> None:
    assert splice(data, key, pieces) == expected


def test_a_list_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        splice(b"{}", "m", [])
    with pytest.raises(ValueError, match="expected"):
        splice(b'{"m": 1}', "m", [])


def test_the_bytes_of_each_element() -> None:
    assert elements(BOM + b'{"m": [ 1 , {"a": "\xc3\xa9"} ]}', "m") == [b"1", b'{"a": "\xc3\xa9"}']
    assert elements(b"[]", None) == []


def test_what_orjson_cannot_write_is_rendered_too() -> None:
    assert render({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()
    assert render({"a": "\ud83d", "b": 1}) == b'{"a":"\\ud83d","b":1}'
    assert render([2**70, Path("x")]) == b'[%d,"x"]' % 2**70


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (None, "session.compacted.json"),
        (Path("/a/chat.v2.json"), "chat.compacted.json"),
        (Path("/a/.json"), "session.compacted.json"),
        (Path("/a/chat"), "chat.compacted.json"),
    ],
)
def test_an_export_is_named_after_its_file(path: Path | None, name: str) -> None:
    assert new_name(path) == name


def message(id: str, *source: int, kind: str = "normal") -> Message:
    return Message(id, "user", (Text(id),), kind, source=source)  # type: ignore[arg-type]


def test_items_are_copied_only_where_all_their_messages_are_kept() -> None:
    own = [message("a", 0), message("b", 1), message("c", 1), message("d", 2, 3), message("e", 4)]

    def items(one: Message, losses: Losses) -> list[dict[str, Any]]:
        return [{"id": one.id}, {"again": one.id}] if one.id == "n" else [{"id": one.id}]

    def made(*messages: Message) -> list[int | bytes]:
        return pieces(own, messages, items, [])

    a, b, c, d, e = own
    assert made(*own) == [0, 1, 2, 3, 4]
    assert made(a, c, d) == [0, b'{"id":"c"}', 2, 3]
    assert made(a, c, b) == [0, b'{"id":"c"}', b'{"id":"b"}']
    assert made(message("n"), e, message("o"), message("x", kind="boundary")) == [
        b'{"id":"n"}',
        b'{"again":"n"}',
        4,
        b'{"id":"o"}',
    ]
    assert pieces([], [a, b], items, []) == [b'{"id":"a"}', b'{"id":"b"}']


@pytest.mark.parametrize(
    ("items", "unread", "expected"),
    [
        ([], [], []),
        ([], [1, 2], [1, 2]),
        ([1, 4], [0, 2, 3, 5], [0, 1, 2, 3, 4, 5]),
        ([b"x", 4, b"y"], [2, 5], [b"x", 2, 4, b"y", 5]),
        ([4, 1], [2], [2, 4, 1]),
    ],
)
def test_items_without_a_message_stay_before_what_followed_them(
    items: list[int | bytes], unread: list[int], expected: list[int | bytes]
) -> None:
    assert with_unread(items, unread) == expected
