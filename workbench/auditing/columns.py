"""Tables of an audit and their columns, the same on the terminal, the screen, in CSV, Parquet and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from workbench.auditing.advice import next_step
from workbench.auditing.groups import Key, SessionGroup, group_sessions
from workbench.auditing.rows import CompactionRow, SessionRow
from workbench.base.errors import BadInput
from workbench.base.tables import Column, Kind, Row, Table, Value, columns, only

About = Literal["sessions", "compactions", "unreadable"]

Record = dict[str, Value]
"""Line of a table: values by column key."""


def _columns(*several: tuple[str, str, Kind, str]) -> tuple[Column, ...]:
    return tuple(Column(key, heading, kind, about) for key, heading, kind, about in several)


_AGENT_COLUMNS = _columns(
    ("agent", "agent", "text", "the agent"),
    ("version", "version", "text", "the agent's version"),
    ("model", "model", "text", "the model"),
    ("project", "project", "text", "working folder of the agent"),
)
_FILE_COLUMNS = _columns(
    ("file", "file", "text", "its file"),
    ("part", "part", "text", "session id, if the file holds several"),
)
SESSIONS = (
    *_columns(("changed", "changed", "time", "last change of the file")),
    *_AGENT_COLUMNS,
    *_columns(
        ("title", "title", "text", "its title or first request"),
        ("bytes", "bytes", "count", "bytes of its file"),
        ("calls", "calls", "count", "model calls with recorded usage"),
        ("tokens", "tokens", "count", "tokens of its last prompt"),
        ("window_share", "full", "share", "last prompt as a share of the window"),
        ("peak_tokens", "peak", "count", "tokens of its largest prompt"),
        ("window_tokens", "window", "count", "the model's context window"),
        ("unrecorded_overhead_tokens", "overhead", "count", "system + tools tokens (not recorded)"),
        ("usd", "cost", "money", "cost"),
        ("compactions", "compactions", "count", "recorded compactions"),
        ("copies", "copies", "count", "compactions already counted in another session"),
        ("grown_compactions", "larger", "count", "compactions that made the context larger"),
        ("removed_messages", "removed", "count", "messages removed or shortened by compactions"),
        ("rework", "rework", "count", "rework items after compactions"),
        ("rework_tokens", "rework tokens", "count", "tokens of rework"),
        ("rules", "rules", "count", "rules before compactions"),
        ("lost_rules", "lost", "count", "rules lost"),
        ("lost_file_rules", "lost of files", "count", "rules of rule files lost"),
        ("broken_rules", "then broken", "count", "lost rules that a later call broke"),
        ("next_step", "next", "text", "recommended next command, with reason"),
    ),
    *_FILE_COLUMNS,
)
UNREADABLE = (
    *_FILE_COLUMNS,
    *_columns(
        ("bytes", "bytes", "count", "bytes of the file"),
        ("error", "error", "text", "why it could not be read"),
    ),
)
COMPACTIONS = (
    *_AGENT_COLUMNS,
    *_columns(
        ("time", "time", "time", "when it was recorded"),
        ("epoch", "epoch", "count", "the epoch that it ended"),
        ("call", "call", "count", "the call it precedes"),
        ("kind", "kind", "text", "summary, clearing, removal or empty"),
        ("manual", "manual", "flag", "at the user's request"),
        ("tokens_before", "before", "count", "tokens before it"),
        ("tokens_after", "after", "count", "tokens after it"),
        ("grew", "larger", "flag", "whether it made the context larger"),
        ("is_copy", "copy", "flag", "whether it is already counted in another session"),
        ("seconds", "seconds", "seconds", "seconds that it took"),
        ("usd", "cost", "money", "approximate cost"),
        ("removed_messages", "removed", "count", "messages it removed or shortened"),
        ("removed_tool_results", "removed results", "count", "of these, tool results"),
        ("removed_user_messages", "removed user messages", "count", "of these, user messages"),
        ("rework", "rework", "count", "rework items after it"),
        ("rework_tokens", "rework tokens", "count", "tokens of rework"),
        ("resumed_calls", "resumed", "count", "calls before the first new step"),
        ("rules", "rules", "count", "rules before it"),
        ("lost_rules", "lost", "count", "rules lost"),
        ("lost_file_rules", "lost of files", "count", "rules of rule files lost"),
        ("broken_rules", "then broken", "count", "lost rules that a later call broke"),
    ),
    *_FILE_COLUMNS,
)
TABLES: Mapping[About, tuple[Column, ...]] = {
    "sessions": SESSIONS,
    "compactions": COMPACTIONS,
    "unreadable": UNREADABLE,
}


KEYS = {
    SessionRow: "file=path bytes changed=time format agent=tool version model project title calls tokens "
        "peak_tokens=peak window_tokens=window window_share=full unrecorded_overhead_tokens=overhead usd=cost "
        "input_usd_per_million=price",
    CompactionRow: "epoch call kind=way manual time tokens_before=before tokens_after=after grew=larger seconds "
        "usd=cost removed_messages removed_tool_results removed_user_messages rework "
        "rework_tokens resumed_calls=resumed rules=instructions lost_rules=lost lost_file_rules broken_rules id "
        "is_copy=copy",
    SessionGroup: "sessions compacted_sessions=compacted compactions copies manual_compactions=manual "
        "grown_compactions=larger tokens_before=before tokens_after=after seconds compaction_usd=compacting usd=cost "
        "removed_messages rework rework_tokens rules=instructions lost_rules=lost lost_rules_unknown=unread "
        "unrecorded_overhead_tokens=overhead",
}  # fmt: skip
"""Keys of each type's values, in JSON and in tables: an attribute's name, or `key=attribute`."""


def values_by_key(row: SessionRow | CompactionRow | SessionGroup) -> dict[str, Any]:
    """Return the row's values by their keys."""
    return only(row, *KEYS[type(row)].split())


