"""Text search: matches and rejected patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.analysis.search import all_texts, hits, match_spans, query_of
from workbench.base.errors import BadInput
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse

NESTED = {"edits": [{"old": 'say "hi"\n', "new": None}], "count": 3}
MESSAGES = (
    Message("a", "user", (Text("Fix the Token refresh"), Media("image/png", 120))),
    Message("b", "assistant", (Thinking("a token, perhaps"), ToolUse("1", "Edit", NESTED))),
    Message("c", "tool", (ToolResult("1", (Text("done [x]"), Media("image/gif", 5))),)),
    Message("d", "assistant", (ToolUse("2", "Bash", "not json: straße"), Opaque("odd", {"deep": ["CAFÉ"]}))),
    Message("e", "assistant", (Text("lone \ud800 surrogate"),)),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("token", [0, 1]),
        ("TOKEN", [0, 1]),
        ('say "hi"\n', [1]),
        ("edit", [1]),
        ("old", [1]),
        ("[x]", [2]),
        ("image/", [0, 2]),
        ("café", [3]),
        ("STRAßE", [3]),
        (r"/t\w+n,/", [1]),
        ("/^fix/", [0]),
        ("/(?-i)token/", [1]),
        ("/", [0, 2]),
        ("//", []),
        ("surrogate", [4]),
        ("nowhere", []),
    ],
)
def test_text_is_found_anywhere_and_in_any_case(text: str, found: list[int]) -> None:
    assert hits(MESSAGES, query_of(text)).tolist() == found


@given(st.text(min_size=1, max_size=12).filter(lambda text: not (len(text) > 2 and text[0] == text[-1] == "/")))
def test_text_of_a_message_is_found_as_written(text: str) -> None:
    message = Message("a", "user", (Text(f"before {text} after"),))
    assert list(hits((message,), query_of(text))) == [0]
    assert match_spans(query_of(text), f"before {text} after")


def test_a_wrong_pattern_is_refused_in_one_sentence() -> None:
    with pytest.raises(BadInput, match=r"/\(a/ is not a valid regular expression"):
        query_of("/(a/")


def test_a_pattern_that_would_never_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.analysis.search.LONGEST_S", 0.02)
    message = Message("a", "user", (Text("ab" * 60 + "!c"),))
    with pytest.raises(BadInput, match="takes too long on message 1"):
        hits((message,), query_of("/^(a|b|ab)*c$/"))


def test_a_cancelled_search_stops() -> None:
    assert not len(hits(MESSAGES, query_of("token"), lambda: True))


def test_marks_are_the_places_in_the_line() -> None:
    assert match_spans(query_of("ab"), "xAB abab") == [(1, 3), (4, 6), (6, 8)]
    assert match_spans(query_of("/z*/"), "abc") == []


def test_deeply_nested_input_is_read_without_recursion() -> None:
    value: object = "found"
    for _ in range(20_000):
        value = [value]
    message = Message("a", "assistant", (ToolUse("1", "T", {"x": value}),))
    assert list(all_texts(message)) == ["T", "x", "found"]
