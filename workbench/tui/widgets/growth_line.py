"""How the context grew over the session, call by call, on one line; recorded compactions and the epoch on screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.analysis.growth import Point
from workbench.base.figures import short
from workbench.base.text import plural
from workbench.tokens import Basis
from workbench.tui.plain import several

Cells = list[tuple[str, str]]

_LEVELS = "▁▂▃▄▅▆▇█"
_LEAST_FOR_LEGEND = 72
"""Columns below which the line is all sparkline."""


class GrowthLine(Widget):
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"growth--{name}" for name in ("here", "other", "mark", "mark-here", "dim")
    }
    DEFAULT_CSS = """
    GrowthLine {
        height: 1;
        .growth--here { color: $text-primary; text-style: bold; }
        .growth--other { color: $border-blurred; }
        .growth--mark { color: $text-warning; }
        .growth--mark-here { color: $text-warning; text-style: bold reverse; }
        .growth--dim { text-style: dim; }
    }
    """

    @dataclass
    class Chosen(Message):
        """The stretch of an epoch was clicked."""

        epoch: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.points: tuple[Point, ...] = ()
        self.epoch = 0

    def show(self, points: tuple[Point, ...]) -> None:
        self.points = points
        self.tooltip = Text(growth_words(points)) if points else None
        self.refresh()

    def stand_at(self, epoch: int) -> None:
        """Highlight the stretch of an epoch."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.visual_style.rich_style
        if y or not self.points:
            return Strip.blank(width, base)
        styled = [
            Segment(text, base + self.get_component_rich_style(f"growth--{name}", partial=True))
            for text, name in growth_cells(self.points, width, self.epoch)
        ]
        return Strip(styled).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        if epoch := epoch_at(self.points, self.size.width, event.x):
            self.post_message(self.Chosen(epoch))


def growth_cells(points: Sequence[Point], width: int, epoch: int) -> Cells:
    """The sparkline on the scale of its largest point, the stretch of `epoch` told apart, then what it comes to."""
    highest = max((point.tokens for point in points), default=0) or 1
    cells: Cells = [(" ", "dim")]
    for part in _columns(points, width):
        here = any(point.epoch == epoch for point in part)
        if any(point.compacted for point in part):
            cells.append(("▼", "mark-here" if here else "mark"))
            continue
        most = max(point.tokens for point in part)
        cells.append((_LEVELS[min(7, most * 8 // highest)], "here" if here else "other"))
    cells.append((_legend(points, width), "dim"))
    return cells


def epoch_at(points: Sequence[Point], width: int, x: int) -> int | None:
    """The epoch whose stretch is drawn in column `x`, None beside the sparkline."""
    columns = _columns(points, width)
    return columns[x - 1][-1].epoch if 1 <= x <= len(columns) else None


def _columns(points: Sequence[Point], width: int) -> list[Sequence[Point]]:
    """The points that each column stands for; a column shows its largest. Few points get several columns each."""
    room = width - 2 - cell_len(_legend(points, width))
    if room <= 0 or not points:
        return []
    count = len(points)
    if count >= room:
        return [points[n * count // room : (n + 1) * count // room] for n in range(room)]
    each = max(1, min(4, room // count))
    # Only the first column of a point may carry the mark of a compaction.
    return [(point,) if not column else (_unmarked(point),) for point in points for column in range(each)]


def _unmarked(point: Point) -> Point:
    return Point(point.message, point.epoch, point.tokens, point.basis, False)


def _legend(points: Sequence[Point], width: int) -> str:
    """What stands beside the sparkline."""
    return f"  {growth_words(points)}" if points and width >= _LEAST_FOR_LEGEND else ""


def growth_words(points: Sequence[Point]) -> str:
    """How many calls it grew over, and to what."""
    marks = sum(point.compacted for point in points)
    sign = Basis.EXACT if all(point.basis is Basis.EXACT for point in points) else Basis.ESTIMATE
    peak = sign.value + short(max(point.tokens for point in points))
    calls = several(len(points), "call")
    told = f", ▼ {marks} {plural(marks, 'compaction')} recorded" if marks else ""
    return f"growth by call: {calls}, peak {peak}{told}"
