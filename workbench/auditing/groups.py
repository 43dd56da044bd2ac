"""Sums over many sessions, by agent, version, model or project."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median
from typing import Literal

from workbench.auditing.rows import CompactionRow, SessionRow

Key = Literal["tool", "version", "model", "project"]
KEYS: tuple[Key, ...] = ("tool", "version", "model", "project")


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """Sums over sessions with the same `key`.

    `before`, `after` (tokens), `seconds` and `overhead` (tokens) are medians of the known values, None without any.
    `cost` of the sessions and `compacting`, the approximate cost of their compactions, are sums of the known dollars;
    `removed_messages` is None if unknown for every compaction. `manual` counts compactions that the user started,
    `larger` those that made the context larger. `copies` those copied from another session, which no other figure
    counts. `lost` of `instructions` were lost in compactions where that is known; `unread` counts the other ones.
    """

    key: tuple[str, ...]
    sessions: int
    compacted: int
    compactions: int
    copies: int
    manual: int
    larger: int
    before: int | None
    after: int | None
    seconds: float | None
    compacting: float
    cost: float
    removed_messages: int | None
    rework: int
    rework_tokens: int
    instructions: int
    lost: int
    unread: int
    overhead: int | None


def group_sessions(rows: Iterable[SessionRow], by: Sequence[Key]) -> tuple[SessionGroup, ...]:
    """Sum the sessions by key, groups with most compactions first; one group if `by` is empty. Unreadable files are
    left out."""
    members: dict[tuple[str, ...], list[SessionRow]] = {}
    for row in rows:
        if not row.error:
            members.setdefault(tuple(getattr(row, key) for key in by), []).append(row)
    found = (_group(key, several) for key, several in members.items())
    return tuple(sorted(found, key=lambda one: (-one.compactions, -one.sessions, one.key)))


def _group(key: tuple[str, ...], rows: Sequence[SessionRow]) -> SessionGroup:
    compactions = [one for row in rows for one in row.own]
    judged = [one for one in compactions if one.lost is not None]
    return SessionGroup(
        key,
        len(rows),
        sum(bool(row.own) for row in rows),
        len(compactions),
        sum(len(row.compactions) for row in rows) - len(compactions),
        sum(one.manual for one in compactions),
        sum(one.larger for one in compactions),
        _median_tokens(compactions, "before"),
        _median_tokens(compactions, "after"),
        None if (seconds := _median([one.seconds for one in compactions])) is None else round(seconds, 1),
        fsum(one.cost for one in compactions if one.cost is not None),
        fsum(row.cost for row in rows if row.cost is not None),
        _known_sum([one.removed_messages for one in compactions]),
        sum(one.rework for one in compactions),
        sum(one.rework_tokens for one in compactions),
        sum(one.instructions for one in judged),
        sum(one.lost or 0 for one in judged),
        len(compactions) - len(judged),
        None if (overhead := _median([row.overhead for row in rows])) is None else round(overhead),
    )


def _known_sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known or not values else None


def _median_tokens(compactions: Sequence[CompactionRow], name: str) -> int | None:
    found = _median([getattr(one, name) for one in compactions])
    return None if found is None else round(found)


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None
