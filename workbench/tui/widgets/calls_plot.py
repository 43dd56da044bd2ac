"""Plot over the calls of a session, as the command line draws it, with a cursor that moves from call to call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.analysis.pictures import Picture
from workbench.analysis.plots import AXIS, DOTTED, LEVEL, MARK, TICK, Drawing, draw_plot, highest_of, shown_levels
from workbench.tui.keys import shared
from workbench.tui.plain import figure, one_line

LINES = 6
"""Number of colours for lines; letters distinguish lines of the same colour."""

LEAST = Size(32, 6)
"""Columns and lines below which nothing is drawn."""


class CallsPlot(Widget, can_focus=True):
    """Plot of a `Picture`: x is the number of a call.

    Lines whose sign is in `hidden` are left out; the one with the sign `front` is drawn over all others. `stops` are
    calls to which n and N jump.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"calls--{n}" for n in range(LINES)),
        *(f"calls--{name}" for name in ("dotted", LEVEL, MARK, AXIS, TICK, "cursor")),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("move.left", "move(-1)", "Call before", "To the call before.", show=False),
        shared("move.right", "move(1)", "Next call", "To the next call.", show=False),
        shared("move.page-up", "leap(-1)", "Back", "A tenth to the left.", show=False),
        shared("move.page-down", "leap(1)", "On", "A tenth to the right.", show=False),
        shared("move.first", "end(-1)", "First call", "To the first call.", show=False),
        shared("move.last", "end(1)", "Last call", "To the last call.", show=False),
        shared("find.next", "stop(1)", "Next mark", "To the next compaction, refusal or overflow."),
        shared("find.previous", "stop(-1)", "Mark before", "To the one before.", show=False),
        shared("more", "zoom(2)", "Closer", "Show fewer calls, about the cursor.", show=False),
        shared("less", "zoom(0.5)", "Wider", "Show more calls.", show=False),
        shared("open", "choose", "Go there", "To the message of this call, on the bench."),
    ]

    @dataclass
    class Highlighted(Message):
        """The cursor is on another call, from 1."""

        call: int

    @dataclass
    class Selected(Message):
        """Go to the message of this call."""

        call: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.picture: Picture | None = None
        self.hidden: frozenset[str] = frozenset()
        self.stops: Sequence[int] = ()
        self.front = ""
        self.call = 1
        self._zoom = 1.0
        self._drawn: tuple[Size, Drawing] | None = None

    # --- what is shown ----------------------------------------------------------------------------------------------

    def show(self, picture: Picture, hidden: frozenset[str] = frozenset()) -> None:
        self.picture, self.hidden = picture, hidden
        self.call = max(1, min(self.call, self.calls))
        self._redraw()

    @property
    def calls(self) -> int:
        """Number of calls in the picture."""
        lines = self.picture.lines if self.picture else ()
        return max((line.points[-1][0] for line in lines if line.points), default=0)

    def bring_to_front(self, sign: str) -> None:
        """Draw a line over all others."""
        if sign != self.front:
            self.front = sign
            self._redraw()

    def _redraw(self) -> None:
        """Discard the drawing, which is made again when the widget is next drawn."""
        self._drawn = None
        self.refresh()

    @property
    def drawing(self) -> Drawing | None:
        """Picture at the present size; None if there is nothing to draw, or too little room."""
        size = self.size
        if self.picture is None or not self.calls or size.width < LEAST.width or size.height < LEAST.height:
            return None
        if self._drawn is None or self._drawn[0] != size:
            lines, levels, marks = self.picture.lines, self.picture.levels, self.picture.marks
            several = sum(line.sign != DOTTED and line.sign not in self.hidden for line in lines) > 1
            one = draw_plot(
                lines,
                levels,
                marks,
                width=size.width,
                height=size.height,
                span=self._span(),
                hidden=self.hidden,
                front=self.front,
                letters="ends" if several else "",
            )
            self._drawn = size, one
        return self._drawn[1]

    def _span(self) -> tuple[float, float]:
        """Range of calls in view, with the cursor among them."""
        wide = max(8.0, self.calls / self._zoom)
        if wide >= self.calls:
            self._zoom = 1.0
            return 0.5, self.calls + 0.5
        first = min(max(0.5, self.call - wide / 2), self.calls + 0.5 - wide)
        return first, first + wide

    def render_line(self, y: int) -> Strip:
        drawing, base = self.drawing, self.visual_style.rich_style
        if drawing is None or y >= len(drawing.rows):
            return Strip.blank(self.size.width, base)
        row = list(drawing.rows[y])
        # The first row is for the marks.
        if self.can_focus and 0 < y < drawing.plane.rows:
            row[drawing.left + int(drawing.plane.column(self.call))] = "┃", "cursor"
        segments = [
            Segment("".join(character for character, _ in cells), base + self._style(owner))
            for owner, cells in groupby(row, key=itemgetter(1))
        ]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _style(self, owner: str) -> Style:
        """Style of a cell by its owner. A line keeps its colour when others are hidden."""
        if not owner:
            return Style.null()
        signs = [line.sign for line in self.picture.lines if line.sign != DOTTED] if self.picture else []
        name = "dotted" if owner == DOTTED else str(signs.index(owner) % LINES) if owner in signs else owner
        return self.get_component_rich_style(f"calls--{name}", partial=True)

    # --- the cursor -------------------------------------------------------------------------------------------------

    def go(self, call: int) -> None:
        """Put the cursor on a call."""
        call = max(1, min(call, self.calls))
        if not self.calls or call == self.call:
            return
        self.call = call
        plane = self.drawing.plane if self.drawing else None
        if plane and not plane.first < call < plane.last:
            self._drawn = None
        self.refresh()
        self.post_message(self.Highlighted(call))

    def action_move(self, by: int) -> None:
        self.go(self.call + by)

    def action_leap(self, direction: int) -> None:
        first, last = self._span()
        self.go(self.call + direction * max(1, round((last - first) / 10)))

    def action_end(self, direction: int) -> None:
        self.go(1 if direction < 0 else self.calls)

    def action_stop(self, direction: int) -> None:
        ahead = [stop for stop in self.stops if (stop > self.call if direction > 0 else stop < self.call)]
        if ahead:
            self.go(min(ahead) if direction > 0 else max(ahead))

    def action_zoom(self, by: float) -> None:
        self._zoom = max(1.0, self._zoom * by)
        self._redraw()

    def action_choose(self) -> None:
        if self.calls:
            self.post_message(self.Selected(self.call))

    def on_click(self, event: events.Click) -> None:
        drawing = self.drawing
        column = event.screen_x - self.region.x - (drawing.left if drawing else 0)
        if drawing and 0 <= column < drawing.plane.columns:
            self.go(round(drawing.plane.x(column + 0.5)))


ALONE = "⠤⠤"
"""Sign of a plot's only curve in the legend."""


def legend(picture: Picture) -> Text:
    """Legend on one line: levels with their figures, then marks and lines."""
    shown = shown_levels(picture.levels, highest_of(picture.lines))
    parts = [f"{level.sign} {level.name} {figure(level.value)}" for level in shown]
    parts += [f"{level.name} {figure(level.value)}, above the plot" for level in picture.levels if level not in shown]
    named = sorted(picture.legend, key=lambda one: one[0].isalpha())
    curves = [line.sign for line in picture.lines if line.sign != DOTTED]
    # A single curve has no letters.
    drawn_as = {curves[0]: ALONE} if len(curves) == 1 else {}
    parts += [f"{drawn_as.get(sign, sign)} {one_line(means, 40)}" for sign, means in named]
    return Text("   ".join(parts), no_wrap=True, overflow="ellipsis", end="")
