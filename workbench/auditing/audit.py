"""An audit as one value: its rows, and their sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbench.auditing.advice import TriggerAdvice, advise
from workbench.auditing.columns import About
from workbench.auditing.files import save
from workbench.auditing.groups import Key, SessionGroup, group_sessions
from workbench.auditing.rows import SessionRow, mark_copies


@dataclass(frozen=True)
class Audit:
    """All sessions found, the newest first, with their recorded `compactions`. If several files hold the same
    compaction, all but one are marked as a `copy` and count in no sum."""

    rows: tuple[SessionRow, ...]

    @cached_property
    def sessions(self) -> tuple[SessionRow, ...]:
        """Readable sessions."""
        return tuple(row for row in self.rows if not row.error)

    @cached_property
    def unreadable(self) -> tuple[SessionRow, ...]:
        """Unreadable files, each with an `error` in a sentence."""
        return tuple(row for row in self.rows if row.error)

    @cached_property
    def advice(self) -> tuple[TriggerAdvice, ...]:
        """Cheapest trigger of each agent; `str(one)` is a sentence."""
        return advise(self.rows)

    def groups(self, *by: Key) -> tuple[SessionGroup, ...]:
        """Return sums by `tool`, `version`, `model` or `project`, or by several of them; without any, of all
        sessions."""
        return group_sessions(self.rows, by)

    def save(self, path: str | Path, about: About = "sessions") -> None:
        """Write a table (`about`: sessions, compactions or unreadable) as .csv or .parquet, or the audit as .html or
        .json. Raises BadInput for another ending, and where the file cannot be written."""
        save(Path(path), self.rows, about, ("tool",))


def audit_of(rows: Iterable[SessionRow]) -> Audit:
    """Return the audit of these rows, given in any order."""
    return Audit(tuple(sorted(mark_copies([*rows]), key=lambda row: (-row.time, row.path, row.part))))
