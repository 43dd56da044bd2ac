"""Plots in characters, for the command line and the screen: curves of braille dots, with letters that tell them apart
without colours.

The result is rows of cells; each cell has a character and its owner, by which a screen colours it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Literal

from msgspec import Struct

from workbench.base.figures import grouped

DOTTED = "·"
"""Sign of a line drawn as single dots under the curves."""

LETTER_EVERY = 14
"""Least number of columns between two letters of a line."""

Letters = Literal["along", "ends", ""]
"""Position of the letters: along the lines, after their ends (so that no letter hides a point), or none."""

Y_LABEL, X_LABEL = "tokens", "call"
"""Labels of the axes."""

LEVEL, MARK, AXIS, TICK = "level", "mark", "axis", "tick"
"""Owners of cells that belong to no line. The owner of a line's cells is the line's sign."""

Cell = tuple[str, str]
"""Character and its owner; "" for none."""

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of each dot of a braille character, by row and column."""

_EMPTY = 0x2800
"""Braille character without dots, the first in Unicode."""

_X, _Y = itemgetter(0), itemgetter(1)


@dataclass(frozen=True)
class PlotLine:
    """Line with `points` in ascending x; `sign` is one character."""

    sign: str
    points: Sequence[tuple[int, int]]

    @cached_property
    def highest(self) -> int:
        """Largest y; 0 without points."""
        return max(map(_Y, self.points), default=0)


class Level(Struct, frozen=True):
    """Horizontal line, such as a limit."""

    name: str
    value: float
    sign: str = "─"


class Plane(Struct, frozen=True):
    """Visible area: x from `first` to `last`, y from 0 to `top`, on `columns` times `rows` cells."""

    first: float
    last: float
    top: float
    columns: int
    rows: int

    def column(self, x: float) -> float:
        """Return the column of an x."""
        return (x - self.first) / (self.last - self.first) * self.columns

    def row(self, y: float) -> float:
        """Return the row of a y, from the top."""
        return (1 - y / self.top) * self.rows

    def x(self, column: float) -> float:
        """Return the x of a column."""
        return self.first + column * (self.last - self.first) / self.columns


class Drawing(Struct, frozen=True):
    """Rows of cells, top first. The plane begins at column `left`; the two rows below it are the x axis and its
    numbers."""

    plane: Plane
    left: int
    rows: list[list[Cell]]

    @property
    def text(self) -> list[str]:
        """Rows as text."""
        return ["".join(character for character, _ in row).rstrip() for row in self.rows]


def highest_of(lines: Iterable[PlotLine]) -> int:
    """Return the largest y of all lines, 1 without a point."""
    return max((line.highest for line in lines if line.points), default=1)


def shown_levels(levels: Sequence[Level], highest: float) -> list[Level]:
    """Return the levels to draw in a plot with lines up to `highest`. A level above 1.5 times that is left out, because
    it would flatten the lines."""
    return [level for level in levels if 0 < level.value <= highest * 1.5]


