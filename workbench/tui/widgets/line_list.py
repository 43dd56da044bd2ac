"""List of lines with a cursor, moved by the keys of every list and by click, opened by enter and double click."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.strip import Strip

from workbench.tui.plain import fit
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.list_keys import MOVING


class LineList(LineView, can_focus=True):
    """List of lines. A subclass sets their number and draws one; it overrides `moved` and `opened`. `empty` is the text
    of a list without lines, at first `EMPTY`."""

    ALLOW_SELECT = False  # a double click opens; `y` copies a line
    BINDINGS: ClassVar[list[BindingType]] = MOVING
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--empty"}
    EMPTY: ClassVar[str] = ""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.line = 0
        self.empty = self.EMPTY

    def moved(self) -> None:
        """Called when another line is under the cursor."""

    def opened(self) -> None:
        """Called when the line under the cursor is opened."""

    # --- the cursor -------------------------------------------------------------------------------------------------

    @property
    def place(self) -> int:
        return self.line

    def copied(self) -> str:
        return self.line_text(self.line) if self.line_count else ""

    def to_line(self, line: int, direction: int = 1) -> None:
        """Put the cursor on a line, within the list. `direction`, 1 or -1, is for a subclass that skips lines."""
        line = max(0, min(line, self.line_count - 1))
        if line != self.line:
            old, self.line = self.line, line
            self.refresh_line(old)
            self.refresh_line(line)
            self.into_view()
            self.moved()

    def lines_at(self, line: int) -> range:
        """Lines of the row that a line belongs to."""
        return range(line, line + 1)

    def into_view(self) -> None:
        """Scroll as little as possible to show the cursor."""
        height, top, row = self.scrollable_content_region.height, self.scroll_offset.y, self.lines_at(self.line)
        if height and not (top <= row.start and row.stop <= top + height):
            y = row.start if row.start < top or len(row) > height else row.stop - height
            self.scroll_to(y=y, animate=False, force=True)

    def refresh_line(self, line: int) -> None:
        for y in (one - self.scroll_offset.y for one in self.lines_at(line)):
            if 0 <= y < self.size.height:
                self.refresh(Region(0, y, self.size.width, 1))

    @property
    def page(self) -> int:
        """Lines of a page: all visible ones but one."""
        return max(1, self.scrollable_content_region.height - 1)

    def action_cursor_down(self) -> None:
        self.to_line(self.line + 1, 1)

    def action_cursor_up(self) -> None:
        self.to_line(self.line - 1, -1)

    def action_page_down(self) -> None:
        self.to_line(self.line + self.page, 1)

    def action_page_up(self) -> None:
        self.to_line(self.line - self.page, -1)

    def action_first(self) -> None:
        self.to_line(0, 1)

    def action_last(self) -> None:
        self.to_line(self.line_count - 1, -1)

    # --- the mouse --------------------------------------------------------------------------------------------------

    def line_under(self, event: events.MouseEvent) -> int | None:
        """Line under the pointer, None if there is none."""
        offset = event.get_content_offset(self)
        line = self.scroll_offset.y + offset.y if offset is not None else self.line_count
        return line if line < self.line_count else None

    def on_click(self, event: events.Click) -> None:
        line = self.line_under(event)
        if line is not None:
            self.to_line(line)
            if event.chain > 1:
                self.opened()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        if self.line_width != self.virtual_size.width:
            self.set_lines(self.line_count)
        self.into_view()

    def on_focus(self) -> None:
        self.refresh_line(self.line)

    def on_blur(self) -> None:
        self.refresh_line(self.line)

    def line_state(self, line: int) -> Hashable:
        return line in self.lines_at(self.line), self.has_focus

    def render_line(self, y: int) -> Strip:
        if y == 0 and not self.line_count and self.empty:
            style = self.visual_style.rich_style + self.get_component_rich_style("lines--empty", partial=True)
            return Strip([Segment(fit(f" {self.empty}", self.line_width), style)])
        return super().render_line(y)
