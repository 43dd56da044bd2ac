"""A table whose columns are as wide as their cells from the moment a cell is there."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.text import Text, TextType
from textual.widgets import DataTable
from textual.widgets.data_table import ColumnKey, RowKey


class Table(DataTable[Text]):
    """Cells are single lines.

    Textual's own table measures new cells when it is idle, and keeps what it has drawn until then: on a busy machine
    rows stay cut to the width of the first ones.
    """

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
