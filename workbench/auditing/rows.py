"""Rows of an audit: a session, and its recorded compactions, each counted once.

Plain values for caches, clusters and files; nothing of the analysis is imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.session import Way


@dataclass(frozen=True, slots=True)
class CompactionRow:
    """A compaction that the agent recorded, at the end of `epoch`, before call number `call` (from 1).

    `way` is its kind; `manual`: the user started it. `before` and `after` are tokens of the context, as recorded; else
    `before` is the last prompt or the size recorded before a summary, `after` the first prompt after it; None if
    unknown. `larger`: the context grew. `seconds` as recorded, else from the newest message before an automatic one to
    its record. `cost` in dollars is approximate: its summary, and the tokens that were billed again; None without a
    price. `removed_messages` counts removed or shortened messages, `removed_tool_results` those with tool results,
    `removed_user_messages` those with words of the user; None if the removed messages are not in the file. `rework`
    counts the rework it caused, `rework_tokens` its tokens, `resumed` the calls before the first new step.
    `instructions` counts the rules in force before its tail, `lost` those kept nowhere (None if its summary is
    unreadable or the removed messages are not in the file). `time` is in seconds since 1970. `id` is the same in every
    file that holds this compaction; a `copy` counts in another session only. `lost_file_rules` counts rules of the
    project's rule files that it removed and the agent did not insert again before the next one, `broken_rules` rules
    that it removed and a later call broke.
    """

    epoch: int
    call: int
    way: Way
    manual: bool
    time: float | None
    before: int | None
    after: int | None
    larger: bool
    seconds: float | None
    cost: float | None
    removed_messages: int | None
    removed_tool_results: int | None
    removed_user_messages: int | None
    rework: int
    rework_tokens: int
    resumed: int
    instructions: int
    lost: int | None
    id: str = ""
    copy: bool = False
    lost_file_rules: int = 0
    broken_rules: int = 0

    if not TYPE_CHECKING:  # a type checker reports the deprecated names

        def __getattr__(self, name: str) -> Any:
            now = _DEPRECATED_FIELDS.get(name)
            if now is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            warnings.warn(f"CompactionRow.{name} is now CompactionRow.{now}", DeprecationWarning, stacklevel=2)
            return getattr(self, now)


_DEPRECATED_FIELDS = {"asked": "manual", "gone": "removed_messages"}
"""Names of fields that are deprecated, and what they are called now."""


TRIGGERS = tuple(1_000 * n for n in (60, 80, 100, 120, 150, 180, 250, 400, 600, 900))
"""Triggers, in tokens, under which sessions are replayed."""


@dataclass(frozen=True, slots=True)
class TriggerCost:
    """A session compacted at `trigger` tokens (0: at the agent's own trigger). `cost` is the price of all
    its prompts and summaries, as a number of input tokens; `summaries` counts its compactions."""

    trigger: int
    cost: float
    summaries: int


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session, or an unreadable file: then `error` is a sentence, and only path, size and time are known.

    `tool` is the agent's name, `project` its working folder. `calls` are model calls with recorded usage, `tokens` the
    size of the last prompt, `peak` of the largest, `window` the last known one, `overhead` the tokens of the first call
    beyond the conversation (system + tools, not recorded); None if unknown. `cost` is in dollars, as recorded or by
    known prices; `price` is that of a million tokens of input. `tried` are the triggers under which the session was
    replayed, empty if it was not.
    """

    path: str
    part: str = ""
    bytes: int = 0
    time: float = 0.0
    format: str = ""
    tool: str = ""
    version: str = ""
    model: str = ""
    project: str = ""
    title: str = ""
    calls: int = 0
    tokens: int = 0
    peak: int = 0
    window: int | None = None
    overhead: int | None = None
    cost: float | None = None
    price: float | None = None
    compactions: tuple[CompactionRow, ...] = ()
    tried: tuple[TriggerCost, ...] = ()
    error: str = ""

    @property
    def own(self) -> tuple[CompactionRow, ...]:
        """Compactions that count in this session, without copies."""
        return tuple(one for one in self.compactions if not one.copy)

    @property
    def full(self) -> float | None:
        """Share of the window that the last prompt took; None if either is unknown."""
        return self.tokens / self.window if self.tokens and self.window else None

    @property
    def larger(self) -> int:
        return sum(one.larger for one in self.own)

    @property
    def rework(self) -> int:
        return sum(one.rework for one in self.own)

    @property
    def removed_messages(self) -> int | None:
        """Messages that its compactions removed or shortened; None if unknown for any of them."""
        return _sum([one.removed_messages for one in self.own])

    @property
    def lost(self) -> int | None:
        """Rules that its compactions lost; None if unknown for any of them."""
        return _sum([one.lost for one in self.own])

    @property
    def lost_file_rules(self) -> int:
        return sum(one.lost_file_rules for one in self.own)

    @property
    def broken_rules(self) -> int:
        return sum(one.broken_rules for one in self.own)


def _sum(values: Sequence[int | None]) -> int | None:
    return None if None in values else sum(value for value in values if value)


def row_from(fields: Mapping[str, Any]) -> SessionRow:
    """Return the row from the fields of `dataclasses.asdict`. Raises TypeError or KeyError for other fields."""
    compactions = tuple(CompactionRow(**one) for one in fields["compactions"])
    costs = tuple(TriggerCost(**one) for one in fields["tried"])
    return SessionRow(**{**fields, "compactions": compactions, "tried": costs})


@dataclass(frozen=True, slots=True)
class AuditFile:
    """A file to audit. `tool` is the agent's name, "" if its place does not show it; `time` the last change in seconds
    since 1970; `known` the digest for which its rows are cached. `is_replayed`: its long sessions are replayed under
    several triggers."""

    path: str
    bytes: int
    time: float
    tool: str = ""
    known: str | None = None
    is_replayed: bool = True


@dataclass(frozen=True, slots=True)
class FileRows:
    """Rows of a file, one per session in it, and the digest of its bytes, None for a folder and an unreadable file.
    `rows` is None where the cached ones are valid."""

    path: str
    digest: str | None
    rows: tuple[SessionRow, ...] | None


def mark_copies(rows: Sequence[SessionRow]) -> tuple[SessionRow, ...]:
    """Mark all but one of equal compactions as copies. They are in several files because a session was forked, resumed
    into a new file, or copied. The one in the session with most calls counts: most is known about its effects."""
    holders: dict[str, tuple[int, str, str]] = {}
    for row in rows:
        here = _sort_key(row)
        for one in row.compactions:
            holders[one.id] = min(here, holders.get(one.id, here))
    return tuple(_with_copies_marked(row, holders) if row.compactions else row for row in rows)


def _sort_key(row: SessionRow) -> tuple[int, str, str]:
    return -row.calls, row.path, row.part


def _with_copies_marked(row: SessionRow, holders: dict[str, tuple[int, str, str]]) -> SessionRow:
    compactions = tuple(replace(one, copy=holders[one.id] != _sort_key(row)) for one in row.compactions)
    return row if compactions == row.compactions else replace(row, compactions=compactions)
