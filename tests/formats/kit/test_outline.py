"""The outline of a document: every key, wherever it stands, and the beginnings of what is long."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.kit.outline import FEW, LEVELS, MANY, SPAN, glimpse, outline

LONG = "long " * SPAN
"""A text, five times as long as is given of one."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def of(value: Any) -> Any:
    return outline(json.dumps(value).encode())[0]


@given(st.dictionaries(st.text(), JSON), st.booleans(), st.sampled_from([None, 1]))
def test_a_short_document_is_given_whole_and_its_end_with_it(value: Any, ascii: bool, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=ascii, indent=indent).encode()
    assert outline(data) == (value, len(data))
    assert outline(b"\xef\xbb\xbf \n" + data + b"\n{}") == (value, len(data) + 5)


@pytest.mark.parametrize(
    "value", [LONG, [LONG] * 3, {"x": LONG}, [[LONG, 1]], '\\"{["' * SPAN, {"x": [0] * SPAN}], ids=range(6)
)
def test_what_stands_behind_a_long_value_is_seen(value: Any) -> None:
    found = of({"long": value, "keys": [1, {"a": None}], "last": "e"})
    assert list(found) == ["long", "keys", "last"]
    assert (found["keys"], found["last"]) == ([1, {"a": None}], "e")
    assert type(found["long"]) is type(value)


@pytest.mark.parametrize(("letters", "kept"), [(SPAN - 2, SPAN - 2), (SPAN - 1, SPAN - 1), (SPAN, SPAN - 1)])
def test_a_text_is_cut_where_it_is_longer_than_is_given(letters: int, kept: int) -> None:
    """With its quotes the first is as long as a value may be, and the second one byte longer."""
    assert of({"a": "x" * letters, "b": LONG})["a"] == "x" * kept


@pytest.mark.parametrize(("count", "size", "given_of_it"), [(FEW + 9, 1_000_000, FEW), (20, 10_000, 7 + 1)])
def test_of_a_long_list_the_first_elements_are_given(count: int, size: int, given_of_it: int) -> None:
    """At least a few, however long each is, and otherwise those that begin within the span: 7 × 10,006 > 65,536."""
    found = of({"list": [{"n": number, "x": "y" * size} for number in range(count)], "z": 1})
    assert [one["n"] for one in found["list"]] == list(range(given_of_it))
    assert found["z"] == 1


@pytest.mark.parametrize(("letters", "given_of_it"), [(4_092, 17), (4_093, 16)])
def test_the_last_element_of_a_long_list_begins_within_the_span(letters: int, given_of_it: int) -> None:
    """A bracket, and 16 texts of 4 093 letters with their quotes and commas: 1 + 16 × 4 095 + 15 = 65 536."""
    value = {"list": ["x" * letters] * 40, "z": 1}
    assert len(outline(json.dumps(value, separators=(",", ":")).encode())[0]["list"]) == given_of_it


def test_an_element_behind_a_long_one_is_seen() -> None:
    found = of([{"id": 0, "args": {"content": LONG}, "source": "agent"}, {"id": 1, "source": "user"}])
    assert [(one["id"], one["source"]) for one in found] == [(0, "agent"), (1, "user")]


@pytest.mark.parametrize(("keys", "given_of_it"), [(MANY - 1, MANY - 1), (MANY, MANY), (MANY + 1, MANY)])
def test_f11_of_an_object_within_a_document_so_many_keys_are_given(keys: int, given_of_it: int) -> None:
    inner = {f"key {number}": number for number in range(keys)}
    found = of({"rows": inner, "deeper": [{"rows": inner, "z": 1}], "z": 1})
    assert (len(found["rows"]), len(found["deeper"][0]["rows"])) == (given_of_it, given_of_it)
    assert (found["deeper"][0]["z"], found["z"]) == (1, 1)
    assert len(of(inner)) == keys  # of a document itself each key is a field


