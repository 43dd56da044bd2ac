"""Values of any type, and API errors in any form, as what is asked for or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.session import ApiError


@pytest.mark.parametrize("value", [None, "", "a", 0, 1, 2.5, True, [], ["a"], {}, {"a": 1}])
def test_only_a_value_of_the_type_is_returned(value: Any) -> None:
    assert dict_of(value) == (value if type(value) is dict else {})
    assert list_of(value) == (value if type(value) is list else [])
    assert text_of(value) == (value if type(value) is str else "")
    assert word_of(value) == ("a" if value == "a" else None)
    assert count_of(value) == (1 if type(value) is int and value == 1 else 0)


@pytest.mark.parametrize(("value", "count"), [(-1, 0), (0, 0), (1, 1), (2, 2), (10**30, 10**30), (True, 0), (2.0, 0)])
def test_a_count_is_a_positive_integer(value: Any, count: int) -> None:
    assert count_of(value) == count


def error(text: str, status: int | None = None, kind: str = "") -> ApiError:
    return ApiError("e", text, 5.0, 7, status, kind)


def nested(levels: int) -> dict[str, Any]:
    """An error whose message is so many objects down."""
    return {"message": "deep"} if levels == 0 else {"error": nested(levels - 1)}


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("plain", error("plain")),
        ("", error("")),
        ({"message": " Overloaded. "}, error("Overloaded.")),
        ({"formatted": "a", "message": "b"}, error("a")),
        ({"message": " ", "detail": "c", "details": "d"}, error("c")),
        ({"details": "d", "errorMessage": "e"}, error("d")),
        ({"errorMessage": "e"}, error("e")),
        ({"message": "a", "status": 399, "statusCode": 400}, error("a", 400)),
        ({"message": "a", "status_code": 599}, error("a", 599)),
        ({"message": "a", "http_status": 600}, error("a")),
        ({"message": "a", "status": "500", "error": {"status": 529}}, error("a", 529)),
        ({"type": "error", "error": {"type": "overloaded", "code": "x"}}, error("overloaded x", None, "overloaded x")),
        ({"name": "Other", "errorType": "a", "codex_error_info": "a"}, error("a", None, "a")),
        ({"message": "m", "type": "a", "name": "b"}, error("m", None, "a b")),
        ({"data": {"message": "in data"}}, error("in data")),
        ({"connection": {"message": "in connection"}}, error("in connection")),
        ({"error": '{"message": "in text"}'}, error("in text")),
        ({"error": "no JSON", "data": {"message": "a"}}, error("a")),
        (nested(3), error("deep")),
        (nested(4), error("without a message")),
        ({}, error("without a message")),
        ([1], error("without a message")),
        (None, error("without a message")),
    ],
)
def test_an_api_error_in_any_form(recorded: Any, found: ApiError) -> None:
    assert api_error("e", recorded, 5.0, 7) == found


def test_an_api_error_may_have_no_place() -> None:
    assert api_error("e", "a") == ApiError("e", "a", None, None)
    assert api_error("e", {"message": "a"}) == ApiError("e", "a", None, None, None, "")
