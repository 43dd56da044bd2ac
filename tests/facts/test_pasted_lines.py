"""Weights of lines, and the signs of code in them."""

from __future__ import annotations

import pytest

from workbench.facts.pasted_lines import PassageKind, is_code, judge, label, paste_begin, typed_tail

LONG = "b" * 60


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", False),
        (" ", False),
        (f"a = {LONG}", True),
        (f"a = {LONG[1:]}", False),
        (f" {LONG}", True),
        (f" {LONG[1:]}", False),
        (LONG, False),
        ("a = b;", True),
        ("a = b", True),
        (f"- a = {LONG}", False),
        ("<task>", False),
        ("SELECT a", True),
    ],
)
def test_code_has_two_marks(line: str, found: bool) -> None:
    assert is_code(line) is found


LIES = "The boat lies at the pier"
WIDE = f"{LIES}, " * 3 + "and oiled"
WIDEST = f"{LIES}, " * 9 + "and oiled at all"


@pytest.mark.parametrize(
    ("line", "before", "after", "found"),
    [
        ("Traceback (most recent call last):", "", "", (6, "output")),
        ("panic: I saw it", "", "", (0, "output")),
        ("Error: I saw it", "", "", (6, "output")),
        ("a = b;", "", "", (4, "code")),
        # prose
        (LIES, "x", "", (-2, "own")),
        (LIES, "", "x", (-2, "own")),
        (LIES, " ", "", (-6, "own")),
        (LIES + ":", "x", "", (-7, "own")),
        (LIES + "： ", "x", "", (-7, "own")),
        ("Can you look at the boat", "x", "", (-5, "own")),
        ("the boat lies", "x", "", (-11, "own")),
        ("the boat", "x", "", (-4, "own")),
        ("the 2 boats lie at the pier", "x", "", (-4, "own")),
        ("Boats lie at " * 7 + "the pier", "x", "", (-2, "own")),
        ("Boats lie at " * 7 + "the piers", "x", "", (-3, "own")),
        ("I see the boat at the pier", "x", "", (-11, "own")),
        ("The boat lies at   the pier", "x", "", (1, "output")),
        (f"    {LIES}", "x", "", (0, "output")),
        (f"   {LIES}", "x", "", (-2, "own")),
        # no prose
        ("Boats 1", "x", "", (0, "output")),
        ("Boats 1:", "x", "", (-5, "output")),
        (" Boats 1:", "x", "", (-5, "output")),
        ("I 1", "x", "", (-5, "output")),
        ("a  b   1", "x", "", (3, "output")),
        # wrapped
        (WIDE, "x", " fast", (4, "document")),
        (WIDE, "x", "      fast", (4, "document")),
        (WIDE, "x", "fast", (-2, "own")),
        (WIDE, "x", "       fast", (-2, "own")),
        (WIDE, "x", "  - fast", (-2, "own")),
        (WIDE[:-1], "x", " fast", (-2, "own")),
        (WIDE + "  ", "x", " fast", (4, "document")),
        (WIDE + ".", "x", " fast", (-2, "own")),
        (WIDE + ".s", "x", " fast", (4, "document")),
        (WIDEST, "x", " fast", (4, "document")),
        (WIDEST + "s", "x", " fast", (-4, "own")),
        ("  fast", WIDE, "", (4, "document")),
        (f"I{WIDE[3:]}xx", "x", " fast", (-11, "own")),
    ],
)
def test_the_weight_of_a_line(line: str, before: str, after: str, found: tuple[int, PassageKind]) -> None:
    weight = judge(line, before, after)
    assert (weight, type(weight[0])) == (found, int)


def test_a_label_makes_a_line_output() -> None:
    assert judge("shop: the boat is at the pier", "", "", is_labelled=True) == (3, "output")
    assert judge("shop: 12", "", "", is_labelled=True) == (4, "output")


@pytest.mark.parametrize(
    ("line", "weighs"),
    [
        ("One two three four", -2),
        ("One two three", 0),
        ("One 2 three four", 0),
        ("One two three four ==aaaaa", -2),
        ("One two three four ==aaaa", 0),
        ("船在码头", -2),
        ("船在码", 0),
    ],
)
def test_prose_has_four_words_and_few_signs(line: str, weighs: int) -> None:
    assert judge(line, "x", "")[0] == weighs


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", ""),
        ("[INFO] a b", "[INFO]"),
        ("src/a.ts:12: a", "src/a.ts:12:"),
        ("shop: a", ""),
        ("- a", ""),
        (f"{'x/' * 199}y: a", f"{'x/' * 199}y:"),
        (f"{'x/' * 200}y: a", ""),
    ],
)
def test_the_label_of_a_line(line: str, found: str) -> None:
    assert label(line) == found


@pytest.mark.parametrize(
    ("line", "after", "found"),
    [
        ("It says: panic: no", "", 9),
        ("It says: a   b", "", 0),
        ("It says: a   b", "panic: no", 9),
        ("/fix a   b", "", 5),
        ("It says: no", "panic: no", 0),
        ("12: panic: no", "", 0),
        ("panic: no. panic: no", "", 0),
        ("Yes. It says: panic: no", "", 14),
    ],
)
def test_where_a_paste_begins(line: str, after: str, found: int) -> None:
    assert paste_begin(line, after) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("panic: no why is that so?", 10),
        ("panic: no why is that so? ", 10),
        ("panic: no why is that?", 22),
        ("It is no why is that so?", 24),
        ("a   b why is that so?", 6),
    ],
)
def test_where_typed_words_begin(line: str, found: int) -> None:
    assert typed_tail(line) == found
