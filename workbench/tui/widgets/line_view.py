"""A scrolling view of lines, drawn once each: a line that moves to another height is not drawn again.

Textual's own `ScrollView` asks for a layout whenever its virtual size changes: 25 ms on the bench, at every key. The
scrollbar of a `LineView` is always there, so nothing around it can move. And Textual keeps what it drew by height, not
by line: scrolling by one line would make every line of the view anew, 8 ms of a key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from textual._styles_cache import StylesCache
from textual.cache import LRUCache
from textual.css.styles import StylesBase
from textual.geometry import Size
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
        self._styles_cache = _Finished()

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


class _Finished(StylesCache):
    """Textual's cache of finished lines (border and padding at their ends) that finds one again at another height.

    With the same strip object everything that Textual derives from it, down to the terminal's codes, is kept too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._finished: LRUCache[int, tuple[Strip, Strip]] = LRUCache(KEPT)

    def clear(self) -> None:
        super().clear()
        self._finished.clear()

    def render_line(
        self,
        styles: StylesBase,
        y: int,
        size: Size,
        content_size: Size,
        padding: object,
        base_background: object,
        background: object,
        render_content_line: Callable[[int], Strip],
        *rest: Any,
    ) -> Strip:
        def finished(content: Callable[[int], Strip]) -> Strip:
            args: tuple[Any, ...] = (padding, base_background, background, content, *rest)
            return StylesCache.render_line(self, styles, y, size, content_size, *args)

        at = y - styles.gutter.top
        if not 0 <= at < content_size.height:
            return finished(render_content_line)
        strip = render_content_line(at)
        known = self._finished.get(id(strip))
        if known is None or known[0] is not strip:
            self._finished[id(strip)] = known = (strip, finished(lambda _: strip))
        return known[1]