def records(rows: Iterable[SessionRow], about: About) -> Iterator[Record]:
    """Yield the lines of a table: one per session, per compaction, or per unreadable file."""
    for row in rows:
        if about == "compactions":
            yield from (_line(about, row, values_by_key(one)) for one in row.compactions)
        elif about == "sessions" and not row.error:
            yield _line(about, row, _session_values(row))
        elif about == "unreadable" and row.error:
            yield _line(about, row, {"error": row.error})


def _line(about: About, row: SessionRow, more: Record) -> Record:
    known = {**values_by_key(row), "part": row.part, **more}
    return {one.key: known[one.key] for one in TABLES[about]}


def _session_values(row: SessionRow) -> Record:
    compactions = row.own
    return {
        "changed": row.time or None,
        "tokens": row.tokens or None,
        "peak_tokens": row.peak or None,
        "compactions": len(compactions),
        "copies": len(row.compactions) - len(compactions),
        "grown_compactions": row.larger,
        "removed_messages": row.removed_messages,
        "rework": row.rework,
        "rework_tokens": sum(one.rework_tokens for one in compactions),
        "rules": sum(one.instructions for one in compactions),
        "lost_rules": row.lost,
        "lost_file_rules": row.lost_file_rules,
        "broken_rules": row.broken_rules,
        "next_step": next_step(row),
    }


_FORMER_NAMES = {
    "asked": ("manual",),
    "copy": ("is_copy",),
    "gone_results": ("removed_tool_results",),
    "gone_said": ("removed_user_messages",),
    "instructions": ("rules",),
    "larger": ("grown_compactions", "grew"),
    "path": ("file",),
    "tool": ("agent",),
    "way": ("kind",),
    "gone": ("removed_messages",),
}
"""Keys of the columns by their former names."""


def column(about: About, name: str) -> Column:
    """Return the column with this key, heading or former name. Raises BadInput for an unknown one."""
    every = TABLES[about]
    found = next((one for one in every if one.key == name), None)
    found = found or next((one for one in every if one.heading == name or one.key in _FORMER_NAMES.get(name, ())), None)
    if found is None:
        names = ", ".join(one.key for one in TABLES[about])
        raise BadInput(f"There is no column {name!r}; choose one of {names}.")
    return found


def sorted_by(lines: Iterable[Record], by: Column, *, down: bool) -> list[Record]:
    """Sort lines by a column, empty cells last in either direction. Equal lines keep their order."""
    known, unknown = list[Record](), list[Record]()
    for line in lines:
        (unknown if line[by.key] in (None, "") else known).append(line)
    key: Callable[[Record], str | float] = lambda line: _sort_value(line[by.key])
    return [*sorted(known, key=key, reverse=down), *unknown]


def _sort_value(value: Value) -> str | float:
    return value.casefold() if isinstance(value, str) else float(value or 0)


def matching(rows: Iterable[SessionRow], query: str) -> Iterator[SessionRow]:
    """Yield the rows in which every word of `query` occurs."""
    words = query.casefold().split()
    for row in rows:
        known = (row.tool, row.version, row.model, row.project, row.title, row.path, row.part, row.error)
        text = "\n".join(known).casefold() if words else ""
        if all(word in text for word in words):
            yield row


def table(rows: Iterable[SessionRow], about: About, by: Column | None = None) -> Table:
    """Return a table, sorted by a column: figures and times the largest first, texts from A on."""
    lines = records(rows, about)
    ordered = sorted_by(lines, by, down=by.kind != "text") if by else lines
    cells = (Row(tuple(line[one.key] for one in TABLES[about])) for line in ordered)
    return Table(about, about.capitalize(), TABLES[about], tuple(cells))


_SUMS = columns(
    "sessions:count compacted_sessions:count:compacted compactions:count copies:count manual_compactions:count:manual "
    "grown_compactions:count:larger tokens_before:tokens:before tokens_after:tokens:after seconds:seconds "
    "compaction_usd:money:compacting usd:money:cost rework:count rules:count lost_rules:count:lost "
    "lost_rules_unknown:count:lost_unknown unrecorded_overhead_tokens:tokens:overhead"
)


GROUP_KEYS = {"tool": "agent"}
"""Column keys that differ from the names of groups."""


def sums_table(rows: Sequence[SessionRow], by: Sequence[Key]) -> Table:
    """Return the table of sums by agent, version, model or project, with a total where there are several groups."""
    found = [(one.key, one) for one in group_sessions(rows, by)]
    if len(found) > 1:
        found += [(("all", *[""] * (len(by) - 1)), one) for one in group_sessions(rows, ())]
    lines = (Row((*(part or "–" for part in key), *_group_values(one))) for key, one in found)
    names = columns(" ".join(GROUP_KEYS.get(one, one) for one in by))
    return Table("sums", "Sums", (*names, *_SUMS), tuple(lines))


def _group_values(one: SessionGroup) -> Iterator[Value]:
    """Yield a group's values; unknown costs are None."""
    values = values_by_key(one)
    for column in _SUMS:
        value = values[column.key]
        yield None if column.kind == "money" and not value else value
