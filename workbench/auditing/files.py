"""An audit as a file: CSV, Parquet and JSON for programs, one HTML page for people. What sessions say stays data; what
is to be masked now is masked in all of them."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.auditing.advice import advise, next_step
from workbench.auditing.columns import TABLES, About, Column, Kind, Record, Value, column, records, sorted_by, words
from workbench.auditing.groups import Group, Key, groups
from workbench.auditing.rows import SessionRow
from workbench.base.errors import BadInput
from workbench.base.figures import unbroken
from workbench.base.files import write_atomically
from workbench.base.printable import printable
from workbench.base.secrets import masked, masked_value
from workbench.base.spreadsheet import csv_of
from workbench.base.stamps import is_time, iso, moment
from workbench.base.templates import templates
from workbench.base.version import SCHEMA, __version__

MOST = 1_000
"""Lines of a table in a page: more are not read by people; the other files have all."""


def as_csv(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """A line for each session or compaction, with a heading."""
    columns = TABLES[about]
    heads = [one.name for one in columns]
    return csv_of([heads, *([_csv(line[one.name], one.kind) for one in columns] for line in records(rows, about))])


def _csv(value: Value, kind: Kind) -> Value:
    if isinstance(value, str):
        return masked(value)
    if kind == "time" and value is not None:
        return iso(value) if is_time(value) else None
    return value


def as_parquet(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """The same with types. Needs `pyarrow`."""
    import pyarrow
    import pyarrow.parquet

    types: Mapping[Kind, Any] = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "real": pyarrow.float64(),
        "share": pyarrow.float64(),
        "dollars": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("ms", tz="UTC"),
    }
    columns, lines = TABLES[about], list(records(rows, about))
    arrays = [pyarrow.array([_typed(line[one.name], one.kind) for line in lines], types[one.kind]) for one in columns]
    out = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(dict(zip((one.name for one in columns), arrays, strict=True))), out)
    return bytes(out.getvalue())


def _typed(value: Value, kind: Kind) -> Value | datetime:
    if kind == "time" and isinstance(value, float | int):
        when = moment(value)
        return when.replace(microsecond=when.microsecond // 1000 * 1000) if is_time(value) else None
    return masked(value).encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class _Head:
    name: str
    about: str = ""
    number: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    title: str
    heads: Sequence[_Head]
    rows: Sequence[Sequence[str]]
    more: int = 0


def as_html(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """One page without a script that needs nothing from elsewhere: the advice, the sums, the sessions, the compactions
    and what could not be read. Every text is escaped by the template."""
    tables = (
        _sums(rows, by),
        _table(rows, "sessions", "compactions"),
        _table(rows, "compactions", "before"),
        _table(rows, "unreadable", "path"),
    )
    advice = [unbroken(printable(str(one))) for one in advise(rows)]
    page = templates(Path(__file__).parent).get_template("page.html.jinja")
    text = page.render(tables=tables, advice=advice, version=__version__)
    return text.encode("utf-8", "backslashreplace")


_SUMS = """
sessions compacted compactions copies asked larger before after seconds compacting cost rework instructions lost unread
overhead
"""


def _sums(rows: Sequence[SessionRow], by: Sequence[Key]) -> _Table:
    names = _SUMS.split()
    kinds: Mapping[str, Kind] = {"seconds": "real", "compacting": "dollars", "cost": "dollars"}

    def cell(one: Group, name: str) -> str:
        kind, value = kinds.get(name, "whole"), getattr(one, name)
        return "" if kind == "dollars" and not value else words(value, kind)  # no bill is known

    lines = [[*map(printable, one.key), *(cell(one, name) for name in names)] for one in groups(rows, by)]
    heads = [*(_Head(name) for name in by), *(_Head(name, number=True) for name in names)]
    return _Table("Sums", heads, lines)


def _table(rows: Sequence[SessionRow], about: About, order: str) -> _Table:
    by = column(about, order)
    lines = sorted_by(records(rows, about), by, down=not by.is_text)
    heads = [_Head(one.name, one.about, not one.is_text) for one in TABLES[about]]
    shown = [[_cell(line, one) for one in TABLES[about]] for line in lines[:MOST]]
    return _Table(about.capitalize(), heads, shown, max(0, len(lines) - MOST))


def _cell(line: Record, of: Column) -> str:
    return printable(words(line[of.name], of.kind))


def document(rows: Sequence[SessionRow], by: Sequence[Key]) -> dict[str, Any]:
    """Everything, as JSON has it."""
    return {
        "sessions": [
            {**_fields(row), "part": row.part or None, "full": row.full, "next": next_step(row)}
            for row in rows
            if not row.error
        ],
        "groups": [{**dict(zip(by, one.key, strict=True)), **_sums_of(one)} for one in groups(rows, by)],
        "advice": [{**asdict(one), "best": asdict(one.best), "sentence": str(one)} for one in advise(rows)],
        "unreadable": [{"path": row.path, "part": row.part or None, "reason": row.error} for row in rows if row.error],
    }


def _fields(row: SessionRow) -> dict[str, Any]:
    return {name: value for name, value in asdict(row).items() if name != "error"}


def _sums_of(one: Group) -> dict[str, Any]:
    return {name: value for name, value in asdict(one).items() if name != "key"}


def as_json(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """All that the other files have, in one document."""
    told = masked_value({"schema": SCHEMA, **document(rows, by)})
    return json.dumps(told, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")


FORMS: Mapping[str, Callable[[Sequence[SessionRow], About, Sequence[Key]], bytes]] = {
    ".csv": as_csv,
    ".html": as_html,
    ".json": as_json,
    ".parquet": as_parquet,
}
"""By the ending of a file's name."""


def save(path: Path, rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> None:
    """Write the table in the form that its file's name ends in. Raises BadInput for another ending, and where it cannot
    be written."""
    write_atomically(path, form_of(path)(rows, about, by))


def form_of(path: Path) -> Callable[[Sequence[SessionRow], About, Sequence[Key]], bytes]:
    """Raises BadInput for a name that ends in none of `FORMS`, and where what writes it is not installed."""
    if path.suffix not in FORMS:
        *some, last = FORMS
        raise BadInput(f"{path}: an audit is written as {', '.join(some)} or {last}; give the file such a name.")
    if path.suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise BadInput(
            "A .parquet file needs the extra `parquet`; install 'compaction-workbench[parquet]', or save as .csv."
        )
    return FORMS[path.suffix]
