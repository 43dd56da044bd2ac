"""Pager for plain text: wrapped lines drawn on demand, never parsed as markup, control characters visible."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.binding import BindingType
from textual.selection import Selection
from textual.strip import Strip

from workbench.base.figures import IN_A_FIGURE
from workbench.tui.plain import fit, plain
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.list_keys import MOVING, SEARCHING

BIG = 40_000
"""Characters from which text is wrapped in a thread."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text in one style: "" or one of `STYLES`. `one_row`: its lines are cut with `…`, not wrapped. `then` are offsets
    in each of its lines with the styles from there on."""

    text: str
    style: str = ""
    one_row: bool = False
    then: tuple[tuple[int, str], ...] = ()


STYLES = ("title", "heading", "dim", "thinking", "call", "result", "good", "bad", "warning")


@dataclass(frozen=True)
class Wrapped:
    """Text cut to rows of a width: row i shows `lines[line[i]][start[i]:stop[i]]`."""

    width: int
    lines: list[str]
    styles: list[str]
    then: list[tuple[tuple[int, str], ...]]
    line: array[int]
    start: array[int]
    stop: array[int]

    def __len__(self) -> int:
        return len(self.line)


def wrap(parts: Sequence[TextPart], width: int) -> Wrapped:
    """Cut `parts` to rows of at most `width` cells, at spaces if possible; each part begins a line.

    Linear in the text; about 100 ms for a megabyte of plain Latin text, mostly to mask secrets.
    """
    width = max(8, width)
    lines: list[str] = []
    styles: list[str] = []
    then: list[tuple[tuple[int, str], ...]] = []
    for part in parts:
        new = plain(part.text).expandtabs(4).split("\n")
        if part.one_row:
            new = [fit(line, width).rstrip() for line in new]
        lines += new
        styles += [part.style] * len(new)
        then += [part.then] * len(new)
    row_line, row_start, row_stop = array("L"), array("L"), array("L")
    for number, line in enumerate(lines):
        for start, stop in _rows(line, width):
            row_line.append(number)
            row_start.append(start)
            row_stop.append(stop)
    return Wrapped(width, lines, styles, then, row_line, row_start, row_stop)


def _rows(line: str, width: int) -> list[tuple[int, int]]:
    size = len(line)
    narrow = line.isascii() or cell_len(line) == size
    if narrow and size <= width:
        return [(0, size)]
    rows = []
    start = 0
    while start < size:
        stop = min(size, start + width)
        if not narrow:
            while (over := cell_len(line[start:stop]) - width) > 0:
                stop = max(start + 1, stop - (over + 1) // 2)
                if stop == start + 1:
                    break
        if stop < size and (line[stop] != " " or IN_A_FIGURE.match(line, stop)):
            space = line.rfind(" ", start + width // 2, stop)
            while space > start and IN_A_FIGURE.match(line, space):
                space = line.rfind(" ", start + width // 2, space)
            stop = space + 1 if space > start else stop
        rows.append((start, stop))
        start = stop
        if start < size and line[start] == " ":
            start += 1
    return rows or [(0, 0)]


class TextView(LineView, can_focus=True):
    """View of parts of text. `show` replaces them; a text with the same `key` keeps its scroll position."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"text-view--{name}" for name in STYLES}
    BINDINGS: ClassVar[list[BindingType]] = [*MOVING, *SEARCHING]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts: tuple[TextPart, ...] = ()
        self._key: object = None
        self._wrapped = wrap((), 80)

    @property
    def wrap_width(self) -> int:
        return self.line_width or self.size.width or 80

    @property
    def text(self) -> str:
        """Complete text as it is shown."""
        return "\n".join(self._wrapped.lines)

    @property
    def text_in_view(self) -> str:
        """Visible text on one line."""
        wrapped, top = self._wrapped, self.scroll_offset.y
        rows = range(top, min(len(wrapped), top + self.size.height))
        return " ".join(
            wrapped.lines[wrapped.line[row]][wrapped.start[row] : wrapped.stop[row]].strip() for row in rows
        )

    @property
    def source(self) -> str:
        """Complete text as the session holds it, with control characters; not for a terminal."""
        return "\n".join(part.text for part in self._parts)

    def show(self, parts: Iterable[TextPart], key: object = None) -> None:
        """Show `parts` at once. For more than `BIG` characters wrap in a thread and use `put`."""
        parts = tuple(parts)
        self.put(parts, wrap(parts, self.wrap_width), key)

    def put(self, parts: tuple[TextPart, ...], wrapped: Wrapped, key: object = None) -> None:
        """Show `parts`, whose rows are `wrapped`."""
        same = key is not None and key == self._key
        self._parts, self._wrapped, self._key = parts, wrapped, key
        self.set_lines(len(wrapped))
        if not same:
            self.scroll_to(y=0, animate=False)
        self.on_resize()

    def on_resize(self) -> None:
        if self._wrapped.width != max(8, self.wrap_width):
            self.wrap_again()

    def wrap_again(self) -> None:
        """Wrap the text to a new width."""
        if sum(len(part.text) for part in self._parts) > BIG:
            self._wrap_in_thread(self._parts)
        else:
            self._wrapped = wrap(self._parts, self.wrap_width)
            self.set_lines(len(self._wrapped))

    @work(exclusive=True, group="wrap", exit_on_error=False, description="wrap")
    async def _wrap_in_thread(self, parts: tuple[TextPart, ...]) -> None:
        wrapped = await asyncio.to_thread(wrap, parts, self.wrap_width)
        # Something else may be shown by now.
        if parts is self._parts:
            self.put(parts, wrapped, self._key)

    @property
    def key(self) -> object:
        return self._key

    # --- as every list ----------------------------------------------------------------------------------------------

    @property
    def place(self) -> int:
        return min(self.scroll_offset.y, max(0, self.line_count - 1))

    def copied(self) -> str:
        return self.source

    def line_text(self, line: int) -> str:
        wrapped = self._wrapped
        return wrapped.lines[wrapped.line[line]][wrapped.start[line] : wrapped.stop[line]]

    def to_line(self, line: int) -> None:
        """Scroll until the line is visible, with some context before it."""
        if not self.scroll_offset.y <= line < self.scroll_offset.y + self.size.height:
            self.scroll_to(y=max(0, line - self.size.height // 3), animate=False, force=True)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Selected text with the rows of one line joined."""
        found, wrapped = super().get_selection(selection), self._wrapped
        if found is None:
            return None
        rows, first = found[0].split("\n"), selection.start.y if selection.start else 0
        text = rows[0]
        for row, words in enumerate(rows[1:], first + 1):
            same = wrapped.line[row] == wrapped.line[row - 1]
            gap = wrapped.lines[wrapped.line[row]][wrapped.stop[row - 1] : wrapped.start[row]] if same else "\n"
            text += gap + words
        return text, found[1]

    def action_cursor_down(self) -> None:
        self.action_scroll_down()

    def action_cursor_up(self) -> None:
        self.action_scroll_up()

    def action_first(self) -> None:
        self.action_scroll_home()

    def action_last(self) -> None:
        self.action_scroll_end()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw_line(self, line: int, width: int) -> Strip:
        base, wrapped = self.visual_style.rich_style, self._wrapped
        number, start, stop = wrapped.line[line], wrapped.start[line], wrapped.stop[line]
        text, name = wrapped.lines[number], wrapped.styles[number]
        segments = []
        for at, following in wrapped.then[number]:
            if start < min(at, stop):
                segments.append(Segment(text[start : min(at, stop)], self._style_of(name)))
                start = at
            name = following
        if start < stop:
            segments.append(Segment(text[start:stop], self._style_of(name)))
        return Strip(segments).adjust_cell_length(width, base)

    def _style_of(self, name: str) -> Style:
        if not name:
            return self.visual_style.rich_style
        return self.visual_style.rich_style + self.get_component_rich_style(f"text-view--{name}", partial=True)
