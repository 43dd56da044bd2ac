"""What stands in decoded JSON, however deep."""

from __future__ import annotations

from typing import Any

from workbench.base.values import fields_in, strings_in, words_in

GIVEN = {"a": "one", "b": [1, "two", {"c": None, "d": ["three", True]}], "e": {}}


def test_each_value_stands_under_the_key_above_it_in_order() -> None:
    assert list(fields_in(GIVEN)) == [
        ("a", "one"),
        ("b", 1),
        ("b", "two"),
        ("c", None),
        ("d", "three"),
        ("d", True),
    ]
    assert list(strings_in(GIVEN)) == ["one", "two", "three"]
    assert list(words_in(GIVEN)) == ["a", "one", "b", "1", "two", "c", "d", "three", "True", "e"]
    assert list(fields_in("alone")) == [("", "alone")]


def test_no_depth_is_too_deep() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = {"k": [deep]}
    assert list(fields_in(deep)) == [("k", "x")]
    assert list(strings_in(deep)) == ["x"]
    assert list(words_in(deep)) == ["k"] * 5_000 + ["x"]
