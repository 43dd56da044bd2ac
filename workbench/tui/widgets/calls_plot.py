"""A plot over the calls of a session, with a cursor that goes from call to call.

The picture is the one that command line and report draw. A line is a curve with its letter on it every few columns, so
that lines can be told apart without colour. The plotting library brings numpy along: it is imported when a plot opens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from workbench.analysis.pictures import ELSEWHERE, Picture
from workbench.analysis.plots import Line, near
from workbench.report.drawing import thinned
from workbench.tui.plain import figure, one_line

if TYPE_CHECKING:
    from workbench.tui.plotted import Plotted

LINES = 6
"""Colours for lines; the letters tell lines of the same colour apart."""

LETTER_EVERY = 14
"""Columns between two letters of a line."""

LEAST = (24, 3)
"""Columns and lines within the axes below which nothing is drawn."""

SETTLE_S = 0.1
"""How long keys rest before another line is brought to the front."""

MARGIN = 7
"""Columns left of the plot, for the figures of its axis."""


class CallsPlot(Widget, can_focus=True):
    """Shows a `Picture`: x is the number of a call.

    Lines that are `hidden`, by their sign, are left out; the one of the sign `front` is drawn over all others. `stops`
    are calls worth going to.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"calls--{n}" for n in range(LINES)), "calls--elsewhere", "calls--level", "calls--mark",
    }  # fmt: skip
    DEFAULT_CSS = """
    CallsPlot {
        layers: plot cursor;
        height: 1fr;
        .calls--0 { color: $text-primary; text-style: bold; }
        .calls--1 { color: $text-warning; }
        .calls--2 { color: $text-accent; }
        .calls--3 { color: $text-secondary; }
        .calls--4 { color: $text-success; }
        .calls--5 { color: $text-error; }
        .calls--elsewhere { color: $foreground; text-style: dim; }
        .calls--level { color: $text-error; }
        .calls--mark { color: $text-warning; text-style: bold; }
        #plotted { layer: plot; width: 100%; height: 100%; visibility: hidden; }
        #plotted > .plot--axis { color: $border-blurred; }
        #plotted > .plot--tick { color: $foreground; text-style: not bold; }
        &:focus #plotted > .plot--axis { color: $border; }
        #cursor { layer: cursor; width: 1; height: 1; display: none; color: $foreground; background: $surface; }
        &:focus #cursor { text-style: bold; color: $text-warning; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move(-1)", "Call before", show=False, id="plot.left", tooltip="To the call before."),
        Binding("right,l", "move(1)", "Next call", show=False, id="plot.right", tooltip="To the next call."),
        Binding("shift+left,pageup", "leap(-1)", "Back", show=False, id="plot.back", tooltip="A tenth to the left."),
        Binding("shift+right,pagedown", "leap(1)", "On", show=False, id="plot.on", tooltip="A tenth to the right."),
        Binding("home", "end(-1)", "First call", show=False, id="plot.first", tooltip="To the first call."),
        Binding("end", "end(1)", "Last call", show=False, id="plot.last", tooltip="To the last call."),
        Binding("n", "stop(1)", "Next mark", id="plot.next", tooltip="To the next compaction, refusal or overflow."),
        Binding("N", "stop(-1)", "Mark before", show=False, id="plot.before", tooltip="To the one before."),
        Binding(
            "plus", "zoom(2)", "Closer", show=False, id="plot.closer", tooltip="Show fewer calls, about the cursor."
        ),
        Binding("minus", "zoom(0.5)", "Wider", show=False, id="plot.wider", tooltip="Show more calls."),
        Binding("enter", "choose", "Go there", id="plot.choose", tooltip="To the message of this call, on the bench."),
    ]

    @dataclass
    class Moved(Message):
        """The cursor stands on another call, from 1."""

        call: int

    @dataclass
    class Chosen(Message):
        """The message of this call is wanted."""

        call: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.picture: Picture | None = None
        self.hidden: frozenset[str] = frozenset()
        self.stops: Sequence[int] = ()
        self.front = ""
        self.call = 1
        self._zoom = 1.0
        self._first, self._last = 0.5, 1.5
        self._settling: Timer | None = None

    def compose(self) -> ComposeResult:
        from workbench.tui.plotted import Plotted

        yield Plotted(MARGIN, id="plotted")
        yield Static(id="cursor")

    # --- what is shown ----------------------------------------------------------------------------------------------

    def show(self, picture: Picture, hidden: frozenset[str] = frozenset()) -> None:
        self.picture, self.hidden = picture, hidden
        self.call = max(1, min(self.call, self.calls))
        self._draw()

    @property
    def calls(self) -> int:
        """How many calls the picture has."""
        lines = self.picture.lines if self.picture else ()
        return max((line.points[-1][0] for line in lines if line.points), default=0)

    @property
    def lines(self) -> list[Line]:
        """Those that are drawn, the one in front last."""
        lines = [line for line in self.picture.lines if line.sign not in self.hidden] if self.picture else []
        return sorted(lines, key=lambda line: line.sign == self.front)

    @on(events.Resize)
    def _resized(self) -> None:
        # The canvas has its new size only after this layout.
        self.call_after_refresh(self._draw)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self._draw()

    def bring_to_front(self, sign: str) -> None:
        """Draw a line over all others; when the keys rest, for it takes a while."""
        if sign != self.front:
            self.front = sign
            if self._settling is not None:
                self._settling.stop()
            self._settling = self.set_timer(SETTLE_S, self._draw)

    def _draw(self) -> None:
        """Draw everything but the cursor anew: tens of milliseconds, so not when the cursor moves within the view."""
        from workbench.tui.plotted import CURVE

        columns, rows = self._columns, self._rows
        if self.picture is None or not self.calls or columns < LEAST[0] or rows < LEAST[1]:
            return
        plotted = self._plotted
        self._first, self._last = self._range()
        lines = self.lines
        highest = max((y for line in lines for _, y in line.points), default=1)
        levels = near(self.picture.levels, highest)
        # One line above it all is for the marks.
        top = (1 + 1.6 / rows) * max([highest, *(level.value for level in levels), 1])
        plotted.visible = True
        plotted.clear()
        plotted.set_xlimits(self._first, self._last)
        plotted.set_ylimits(0, top)
        across = [self._first + (self._last - self._first) * (n + 0.5) / columns for n in range(columns)]
        for level in levels:
            plotted.scatter(across, [level.value] * columns, marker=level.sign, marker_style=self._style("level"))
        apart = [line for line in lines if line.sign == ELSEWHERE]
        lettered = [line for line in lines if line.sign != ELSEWHERE]
        for line in lettered:
            points = thinned(self._seen(line), 2 * columns)
            xs, ys = [x for x, _ in points], [y for _, y in points]
            plotted.plot(xs, ys, line_style=self._style(self._colour(line)), hires_mode=CURVE)
        for line in apart:
            points = self._dots(line, columns)
            plotted.scatter([x for x, _ in points], [y for _, y in points], line.sign, self._style("elsewhere"))
        # After all lines, so that none covers another one's letters.
        for line in lettered:
            places = self._letters(line, columns)
            plotted.scatter([x for x, _ in places], [y for _, y in places], line.sign, self._style(self._colour(line)))
        for call, sign in self.picture.marks.items():
            if self._first < call < self._last:
                plotted.scatter([call], [top * (1 - 0.5 / rows)], sign, self._style("mark"))
        self._put_cursor()

    def _range(self) -> tuple[float, float]:
        """The calls in view, the cursor among them."""
        wide = max(8.0, self.calls / self._zoom)
        if wide >= self.calls:
            self._zoom = 1.0
            return 0.5, self.calls + 0.5
        first = min(max(0.5, self.call - wide / 2), self.calls + 0.5 - wide)
        return first, first + wide

    def _seen(self, line: Line) -> Sequence[tuple[int, int]]:
        def before(x: float) -> int:
            return bisect_left(line.points, x, key=itemgetter(0))

        return line.points[before(self._first) : before(self._last)]

    def _dots(self, line: Line, columns: int) -> list[tuple[int, int]]:
        """One point of every other column: what runs along with it is seen between them."""
        found: dict[int, tuple[int, int]] = {}
        for x, y in self._seen(line):
            found.setdefault(int((x - self._first) * columns / (self._last - self._first)) // 2, (x, y))
        return list(found.values())

    def _letters(self, line: Line, columns: int) -> list[tuple[float, float]]:
        """Where a line carries its letter: each line at columns of its own, so that lines that run together show all
        their letters."""
        signs = self._signs
        every = max(LETTER_EVERY, 2 * len(signs))
        points, found, at = self._seen(line), [], 0
        for column in range(every * signs.index(line.sign) // len(signs) + 1, columns, every):
            x = self._first + (column + 0.5) * (self._last - self._first) / columns
            while at + 1 < len(points) and points[at + 1][0] <= x:
                at += 1
            if at + 1 < len(points) and points[at][0] <= x:
                (x0, y0), (x1, y1) = points[at], points[at + 1]
                found.append((x, y0 + (y1 - y0) * (x - x0) / (x1 - x0)))
        return found or [points[len(points) // 2]] if points else []

    @property
    def _signs(self) -> list[str]:
        return [line.sign for line in self.picture.lines if line.sign != ELSEWHERE] if self.picture else []

    def _colour(self, line: Line) -> str:
        """A line keeps its colour when others are hidden."""
        return str(self._signs.index(line.sign) % LINES)

    def _style(self, name: str) -> str:
        return str(self.get_component_rich_style(f"calls--{name}", partial=True))

    @property
    def _columns(self) -> int:
        """Of the plot, within its axes."""
        return self.size.width - MARGIN - 2

    @property
    def _rows(self) -> int:
        return self.size.height - 3

    @property
    def _plotted(self) -> Plotted:
        from workbench.tui.plotted import Plotted

        return self.query_one(Plotted)

    # --- the cursor -------------------------------------------------------------------------------------------------

    def go(self, call: int) -> None:
        """Put the cursor on a call."""
        call = max(1, min(call, self.calls))
        if not self.calls or call == self.call:
            return
        self.call = call
        if self._first < call < self._last:
            self._put_cursor()
        else:
            self._draw()
        self.post_message(self.Moved(call))

    def _put_cursor(self) -> None:
        cursor, columns, rows = self.query_one("#cursor", Static), self._columns, self._rows - 1
        cursor.display = self.can_focus and bool(self.calls) and columns > 0 and rows > 0
        if cursor.display:
            if cursor.styles.height is None or cursor.styles.height.value != rows:
                cursor.styles.height = rows
                cursor.update("\n".join("┃" * rows))
            column = int((self.call - self._first) / (self._last - self._first) * columns)
            # The first line is for the marks.
            cursor.styles.offset = (MARGIN + 1 + column, 2)

    def action_move(self, by: int) -> None:
        self.go(self.call + by)

    def action_leap(self, way: int) -> None:
        self.go(self.call + way * max(1, round((self._last - self._first) / 10)))

    def action_end(self, way: int) -> None:
        self.go(1 if way < 0 else self.calls)

    def action_stop(self, way: int) -> None:
        ahead = [stop for stop in self.stops if (stop > self.call if way > 0 else stop < self.call)]
        if ahead:
            self.go(min(ahead) if way > 0 else max(ahead))

    def action_zoom(self, by: float) -> None:
        self._zoom = max(1.0, self._zoom * by)
        self._draw()

    def action_choose(self) -> None:
        if self.calls:
            self.post_message(self.Chosen(self.call))

    def on_click(self, event: events.Click) -> None:
        columns = self._columns
        column = event.screen_x - self.region.x - MARGIN - 1
        if 0 <= column < columns:
            self.go(round(self._first + (column + 0.5) / columns * (self._last - self._first)))


def legend(picture: Picture) -> Text:
    """What the signs mean, on one line and in order: levels with their figures, then marks and lines."""
    highest = max((y for line in picture.lines for _, y in line.points), default=1)
    drawn = near(picture.levels, highest)
    parts = [f"{level.sign} {level.name} {figure(level.value)}" for level in drawn]
    parts += [f"{level.name} {figure(level.value)}, above the plot" for level in picture.levels if level not in drawn]
    named = sorted(picture.legend, key=lambda one: one[0].isalpha())
    parts += [f"{sign} {one_line(means, 40)}" for sign, means in named]
    return Text("   ".join(parts), no_wrap=True, overflow="ellipsis", end="")
