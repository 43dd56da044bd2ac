"""Table of many thousand lines, sorted by the column under the cursor; only visible lines are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import RenderResult
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.auditing.columns import Record
from workbench.base.tables import Column, words
from workbench.tui.keys import shared
from workbench.tui.plain import fit, one_line
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.list_keys import SEARCHING
from workbench.tui.widgets.table import BEFORE, MORE

_WIDTHS = {"agent": 12, "version": 9, "model": 18, "project": 16, "time": 16, "changed": 16, "kind": 8, "tokens": 7}
_WIDTH, _TEXT = 6, 24
GAP = "  "
GROWS = "title"
"""Column that gets the remaining room."""

NEARLY = 0.8
"""Share of the window from which a session is marked as nearly full."""

VisibleColumns = Sequence[tuple[Column, int]]
"""Visible columns, each with its width."""


def width_of(column: Column, within: int = 0) -> int:
    """Cells of a column; a title has at least a quarter of the table's width `within`."""
    if column.key == GROWS:
        return max(_TEXT, within // 4)
    return _WIDTHS.get(column.key) or (_TEXT if column.is_text else max(_WIDTH, len(column.heading) + 1))


def cell(line: Record, column: Column, width: int) -> str:
    """Return a record's value in a column as text. A project or file is shown by the last part of its path; a missing
    title is replaced by the name of the file."""
    untitled = column.key == GROWS and not line[GROWS]
    text = words(line["file" if untitled else column.key], column.kind)
    if untitled or column.key in ("project", "file"):
        text = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return fit(one_line(text), width) if column.is_text else text.rjust(width)


def visible_columns(columns: Sequence[Column], left: int, width: int) -> tuple[VisibleColumns, bool]:
    """Columns from `left` on that are completely visible, at least one, with their widths; and True if more follow. No
    column is cut, because part of a number reads as another number. Room is left for the marks of hidden columns."""
    room, free, shown = width - len(BEFORE) * (left > 0), 0, 0
    for number, column in enumerate(columns[left:], 1):
        room -= width_of(column, width) + len(GAP)
        last = left + number == len(columns)
        spare = room + len(GAP) - (0 if last else len(MORE))
        if number > 1 and spare < 0:
            break
        shown, free = number, spare
    visible = columns[left : left + shown]
    return [(one, width_of(one, width) + max(0, free) * (one.key == GROWS)) for one in visible], left + shown < len(
        columns
    )


def _warns(line: Record, column: Column) -> bool:
    """True for a value that needs attention."""
    value = line[column.key]
    return value is not None and (
        (column.key in ("grown_compactions", "grew", "lost_rules") and bool(value))
        or (column.key == "window_share" and isinstance(value, float) and value >= NEARLY)
    )


class Heads(Widget):
    """Headings of the columns, with the one under the cursor underlined, the sort order, and marks of hidden columns. A
    click selects a column; a second one sorts by it."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.columns: Sequence[Column] = ()
        self.at = 0
        self.sorted: tuple[str, bool] = ("", True)
        self.left = 0

    @dataclass
    class HeadingClicked(Message):
        """The column of this number was clicked."""

        number: int

    def on_click(self, event: events.Click) -> None:
        x = event.x - len(BEFORE) * (self.left > 0)
        for number, (_, width) in enumerate(visible_columns(self.columns, self.left, self.size.width)[0], self.left):
            if 0 <= x < width:
                self.post_message(self.HeadingClicked(number))
            x -= width + len(GAP)

    def render(self) -> RenderResult:
        text = Text(BEFORE if self.left else "", no_wrap=True)
        visible, more = visible_columns(self.columns, self.left, self.size.width)
        for number, (column, width) in enumerate(visible, self.left):
            name, down = self.sorted
            sign = (" ▾" if down else " ▴") if column.key == name else ""
            head = f"{column.heading}{sign}"
            shown = head.ljust(width) if column.is_text else head.rjust(width)
            text.append(shown, Style(bold=bool(sign), underline=number == self.at)).append(GAP)
        if more:
            text.truncate(self.size.width - len(MORE), pad=True)
            text.append(MORE)
        return text


class RecordTable(LineList):
    """List of records under one cursor. Hidden columns are reached by moving to the right."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"records--cursor", "records--warn"}
    BINDINGS: ClassVar[list[BindingType]] = [
        *SEARCHING,
        shared("move.right", "column(1)", "Next column", "To the next column.", show=False),
        shared("move.left", "column(-1)", "Column before", "A column back.", show=False),
    ]

    @dataclass
    class Selected(Message):
        line: Record

    @dataclass
    class Highlighted(Message):
        """Another line is under the cursor, or none."""

        line: Record | None

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
        """Show these records, or the text `empty`. The cursor stays on its record if that is still listed, but a
        cursor on the first line stays there."""
        before = self.here if self.line else None
        key = None if before is None else (before["file"], before["part"], before.get("epoch"))
        if columns != self.columns:
            self.columns, self.heads.at, self.heads.left = columns, 0, 0
        self.lines, self.empty = lines, empty
        same = (n for n, one in enumerate(lines) if (one["file"], one["part"], one.get("epoch")) == key)
        self.line = next(same, 0) if key else 0
        self.heads.columns, self.heads.sorted = columns, order
        self.heads.refresh()
        self.set_lines(len(lines))
        self.into_view()

    def moved(self) -> None:
        self.post_message(self.Highlighted(self.here))

    def opened(self) -> None:
        if self.here is not None:
            self.post_message(self.Selected(self.here))

    def action_column(self, by: int) -> None:
        heads = self.heads
        heads.at = max(0, min(heads.at + by, len(self.columns) - 1))
        heads.left = min(heads.left, heads.at)
        while heads.at >= heads.left + len(visible_columns(self.columns, heads.left, self.line_width)[0]):
            heads.left += 1
        heads.refresh()
        self.forget_lines()

    def line_text(self, line: int) -> str:
        """Text of all columns of a line, hidden ones included."""
        return GAP.join(cell(self.lines[line], column, width_of(column)).strip() for column in self.columns)

    def draw_line(self, line: int, width: int) -> Strip:
        record = self.lines[line]
        style = self.get_component_rich_style("records--cursor") if line == self.line else self.visual_style.rich_style
        warn = style if line == self.line else self.get_component_rich_style("records--warn")
        left = self.heads.left
        segments = [Segment(" " * len(BEFORE) if left else "", style)]
        segments += (
            Segment(cell(record, column, room) + GAP, warn if _warns(record, column) else style)
            for column, room in visible_columns(self.columns, left, width)[0]
        )
        return Strip(segments).adjust_cell_length(width, style)
