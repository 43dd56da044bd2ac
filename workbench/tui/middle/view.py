"""Input of the middle pane's tabs, without a screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.analysis.transcript import Verbosity
from workbench.bench import Bench
from workbench.tui.rows import Groups
from workbench.tui.widgets.text_view import TextPart

if TYPE_CHECKING:
    from workbench.compaction.checks import Check

Parts = list[TextPart]


@dataclass(frozen=True, slots=True)
class Piece(TextPart):
    """Part that the pager draws in several styles; any other view draws it in one.

    `language` names the lexer of its lines. `fold` is the key of the fold that its first line opens and closes.
    """

    language: str = ""
    fold: str = ""


@dataclass(frozen=True, slots=True)
class Folds:
    """Open folds: the usual ones, all or none (`every`), except those in `turned`."""

    turned: frozenset[str] = frozenset()
    every: bool | None = None

    def is_open(self, key: str, usual: bool) -> bool:
        return (usual if self.every is None else self.every) != (key in self.turned)

    def turn(self, key: str) -> Folds:
        return replace(self, turned=self.turned ^ {key})


@dataclass(frozen=True)
class TabInput:
    """Input of a tab: bench, rounds, message under the cursor, checks if they are done, verbosity.

    `folds` None folds nothing, as for a file. `width` is the pane's width in cells; 0 puts nothing side by side.
    `is_planned` is False until the first plan is made: fates are unknown.
    """

    bench: Bench
    groups: Groups
    index: int
    checks: tuple[Check, ...] | None = None
    verbosity: Verbosity = "default"
    folds: Folds | None = None
    width: int = 0
    is_planned: bool = True
