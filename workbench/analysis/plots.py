"""A plot in characters for the command line: lines told apart by a letter, not by colour.

The screen draws the same series with a plotting widget; that widget needs a running app. Overlaid lines in braille dots
could only be told apart by colour, so here a line is drawn with its letter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.base.figures import grouped

SEVERAL = "*"
"""Where lines of several letters meet."""


@dataclass(frozen=True, slots=True)
class Line:
    """`points` in ascending x; `sign` is one character."""

    sign: str
    points: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line, such as a limit."""

    name: str
    value: float
    sign: str = "─"


def near(levels: Sequence[Level], highest: float) -> list[Level]:
    """The levels that a plot shows whose lines reach `highest`: one far above would leave no room for the lines."""
    return [level for level in levels if 0 < level.value <= highest * 1.5]


def plot(
    lines: Sequence[Line],
    levels: Sequence[Level] = (),
    marks: Mapping[int, str] | None = None,
    width: int = 100,
    height: int = 16,
) -> list[str]:
    """The rows of a plot, the highest first, the y axis to the left, x below; `marks` are the signs on top, by x.

    A column shows of each line the largest value that falls into it and, where the line drops there, the least. Levels
    that lie far above every line are left out of the plot and named beside it.
    """
    top = max((y for line in lines for _, y in line.points), default=0)
    shown = near(levels, top)
    top = int(max([top, *(level.value for level in shown), 1]))
    last = max((x for line in lines for x, _ in line.points), default=1)
    margin = max(len(grouped(top)), 5)
    columns = max(10, width - margin - 2)
    rows = [[" "] * columns for _ in range(height)]

    def row_of(value: float) -> int:
        return height - 1 - min(height - 1, int(value * (height - 1) / top + 0.5))

    def column_of(x: int) -> int:
        return min(columns - 1, (x - 1) * columns // max(last, 1))

    for level in shown:
        rows[row_of(level.value)] = [level.sign] * columns
    for line in lines:
        for column, values in _columns(line, column_of).items():
            drops = any(after < before for before, after in pairwise(values))
            for at in {row_of(max(values)), *([row_of(min(values))] if drops else [])}:
                here = rows[at][column]
                taken = here not in (" ", line.sign, *(level.sign for level in shown))
                rows[at][column] = SEVERAL if taken else line.sign
    names = {row_of(level.value): level for level in shown}
    out = []
    if marks:
        top_row = [" "] * columns
        for x, sign in marks.items():
            top_row[column_of(x)] = sign
        out.append(" " * (margin + 2) + "".join(top_row).rstrip())
    for number, row in enumerate(rows):
        label = _label(number, height, top, names)
        out.append(f"{label.rjust(margin)} ┤{''.join(row)}".rstrip())
    out.append(" " * (margin + 1) + "└" + "─" * columns)
    ends = f"call {grouped(last)}"
    out.append(" " * (margin + 2) + "1" + ends.rjust(columns - 1))
    out += [f"{level.sign} {level.name}: {grouped(level.value)}" for level in shown]
    out += [f"{level.name}: {grouped(level.value)}, above the plot" for level in levels if level.value > top]
    return out


def _columns(line: Line, column_of: Callable[[int], int]) -> dict[int, list[int]]:
    """The values of each column; one without a point of its own has the last value before it."""
    found: dict[int, list[int]] = {}
    before = None
    for x, y in line.points:
        column = column_of(x)
        if before is not None:
            for between in range(before + 1, column):
                found[between] = [found[before][-1]]
        found.setdefault(column, []).append(y)
        before = column
    return found


def _label(number: int, height: int, top: int, names: dict[int, Level]) -> str:
    if number in names:
        return grouped(names[number].value)
    if number in (0, height - 1, (height - 1) // 2):
        return grouped(top * (height - 1 - number) / (height - 1))
    return ""


FULL = "▁▂▃▄▅▆▇█"


def shade(value: float, least: float, most: float) -> str:
    """A glyph for a heat map: the higher the bar, the larger the value."""
    if most <= least:
        return FULL[3]
    return FULL[min(len(FULL) - 1, int((value - least) / (most - least) * len(FULL)))]
