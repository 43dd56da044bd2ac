"""List of texts, each of one line or more; headings among them cannot be selected."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from workbench.tui.keys import shared
from workbench.tui.plain import line_of
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.list_keys import SEARCHING


class TextList(LineList):
    """List whose cursor is as high as its row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor", "lines--heading"}
    BINDINGS: ClassVar[list[BindingType]] = [
        *SEARCHING,
        shared("open", "choose", "Choose", "Select the row under the cursor.", show=False),
    ]

    @dataclass
    class Highlighted(Message):
        """Another row is under the cursor, or other rows are listed."""

        texts: TextList
        at: int

        @property
        def control(self) -> TextList:
            return self.texts

    @dataclass
    class Selected(Message):
        texts: TextList
        at: int

        @property
        def control(self) -> TextList:
            return self.texts

    def __init__(
        self, *, empty: str = "", wraps: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """`wraps`: a line that is too long continues on the next one; else it ends with `…`."""
        super().__init__(id=id)
        self.wraps = wraps
        self.set_classes(classes or "")
        self.empty = empty
        self.rows: Sequence[Text] = ()
        self._headings: Container[int] = ()
        self._lines: list[Text] = []
        self._tops: list[int] = []
        """First line of each row, then the number of lines."""
        self.stops: list[int] = []
        """First lines of the rows that can be selected."""

    @property
    def at(self) -> int:
        """Row under the cursor, -1 if none can be selected."""
        return self._row_of(self.line) if self.stops else -1

    def show(self, rows: Iterable[Text], at: int | None = None, headings: Container[int] = ()) -> None:
        """List these rows, with the cursor on row `at`, or where it was."""
        row = self.at if at is None else at
        self.rows, self._headings = tuple(rows), headings
        self._lay_out(row)
        if self.styles.is_auto_height:
            self.refresh(layout=True)
        self.moved()

    def _lay_out(self, at: int) -> None:
        self._lines, self._tops = [], [0]
        for row in self.rows:
            is_wrapped = self.wraps and self.line_width
            self._lines += row.wrap(self.app.console, self.line_width) if is_wrapped else row.split(allow_blank=True)
            self._tops.append(len(self._lines))
        self.stops = [top for row, top in enumerate(self._tops[:-1]) if row not in self._headings]
        self.set_lines(len(self._lines))
        self.line = self._stop_at(self._tops[max(0, min(at, len(self.rows) - 1))], 0)
        self.into_view()

    def on_resize(self) -> None:
        if self.wraps and self.line_width != self.virtual_size.width:
            self._lay_out(self.at)
        super().on_resize()

    def go(self, at: int) -> None:
        """Put the cursor on a row."""
        self.to_line(self._tops[at])

    def moved(self) -> None:
        self.post_message(self.Highlighted(self, self.at))

    def opened(self) -> None:
        if self.at >= 0:
            self.post_message(self.Selected(self, self.at))

    def action_choose(self) -> None:
        self.opened()

    # --- rows of several lines --------------------------------------------------------------------------------------

    def _row_of(self, line: int) -> int:
        return bisect_right(self._tops, line) - 1

    def _stop_at(self, line: int, direction: int) -> int:
        """First line of the row that holds a line, or of the next row in `direction` that can be selected."""
        before = bisect_right(self.stops, line) - 1
        at = bisect_left(self.stops, line) if direction > 0 else before
        if direction == 0 and self.stops and self._row_of(self.stops[before]) != self._row_of(line):
            at = before + 1  # a heading: its first row
        return self.stops[max(0, min(at, len(self.stops) - 1))] if self.stops else 0

    def to_line(self, line: int, direction: int = 0) -> None:
        super().to_line(self._stop_at(line, direction), direction)

    def into_view(self) -> None:
        super().into_view()
        if self.stops and self.line == self.stops[0]:
            self.scroll_to(y=0, animate=False, force=True)  # with the heading above it

    def lines_at(self, line: int) -> range:
        row = self._row_of(line)
        return range(*self._tops[row : row + 2]) if line < len(self._lines) else super().lines_at(line)

    def line_under(self, event: events.MouseEvent) -> int | None:
        line = super().line_under(event)
        return None if line is None or self._row_of(line) in self._headings else line

    def line_text(self, line: int) -> str:
        return self._lines[line].plain

    def copied(self) -> str:
        return self.rows[self.at].plain if self.at >= 0 else ""

    def draw_line(self, line: int, width: int) -> Strip:
        style = self.visual_style.rich_style
        if line in self.lines_at(self.line) and self.at >= 0:
            style = self.get_component_rich_style("lines--cursor")
        elif self._row_of(line) in self._headings:
            style = self.get_component_rich_style("lines--heading")
        return line_of(Segment.apply_style(self._lines[line].render(self.app.console), style), width, style)
