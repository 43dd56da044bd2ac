"""What this program adds to a file: marks in records, and the slot of the export note."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.formats.kit.marks import in_document, in_first_line, in_quoted_line, marked, without_stale_usage
from workbench.session import Message, Usage

NOTE = b'{"size": 7}'
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("kind", "found"),
    [("normal", "normal"), ("summary", "summary"), ("meta", "meta"), ("boundary", None), (7, None), (None, None)],
)
def test_only_kinds_that_are_written_are_read(kind: Any, found: str | None) -> None:
    assert marked({"workbench_kind": kind}) == found
    assert marked({}) is None


def test_usage_up_to_the_marked_record_is_stale_in_the_context_alone() -> None:
    messages = [Message(f"m{number}", "assistant", (), usage=Usage(number + 1)) for number in range(5)]
    found = without_stale_usage(messages, [1, 2, 4], 2)
    assert [message.usage and message.usage.input for message in found] == [1, None, None, 4, 5]


@pytest.mark.parametrize(
    ("paths", "data", "expected"),
    [
        ([()], b'{"a": 1}', b'{"a": 1,"k":{"size": 7}}'),
        ([()], b' {"a": 1}\n', b' {"a": 1,"k":{"size": 7}}\n'),
        ([()], BOM + b"{}", BOM + b'{"k":{"size": 7}}'),
        ([()], b'{"k": "old", "a": 1}', b'{"k": {"size": 7}, "a": 1}'),
        ([()], b"[1]", None),
        ([()], b'{"a": 1', None),
        ([("a",)], b'{"a": {"b": 2}, "c": 3}', b'{"a": {"b": 2,"k":{"size": 7}}, "c": 3}'),
        ([("a",)], b'{"a": null}', b'{"a": {"k":{"size": 7}}}'),
        ([("a",)], b'{"c": 3}', b'{"c": 3,"a":{"k":{"size": 7}}}'),
        ([("a",)], b'{"a": 3}', None),
        ([("a",)], b'{"a": ""}', None),
        ([("a", "b")], b'{"a": {}}', b'{"a": {"b":{"k":{"size": 7}}}}'),
        ([("a", "b")], b'{"c": 3}', None),
        ([("a", "b")], b'{"a": null}', b'{"a": {"b":{"k":{"size": 7}}}}'),
        ([(1,)], b'[{}, {"a": 1}]', b'[{}, {"a": 1,"k":{"size": 7}}]'),
        ([(0, "a")], b'[{"a": {}}]', b'[{"a": {"k":{"size": 7}}}]'),
        ([(1,)], b"[{}]", None),
        ([(0,)], b"[3]", None),
        ([(0,)], b'{"a": 1}', None),
        ([(1, "a"), ("b",)], b'{"b": {}}', b'{"b": {"k":{"size": 7}}}'),
        ([("a",), ("b",)], b'{"a": 1, "b": {}}', b'{"a": 1, "b": {"k":{"size": 7}}}'),
        ([("a",), ("b",)], b'{"a": 1, "b": 2}', None),
    ],
)
def test_a_note_in_a_document_is_put_at_the_first_place_that_there_is(
    paths: list[tuple[str | int, ...]], data: bytes, expected: bytes | None
) -> None:
    slot = in_document("k", *paths)
    assert slot.put(data, NOTE) == expected
    if expected is not None:
        assert slot.found(expected) == {"size": 7}


def test_a_note_may_be_a_text() -> None:
    slot = in_document("k", ("meta",), as_text=True)
    data = slot.put(b'{"meta": {}}', NOTE)
    assert data == b'{"meta": {"k":"{\\"size\\": 7}"}}'
    assert slot.found(data) == {"size": 7}


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"a": {"k": 1}}', 1),
        (b'{"a": {"k": null}, "b": {"k": 2}}', 2),
        (b'{"a": {"k": 1}, "b": {"k": 2}}', 1),
        (b'{"a": [], "b": {"k": 2}}', 2),
        (b'{"k": 1}', None),
        (b'{"a": {"k": "no JSON"}}', None),
        (b'{"a": {"k": "[1]"}}', [1]),
        (b'{"a": {"k": "\\ud83d"}, "b": {"k": 2}}', 2),
        (b'[{"k": 1}]', None),
        (b'{"a": {"k": 1}', None),
        (BOM + b'{"a": {"k": 1}}', 1),
        (b'{"a": "k"}', None),
    ],
)
def test_the_note_of_a_document(data: bytes, found: Any) -> None:
    assert in_document("k", ("a",), ("b",)).found(data) == found


@pytest.mark.parametrize(
    ("data", "found"), [(b'[{"k": 1}, {"k": 2}]', 2), (b'[{"k": 1}]', None), (b'{"k": 1}', None), (b'[1, "k"]', None)]
)
def test_the_note_in_an_element_of_a_list(data: bytes, found: Any) -> None:
    assert in_document("k", (1,)).found(data) == found


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"m": {"a": 1}}\n{"b": 2}\n', b'{"m": {"a": 1,"k":{"size": 7}}}\n{"b": 2}\n'),
        (b'{"m": {"a": 1}}', b'{"m": {"a": 1,"k":{"size": 7}}}'),
        (b'{"m": {"k": 1}}\n\n', b'{"m": {"k": {"size": 7}}}\n\n'),
        (b'{"a": 1}\n', b'{"a": 1,"m":{"k":{"size": 7}}}\n'),
        (b'[]\n{"m": {}}\n', None),
        (b'{"m": []}\n{"m": {}}\n', None),
        (b"", None),
    ],
)
def test_a_note_in_the_first_line(data: bytes, expected: bytes | None) -> None:
    slot = in_first_line("k", "m")
    assert slot.put(data, NOTE) == expected
    if expected is not None:
        assert slot.found(expected) == {"size": 7}


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"m": {"k": 1}}\n{"m": {"k": 2}}', 1),
        (b'{"m": {"k": 1}}', 1),
        (b'{"m": {}}\n{"m": {"k": 2}}', None),
        (b'\n{"m": {"k": 2}}', None),
        (b'{"k": 1}\n', None),
        (b'{"m": {"k": 1}\n', None),
    ],
)
def test_the_note_of_the_first_line(data: bytes, found: Any) -> None:
    assert in_first_line("k", "m").found(data) == found


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"# chat\n\nHi\n", b'# chat\n> k: {"size": 7}\n\nHi\n'),
        (b"# chat", b'# chat\n> k: {"size": 7}\n'),
        (b"", b'\n> k: {"size": 7}\n'),
        (b'# chat\n> k: {"size": 1}\nHi\n', b'# chat\n> k: {"size": 7}\n\nHi\n'),
        (b'# chat\nHi > k: {"size": 1}\n', b'# chat\n> k: {"size": 7}\nHi > k: {"size": 1}\n'),
    ],
)
def test_a_note_in_a_quoted_line(data: bytes, expected: bytes) -> None:
    slot = in_quoted_line("k")
    written = slot.put(data, NOTE)
    assert written is not None
    assert (written, slot.found(written)) == (expected, {"size": 7})


@pytest.mark.parametrize(
    "data", [b"", b'k: {"size": 1}', b"> k: 1", b'> kk: {"size": 1}', b'> k: {"size": 1} and', b'> k: {"size": }']
)
def test_what_only_looks_like_a_quoted_note_is_none(data: bytes) -> None:
    assert in_quoted_line("k").found(data) is None


def test_a_note_that_is_nested_too_deeply_is_none() -> None:
    deep = json.dumps({"k": "[" * 5_000 + "]" * 5_000}).encode()
    assert in_document("k", ()).found(deep) is None
    assert in_document("k", ()).found(b'{"k": ' + b"[" * 5_000 + b"]" * 5_000 + b"}") is None
