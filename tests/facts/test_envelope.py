"""Results as status, data and error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.facts.envelope import envelope_is_partial, result_envelope, text_of
from workbench.session import Text, ToolResult


def found(text: str, *, is_error: bool = False) -> tuple[dict[str, Any], bool]:
    result = ToolResult("c1", (Text(text),), is_error)
    return result_envelope(result), envelope_is_partial(result)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "",
        "{",
        '{"a": 1}',
        '["status"]',
        '{"status": "success", "more": 1}',
        '{"status": "done"}',
        '{"status": 1}',
        ' "status" {"status": "success"}',
    ],
)
def test_text_that_is_no_envelope_is_the_data(text: str) -> None:
    assert found(text) == ({"status": "success", "data": text}, False)
    assert found(text, is_error=True) == ({"status": "error", "data": text}, False)


ERROR = {"code": 3, "message": "no", "hint": "x"}


@pytest.mark.parametrize(
    ("recorded", "fields", "is_partial"),
    [
        ({"status": "success", "data": [1]}, {"status": "success", "data": [1]}, False),
        ({"status": "partial", "data": None}, {"status": "partial", "data": None}, False),
        ({"status": "success"}, {"status": "success", "data": None}, True),
        ({"status": "success", "data": 1, "text": "1"}, {"status": "success", "data": 1}, True),
        ({"status": "success", "data": 1, "stats": {}, "context": {}}, {"status": "success", "data": 1}, True),
        ({"status": "success", "data": 1, "error": "no"}, {"status": "success", "data": 1}, True),
        ({"status": "error", "data": 1, "error": None}, {"status": "error", "data": 1}, True),
        ({"status": "error", "data": 1, "error": "no"}, {"status": "error", "data": 1, "error": "no"}, False),
        (
            {"status": "error", "data": 1, "error": ERROR},
            {"status": "error", "data": 1, "error": {"code": 3, "message": "no"}},
            True,
        ),
        (
            {"status": "error", "data": 1, "error": {"code": 3}},
            {"status": "error", "data": 1, "error": {"code": 3}},
            False,
        ),
    ],
)
def test_an_envelope_keeps_status_data_and_error(
    recorded: dict[str, Any], fields: dict[str, Any], is_partial: bool
) -> None:
    assert found("\n " + json.dumps(recorded), is_error=True) == (fields, is_partial)


def test_texts_of_a_result_are_joined_by_lines() -> None:
    assert text_of(ToolResult("c1", (Text("a"), Text("b")))) == "a\nb"
