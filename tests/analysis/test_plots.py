"""The plot of the command line: where each sign stands, by hand."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.analysis.plots import Level, Line, plot, shade


def body(rows: list[str]) -> list[str]:
    """What stands right of the axis."""
    return [row.partition("┤")[2] for row in rows if "┤" in row]


def test_a_saw_tooth_by_hand() -> None:
    line = Line("A", [(1, 0), (2, 5), (3, 10), (3, 0), (4, 5)])
    rows = plot([line], width=7 + 12, height=3)
    # Twelve columns for four calls: each call stands three columns wide, the drop of call 3 in its first one.
    assert body(rows) == ["      A", "   AAA   A", "AAA   AAA"]
    assert rows[-1].split() == ["1", "call", "4"]
    assert rows[0].startswith("   10 ┤")


def test_lines_that_meet_levels_and_marks() -> None:
    first, second = Line("A", [(1, 10), (2, 10)]), Line("B", [(1, 10), (2, 0)])
    rows = plot([first, second], [Level("window", 15), Level("far", 1_000)], {2: "▼"}, width=7 + 10, height=4)
    assert rows[0] == " " * 12 + "▼"
    assert body(rows) == ["──────────", "*****A", "", "     B"]
    assert rows[-2:] == ["─ window: 15", "far: 1 000, above the plot"]


def test_nothing_to_draw() -> None:
    assert body(plot([], width=30, height=2)) == ["", ""]
    assert body(plot([Line("A", [(1, 0)])], width=17, height=2)) == ["", "A"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=300), st.integers(20, 120), st.integers(2, 20))
def test_every_column_has_its_sign(values: list[int], width: int, height: int) -> None:
    rows = body(plot([Line("A", list(enumerate(values, 1)))], width=width, height=height))
    assert len(rows) == height
    filled = {column for row in rows for column, sign in enumerate(row) if sign == "A"}
    assert filled == set(range(max(filled) + 1))


def test_shades_grow_with_the_value() -> None:
    assert [shade(value, 0, 8) for value in range(9)] == list("▁▂▃▄▅▆▇██")
    assert shade(3, 3, 3) == "▄"
