"""A table of many thousand lines, sorted by the column under the cursor; what is not on the screen is not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import RenderResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.auditing.columns import Record
from workbench.base.tables import Column, words
from workbench.tui.plain import fit, one_line
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.list_keys import SEARCHING
from workbench.tui.widgets.table import BEFORE, MORE

_WIDTHS = {"tool": 14, "version": 9, "model": 18, "project": 16, "title": 30, "time": 16, "changed": 16, "way": 8}
_WIDTH, _TEXT = 9, 24
GAP = "  "


def width_of(column: Column) -> int:
    return _WIDTHS.get(column.key) or max(_TEXT if column.is_text else _WIDTH, len(column.key) + 2)


def cell(line: Record, column: Column) -> str:
    """A value in its column's width; of a folder and a file the name."""
    value = line[column.key]
    text = words(value, column.kind)
    if column.key in ("project", "path"):
        text = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    width = width_of(column)
    return fit(one_line(text), width) if column.is_text else text.rjust(width)


def seen_of(columns: Sequence[Column], left: int, width: int) -> tuple[Sequence[Column], bool]:
    """The columns from `left` on that are seen whole, at least one, and whether there are more: half a number is
    another number. Where there are more on either side, as many cells are left free as their sign needs."""
    room, shown = width - len(BEFORE) * (left > 0), 0
    for number, column in enumerate(columns[left:], 1):
        room -= width_of(column) + len(GAP)
        last = left + number == len(columns)
        if number > 1 and room + len(GAP) < (0 if last else len(MORE)):
            break
        shown = number
    return columns[left : left + shown], left + shown < len(columns)


class Heads(Widget):
    """The names of the columns, the one under the cursor marked, and the one by which the table is sorted; signs where
    there are more of them. A click goes to one, and where it was at hand already, sorts by it."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.columns: Sequence[Column] = ()
        self.at = 0
        self.sorted: tuple[str, bool] = ("", True)
        self.left = 0

    @dataclass
    class Wanted(Message):
        """The column of this number was clicked."""

        number: int

    def on_click(self, event: events.Click) -> None:
        x = event.x - len(BEFORE) * (self.left > 0)
        for number, column in enumerate(seen_of(self.columns, self.left, self.size.width)[0], self.left):
            if 0 <= x < width_of(column):
                self.post_message(self.Wanted(number))
            x -= width_of(column) + len(GAP)

    def render(self) -> RenderResult:
        text = Text(BEFORE if self.left else "", no_wrap=True)
        seen, more = seen_of(self.columns, self.left, self.size.width)
        for number, column in enumerate(seen, self.left):
            name, down = self.sorted
            sign = ("▾" if down else "▴") if column.key == name else ""
            head = f"{column.key}{sign}"
            width = width_of(column)
            shown = head.ljust(width) if column.is_text else head.rjust(width)
            text.append(shown, "reverse bold" if number == self.at else "bold" if sign else "").append(GAP)
        if more:
            text.truncate(self.size.width - len(MORE), pad=True)
            text.append(MORE)
        return text


class Records(LineList):
    """Lines under one cursor. Columns that have no room are reached by moving to the right."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"records--cursor", "records--warn"}
    BINDINGS: ClassVar[list[BindingType]] = [
        *SEARCHING,
        Binding("right,l", "column(1)", "Next column", show=False, id="records.right", tooltip="To the next column."),
        Binding("left,h", "column(-1)", "Column before", show=False, id="records.left", tooltip="A column back."),
    ]

    @dataclass
    class Chosen(Message):
        line: Record

    def __init__(self, heads: Heads) -> None:
        super().__init__()
        self.heads = heads
        self.lines: Sequence[Record] = ()
        self.columns: Sequence[Column] = ()

    @property
    def here(self) -> Record | None:
        return self.lines[self.line] if self.line < len(self.lines) else None

    @property
    def column(self) -> Column | None:
        return self.columns[self.heads.at] if self.columns else None

    def show(self, columns: Sequence[Column], lines: Sequence[Record], order: tuple[str, bool], empty: str) -> None:
        """Show these, or `empty` where there are none. The cursor stays on its session where that is still among them,
        and at the top where it is."""
        before = self.here if self.line else None
        key = None if before is None else (before["path"], before["part"], before.get("epoch"))
        if columns != self.columns:
            self.columns, self.heads.at, self.heads.left = columns, 0, 0
        self.lines, self.empty = lines, empty
        same = (n for n, one in enumerate(lines) if (one["path"], one["part"], one.get("epoch")) == key)
        self.line = next(same, 0) if key else 0
        self.heads.columns, self.heads.sorted = columns, order
        self.heads.refresh()
        self.set_lines(len(lines))
        self.into_view()

    def opened(self) -> None:
        if self.here is not None:
            self.post_message(self.Chosen(self.here))

    def action_column(self, by: int) -> None:
        heads = self.heads
        heads.at = max(0, min(heads.at + by, len(self.columns) - 1))
        heads.left = min(heads.left, heads.at)
        while self.column not in seen_of(self.columns, heads.left, self.line_width)[0]:
            heads.left += 1
        heads.refresh()
        self.forget_lines()

    def line_text(self, line: int) -> str:
        """All of its columns, whether they are seen or not."""
        return GAP.join(cell(self.lines[line], column).strip() for column in self.columns)

    def draw_line(self, line: int, width: int) -> Strip:
        record = self.lines[line]
        style = self.get_component_rich_style("records--cursor") if line == self.line else self.visual_style.rich_style
        warn = style if line == self.line else self.get_component_rich_style("records--warn")
        left = self.heads.left
        segments = [Segment(" " * len(BEFORE) if left else "", style)]
        segments += (
            Segment(cell(record, column) + GAP, warn if column.key == "larger" and record["larger"] else style)
            for column in seen_of(self.columns, left, width)[0]
        )
        return Strip(segments).adjust_cell_length(width, style)
