"""Scrolling view of lines. A line is drawn once, and not again when it moves on the screen.

Textual's own `ScrollView` lays out the screen whenever its virtual size changes: 25 ms on the bench, at every key. The
scrollbar of a `LineView` is always there, so nothing around it moves. Textual also caches drawn lines by screen row:
scrolling by one line would draw every line again, 8 ms per key.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import groupby
from typing import Any, ClassVar, Self

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from workbench.analysis.search import Query, match_spans

KEPT = 512
"""Drawn lines that are cached."""


class LineView(ScrollView):
    """View of lines. A subclass draws one (`draw_line`) and names the other inputs of its picture (`line_state`).

    Hits of the search are marked in every line; a mouse drag selects text.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--hit"}

    virtual_size = Reactive(Size(0, 0), layout=False)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._strips: LRUCache[Hashable, Strip] = LRUCache(KEPT)
        self._finished: LRUCache[int, tuple[Strip, Strip]] = LRUCache(KEPT)
        self._finished_width = 0
        self.search_query: Query | None = None

    def draw_line(self, line: int, width: int) -> Strip:
        """Line `line` of the text, exactly `width` cells; blank by default."""
        return Strip.blank(width)

    def line_state(self, line: int) -> Hashable:
        """Part of the cache key of a line's picture, such as whether the cursor is on it."""
        return None

    @property
    def line_width(self) -> int:
        """Cells that a line may fill."""
        return self.scrollable_content_region.width

    @property
    def line_count(self) -> int:
        return self.virtual_size.height

    def line_text(self, line: int) -> str:
        """Text of a line as it is drawn."""
        return self.draw_line(line, self.line_width).text.rstrip()

    def seek(self, query: Query | None) -> None:
        """Mark the hits of a search in every line."""
        if query != self.search_query:
            self.search_query = query
            self.forget_lines()

    def set_lines(self, count: int) -> None:
        """Set the number of lines; all are drawn again, and the view stays within them."""
        self.virtual_size = Size(self.line_width, count)
        self.forget_lines()

    def forget_lines(self) -> None:
        """Draw every line again. If `draw_line` returns the same strip object, its border and padding are reused."""
        self._strips.clear()
        super().refresh()

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
            return Strip.blank(width, self.visual_style.rich_style)
        selection = self.text_selection
        selected = selection.get_span(line) if selection else None
        key = (line, width, self.line_state(line), selected)
        strip = self._strips.get(key)
        if strip is None:
            strip = self.draw_line(line, width)
            if self.search_query:
                strip = _styled(
                    strip, match_spans(self.search_query, strip.text), self.get_component_rich_style("lines--hit")
                )
            if selected:
                strip = _styled(strip, [selected], self.screen.get_component_rich_style("screen--selection"))
            # Without selection a line's picture does not depend on its number.
            self._strips[key] = strip = strip.apply_offsets(0, line) if self.allow_select else strip
        return strip

    # --- selecting with the mouse -----------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Selected text, and the separator before the selected text of the next widget."""
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self.line_count - 1
        lines = []
        for line in range(first, min(last, self.line_count - 1) + 1):
            start, stop = selection.get_span(line) or (0, 0)
            lines.append(self.line_text(line)[start : None if stop < 0 else stop])
        return ("\n".join(lines), "\n") if lines else None

    def refresh(self, *regions: Region, **how: Any) -> Self:
        if not regions:
            self._finished.clear()
        return super().refresh(*regions, **how)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Add border and padding to lines as Textual does, but reuse a finished line after it has moved.

        Returning the same strip object saves everything that Textual caches in it, down to the terminal's codes.
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


def _styled(strip: Strip, spans: Iterable[tuple[int, int]], style: Style) -> Strip:
    """Strip with a style over the given character spans; a stop of -1 is its end."""
    text, width = strip.text, strip.cell_length
    for start, stop in spans:
        left, right = cell_len(text[:start]), width if stop < 0 else cell_len(text[:stop])
        over = Strip(Segment.apply_style(strip.crop(left, right), post_style=style))
        strip = Strip.join([strip.crop(0, left), over, strip.crop(right, width)])
    return strip
