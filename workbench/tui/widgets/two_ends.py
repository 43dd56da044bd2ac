"""A line with text at its left and at its right end."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.plain import line_of

LEAST = 24
"""Fewest cells of the left end; below, the right end is left out."""


def fewer_parts(text: Text, room: int) -> Text:
    """`text` without its last parts, which ` · ` separates, if it is longer than `room` cells; the first part stays."""
    while cell_len(text.plain) > room and (at := text.plain.rfind(" · ")) > 0:
        text = text[:at]
    return text


class TwoEnds(Widget):
    class RightClicked(Message):
        """The text at the right was clicked."""

        def __init__(self, line: TwoEnds) -> None:
            super().__init__()
            self.line = line

        @property
        def control(self) -> TwoEnds:
            return self.line

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.left, self.right = Text(), Text()

    def show(self, left: Text, right: Text) -> None:
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    @property
    def told(self) -> str:
        """Both ends as plain text."""
        return f"{self.left.plain}  {self.right.plain}".strip()

    @property
    def _room(self) -> int:
        """Cells of the left end."""
        used = cell_len(self.right.plain)
        return self.size.width - (used + 3 if used and self.size.width - used - 3 >= LEAST else 0)

    def render_line(self, y: int) -> Strip:
        width, base, room = self.size.width, self.visual_style.rich_style, self._room
        if y:
            return Strip.blank(width, base)
        left = line_of(self._segments(fewer_parts(self.left, room)), room, base)
        if room == width:
            return left
        return Strip([*left, Segment("  ", base), *self._segments(self.right)]).adjust_cell_length(width, base)

    def _segments(self, text: Text) -> list[Segment]:
        base = self.visual_style.rich_style
        return [Segment(one.text, base + one.style if one.style else base) for one in text.render(self.app.console)]

    def on_click(self, event: events.Click) -> None:
        if event.x >= self._room and self._room < self.size.width:
            self.post_message(self.RightClicked(self))
