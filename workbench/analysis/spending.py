"""What kept runs have cost, added up by day, by model or by session. What was deleted from the journal is in no sum."""

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
class Sum:
    """What runs that asked a model come to. `dollars` are those of the runs whose price is known; `unknown` are the
    others. Of a session `name` is its fingerprint and `file` where it lay."""

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
        return PurePath(self.file).name or self.name or "no file"


_KEYS: dict[By, Callable[[RunRow], str]] = {
    "day": lambda entry: shown(entry.began, "%Y-%m-%d"),
    "model": lambda entry: entry.summarizer.partition(":")[0] + "/" + entry.model,
    "session": lambda entry: entry.session or entry.file,
}
"""Days are those of UTC, as the list of runs has them; a model is named with the connection that it was asked over."""


def spending(entries: Sequence[RunRow], by: By) -> tuple[Sum, ...]:
    """Days newest first, models and sessions by what they cost, the dearest first."""
    key = _KEYS[by]
    groups: dict[str, list[RunRow]] = {}
    for entry in entries:
        if entry.model:
            groups.setdefault(key(entry), []).append(entry)
    rows = [_sum(name, several, several[0].file if by == "session" else "") for name, several in groups.items()]
    if by == "day":
        return tuple(sorted(rows, key=lambda row: row.name, reverse=True))
    return tuple(sorted(rows, key=lambda row: (-row.dollars, -row.unknown, row.name)))


def in_all(entries: Iterable[RunRow]) -> Sum:
    return _sum("all", [entry for entry in entries if entry.model])


def _sum(name: str, entries: Sequence[RunRow], file: str = "") -> Sum:
    return Sum(
        name,
        len(entries),
        sum(entry.calls for entry in entries),
        sum(entry.input for entry in entries),
        sum(entry.output for entry in entries),
        fsum(entry.dollars for entry in entries if entry.dollars is not None),
        sum(entry.dollars is None for entry in entries),
        file,
    )
