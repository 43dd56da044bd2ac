"""Spans of values in a JSON text, and patches that leave all else alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.kit.document import splice
from workbench.formats.kit.json_spans import array_items, byte_items, field_of, object_items, replace_fields
from workbench.formats.kit.sheet import SheetEntry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_items_of_a_bare_array_and_of_a_key() -> None:
    text = '\ufeff { "x" : 1, "list" : [ {"a": "]"} , 2,"é" ] , "empty":[ ] }'
    assert [text[a:b] for a, b in array_items(text, "list")] == ['{"a": "]"}', "2", '"é"']
    assert array_items(text, "empty") == []
    assert array_items(" [ ]") == []
    assert [("[1, [2]]")[a:b] for a, b in array_items("[1, [2]]")] == ["1", "[2]"]
    with pytest.raises(KeyError):
        array_items(text, "none")


def test_items_of_an_object_by_key_as_decoded() -> None:
    text = '{"a\\u0062": [1], "c":null,"ab":2}'
    assert {key: text[a:b] for key, (a, b) in object_items(text).items()} == {"ab": "2", "c": "null"}
    assert object_items("{ }") == {}


@pytest.mark.parametrize("text", ["", "[1", "[1,]", "[1 2]", '{"a"}', '{"a":1,}', "{1:2}", "nope", "[" * 100_000])
def test_what_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        array_items(text) if not text.startswith("{") else object_items(text)


def test_a_key_that_is_not_utf8_is_read_and_stays() -> None:
    raw = b'{"\xff": 1, "\xc3\xa9": 2}'
    assert {key: raw[start:stop] for key, (start, stop) in byte_items(raw).items()} == {"�": b"1", "é": b"2"}
    assert replace_fields(raw, {"é": b"3"}) == raw.replace(b"2", b"3")


def test_json_that_is_nested_too_deeply_is_told_as_such() -> None:
    with pytest.raises(ValueError, match=r"^nested too deeply$"):
        array_items("[" * 100_000)
    with pytest.raises(ValueError, match=r"^expected ':' at character 4$"):
        object_items('{"a"}')


def test_only_the_named_values_change() -> None:
    raw = b'{ "a" :1,"b":"\xff\xc3\xa9 \x01", "c" : {"a":5} }  '
    assert replace_fields(raw, {"a": b'"new"'}) == raw.replace(b":1", b':"new"')
    assert replace_fields(raw, {"c": b"0"}) == raw.replace(b'{"a":5}', b"0")
    assert replace_fields(raw, {}) == raw
    assert replace_fields(b'{"a":1}', {"z": b"2", "y": b"3"}) == b'{"a":1,"z":2,"y":3}'
    assert replace_fields(b"{}", {"z": b"2"}) == b'{"z":2}'
    assert replace_fields(b'{"a":1,"a":2}', {"a": b"3"}) == b'{"a":3,"a":3}'
    assert replace_fields(b'{"a":{"b":1} }', {"z": b"2"}) == b'{"a":{"b":1} ,"z":2}'
    assert field_of(raw, "c") == b'{"a":5}'
    assert field_of(raw, "d") is None


@given(st.dictionaries(st.text(), JSON, max_size=5), st.dictionaries(st.text(), JSON, max_size=3))
def test_patching_is_updating(value: dict[str, object], changes: dict[str, object]) -> None:
    for escaped in (True, False):
        raw = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
        patched = replace_fields(raw, {key: json.dumps(new).encode() for key, new in changes.items()})
        assert json.loads(patched.decode("utf-8", "surrogatepass")) == {**value, **changes}


@given(st.lists(JSON, max_size=5))
def test_spans_are_the_elements(values: list[object]) -> None:
    text = json.dumps(values, indent=1)
    assert [json.loads(text[a:b]) for a, b in array_items(text)] == values


LIST = b'{ "m" :[ 1 ,\n  2,3\t, 4 ] , "z":0}'


@pytest.mark.parametrize(
    ("data", "key", "pieces", "expected"),
    [
        (LIST, "m", [0, 1, 2, 3], LIST),
        (LIST, "m", [1, 2], b'{ "m" :[ 2,3 ] , "z":0}'),
        (LIST, "m", [2, 3], b'{ "m" :[ 3\t, 4 ] , "z":0}'),
        (LIST, "m", [0, 2, 3], b'{ "m" :[ 1 ,\n  3\t, 4 ] , "z":0}'),
        (LIST, "m", [3, 2], b'{ "m" :[ 4 ,\n  3 ] , "z":0}'),
        (LIST, "m", [0, b"9", 1, 2], b'{ "m" :[ 1 ,\n  9 ,\n  2,3 ] , "z":0}'),
        (LIST, "m", [b"8", b"9", 3], b'{ "m" :[ 8 ,\n  9 ,\n  4 ] , "z":0}'),
        (LIST, "m", [], b'{ "m" :[  ] , "z":0}'),
        (b"\xef\xbb\xbf[1 ,2]", None, [1, b"9"], b"\xef\xbb\xbf[2 ,9]"),
        (b"\xef\xbb\xbf[1]", None, [0], b"\xef\xbb\xbf[1]"),
        (b"[ 1]", None, [0, b"9"], b"[ 1, 9]"),
        (b" [ ]", None, [b"9"], b" [9 ]"),
        (b'{"m":[ ]}', "m", [b"9"], b'{"m":[9 ]}'),
    ],
)
def test_splicing_keeps_the_bytes_between_neighbours(
    data: bytes, key: str | None, pieces: list[int | bytes], expected: bytes
) -> None:
    assert splice(data, key, pieces) == expected


def test_f10_a_byte_order_mark_before_an_object_stays() -> None:
    raw = b'\xef\xbb\xbf{"a": 1, "b": 2}'
    assert replace_fields(raw, {"b": b"3"}) == b'\xef\xbb\xbf{"a": 1, "b": 3}'
    assert field_of(raw, "a") == b"1"


@pytest.mark.parametrize("key", ["é", "日本", "\U0001f642", "\ufffd", "a"])
@pytest.mark.parametrize("ascii", [True, False])
def test_a_record_is_changed_whatever_its_other_keys_are(key: str, ascii: bool) -> None:
    raw = json.dumps({key: 1, "in": {key: [2]}}, ensure_ascii=ascii).encode()
    entry = SheetEntry(raw, json.loads(raw), 1)
    entry.put(("in", key, 0), 3)
    assert json.loads(entry.raw) == {key: 1, "in": {key: [3]}}
