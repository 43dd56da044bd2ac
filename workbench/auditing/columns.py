"""What a table of an audit has as columns, in every form in which it leaves: terminal, screen, CSV, Parquet, HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from workbench.auditing.advice import next_step
from workbench.auditing.groups import Group, Key, groups
from workbench.auditing.rows import CompactionRow, SessionRow
from workbench.base.errors import BadInput
from workbench.base.tables import Column, Kind, Row, Table, Value, columns, only

About = Literal["sessions", "compactions", "unreadable"]

Record = dict[str, Value]
"""A line of a table, by the columns' names."""


def _columns(*several: tuple[str, str, Kind, str]) -> tuple[Column, ...]:
    return tuple(Column(key, heading, kind, about) for key, heading, kind, about in several)


_WHOSE = _columns(
    ("agent", "agent", "text", "the agent"),
    ("version", "version", "text", "the agent's version"),
    ("model", "model", "text", "the model"),
    ("project", "project", "text", "working folder of the agent"),
)
_WHERE = _columns(
    ("file", "file", "text", "its file"),
    ("part", "part", "text", "session id, if the file holds several"),
)
SESSIONS = (
    *_columns(("changed", "changed", "time", "last change of the file")),
    *_WHOSE,
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
        ("copies", "copies", "count", "further ones, already counted in another session"),
        ("grown_compactions", "larger", "count", "compactions that made the context larger"),
        ("removed_messages", "removed", "count", "messages removed or shortened by compactions"),
        ("rework", "rework", "count", "rework items after compactions"),
        ("rework_tokens", "rework tokens", "count", "tokens of rework"),
        ("rules", "rules", "count", "rules before compactions"),
        ("lost_rules", "lost", "count", "rules lost"),
        ("next_step", "next", "text", "recommended next command, with reason"),
    ),
    *_WHERE,
)
UNREADABLE = (
    *_WHERE,
    *_columns(
        ("bytes", "bytes", "count", "bytes of the file"),
        ("error", "error", "text", "why it could not be read"),
    ),
)
COMPACTIONS = (
    *_WHOSE,
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
    ),
    *_WHERE,
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
    CompactionRow: "epoch call kind=way manual=asked time tokens_before=before tokens_after=after grew=larger seconds "
        "usd=cost removed_messages=gone removed_tool_results=gone_results removed_user_messages=gone_said rework "
        "rework_tokens resumed_calls=resumed rules=instructions lost_rules=lost id is_copy=copy",
    Group: "sessions compacted_sessions=compacted compactions copies manual_compactions=asked grown_compactions=larger "
        "tokens_before=before tokens_after=after seconds compaction_usd=compacting usd=cost removed_messages=gone "
        "rework rework_tokens rules=instructions lost_rules=lost lost_rules_unknown=unread "
        "unrecorded_overhead_tokens=overhead",
}  # fmt: skip
"""By type the keys of its values, in JSON and in tables: an attribute's name, or `key=attribute`."""


def keyed(row: SessionRow | CompactionRow | Group) -> dict[str, Any]:
    """The row's own values by their keys."""
    return only(row, *KEYS[type(row)].split())


def records(rows: Iterable[SessionRow], about: About) -> Iterator[Record]:
    """The lines of a table: one for each session, for each compaction, or for each file that could not be read."""
    for row in rows:
        if about == "compactions":
            yield from (_line(about, row, keyed(one)) for one in row.compactions)
        elif about == "sessions" and not row.error:
            yield _line(about, row, _summed(row))
        elif about == "unreadable" and row.error:
            yield _line(about, row, {"error": row.error})


def _line(about: About, row: SessionRow, more: Record) -> Record:
    known = {**keyed(row), "part": row.part, **more}
    return {one.key: known[one.key] for one in TABLES[about]}


def _summed(row: SessionRow) -> Record:
    made = row.own
    return {
        "changed": row.time or None,
        "tokens": row.tokens or None,
        "peak_tokens": row.peak or None,
        "compactions": len(made),
        "copies": len(row.compactions) - len(made),
        "grown_compactions": row.larger,
        "removed_messages": row.gone,
        "rework": row.rework,
        "rework_tokens": sum(one.rework_tokens for one in made),
        "rules": sum(one.instructions for one in made),
        "lost_rules": row.lost,
        "next_step": next_step(row),
    }


_FORMER = {
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
"""Former names of columns that are no heading now."""


def column(about: About, name: str) -> Column:
    """The column of this key, heading or former name. Raises BadInput for one that the table does not have."""
    every = TABLES[about]
    found = next((one for one in every if one.key == name), None)
    found = found or next((one for one in every if one.heading == name or one.key in _FORMER.get(name, ())), None)
    if found is None:
        names = ", ".join(one.key for one in TABLES[about])
        raise BadInput(f"There is no column {name!r}; choose one of {names}.")
    return found


def sorted_by(lines: Iterable[Record], by: Column, *, down: bool) -> list[Record]:
    """What is not known stands last, whichever way. Equal ones keep their order."""
    known, unknown = list[Record](), list[Record]()
    for line in lines:
        (unknown if line[by.key] in (None, "") else known).append(line)
    key: Callable[[Record], str | float] = lambda line: _weight(line[by.key])
    return [*sorted(known, key=key, reverse=down), *unknown]


def _weight(value: Value) -> str | float:
    return value.casefold() if isinstance(value, str) else float(value or 0)


def matching(rows: Iterable[SessionRow], query: str) -> Iterator[SessionRow]:
    """The rows in which every word of `query` occurs."""
    sought = query.casefold().split()
    for row in rows:
        known = (row.tool, row.version, row.model, row.project, row.title, row.path, row.part, row.error)
        text = "\n".join(known).casefold() if sought else ""
        if all(word in text for word in sought):
            yield row


def table(rows: Iterable[SessionRow], about: About, by: Column | None = None) -> Table:
    """The lines of a table, sorted by a column: figures and times the largest first, texts from A on."""
    lines = records(rows, about)
    ordered = sorted_by(lines, by, down=by.kind != "text") if by else lines
    made = (Row(tuple(line[one.key] for one in TABLES[about])) for line in ordered)
    return Table(about, about.capitalize(), TABLES[about], tuple(made))


_SUMS = columns(
    "sessions:count compacted_sessions:count:compacted compactions:count copies:count manual_compactions:count:manual "
    "grown_compactions:count:larger tokens_before:tokens:before tokens_after:tokens:after seconds:seconds "
    "compaction_usd:money:compacting usd:money:cost rework:count rules:count lost_rules:count:lost "
    "lost_rules_unknown:count:lost_unknown unrecorded_overhead_tokens:tokens:overhead"
)


GROUP_KEYS = {"tool": "agent"}
"""Keys that differ from the names of groups."""


def sums(rows: Sequence[SessionRow], by: Sequence[Key]) -> Table:
    """What the sessions come to by tool, version, model or project, and all together where there are several groups."""
    found = [(one.key, one) for one in groups(rows, by)]
    if len(found) > 1:
        found += [(("all", *[""] * (len(by) - 1)), one) for one in groups(rows, ())]
    made = (Row((*(part or "–" for part in key), *_sum(one))) for key, one in found)
    names = columns(" ".join(GROUP_KEYS.get(one, one) for one in by))
    return Table("sums", "Sums", (*names, *_SUMS), tuple(made))


def _sum(one: Group) -> Iterator[Value]:
    """A group's values; money that nothing is known of is empty."""
    values = keyed(one)
    for column in _SUMS:
        value = values[column.key]
        yield None if column.kind == "money" and not value else value
