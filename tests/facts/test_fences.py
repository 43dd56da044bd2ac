"""Fenced code: where it begins and ends, whatever stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.facts.fences import fences, without_fences
from workbench.tui.middle.blocks import text_parts


@pytest.mark.parametrize(
    ("text", "found", "rest"),
    [
        ("no fence", [], "no fence"),
        ("a\n```py\nx\n```\nb", [("py", "x\n")], "a\nb"),
        ("a\n     ```go title\n     x\n     ```\nb", [("go", "     x\n")], "a\nb"),  # in a list
        ("```\r\nx\r\n```\r\nb", [("", "x\r\n")], "b"),
        ("~~~\n```\n~~~\nb", [("", "```\n")], "b"),
        ("````\n```\nx\n```\n````\nb", [("", "```\nx\n```\n")], "b"),
        ("```\nx\n`````\nb", [("", "x\n")], "b"),
        ("```\nx\n```py\n```\nb", [("", "x\n```py\n")], "b"),
        ("```\n```\n```\ny\n```", [("", ""), ("", "y\n")], ""),
        ("a\n```never closed\nx", [("never", "x")], "a\n"),
        ("a ```\nb", [], "a ```\nb"),
        ("```in line```\nb", [], "```in line```\nb"),
        ("``\nx\n``", [], "``\nx\n``"),
        ("```", [("", "")], ""),
    ],
)
def test_fences(text: str, found: list[tuple[str, str]], rest: str) -> None:
    assert [(fence.word, text[fence.body : fence.end]) for fence in fences(text)] == found
    assert without_fences(text) == rest


@given(st.lists(st.sampled_from(["```", "~~~", "````", "\n", "x", " ", "py", "\r"]), max_size=30).map("".join))
def test_fences_lie_in_order_and_what_is_shown_of_a_text_is_all_of_it(text: str) -> None:
    at = 0
    for fence in fences(text):
        assert at <= fence.start < fence.body <= fence.end <= fence.stop <= len(text)
        assert fence.start == 0 or text[fence.start - 1] == "\n"
        at = fence.stop
    assert "\n".join(part.text for part in text_parts(text)) == text
