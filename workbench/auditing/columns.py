"""What a table of an audit has as columns, in every form in which it leaves: terminal, screen, CSV, Parquet, HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from workbench.auditing.advice import next_step
from workbench.auditing.groups import Group, Key, groups
from workbench.auditing.rows import CompactionRow, SessionRow
from workbench.base.errors import BadInput
from workbench.base.tables import Column, Kind, Row, Table, Value, columns

About = Literal["sessions", "compactions", "unreadable"]

Record = dict[str, Value]
"""A line of a table, by the columns' names."""


def _columns(*several: tuple[str, Kind, str]) -> tuple[Column, ...]:
    return tuple(Column(key, key, kind, about) for key, kind, about in several)


_WHOSE = _columns(
    ("tool", "text", "the agent"),
    ("version", "text", "the agent's version"),
    ("model", "text", "the model"),
    ("project", "text", "working folder of the agent"),
)
_WHERE = _columns(("path", "text", "its file"), ("part", "text", "session id, if the file holds several"))
SESSIONS = (
    *_columns(("changed", "time", "last change of the file")),
    *_WHOSE,
    *_columns(
        ("title", "text", "its title or first request"),
        ("bytes", "count", "bytes of its file"),
        ("calls", "count", "model calls with recorded usage"),
        ("tokens", "count", "tokens of its last prompt"),
        ("full", "share", "last prompt as a share of the window"),
        ("peak", "count", "tokens of its largest prompt"),
        ("window", "count", "the model's context window"),
        ("overhead", "count", "system + tools tokens (not recorded)"),
        ("cost", "money", "cost"),
        ("compactions", "count", "recorded compactions"),
        ("copies", "count", "further ones, already counted in another session"),
        ("larger", "count", "compactions that made the context larger"),
        ("gone", "count", "messages removed or shortened by compactions"),
        ("rework", "count", "rework items after compactions"),
        ("rework_tokens", "count", "tokens of rework"),
        ("instructions", "count", "rules before compactions"),
        ("lost", "count", "rules lost"),
        ("next", "text", "recommended next command, with reason"),
    ),
    *_WHERE,
)
UNREADABLE = (
    *_WHERE,
    *_columns(("bytes", "count", "bytes of the file"), ("error", "text", "why it could not be read")),
)
COMPACTIONS = (
    *_WHOSE,
    *_columns(
        ("time", "time", "when it was recorded"),
        ("epoch", "count", "the epoch that it ended"),
        ("call", "count", "the call it precedes"),
        ("way", "text", "summary, clearing, removal or empty"),
        ("asked", "flag", "at the user's request"),
        ("before", "count", "tokens before it"),
        ("after", "count", "tokens after it"),
        ("larger", "flag", "whether it made the context larger"),
        ("copy", "flag", "whether it is already counted in another session"),
        ("seconds", "seconds", "seconds that it took"),
        ("cost", "money", "approximate cost"),
        ("gone", "count", "messages it removed or shortened"),
        ("gone_results", "count", "of these, tool results"),
        ("gone_said", "count", "of these, user messages"),
        ("rework", "count", "rework items after it"),
        ("rework_tokens", "count", "tokens of rework"),
        ("resumed", "count", "calls before the first new step"),
        ("instructions", "count", "rules before it"),
        ("lost", "count", "rules lost"),
    ),
    *_WHERE,
)
TABLES: Mapping[About, tuple[Column, ...]] = {
    "sessions": SESSIONS,
    "compactions": COMPACTIONS,
    "unreadable": UNREADABLE,
}


def records(rows: Iterable[SessionRow], about: About) -> Iterator[Record]:
    """The lines of a table: one for each session, for each compaction, or for each file that could not be read."""
    for row in rows:
        if about == "compactions":
            yield from (_of_compaction(row, one) for one in row.compactions)
        elif about == "sessions" and not row.error:
            yield _of_session(row)
        elif about == "unreadable" and row.error:
            yield {one.key: getattr(row, one.key) for one in UNREADABLE}


def _of_session(row: SessionRow) -> Record:
    made = row.own
    summed = {"changed": row.time or None, "compactions": len(made), "larger": row.larger, "rework": row.rework}
    summed |= {"copies": len(row.compactions) - len(made)}
    summed |= {name: sum(getattr(one, name) for one in made) for name in ("rework_tokens", "instructions")}
    known: Record = {**summed, "tokens": row.tokens or None, "peak": row.peak or None, "gone": row.gone}
    known |= {"lost": row.lost, "next": next_step(row)}
    return {one.key: known[one.key] if one.key in known else getattr(row, one.key) for one in SESSIONS}


def _of_compaction(row: SessionRow, made: CompactionRow) -> Record:
    of_session = {one.key for one in (*_WHOSE, *_WHERE)}
    return {one.key: getattr(row if one.key in of_session else made, one.key) for one in COMPACTIONS}


def column(about: About, name: str) -> Column:
    """Raises BadInput for a name that the table does not have."""
    found = next((one for one in TABLES[about] if one.key == name), None)
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
    "sessions:count compacted:count compactions:count copies:count asked:count larger:count before:tokens "
    "after:tokens seconds:seconds compacting:money cost:money rework:count instructions:count lost:count "
    "unread:count:lost_unknown overhead:tokens"
)


def sums(rows: Sequence[SessionRow], by: Sequence[Key]) -> Table:
    """What the sessions come to by tool, version, model or project, and all together where there are several groups."""
    found = [(one.key, one) for one in groups(rows, by)]
    if len(found) > 1:
        found += [(("all", *[""] * (len(by) - 1)), one) for one in groups(rows, ())]
    made = (Row((*(part or "–" for part in key), *_sum(one))) for key, one in found)
    return Table("sums", "Sums", (*columns(" ".join(by)), *_SUMS), tuple(made))


def _sum(one: Group) -> Iterator[Value]:
    """A group's values; money that nothing is known of is empty."""
    for column in _SUMS:
        value = getattr(one, column.key)
        yield None if column.kind == "money" and not value else value
