"""A table whose columns are as wide as their cells from the moment a cell is there."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from rich.text import Text, TextType
from textual import events
from textual.binding import BindingType
from textual.coordinate import Coordinate
from textual.widgets import DataTable
from textual.widgets.data_table import ColumnKey, RowKey

from workbench.analysis.search import Query
from workbench.tui.widgets.list_keys import MOVING, SEARCHING


class Table(DataTable[Text]):
    """Cells are single lines. A click marks a row, or a column; a double click, as enter, chooses it.

    Textual's own table measures new cells when it is idle, and keeps what it has drawn until then: on a busy machine
    rows stay cut to the width of the first ones.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*MOVING, *SEARCHING]

    sought: Query | None = None

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

    # --- as every list ----------------------------------------------------------------------------------------------

    @property
    def line_count(self) -> int:
        return self.row_count

    @property
    def place(self) -> int:
        """The cursor's row; where whole columns are marked, the first row that is seen."""
        return self.scroll_offset.y if self.cursor_type == "column" else self.cursor_row

    def line_text(self, line: int) -> str:
        return "  ".join(str(cell).strip() for cell in self.get_row_at(line)).rstrip()

    def to_line(self, line: int) -> None:
        if self.cursor_type == "column":
            self.scroll_to(y=line, animate=False, force=True)
        else:
            self.move_cursor(row=line)

    def seek(self, query: Query | None) -> None:
        self.sought = query

    def copied(self) -> str:
        return self.line_text(self.place) if self.row_count else ""

    def action_first(self) -> None:
        self.to_line(0)

    def action_last(self) -> None:
        self.to_line(self.row_count - 1)

    async def _on_click(self, event: events.Click) -> None:
        """Headings as Textual has them; on a row the first click only marks it, wherever the cursor was."""
        row, column = event.style.meta.get("row", -1), event.style.meta.get("column", -1)
        if row < 0 or column < 0:
            return
        event.prevent_default()
        event.stop()
        self.cursor_coordinate = Coordinate(row, column)
        if event.chain > 1:
            self.action_select_cursor()
