"""What a table of an audit has as columns, in every form in which it leaves: terminal, screen, CSV, Parquet, HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.auditing.advice import next_step
from workbench.auditing.rows import CompactionRow, SessionRow
from workbench.base.errors import BadInput
from workbench.base.figures import LEAST_DOLLARS, grouped, percent
from workbench.base.stamps import shown

Kind = Literal["text", "whole", "real", "share", "dollars", "flag", "time"]
Value = str | int | float | bool | None
About = Literal["sessions", "compactions", "unreadable"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of values of one kind, None where one is not known; `about` says what they are, in a phrase."""

    name: str
    kind: Kind
    about: str

    @property
    def is_text(self) -> bool:
        return self.kind == "text"


Record = dict[str, Value]
"""A line of a table, by the columns' names."""


def _columns(*several: tuple[str, Kind, str]) -> tuple[Column, ...]:
    return tuple(Column(*one) for one in several)


_WHOSE = _columns(
    ("tool", "text", "the agent"),
    ("version", "text", "the agent's version"),
    ("model", "text", "the model"),
    ("project", "text", "the folder in which the agent worked"),
)
_WHERE = _columns(("path", "text", "its file"), ("part", "text", "its id among several in the file"))
SESSIONS = (
    *_columns(("changed", "time", "when its file was changed last")),
    *_WHOSE,
    *_columns(
        ("title", "text", "its title or first request"),
        ("bytes", "whole", "bytes of its file"),
        ("calls", "whole", "calls of the model with a bill"),
        ("tokens", "whole", "tokens of its last prompt"),
        ("full", "share", "share of the window that its last prompt took"),
        ("peak", "whole", "tokens of its largest prompt"),
        ("window", "whole", "the model's context window"),
        ("overhead", "whole", "tokens sent beyond the conversation"),
        ("cost", "dollars", "what it cost"),
        ("compactions", "whole", "recorded compactions"),
        ("copies", "whole", "more of them, which count in another session that has them, too"),
        ("larger", "whole", "compactions that made the context larger"),
        ("gone", "whole", "messages that compactions took away or shortened"),
        ("rework", "whole", "things done again because of compactions"),
        ("rework_tokens", "whole", "what that cost, in tokens"),
        ("instructions", "whole", "standing instructions before compactions"),
        ("lost", "whole", "instructions that they lost"),
        ("next", "text", "the command to run next, and why"),
    ),
    *_WHERE,
)
UNREADABLE = (
    *_WHERE,
    *_columns(("bytes", "whole", "bytes of the file"), ("error", "text", "why it could not be read")),
)
COMPACTIONS = (
    *_WHOSE,
    *_columns(
        ("time", "time", "when it was recorded"),
        ("epoch", "whole", "the epoch that it ended"),
        ("call", "whole", "the call before which it lies"),
        ("way", "text", "summary, clearing, removal or empty"),
        ("asked", "flag", "at the user's command"),
        ("before", "whole", "tokens before it"),
        ("after", "whole", "tokens behind it"),
        ("larger", "flag", "whether it made the context larger"),
        ("copy", "flag", "whether it counts in another session that has it, too"),
        ("seconds", "real", "seconds that it took"),
        ("cost", "dollars", "about what it cost"),
        ("gone", "whole", "messages that it took away or shortened"),
        ("gone_results", "whole", "of these with results of tools"),
        ("gone_said", "whole", "of these with words of the user's"),
        ("rework", "whole", "things done again because of it"),
        ("rework_tokens", "whole", "what that cost, in tokens"),
        ("resumed", "whole", "calls before the first new step"),
        ("instructions", "whole", "standing instructions before it"),
        ("lost", "whole", "instructions that it lost"),
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
            yield {one.name: getattr(row, one.name) for one in UNREADABLE}


def _of_session(row: SessionRow) -> Record:
    made = row.own
    summed = {"changed": row.time or None, "compactions": len(made), "larger": row.larger, "rework": row.rework}
    summed |= {"copies": len(row.compactions) - len(made)}
    summed |= {name: sum(getattr(one, name) for one in made) for name in ("rework_tokens", "instructions")}
    known: Record = {**summed, "tokens": row.tokens or None, "peak": row.peak or None, "gone": row.gone}
    known |= {"lost": row.lost, "next": next_step(row)}
    return {one.name: known[one.name] if one.name in known else getattr(row, one.name) for one in SESSIONS}


def _of_compaction(row: SessionRow, made: CompactionRow) -> Record:
    of_session = {one.name for one in (*_WHOSE, *_WHERE)}
    return {one.name: getattr(row if one.name in of_session else made, one.name) for one in COMPACTIONS}


def column(about: About, name: str) -> Column:
    """Raises BadInput for a name that the table does not have."""
    found = next((one for one in TABLES[about] if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in TABLES[about])
        raise BadInput(f"There is no column {name!r}; choose one of {names}.")
    return found


def sorted_by(lines: Iterable[Record], by: Column, *, down: bool) -> list[Record]:
    """What is not known stands last, whichever way. Equal ones keep their order."""
    known, unknown = list[Record](), list[Record]()
    for line in lines:
        (unknown if line[by.name] in (None, "") else known).append(line)
    key: Callable[[Record], str | float] = lambda line: _weight(line[by.name])
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


def words(value: Value, kind: Kind) -> str:
    """A value for people; "" for one that is not known, and for nothing where nothing is what one hopes for."""
    if value is None or isinstance(value, str):
        return value or ""
    match kind:
        case "flag":
            return "yes" if value else ""
        case "time":
            return shown(value)
        case "dollars":
            if value >= 0.005 or not value:
                return f"{value:,.2f}".replace(",", " ")
            return f"{value:.4f}" if value >= LEAST_DOLLARS else "<0.0001"
        case "real":
            return f"{value:.1f}"
        case "share":
            return percent(value)
    return grouped(value)
