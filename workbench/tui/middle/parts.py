"""Input and output of the middle pane's tabs: the bench and a place in it; parts of text with folds, also two side by
side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from workbench.analysis.transcript import Verbosity
from workbench.bench import Bench
from workbench.tui.plain import fit
from workbench.tui.rows import Groups
from workbench.tui.widgets.text_view import TextPart, wrap

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
    """Open folds: the usual ones, all or none (`every`), except those in `toggled`."""

    toggled: frozenset[str] = frozenset()
    every: bool | None = None

    def is_open(self, key: str, usual: bool) -> bool:
        return (usual if self.every is None else self.every) != (key in self.toggled)

    def toggle(self, key: str) -> Folds:
        return replace(self, toggled=self.toggled ^ {key})


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


# --- two texts --------------------------------------------------------------------------------------------------------


RULE = " │ "


def side_by_side(left: Parts, right: Parts, width: int) -> Parts:
    """Both texts wrapped to half of `width`; each row keeps both styles."""
    half = (width - len(RULE)) // 2
    rows = zip_longest(_rows(left, half), _rows(right, half), fillvalue=("", ""))
    lines: Parts = []
    for (words, style), (others, other) in rows:
        start = fit(words, half) + RULE
        lines.append(TextPart(start + others, style, one_row=True, then=((len(start), other),)))
    return lines


def _rows(parts: Parts, width: int) -> list[tuple[str, str]]:
    wrapped = wrap(parts, width)
    cells = zip(wrapped.line, wrapped.start, wrapped.stop, strict=True)
    return [(wrapped.lines[line][start:stop], wrapped.styles[line]) for line, start, stop in cells]