@pytest.mark.parametrize("at", [70_000, 140_010, 140_011, 300_000])
def test_of_a_document_that_is_cut_off_what_is_there_is_given(at: int) -> None:
    data = json.dumps({"first": "a" * 139_990, "then": ["b" * 200_000, 1]}).encode()
    assert list(outline(data[:at])[0]) == (["first"] if at < 140_011 else ["first", "then"])


@pytest.mark.parametrize(
    "data", [b"", b"nothing", b"\x00\x01" * SPAN, b"[" * SPAN * 3, b'{"a":' * SPAN, b"}" * SPAN * 2], ids=range(6)
)
def test_what_is_no_document_has_no_keys(data: bytes) -> None:
    found, _ = outline(data)
    assert not isinstance(found, dict) or set(found) <= {"a"}
    glimpse(data)


@pytest.mark.parametrize(
    ("head", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": NaN}', {"a": pytest.approx(float("nan"), nan_ok=True)}),
        (b'{"a": "b', {"a": "b"}),
        (b'{"a": "b\\', {"a": "b"}),
        (b'{"a": "b\\u00e', {"a": "b"}),
        (b'{"a": "b\\u00e9', {"a": "b\u00e9"}),
        (b'{"a": "b\\\\', {"a": "b\\"}),
        (b'{"a": "b\\\\u00', {"a": "b\\u00"}),
        (b'{"a": "\\\\\\', {"a": "\\"}),
        (b'{"a": ["b", "c', {"a": ["b", "c"]}),
        (b'[{"a": {"b": ["c', [{"a": {"b": ["c"]}}]),
        (b'{"a": 1, "b', {"a": 1}),
        (b'{"a": 1, "b"', {"a": 1}),
        (b'{"a": 1, "b":', {"a": 1}),
        (b'{"a": 1, "b": tr', {"a": 1}),
        (b'{"a": 1, "b": 12', {"a": 1}),
        (b'{"a": 1, "b": 12 ', {"a": 1, "b": 12}),
        (b'{"a": 1, "b": {', {"a": 1, "b": {}}),
        (b'{"a": 1, "b": {"c', {"a": 1, "b": {}}),
        (b'{"a": [1, 2', {"a": [1]}),
        (b'{"a": [1, 2]', {"a": [1, 2]}),
        (b'{"a": [1, 2],', {"a": [1, 2]}),
        (b'{"a": {"b": 1}, "c": [', {"a": {"b": 1}, "c": []}),
        (b'"text', None),
        (b"12", 12),
        (b'"', None),
        (b"", None),
        (b"{", {}),
        (b"[", []),
        (b"no JSON", None),
        (b'{"a": 1} {"b": 2}', None),
        (b'{"a": 1} "b', None),
        (b'{"a": 1]', None),
        (b"]", None),
        (b"[" * 200, "deep"),
        (b"[" * 201, None),
    ],
    ids=range(37),
)
def test_a_document_that_is_cut_off_is_closed_at_its_last_whole_value(head: bytes, value: Any) -> None:
    found = glimpse(head)
    if value == "deep":
        assert json.dumps(found) == "[" * 200 + "]" * 200
    else:
        assert found == value


@pytest.mark.parametrize(("levels", "kept"), [(LEVELS, True), (LEVELS + 1, False)])
@pytest.mark.parametrize("wrap", [lambda one: {"in": one}, lambda one: [one]])
def test_values_are_outlined_down_to_so_many_levels(levels: int, kept: bool, wrap: Any) -> None:
    value: Any = {"long": LONG, "z": 1}
    for _ in range(levels - 1):
        value = wrap(value)
    found = of({"top": value})["top"]
    for _ in range(levels - 1):
        found = next(iter(found.values() if isinstance(found, dict) else found), {})
    assert ("z" in found) is kept


def test_a_list_at_the_top_and_other_values_have_their_end() -> None:
    assert outline(b"x[1, 2]  ", 1) == ([1, 2], 7)
    assert outline(b" 12 ,") == (12, 3)
    assert outline(b'"a" 2') == ("a", 3)
    assert outline(b"") == (None, 0)
    assert outline(b'{"a": [1}')[1] == 9
