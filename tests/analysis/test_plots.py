"""Plots of command line and screen: the position of each dot and sign, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.analysis.plots import (
    LEVEL,
    MARK,
    Level,
    Plane,
    PlotLine,
    _dotted_points,
    _end_letters,
    _letters,
    draw_plot,
    plot,
    round_numbers,
    shade,
    thin,
)


def test_a_saw_tooth_by_hand() -> None:
    line = PlotLine("A", [(1, 0), (2, 5), (3, 10), (3, 0), (4, 5)])
    # Twelve columns for four calls: each stands three columns wide, with its point in the middle.
    assert draw_plot([line], width=8 + 12, height=5).text == [
        "tokens │",
        "    10 ┤     ⡠⠔⢹",
        "     0 ┤ A⠤⠒⠉  ⢸⠤⠒⠉",
        "       └────┬─────┬─",
        "  call      2     4",
    ]


def test_lines_levels_marks_and_letters() -> None:
    lines = [PlotLine("A", [(1, 10), (2, 10)]), PlotLine("B", [(1, 10), (2, 0)])]
    drawing = draw_plot(lines, [Level("window", 15), Level("far", 16)], {2: "▼"}, width=28, height=8)
    assert drawing.text == [
        "tokens │               ▼",
        "       │────────────────────",
        "    10 ┤     ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀A",
        "       │      ⠑⠢B",
        "       │         ⠉⠒⠤⡀",
        "     0 ┤            ⠈⠑⠢⡀",
        "       └─────┬─────────┬────",
        "  call       1         2",
    ]
    owners = [{owner for _, owner in row[drawing.left :]} for row in drawing.rows[: drawing.plane.rows]]
    assert owners == [{"", MARK}, {LEVEL}, {"", "A", "B"}, {"", "B"}, {"", "B"}, {"", "B"}]


def test_letters_stand_behind_the_ends_where_none_may_lie_between_two_points() -> None:
    lines = [
        PlotLine(sign, [(1, first), (2, last)]) for sign, first, last in (("A", 10, 10), ("B", 10, 0), ("C", 0, 10))
    ]
    lines += [PlotLine("·", [(1, 5), (2, 5)]), PlotLine("D", [(1, 1), (2, 1)])]
    drawing = draw_plot(lines, width=27, height=8, hidden="D", letters="ends")
    behind = [row[drawing.left + drawing.plane.columns :] for row in drawing.rows[: drawing.plane.rows]]
    blank = (" ", "")
    nothing = [blank] * 3
    assert behind == [nothing, [blank, ("A", "A"), ("C", "C")], *[nothing] * 3, [blank, ("B", "B"), blank]]
    before = "".join(c for row in drawing.rows for c, _ in row[drawing.left : drawing.left + drawing.plane.columns])
    assert not set("ABCD") & set(before)
    assert {len(row) for row in drawing.rows[: drawing.plane.rows]} == {27}


@pytest.mark.parametrize(
    ("hidden", "front", "letters"),
    [("", "", "AB"), ("", "A", "AB"), ("A", "", "B"), ("B", "", "A"), ("AB", "", "")],
)
def test_a_line_has_its_colour_and_its_letters_with_others_or_without(hidden: str, front: str, letters: str) -> None:
    lines = [PlotLine(sign, [(1, 10), (9, 10)]) for sign in "AB"]
    whole = draw_plot(lines, width=40, height=8).rows
    found = draw_plot(lines, width=40, height=8, hidden=set(hidden), front=front).rows
    assert {character for row in found for character, _ in row} & {"A", "B"} == set(letters)
    if not hidden:
        assert [[c for c, _ in row] for row in found] == [[c for c, _ in row] for row in whole]
        curve = {owner for row in found for character, owner in row if "\u2800" < character < "\u2900"}
        assert curve == {front or "B"}


def test_a_part_of_the_calls_is_drawn_up_to_its_edges() -> None:
    lines = [PlotLine("A", [(n, n) for n in range(1, 101)]), PlotLine("·", [(n, 100) for n in range(1, 101)])]
    assert draw_plot(lines, width=29, height=6, span=(40.5, 60.5)).text == [
        "tokens │",
        "   100 ┤· · · · ·  ·· · · · ·",
        "    50 ┤⣀A⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠔⠒⠒A⠒⠒⠒⠒⠒",
        "     0 ┤",
        "       └─────────┬──────────┬",
        "  call          50         60",
    ]


def test_single_dots_break_no_curve_that_runs_along_with_them() -> None:
    """A replay that follows what was recorded was drawn as a row of holes."""
    curve = PlotLine("A", [(n, n) for n in range(1, 101)])
    alone = draw_plot([curve], width=60, height=10).text
    assert draw_plot([PlotLine("·", curve.points), curve], width=60, height=10).text == alone
    apart = draw_plot([PlotLine("·", [(n, 100) for n in range(1, 101)]), curve], width=60, height=10).text
    assert sum(line.count("·") for line in apart) > 20


@pytest.mark.parametrize("lines", [[], [PlotLine("A", [])], [PlotLine("A", [(1, 0)])]])
def test_next_to_nothing_is_drawn(lines: list[PlotLine]) -> None:
    rows = draw_plot(lines, width=21, height=5).text
    assert rows[:2] == ["tokens │", "     1 ┤"]
    assert rows[2] == ("     0 ┤      A" if lines and lines[0].points else "     0 ┤")


@given(st.lists(st.integers(0, 10**7), min_size=2, max_size=300), st.integers(24, 120), st.integers(5, 30))
def test_a_curve_has_no_gap_and_every_row_fits(values: list[int], width: int, height: int) -> None:
    drawing = draw_plot([PlotLine("A", list(enumerate(values, 1)))], width=width, height=height)
    assert len(drawing.rows) == height
    assert {len(row) for row in drawing.rows} == {width}
    first, last = (int(drawing.plane.column(x)) for x in (1, len(values)))
    filled = {at - drawing.left for row in drawing.rows for at, (_, owner) in enumerate(row) if owner == "A"}
    assert filled == set(range(first, last + 1))


@pytest.mark.parametrize(("value", "seen"), [(150, True), (151, False)])
def test_a_level_within_reach_is_drawn_and_named_one_above_it_only_named(value: int, seen: bool) -> None:
    *rows, named = plot([PlotLine("A", [(1, 100)])], [Level("window", value, "╌")])
    assert any("╌" in row for row in rows) is seen
    assert named == (f"╌ window: {value}" if seen else f"window: {value}, above the plot")


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=12_000), st.integers(10, 2_000))
def test_a_long_line_is_thinned_without_losing_its_ends_or_its_peak(values: list[int], most: int) -> None:
    points = list(enumerate(values, 1))
    kept = thin(points, most)
    assert len(kept) <= most + 3
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert max(y for _, y in kept) == max(values)


def test_shades_grow_with_the_value() -> None:
    assert [shade(value, 0, 8) for value in range(9)] == list("▁▂▃▄▅▆▇██")
    assert shade(3, 3, 3) == "▄"


def test_of_each_stretch_the_first_the_highest_and_the_last_are_left() -> None:
    points = list(enumerate([5, 9, 1, 2, 3, 4, 8, 7, 6, 0]))
    assert thin(points, 10) == points
    assert thin(points, 6) == [(0, 5), (1, 9), (4, 3), (5, 4), (6, 8), (9, 0)]
    assert thin(points, 3) == [(0, 5), (1, 9), (9, 0)]


PLANE = Plane(first=0, last=30, top=100, columns=30, rows=10)


def test_letters_lie_on_the_line_between_its_points() -> None:
    """Each line has every 14th column; the second of two begins in the middle between those of the first."""
    points = [(0, 0), (10, 100), (30, 60)]
    assert list(_letters(PlotLine("A", points), ["A", "B"], PLANE)) == [(1.5, 15.0), (15.5, 89.0), (29.5, 61.0)]
    assert list(_letters(PlotLine("B", points), ["A", "B"], PLANE)) == [(8.5, 85.0), (22.5, 75.0)]
    assert list(_letters(PlotLine("A", [(2, 7), (3, 8), (4, 9)]), ["A"], PLANE)) == [(3, 8)]
    assert list(_letters(PlotLine("A", []), ["A"], PLANE)) == []
    many = "ABCDEFGH"
    assert [x for x, _ in _letters(PlotLine("A", points), many, PLANE)] == [1.5, 17.5]


def test_a_plane_maps_calls_to_columns_and_tokens_to_rows() -> None:
    plane = Plane(first=10, last=30, top=50, columns=40, rows=10)
    assert (plane.column(10), plane.column(15), plane.x(10.0), plane.x(0)) == (0, 10, 15, 10)
    assert (plane.row(50), plane.row(0), plane.row(20)) == (0, 10, pytest.approx(6))


def test_of_two_neighbouring_columns_one_point_is_dotted() -> None:
    plane = Plane(first=0, last=10, top=100, columns=10, rows=10)
    points = [(x, x) for x in range(10)]
    assert list(_dotted_points(points, plane)) == [(x, x) for x in range(0, 10, 2)]
    assert list(_dotted_points(points[1:], plane)) == [(1, 1), (2, 2), (4, 4), (6, 6), (8, 8)]


def test_signs_stand_in_the_rows_where_their_lines_end() -> None:
    lines = [
        PlotLine("A", [(1, 95), (40, 5)]),
        PlotLine("B", [(30, 0)]),
        PlotLine("C", [(3, 96)]),
        PlotLine("·", [(1, 1)]),
    ]
    assert _end_letters(lines, "", PLANE) == {0: "AC", 9: "B"}
    assert _end_letters(lines, "A", PLANE) == {0: "C", 9: "B"}
    assert _end_letters([PlotLine("A", [(31, 5)])], "", PLANE) == {}


@pytest.mark.parametrize(
    ("least", "most", "about", "numbers"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8]),
        (0, 10, 10, list(range(10))),
        (0, 10, 2, [0, 5]),
        (0, 10, 1, [0]),
        (3, 10, 3, [5]),
        (0, 100, 5, [0, 20, 40, 60, 80]),
        (0, 101, 5, [0, 50, 100]),
        (0, 3, 9, [0, 1, 2]),
        (5, 10.5, 6, [5, 6, 7, 8, 9, 10]),
    ],
)
def test_round_numbers(least: float, most: float, about: int, numbers: list[int]) -> None:
    assert round_numbers(least, most, about) == numbers
