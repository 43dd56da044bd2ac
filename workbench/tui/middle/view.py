"""What every tab of the middle is made from, without a screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.analysis.transcript import Verbosity
from workbench.bench import Bench
from workbench.tui.rows import Groups
from workbench.tui.widgets.text_view import Part

if TYPE_CHECKING:
    from workbench.compaction.checks import Check

Parts = list[Part]


@dataclass(frozen=True, slots=True)
class Piece(Part):
    """A part that the middle's pager draws in more than one style; any other view draws it in its own.

    `language` names the lexer by which its lines are coloured. `fold` is the key of the fold that its first line opens
    and closes.
    """

    language: str = ""
    fold: str = ""


@dataclass(frozen=True, slots=True)
class Folds:
    """Which folds are open: as they usually are, or all, or none, but for those that were turned over since."""

    turned: frozenset[str] = frozenset()
    every: bool | None = None

    def is_open(self, key: str, usual: bool) -> bool:
        return (usual if self.every is None else self.every) != (key in self.turned)

    def turn(self, key: str) -> Folds:
        return replace(self, turned=self.turned ^ {key})


@dataclass(frozen=True)
class View:
    """What a tab is made of: a bench, its rounds, the message under the cursor, the checks if they are done, and how
    much of a message is to be shown.

    `folds` None: nothing is folded, as for a file. `width` is that of the pane in cells; 0 puts nothing side by side.
    """

    bench: Bench
    groups: Groups
    index: int
    checks: tuple[Check, ...] | None = None
    verbosity: Verbosity = "default"
    folds: Folds | None = None
    width: int = 0
