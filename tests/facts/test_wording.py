"""Lines of a text and their sentences."""

from __future__ import annotations

import pytest

from workbench.facts.wording import is_question, lines, sentences

LINE = "The crew painted the hull of the boat and oiled " + "x" * 8
"""A line of 56 characters whose sentence is open."""


def found(text: str) -> list[tuple[str, str]]:
    marks = {(False, False): "", (True, False): "bullet", (False, True): "heading", (True, True): "both"}
    return [(text[one.start : one.stop], marks[one.bullet, one.heading]) for one in lines(text)]


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("", []),
        (" \n\n", []),
        ("a", [("a", "")]),
        ("\na", [("a", "")]),
        ("  a b  \nc\n", [("a b", ""), ("c", "")]),
        ("- a\n  * b \n1. c\n2) d", [("a", "bullet"), ("b", "bullet"), ("c", "bullet"), ("d", "bullet")]),
        ("> a\n| b |\nc", [("c", "")]),
        ("# a\n## 2. b", [("a", "heading"), ("2. b", "heading")]),
        ("Rules:\n**Rules**\nRules：**\n- Rules:", [
            ("Rules:", "heading"), ("**Rules**", "heading"), ("Rules：**", "heading"), ("Rules:", "both"),
        ]),
        ("x" * 60 + ":", [("x" * 60 + ":", "heading")]),
        ("x" * 61 + ":", [("x" * 61 + ":", "")]),
        ("a\n- \nb", [("a", ""), ("b", "")]),
    ],
)  # fmt: skip
def test_lines_without_bullets(text: str, several: list[tuple[str, str]]) -> None:
    assert found(text) == several


@pytest.mark.parametrize(
    ("following", "joined"),
    [("the mast", True), ("The mast", False), ("- the mast", False), ("a mast", True), ("", False)],
)
def test_a_wrapped_line_is_joined_with_the_next(following: str, joined: bool) -> None:
    text = f"{LINE}\n{following}"
    assert [words for words, _ in found(text)] == (
        [text] if joined else [LINE, *filter(None, [following[-8:].strip("- ")])]
    )


@pytest.mark.parametrize(
    ("length", "joined"),
    [(48, False), (49, False), (50, True), (51, True)],
)
def test_a_word_that_had_room_shows_no_wrapping(length: int, joined: bool) -> None:
    """The widest line has 57 characters, and the next word 7."""
    text = f"{LINE}.\n{LINE[:47].ljust(length, 'o')}\nvarnish it"
    assert (len(found(text)) == 2) is joined


@pytest.mark.parametrize(
    ("sentence", "is_one"),
    [
        ("Is it red?", True),
        ('"Is it red?"', True),
        ("*(Is it 'red?')*_ ", True),
        ("Is it red? x", False),
        ("Is it red?.", False),
        ("是红的吗", True),
        ("是红的吗。", True),
        ("红的呢", True),
        ("红的？", True),
        ("红的。", False),
        ("", False),
    ],
)
def test_what_is_a_question(sentence: str, is_one: bool) -> None:
    assert is_question(sentence) is is_one


def test_an_open_quotation_is_joined_with_its_end() -> None:
    assert [*sentences('It says "oil\nit" to us. So\nthey do')] == ['It says "oil\nit" to us.', "So", "they do"]
    assert [*sentences('It says "oil" and\nit" to us')] == ['It says "oil" and', 'it" to us']
