"""A scrolling view of lines, drawn once each: a line that moves to another height is not drawn again.

Textual's own `ScrollView` asks for a layout whenever its virtual size changes: 25 ms on the bench, at every key. The
scrollbar of a `LineView` is always there, so nothing around it can move. And Textual keeps what it drew by height, not
by line: scrolling by one line would make every line of the view anew, 8 ms of a key.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import groupby
from typing import Any, Self

from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

KEPT = 512
"""Lines that are kept as they were drawn."""


class LineView(ScrollView):
    """A widget of lines says how one is drawn (`draw_line`), and on what else its picture depends (`line_state`)."""

    DEFAULT_CSS = """
    LineView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """

    virtual_size = Reactive(Size(0, 0), layout=False)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._strips: LRUCache[Hashable, Strip] = LRUCache(KEPT)
        self._finished: LRUCache[int, tuple[Strip, Strip]] = LRUCache(KEPT)
        self._finished_width = 0

    def draw_line(self, line: int, width: int) -> Strip:
        """Line `line` of the text, exactly `width` cells; empty where a widget does not say how it is drawn."""
        return Strip.blank(width)

    def line_state(self, line: int) -> Hashable:
        """What changes the picture of a line without `forget_lines`: whether the cursor stands on it."""
        return None

    @property
    def line_width(self) -> int:
        """Cells that a line may fill."""
        return self.scrollable_content_region.width

    def set_lines(self, count: int) -> None:
        """There are `count` lines now; they are drawn anew, and the view stays within them."""
        self.virtual_size = Size(self.line_width, count)
        self.forget_lines()

    def forget_lines(self) -> None:
        """Draw every line anew."""
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._finished.clear()

    def watch_virtual_size(self, size: Size) -> None:
        self.vertical_scrollbar.window_virtual_size = size.height
        self.vertical_scrollbar.refresh()
        self.scroll_y = min(self.scroll_y, self.max_scroll_y)

    def render_line(self, y: int) -> Strip:
        line, width = y + self.scroll_offset.y, self.line_width
        if line >= self.virtual_size.height:
            return Strip.blank(width, self.rich_style)
        key = (line, width, self.line_state(line))
        strip = self._strips.get(key)
        if strip is None:
            self._strips[key] = strip = self.draw_line(line, width)
        return strip

    def refresh(self, *regions: Region, **how: Any) -> Self:
        if not regions:
            self._finished.clear()
        return super().refresh(*regions, **how)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines with border and padding at their ends, as Textual finishes them, but found again at another height.

        With the same strip object everything that Textual derives from it, down to the terminal's codes, is kept too.
        """
        width, top = self.outer_size.width, self.gutter.top
        if width != self._finished_width:
            self._finished.clear()
            self._finished_width = width
        inside = range(top, top + self.scrollable_content_region.height)
        drawn = {y: self.render_line(y - top) for y in crop.line_range if y in inside}
        found: dict[int, Strip] = {}
        for y, strip in drawn.items():
            known = self._finished.get(id(strip))
            if known is not None and known[0] is strip:
                found[y] = known[1]
        lines: list[Strip] = []
        for is_known, heights in groupby(crop.line_range, key=found.__contains__):
            ys = list(heights)
            if is_known:
                lines += [found[y] for y in ys]
                continue
            finished = super().render_lines(Region(0, ys[0], width, len(ys)))
            lines += finished
            for y, line in zip(ys, finished, strict=True):
                if y in drawn:
                    self._finished[id(drawn[y])] = drawn[y], line
        return lines if crop.column_span == (0, width) else [line.crop(*crop.column_span) for line in lines]
