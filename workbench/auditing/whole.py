"""An audit as one value: every row, and what the rows come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbench.auditing.advice import Advice, advise
from workbench.auditing.columns import About
from workbench.auditing.copies import counted_once
from workbench.auditing.files import save
from workbench.auditing.groups import Group, Key, groups
from workbench.auditing.rows import SessionRow


@dataclass(frozen=True)
class Audit:
    """Every session that was found, the newest first, with its recorded `compactions`; of those that stand in several
    files all but one are marked as a `copy` and count in none of the sums."""

    rows: tuple[SessionRow, ...]

    @cached_property
    def sessions(self) -> tuple[SessionRow, ...]:
        """What could be read."""
        return tuple(row for row in self.rows if not row.error)

    @cached_property
    def unreadable(self) -> tuple[SessionRow, ...]:
        """What could not, each with its `error` in a sentence."""
        return tuple(row for row in self.rows if row.error)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """For each tool at which size compacting would have been cheapest, as a sentence: `str(one)`."""
        return advise(self.rows)

    def groups(self, *by: Key) -> tuple[Group, ...]:
        """Sums by `tool`, `version`, `model` or `project`, several for finer groups; of all sessions where none is
        named."""
        return groups(self.rows, by)

    def save(self, path: str | Path, about: About = "sessions") -> None:
        """Write it as .csv or .parquet (`about` the sessions, the compactions or what was unreadable), .html or .json.
        Raises BadInput for another ending, and where it cannot be written."""
        save(Path(path), self.rows, about, ("tool",))


def whole(rows: Iterable[SessionRow]) -> Audit:
    """The audit that these rows make, in any order."""
    return Audit(tuple(sorted(counted_once([*rows]), key=lambda row: (-row.time, row.path, row.part))))
