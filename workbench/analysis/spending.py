"""Cost of recorded runs by day, model or session. Runs deleted from the run history do not count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import PurePath
from typing import Literal

from workbench.base.stamps import shown
from workbench.summarizers.run_history import RunRow

By = Literal["day", "model", "session"]


@dataclass(frozen=True, slots=True)
class SpendingTotal:
    """Sum over runs that used a model. `dollars` covers the runs with known price, `unknown` counts the others. For a
    session, `name` is its digest and `file` its path."""

    name: str
    runs: int
    calls: int
    input: int
    output: int
    dollars: float
    unknown: int
    file: str = ""

    @property
    def title(self) -> str:
        """File name, name, or "no file"."""
        return PurePath(self.file).name or self.name or "no file"


_KEYS: dict[By, Callable[[RunRow], str]] = {
    "day": lambda entry: shown(entry.began, "%Y-%m-%d"),
    "model": lambda entry: entry.summarizer.partition(":")[0] + "/" + entry.model,
    "session": lambda entry: entry.session or entry.file,
}
"""Grouping keys. Days are UTC, as in the run history; a model includes its connection."""


def spending(entries: Sequence[RunRow], by: By) -> tuple[SpendingTotal, ...]:
    """Return totals: days newest first, models and sessions by cost, highest first."""
    key = _KEYS[by]
    groups: dict[str, list[RunRow]] = {}
    for entry in entries:
        if entry.model:
            groups.setdefault(key(entry), []).append(entry)
    rows = [_sum(name, several, several[0].file if by == "session" else "") for name, several in groups.items()]
    if by == "day":
        return tuple(sorted(rows, key=lambda row: row.name, reverse=True))
    return tuple(sorted(rows, key=lambda row: (-row.dollars, -row.unknown, row.name)))


def total_spending(entries: Iterable[RunRow]) -> SpendingTotal:
    """Return the total of all runs."""
    return _sum("all", [entry for entry in entries if entry.model])


def _sum(name: str, entries: Sequence[RunRow], file: str = "") -> SpendingTotal:
    return SpendingTotal(
        name,
        len(entries),
        sum(entry.calls for entry in entries),
        sum(entry.input for entry in entries),
        sum(entry.output for entry in entries),
        fsum(entry.dollars for entry in entries if entry.dollars is not None),
        sum(entry.dollars is None for entry in entries),
        file,
    )
