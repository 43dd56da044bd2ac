"""A scrolling view of lines whose number may change without the whole screen being laid out again.

Textual's own `ScrollView` asks for a layout whenever its virtual size changes: 25 ms on the bench, at every key. The
scrollbar of a `LineView` is always there, so nothing around it can move.
"""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView


class LineView(ScrollView):
    DEFAULT_CSS = """
    LineView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """

    virtual_size = Reactive(Size(0, 0), layout=False)

    @property
    def line_width(self) -> int:
        """Cells that a line may fill."""
        return self.scrollable_content_region.width

    def set_lines(self, count: int) -> None:
        """There are `count` lines now; they are drawn anew, and the view stays within them."""
        self.virtual_size = Size(self.line_width, count)
        self.refresh()

    def watch_virtual_size(self, size: Size) -> None:
        self.vertical_scrollbar.window_virtual_size = size.height
        self.vertical_scrollbar.refresh()
        self.scroll_y = min(self.scroll_y, self.max_scroll_y)
