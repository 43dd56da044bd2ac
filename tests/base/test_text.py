"""Cutting and plurals, at their borders."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.text import are, clip, clip_at_sentence, clip_at_word, clip_middle, counted, plural, untagged


@pytest.mark.parametrize(
    ("cut", "text", "limit", "left_over"),
    [
        (clip, "abcdef", 7, "abcdef"),
        (clip, "abcdef", 6, "abcdef"),
        (clip, "abcdef", 5, "abcd…"),
        (clip, "abcdef", 1, "…"),
        (clip, "abcdef", 0, ""),
        (clip_middle, "A" * 2_500 + "Z" * 2_500, 1_000, "A" * 500 + "…" + "Z" * 499),
        (clip_middle, "abcdefgh", 8, "abcdefgh"),
        (clip_middle, "abcdefgh", 4, "ab…h"),
        (clip_middle, "abcdefgh", 1, "…"),
        (clip_middle, "abcdefgh", 0, ""),
        (clip_at_sentence, "One sentence here. Another one follows. And a third", 51, None),
        (
            clip_at_sentence,
            "One sentence here. Another one follows. And a third",
            42,
            "One sentence here. Another one follows.…",
        ),
        (clip_at_sentence, "一句。二句。三句", 7, "一句。二句。…"),
        (clip_at_sentence, "no sentence in this text", 10, "no senten…"),
        (clip_at_word, "  some\nwords  here ", 16, "some words here"),
        (clip_at_word, "some words here", 15, "some words here"),
        (clip_at_word, "some words here", 14, "some words…"),
        (clip_at_word, "a longerthanallwords", 10, "a longert…"),
        (clip_at_word, "some words", 0, ""),
    ],
)
def test_a_cut(cut: Callable[[str, int], str], text: str, limit: int, left_over: str | None) -> None:
    assert cut(text, limit) == (text if left_over is None else left_over)


@given(st.text(), st.integers(0, 80))
@pytest.mark.parametrize("cut", [clip, clip_middle, clip_at_sentence, clip_at_word])
def test_a_cut_keeps_its_limit_and_says_that_it_cut(cut: Callable[[str, int], str], text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    assert "…" in short or len(short) == min(len(text), limit) or cut is clip_at_word


@pytest.mark.parametrize(
    "figure", ["+24.6k", "−3", "61 %", "61\u00a0%", "$0.0435", "197 481", "1.2M", "≈18.2k", "250 ms"]
)
@pytest.mark.parametrize("limit", range(3, 30))
def test_b1_a_cut_never_parts_a_figure_from_its_digits_or_its_unit(figure: str, limit: int) -> None:
    text = f"keeps it, {figure} and so on"
    cut = clip(text, limit)
    assert len(cut) <= limit
    assert cut == text or cut == text[: len(cut) - 1] + "…"
    assert (figure in cut) is (limit >= len("keeps it, ") + len(figure) + 1)
    assert figure in cut or not any(map(str.isdigit, cut))


@pytest.mark.parametrize(
    ("text", "limit", "left_over"),
    [
        ("a1b2c3d4e5", 5, "a1b2…"),
        ("src/part31.ts", 10, "src/part3…"),
        ("0" * 100, 10, "0" * 9 + "…"),
        ("197 481", 5, "…"),
        ("61 %", 4, "61 %"),
        ("61 % held", 5, "61 %…"),
        ("61 % held", 4, "…"),
    ],
)
def test_what_is_no_figure_is_cut_anywhere(text: str, limit: int, left_over: str) -> None:
    assert clip(text, limit) == left_over


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "round", "0 rounds"),
        (1, "round", "1 round"),
        (1, "memory", "1 memory"),
        (2, "memory", "2 memories"),
        (12_000, "day", "12 000 days"),
    ],
)
def test_nouns_after_a_number(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said
    assert said.endswith(f" {plural(number, noun)}")


def test_the_verb_after_a_number() -> None:
    assert [are(number) for number in (0, 1, 2)] == ["are", "is", "are"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<task>\nFix it", "Fix it"),
        (" <a>\n\n<b-c> \n Fix <it>", " Fix <it>"),
        ("<task>Fix it", "<task>Fix it"),
        ("</task>\nFix it", "</task>\nFix it"),
        ("<task>\n \n", "<task>\n \n"),
        ("Fix\n<it>\n", "Fix\n<it>\n"),
        ("", ""),
    ],
)
def test_lines_that_only_open_a_tag_are_left_out(text: str, left: str) -> None:
    assert untagged(text) == left
