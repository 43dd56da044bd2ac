"""Tables of typed values, rendered as text, Markdown, HTML, JSON or CSV."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from rich.cells import cell_len

from workbench.base.figures import dollars, grouped, percent, points
from workbench.base.printable import printable
from workbench.base.spreadsheet import csv_of
from workbench.base.stamps import is_time, iso, shown

Kind = Literal[
    "text", "message", "time", "flag", "count", "number", "tokens", "share", "points", "money", "input", "seconds"
]
"""Kind of a column's values. message: id of a message; time: seconds since 1970; flag: yes or no; count: whole number;
share: 0 to 1; points: difference of two shares; money: US dollars; input: cost in millions of input tokens, for unknown
prices."""

Value = str | int | float | bool | None

ID = 12
"""Characters shown of a message's id; commands accept the beginning of an id."""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table. `key` names it in CSV, `heading` on the screen; `about` describes its values in a phrase."""

    key: str
    heading: str
    kind: Kind = "text"
    about: str = ""

    @property
    def is_text(self) -> bool:
        return self.kind in ("text", "message", "time")


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a table: `values` in the order of the columns, None for an empty cell; `message` is the id of its
    message."""

    values: tuple[Value, ...]
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Table of typed values. `key` names it in `--csv` and as a tab on the screen; `note` is a sentence about it;
    `more` counts omitted rows at the end."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    note: str = ""
    more: int = 0

    def first(self, most: int) -> Table:
        """Return the table with at most `most` rows."""
        return replace(self, rows=self.rows[:most], more=self.more + max(0, len(self.rows) - most))

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(printable(one.heading) for one in self.columns)

    def cells(self, row: Row) -> tuple[str, ...]:
        """Return the row's values as text, each on one line, safe to print."""
        return tuple(words(value, one.kind) for value, one in zip(row.values, self.columns, strict=True))

    def without(self, *keys: str) -> Table:
        """Return the table without some of its columns."""
        return self.only(*(one.key for one in self.columns if one.key not in keys))

    def only(self, *keys: str) -> Table:
        """Return the table with these columns, in this order."""
        at_key = {one.key: at for at, one in enumerate(self.columns)}
        kept = [at_key[key] for key in keys]
        rows = (replace(row, values=tuple(row.values[at] for at in kept)) for row in self.rows)
        return replace(self, columns=tuple(self.columns[at] for at in kept), rows=tuple(rows))

    def with_ids(self) -> Table:
        """Return the table with the ids of messages as a column before the last one, unless a column has them."""
        if not any(row.message for row in self.rows) or any(one.kind == "message" for one in self.columns):
            return self
        *others, last = self.columns
        rows = (replace(row, values=(*row.values[:-1], row.message or "", row.values[-1])) for row in self.rows)
        return replace(self, columns=(*others, Column("message", "id", "message"), last), rows=tuple(rows))


def transposed(table: Table) -> Table:
    """Return the table with a column for each row, named by the row's first cell."""
    names, *values = zip(*map(table.cells, table.rows), strict=True)
    rows = (Row((one.heading, *cells)) for one, cells in zip(table.columns[1:], values, strict=True))
    heads = (Column(name, name) for name in names)
    return replace(table, columns=(Column(table.columns[0].key, ""), *heads), rows=tuple(rows))


def columns(spec: str) -> tuple[Column, ...]:
    """Parse columns from `key:kind:heading` parts. The heading defaults to the key, the kind to text; `_` is a space in
    a heading."""
    found = []
    for part in spec.split():
        key, kind, heading = (*part.split(":"), "", "")[:3]
        known = next(one for one in get_args(Kind) if one == (kind or "text"))
        found.append(Column(key, (heading or key).replace("_", " ").strip(), known))
    return tuple(found)


def only(value: object, *names: str) -> dict[str, Any]:
    """Return attributes of `value` by name; `key=attribute` renames one."""
    pairs = (name.partition("=") for name in names)
    return {key: getattr(value, attribute or key) for key, _, attribute in pairs}


def words(value: Value, kind: Kind) -> str:
    """Format a value on one line, safe to print; "" for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return printable(" ".join(value.split()))[: ID if kind == "message" else None]
    match kind:
        case "flag":
            return "yes" if value else "no"
        case "time":
            return shown(value)
        case "share":
            return percent(value)
        case "points":
            return points(value)
        case "money":
            return dollars(value)
        case "input":
            return f"{grouped(value * 1_000_000)} in"
        case "number":
            return grouped(value) if value == int(value) else f"{value:.4g}"
        case "seconds":
            return duration(value)
    return grouped(value)


def duration(seconds: float) -> str:
    """Format seconds in their largest unit: `2.5 s`, `40 s`, `3 min`, `2 h`, `5 d`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def text(table: Table) -> list[str]:
    """Render the headings and rows as lines of aligned text, figures to the right. Only ids are cut."""
    table = table.with_ids()
    lines = [table.heads, *map(table.cells, table.rows)]
    widths = [max(map(cell_len, cells)) for cells in zip(*lines, strict=True)]
    return ["  ".join(map(_aligned, line, widths, table.columns)).rstrip() for line in lines]


def _aligned(cell: str, width: int, column: Column) -> str:
    room = " " * (width - cell_len(cell))
    return cell + room if column.is_text else room + cell


def markdown(table: Table) -> str:
    """Render the table in Markdown; texts are escaped."""
    sides = ["---" if one.is_text else "---:" for one in table.columns]
    rows = [table.heads, sides, *([*map(escaped, table.cells(row))] for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + (f"\n\nand {table.more} more" if table.more else "")


def escaped(text: str) -> str:
    """Escape text for Markdown, so that it cannot contain markup, a tag, a link or the end of a table cell."""
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text)


def document(table: Table) -> dict[str, Any]:
    """Return the table for JSON: its fields with their kinds, and rows of unrounded values in their order."""
    table = table.with_ids()
    fields = [{"name": one.key, "kind": one.kind} for one in table.columns]
    return {
        "table": table.key,
        "title": table.title,
        "fields": fields,
        "rows": [list(row.values) for row in table.rows],
    }


def csv(table: Table) -> bytes:
    """Render the table as CSV with a heading of keys: values unrounded, times in ISO, secrets masked, ids complete."""
    table = table.with_ids()
    rows = [[_csv_value(value, one.kind) for value, one in zip(row.values, table.columns, strict=True)]
            for row in table.rows]  # fmt: skip
    return csv_of([[printable(one.key) for one in table.columns], *rows])


def _csv_value(value: Value, kind: Kind) -> Value:
    if isinstance(value, str):
        return printable(value)
    if kind == "time" and value is not None:
        return iso(value) if is_time(value) else None
    return value
