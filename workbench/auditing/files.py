"""An audit as a file: CSV, Parquet and JSON for programs, one HTML page for people. Secrets are masked in all of them,
and text of sessions is escaped."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.auditing.advice import TriggerAdvice, TriggerChoice, advise, next_step
from workbench.auditing.columns import GROUP_KEYS, TABLES, About, column, records, sums_table, table, values_by_key
from workbench.auditing.groups import Key, group_sessions
from workbench.auditing.rows import SessionRow, TriggerCost
from workbench.base import tables
from workbench.base.errors import BadInput
from workbench.base.figures import unbroken
from workbench.base.files import write_atomically
from workbench.base.printable import printable
from workbench.base.secrets import masked, masked_value
from workbench.base.stamps import is_time, utc_datetime
from workbench.base.tables import Kind, Value, only
from workbench.base.templates import templates
from workbench.base.version import SCHEMA, __version__

MAX_LINES = 1_000
"""Lines of a table in a page; the other files have all."""


def as_csv(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """Render a table as CSV with a heading."""
    return tables.csv(table(rows, about))


def as_parquet(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """Render a table as Parquet, with types. Needs `pyarrow`."""
    import pyarrow
    import pyarrow.parquet

    types: Mapping[Kind, Any] = {
        "text": pyarrow.string(),
        "count": pyarrow.int64(),
        "seconds": pyarrow.float64(),
        "share": pyarrow.float64(),
        "money": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("ms", tz="UTC"),
    }
    columns, lines = TABLES[about], list(records(rows, about))
    arrays = [pyarrow.array([_typed(line[one.key], one.kind) for line in lines], types[one.kind]) for one in columns]
    out = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(dict(zip((one.key for one in columns), arrays, strict=True))), out)
    return bytes(out.getvalue())


def _typed(value: Value, kind: Kind) -> Value | datetime:
    if kind == "time" and isinstance(value, float | int):
        when = utc_datetime(value)
        return when.replace(microsecond=when.microsecond // 1000 * 1000) if is_time(value) else None
    return masked(value).encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def as_html(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """Render one self-contained page without scripts: advice, sums, sessions, compactions and unreadable files. The
    template escapes every text."""
    orders: Mapping[About, str] = {"sessions": "compactions", "compactions": "tokens_before", "unreadable": "file"}
    shown = (
        sums_table(rows, by),
        *(table(rows, about, column(about, key)).first(MAX_LINES) for about, key in orders.items()),
    )
    advice = [unbroken(printable(str(one))) for one in advise(rows)]
    page = templates(Path(__file__).parent).get_template("page.html.jinja")
    text = page.render(tables=shown, advice=advice, version=__version__)
    return text.encode("utf-8", "backslashreplace")


_KEYS = {
    TriggerAdvice: "agent=tool sessions window_tokens=window rework_tokens=rework rules=instructions "
        "lost_rules=lost setting",
    TriggerChoice: "trigger_tokens=trigger cost summaries",
    TriggerCost: "trigger_tokens=trigger cost_input_tokens=cost summaries",
}  # fmt: skip
"""JSON keys of the types that are in no table."""


def document(rows: Sequence[SessionRow], by: Sequence[Key]) -> dict[str, Any]:
    """Return the audit as JSON values."""
    names = [GROUP_KEYS.get(name, name) for name in by]
    return {
        "sessions": [_session(row) for row in rows if not row.error],
        "groups": [
            {**dict(zip(names, one.key, strict=True)), **values_by_key(one)} for one in group_sessions(rows, by)
        ],
        "advice": list(map(_advice, advise(rows))),
        "unreadable": [{"file": row.path, "part": row.part or None, "error": row.error} for row in rows if row.error],
    }


def _plain(value: TriggerAdvice | TriggerChoice | TriggerCost) -> dict[str, Any]:
    return only(value, *_KEYS[type(value)].split())


def _session(row: SessionRow) -> dict[str, Any]:
    inner = {"compactions": list(map(values_by_key, row.compactions)), "simulated": list(map(_plain, row.tried))}
    return {**values_by_key(row), "part": row.part or None, **inner, "next_step": next_step(row)}


def _advice(one: TriggerAdvice) -> dict[str, Any]:
    unit = "usd" if one.dollars else "million input tokens"
    choices = {"choices": list(map(_plain, one.choices)), "wider_window": list(map(_plain, one.wider))}
    return {**_plain(one), "cost_unit": unit, **choices, "best": _plain(one.best), "text": str(one)}


def as_json(rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> bytes:
    """Render everything that the other files have as one JSON document."""
    masked_document = masked_value({"schema": SCHEMA, **document(rows, by)})
    return json.dumps(masked_document, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")


FORMS: Mapping[str, Callable[[Sequence[SessionRow], About, Sequence[Key]], bytes]] = {
    ".csv": as_csv,
    ".html": as_html,
    ".json": as_json,
    ".parquet": as_parquet,
}
"""Renderers by the suffix of the file."""


def save(path: Path, rows: Sequence[SessionRow], about: About, by: Sequence[Key]) -> None:
    """Write the audit in the format of the file's suffix. Raises BadInput for another suffix, and if it cannot be
    written."""
    write_atomically(path, form_of(path)(rows, about, by))


def form_of(path: Path) -> Callable[[Sequence[SessionRow], About, Sequence[Key]], bytes]:
    """Return the renderer for a file's suffix. Raises BadInput for an unknown suffix, and where pyarrow is missing."""
    if path.suffix not in FORMS:
        *some, last = FORMS
        raise BadInput(f"{path}: an audit can be written as {', '.join(some)} or {last}; change the file's ending.")
    if path.suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise BadInput(
            "A .parquet file needs the extra `parquet`; install 'compaction-workbench[parquet]', or save as .csv."
        )
    return FORMS[path.suffix]
