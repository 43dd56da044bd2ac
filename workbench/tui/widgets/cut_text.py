"""Texts in a fixed place: wrapped without breaking a figure, cut with `…`, or aligned to both ends of a line."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui.plain import line_of, wrap_words


class WholeFigures(Static):
    """Text wrapped between words and not within a figure; Textual also breaks at no-break spaces."""

    def __init__(self, text: Text | str = "", *, id: str | None = None, classes: str | None = None) -> None:
        self._text = Text(text) if isinstance(text, str) else text
        super().__init__(self._text, id=id, classes=classes)

    @property
    def content(self) -> VisualType:
        """Text before wrapping."""
        return self._text

    @content.setter
    def content(self, content: VisualType) -> None:
        self.update(content)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        assert isinstance(content, Text | str)
        self._text = Text(content) if isinstance(content, str) else content
        self._break(layout=layout)

    def on_resize(self) -> None:
        self._break()

    def _break(self, *, layout: bool = True) -> None:
        wrapped = self._text.copy()
        wrapped.plain = wrap_words(wrapped.plain, self.content_size.width or len(wrapped.plain))
        super().update(wrapped, layout=layout)


class CutText(WholeFigures):
    """Text that ends with `…` if there is no room for more of its lines."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        width, height = self.content_size
        if y + 1 < height or self.visual.get_height(self.styles.get_rules(), width) <= height:
            return strip
        beginning = strip.crop(0, min(cell_len(strip.text.rstrip()) + 1, width - 1))
        style = next((one.style for one in reversed(list(beginning)) if one.text.strip()), None)
        return Strip([*beginning, Segment("…", style)]).adjust_cell_length(width, self.visual_style.rich_style)


LEAST = 24
"""Fewest cells for the left text of `TwoEnds`; if the right text leaves fewer, it is not shown."""


def fewer_parts(text: Text, room: int) -> Text:
    """`text` without its last parts, which ` · ` separates, if it is longer than `room` cells; the first part stays."""
    while cell_len(text.plain) > room and (at := text.plain.rfind(" · ")) > 0:
        text = text[:at]
    return text


class TwoEnds(Widget):
    """Line with a text at each end. The left one loses its last parts if there is too little room."""

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
    def text(self) -> str:
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
