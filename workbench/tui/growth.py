"""How the context grew, call by call, in cells on one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from rich.cells import cell_len

from workbench.analysis.growth import Point
from workbench.base.figures import short
from workbench.base.text import plural
from workbench.tokens import Basis
from workbench.tui.plain import several

Cells = list[tuple[str, str]]

_LEVELS = "▁▂▃▄▅▆▇█"
_LEAST_FOR_LEGEND = 72
"""Columns below which the line is all sparkline."""

_TOKENS, _COMPACTED = attrgetter("tokens"), attrgetter("compacted")  # a long session has thousands of points


@dataclass(frozen=True, slots=True)
class Growth:
    """The points, and in words over how many calls it grew, and to what."""

    points: tuple[Point, ...] = ()
    words: str = ""


def growth_of(points: tuple[Point, ...]) -> Growth:
    """Looks at every point: of a long session not where the screen is drawn."""
    if not points:
        return Growth()
    marks = sum(point.compacted for point in points)
    sign = Basis.EXACT if all(point.basis is Basis.EXACT for point in points) else Basis.ESTIMATE
    peak = sign.value + short(max(point.tokens for point in points))
    calls = several(len(points), "call")
    told = f", ▼ {marks} {plural(marks, 'compaction')} recorded" if marks else ""
    return Growth(points, f"growth by call: {calls}, peak {peak}{told}")


def growth_cells(growth: Growth, width: int, epoch: int) -> Cells:
    """The sparkline on the scale of its largest point, the stretch of `epoch` told apart, then what it comes to."""
    columns = [_column(part, epoch) for part in _columns(growth, width)]
    highest = max((most for most, _, _ in columns), default=0) or 1
    cells: Cells = [(" ", "dim")]
    for most, here, compacted in columns:
        if compacted:
            cells.append(("▼", "mark-here" if here else "mark"))
        else:
            cells.append((_LEVELS[min(7, most * 8 // highest)], "here" if here else "other"))
    cells.append((_legend(growth, width), "dim"))
    return cells


def epoch_at(growth: Growth, width: int, x: int) -> int | None:
    """The epoch whose stretch is drawn in column `x`, None beside the sparkline."""
    columns = _columns(growth, width)
    return columns[x - 1][-1].epoch if 1 <= x <= len(columns) else None


def _column(part: Sequence[Point], epoch: int) -> tuple[int, bool, bool]:
    """Its largest point in tokens, whether one is of the epoch, and whether one was compacted."""
    here = part[0].epoch <= epoch <= part[-1].epoch and any(point.epoch == epoch for point in part)
    return max(map(_TOKENS, part)), here, any(map(_COMPACTED, part))


def _columns(growth: Growth, width: int) -> list[Sequence[Point]]:
    """The points that each column stands for; a column shows its largest. Few points get several columns each."""
    points, room = growth.points, width - 2 - cell_len(_legend(growth, width))
    if room <= 0 or not points:
        return []
    count = len(points)
    if count >= room:
        return [points[n * count // room : (n + 1) * count // room] for n in range(room)]
    each = max(1, min(4, room // count))
    # Only the first column of a point may carry the mark of a compaction.
    return [(point,) if not column else (_unmarked(point),) for point in points for column in range(each)]


def _unmarked(point: Point) -> Point:
    return Point(point.message, point.epoch, point.tokens, point.basis, False)


def _legend(growth: Growth, width: int) -> str:
    """What stands beside the sparkline."""
    return f"  {growth.words}" if growth.points and width >= _LEAST_FOR_LEGEND else ""