def draw_plot(
    lines: Sequence[PlotLine],
    levels: Sequence[Level] = (),
    marks: Mapping[int, str] | None = None,
    *,
    width: int = 100,
    height: int = 18,
    span: tuple[float, float] | None = None,
    hidden: Collection[str] = (),
    front: str = "",
    letters: Letters = "along",
) -> Drawing:
    """Draw a plot with axes on `width` times `height` cells. y begins at 0; `marks` are signs in the first row, by x.

    `span` is the visible range of x, all by default. Lines with a sign in `hidden` are left out; the line with sign
    `front` is on top. Hiding a line does not move the letters of the others. Levels far above every line are left out.
    """
    first, last = span or (0.5, max((line.points[-1][0] for line in lines if line.points), default=1) + 0.5)
    seen = sorted((line for line in lines if line.sign not in hidden), key=lambda line: line.sign == front)
    highest = highest_of(seen)
    shown = shown_levels(levels, highest)
    rows = height - 2
    # The top row is for the marks.
    top = (1 + 1.6 / rows) * max([highest, *(level.value for level in shown), 1])
    ticks = round_numbers(0, top, max(3, rows // 3))
    left = max(len(Y_LABEL), *(len(grouped(tick)) for tick in ticks)) + 2
    curves = [line for line in seen if line.sign != DOTTED]
    ends = _end_letters(lines, hidden, Plane(first, last, top, 1, rows)) if letters == "ends" else {}
    right = max((len(signs) + 1 for signs in ends.values()), default=0)
    plane = Plane(first, last, top, max(1, width - left - right), rows)
    cells = _Canvas(plane)
    for level in shown:
        for column in range(plane.columns):
            cells.put(plane.x(column + 0.5), level.value, level.sign, LEVEL)
    for line in curves:
        cells.curve(line)
    for line in seen:
        if line.sign == DOTTED:
            for x, y in _dotted_points(line.points, plane):
                cells.dot(x, y, line.sign)
    # Letters come after all curves, so that no curve covers them.
    signs = [line.sign for line in lines if line.sign != DOTTED]
    for line in curves if letters == "along" else ():
        for place in _letters(line, signs, plane):
            cells.put(*place, line.sign, line.sign)
    for x, sign in (marks or {}).items():
        cells.put(x, top * (1 - 0.5 / rows), sign, MARK)
    labels = {int(plane.row(tick)): grouped(tick) for tick in ticks[1:]} | {0: Y_LABEL, rows - 1: grouped(0)}
    for number, row in enumerate(cells.rows):
        label = labels.get(number, "").rjust(left - 2)
        row[:0] = [
            *((character, TICK) for character in label),
            (" ", ""),
            ("┤" if label.strip() not in ("", Y_LABEL) else "│", AXIS),
        ]
        row += [(sign, sign.strip()) for sign in f" {ends.get(number, '')}".ljust(right)] if right else []
    return Drawing(plane, left, [*cells.rows, *_x_axis(plane, left)])


def plot(lines: Sequence[PlotLine], levels: Sequence[Level] = (), marks: Mapping[int, str] | None = None) -> list[str]:
    """Return the rows of a plot for the command line, its levels with their figures below."""
    top = highest_of(lines)
    shown = shown_levels(levels, top)
    named = [f"{level.sign} {level.name}: {grouped(level.value)}" for level in shown]
    named += [f"{level.name}: {grouped(level.value)}, above the plot" for level in levels if level not in shown]
    return [*draw_plot(lines, levels, marks).text, *named]


class _Canvas:
    """Cells of a plane while it is drawn; anything outside is clipped."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        self.rows: list[list[Cell]] = [[(" ", "")] * plane.columns for _ in range(plane.rows)]

    def put(self, x: float, y: float, character: str, owner: str) -> None:
        plane = self.plane
        column, row = int(plane.column(x)), min(int(plane.row(y)), plane.rows - 1)
        if plane.first <= x and column < plane.columns and row >= 0:
            self.rows[row][column] = character, owner

    def dot(self, x: float, y: float, sign: str) -> None:
        """Put a sign unless a curve is there."""
        column, row = int(self.plane.column(x)), min(int(self.plane.row(y)), self.plane.rows - 1)
        on_plane = row >= 0 and 0 <= column < self.plane.columns
        if not (on_plane and self.rows[row][column][0] > chr(_EMPTY)):
            self.put(x, y, sign, sign)

    def curve(self, line: PlotLine) -> None:
        """Draw a curve with 2 × 4 dots per cell; dots of other curves in a cell stay."""
        plane = self.plane
        start = bisect_left(line.points, plane.first, key=_X)
        stop = bisect_right(line.points, plane.last, key=_X)
        # Include the points just outside, so that the curve reaches the edges.
        points = thin(line.points[max(0, start - 1) : stop + 1], 2 * plane.columns)
        places = [(plane.column(x) * 2, min(plane.row(y) * 4, 4 * plane.rows - 1)) for x, y in points]
        for (x0, y0), (x1, y1) in pairwise([*places[:1], *places]):
            steps = max(1, math.ceil(max(abs(x1 - x0), abs(y1 - y0))))
            for step in range(steps + 1):
                x, y = int(x0 + (x1 - x0) * step / steps), int(y0 + (y1 - y0) * step / steps)
                if 0 <= x < 2 * plane.columns:
                    before = ord(self.rows[y // 4][x // 2][0]) - _EMPTY
                    dots = _DOTS[y % 4][x % 2] | (before if 0 < before < 0x100 else 0)
                    self.rows[y // 4][x // 2] = chr(_EMPTY + dots), line.sign


def _dotted_points(points: Sequence[tuple[int, int]], plane: Plane) -> Iterator[tuple[int, int]]:
    """Yield the first point in each pair of neighbouring columns."""

    def place(point: tuple[int, int]) -> int:
        return math.floor(plane.column(point[0])) // 2

    at = 0
    while at < len(points):
        yield points[at]
        at = bisect_right(points, place(points[at]), at, key=place)


def _end_letters(lines: Sequence[PlotLine], hidden: Collection[str], plane: Plane) -> dict[int, str]:
    """Return the signs of the curves that end in each row."""
    found: dict[int, str] = {}
    for line in (one for one in lines if one.sign not in {DOTTED, *hidden}):
        if stop := bisect_right(line.points, plane.last, key=_X):
            row = min(int(plane.row(line.points[stop - 1][1])), plane.rows - 1)
            found[row] = found.get(row, "") + line.sign
    return found


def _letters(line: PlotLine, signs: Sequence[str], plane: Plane) -> Iterator[tuple[float, float]]:
    """Yield the positions (x, y) of a line's letters. Each line has its own columns, so that lines that coincide show
    all letters. A short line has one letter in its middle."""
    every = max(LETTER_EVERY, 2 * len(signs))
    found = False
    for column in range(every * signs.index(line.sign) // len(signs) + 1, plane.columns, every):
        x = plane.x(column + 0.5)
        after = bisect_right(line.points, x, key=_X)
        if 0 < after < len(line.points):
            (x0, y0), (x1, y1) = line.points[after - 1], line.points[after]
            yield x, y0 + (y1 - y0) * (x - x0) / (x1 - x0)
            found = True
    if not found:
        yield from line.points[len(line.points) // 2 :][:1]


def _x_axis(plane: Plane, left: int) -> list[list[Cell]]:
    """Return two rows of cells: the x axis with its ticks, and the numbers of the ticks."""
    axis, names = ["─"] * plane.columns, [*X_LABEL.rjust(left - 2), *" " * (2 + plane.columns)]
    for x in round_numbers(max(1.0, plane.first), plane.last, plane.columns // 10 + 1):
        column, name = int(plane.column(x)), grouped(x)
        start = left + column - len(name) // 2
        if start + len(name) <= len(names):
            axis[column] = "┬"
            names[start : start + len(name)] = name
    corner: list[Cell] = [(" ", "")] * (left - 1) + [("└", AXIS)]
    return [[*corner, *((character, AXIS) for character in axis)], [(character, TICK) for character in names]]


def round_numbers(least: float, most: float, about: int) -> list[int]:
    """Return about `about` numbers from `least` to below `most`: multiples of 1, 2 or 5 times a power of ten."""
    power = 10 ** max(0, math.ceil(math.log10((most - least) / max(1, about))) - 1)
    step = next((step for factor in (1, 2, 5) if (most - least) / (step := factor * power) <= about), 10 * power)
    return list(range(math.ceil(least / step) * step, math.ceil(most), step))


def thin(points: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return about `most` of the points: the first, highest and last of each run, so that no peak is lost."""
    if len(points) <= most:
        return list(points)
    step = -(-3 * len(points) // most)
    chosen: list[tuple[int, int]] = []
    for start in range(0, len(points), step):
        stretch = points[start : start + step]
        chosen += dict.fromkeys((stretch[0], max(stretch, key=_Y), stretch[-1]))
    return sorted(chosen, key=_X)


BARS = "▁▂▃▄▅▆▇█"


def shade(value: float, least: float, most: float) -> str:
    """Return a bar character for a heat map; a larger value has a higher bar."""
    if most <= least:
        return BARS[3]
    return BARS[min(len(BARS) - 1, int((value - least) / (most - least) * len(BARS)))]
