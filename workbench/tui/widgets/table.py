"""Table whose columns get the width of their cells at once, not when the program is idle."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from rich.console import JustifyMethod
from rich.segment import Segment
from rich.style import Style
from rich.text import Text, TextType
from textual import events
from textual.binding import BindingType
from textual.coordinate import Coordinate
from textual.strip import Strip
from textual.widgets import DataTable
from textual.widgets.data_table import ColumnKey, RowKey

from workbench.analysis.search import Query
from workbench.base.tables import Table as Result
from workbench.tui.plain import plain
from workbench.tui.widgets.list_keys import MOVING, SEARCHING

BEFORE, MORE = "‹ ", " ›"
"""Marks in the headings of columns beyond either end."""


class TextTable(DataTable[Text]):
    """Table of single-line cells. A click marks a row or column; a double click or enter selects it.

    Textual's own table measures new cells when it is idle and shows its old drawing until then: on a busy machine rows
    stay cut to the width of the first ones.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*MOVING, *SEARCHING]

    search_query: Query | None = None
    result: Result | None = None

    def show(self, result: Result) -> None:
        """Draw a result, figures aligned to the right; `message` is then the target of the cursor's row."""
        self.result = result
        self.clear(columns=True)
        justify: list[JustifyMethod] = ["left" if one.is_text else "right" for one in result.columns]
        for one, how in zip(result.columns, justify, strict=True):
            self.add_column(Text(one.heading, justify=how), key=one.key)
        for row in result.rows:
            cells = zip(result.cells(row), justify, strict=True)
            self.add_row(*(Text(plain(cell), justify=how) for cell, how in cells))

    @property
    def message(self) -> str | None:
        """Message that the cursor's row leads to, None for none."""
        rows = self.result.rows if self.result else ()
        return rows[self.cursor_row].message if self.cursor_row < len(rows) else None

    def add_column(self, label: TextType, **more: Any) -> ColumnKey:
        return super().add_column(label, **{"width": cell_len(str(label)), **more})

    def add_row(self, *cells: Text, **more: Any) -> RowKey:
        for column, cell in zip(self.ordered_columns, cells, strict=False):
            column.width = max(column.width, cell.cell_len)
        return super().add_row(*cells, **more)

    def update_cell(
        self, row_key: RowKey | str, column_key: ColumnKey | str, value: Text, *, update_width: bool = True
    ) -> None:
        column = self.columns[ColumnKey(column_key) if isinstance(column_key, str) else column_key]
        column.width = max(column.width, value.cell_len)
        super().update_cell(row_key, column_key, value, update_width=update_width)

    def render_line(self, y: int) -> Strip:
        """Draw a line without columns that are cut, because part of a number reads as another number. The headings mark
        hidden columns."""
        line, width = super().render_line(y), self.scrollable_content_region.width
        if not self.max_scroll_x or line.cell_length < width:
            return line
        for start, end in self._cut_columns(width):
            rest = line.crop(start, end)
            empty = Strip([Segment(" " * segment.cell_length, segment.style) for segment in rest])
            line = Strip.join([line.crop(0, start), empty, line.crop(end)])
        if y:
            return line
        style = self.get_component_rich_style("datatable--header") + Style(bold=True)
        marks = [(BEFORE, 0)] if self.scroll_x > 0 else []
        marks += [(MORE, width - len(MORE))] if self.scroll_x < self.max_scroll_x else []
        for words, at in marks:
            line = Strip.join([line.crop(0, at), Strip([Segment(words, style)]), line.crop(at + len(words))])
        return line

    def _cut_columns(self, width: int) -> list[tuple[int, int]]:
        """Visible cells of columns that are cut at either edge of the view, as ranges."""
        columns = [column.get_render_width(self) for column in self.ordered_columns]
        fixed, shift = sum(columns[: self.fixed_columns]), int(self.scroll_x)
        found, end = [], fixed - shift
        for each in columns[self.fixed_columns :]:
            start, end = end, end + each
            cut = start < fixed < end or start < width < end
            if cut and each <= width - fixed:  # a column wider than the view is shown cut
                found.append((max(start, fixed), min(end, width)))
        return found

    # --- as every list ----------------------------------------------------------------------------------------------

    @property
    def line_count(self) -> int:
        return self.row_count

    @property
    def place(self) -> int:
        """Cursor's row; if columns are marked, the first visible row."""
        return self.scroll_offset.y if self.cursor_type == "column" else self.cursor_row

    def line_text(self, line: int) -> str:
        return "  ".join(str(cell).strip() for cell in self.get_row_at(line)).rstrip()

    def to_line(self, line: int) -> None:
        if self.cursor_type == "column":
            self.scroll_to(y=line, animate=False, force=True)
        else:
            self.move_cursor(row=line)

    def seek(self, query: Query | None) -> None:
        self.search_query = query

    def copied(self) -> str:
        return self.line_text(self.place) if self.row_count else ""

    def action_first(self) -> None:
        self.to_line(0)

    def action_last(self) -> None:
        self.to_line(self.row_count - 1)

    def on_click(self, event: events.Click) -> None:
        """Handle headings as Textual does; on a row the first click only marks it, wherever the cursor was."""
        row, column = event.style.meta.get("row", -1), event.style.meta.get("column", -1)
        if row < 0 or column < 0:
            return
        event.prevent_default()
        event.stop()
        self.cursor_coordinate = Coordinate(row, column)
        if event.chain > 1:
            self.action_select_cursor()
