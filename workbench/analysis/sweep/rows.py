"""What a sweep comes to: one row for each setting, and the best of them by a stated criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from workbench.analysis.sweep.axes import Number
from workbench.analysis.sweep.cells import Cell, Plan
from workbench.analysis.watched_rules import KEPT_STATES, RuleVerdict


@dataclass(frozen=True, slots=True)
class Criterion:
    """By what the best setting is chosen. `largest`: more is better."""

    name: str
    about: str
    largest: bool = False


CRITERIA = (
    Criterion("cost", "cost of all prompts and summaries"),
    Criterion("compactions", "number of compactions"),
    Criterion("after", "mean size after a compaction"),
    Criterion("rebilled", "tokens billed again because the cache was lost"),
    Criterion("sent", "tokens sent over all calls"),
    Criterion("retention", "facts kept", largest=True),
    Criterion("watched", "watched rules still verbatim at the end", largest=True),
)


@dataclass(frozen=True, slots=True)
class Held:
    """In how many files a watched sentence still `stands` in the end, `of` those in which it ever stood."""

    stands: int
    of: int

    def __str__(self) -> str:
        return f"{self.stands} of {self.of}" if self.of else "–"


@dataclass(frozen=True, slots=True)
class Row:
    """One setting over all files that worked: means over files, and the sum of `over`. None where there is nothing.

    `cost` is in dollars where the price of every file's model is known (`dollars`), else in millions of input tokens'
    worth.
    """

    setting: tuple[Number, ...]
    files: int
    failed: int
    compactions: float
    after: float | None
    peak: int
    over: int
    sent: float
    rebilled: float
    cost: float
    dollars: bool
    retention: float | None
    held: tuple[Held, ...] = ()
    """Of each watched sentence."""

    @property
    def watched(self) -> float | None:
        """The share of watched sentences that still stand; None where none ever stood."""
        of = sum(one.of for one in self.held)
        return sum(one.stands for one in self.held) / of if of else None

    def figure(self, criterion: str) -> float | None:
        value = getattr(self, criterion)
        return None if value is None else float(value)


def rows_of(plan: Plan, cells: Iterable[Cell]) -> tuple[Row, ...]:
    """The cells by setting, in the order of the grid; settings of which no cell is there are left out."""
    groups: dict[tuple[Number, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.setting, []).append(cell)
    return tuple(_row(plan, setting, groups[setting]) for setting in plan.settings if setting in groups)


def _row(plan: Plan, setting: tuple[Number, ...], cells: Sequence[Cell]) -> Row:
    fine = [cell for cell in cells if not cell.error]
    count = max(len(fine), 1)
    afters = [cell.after for cell in fine if cell.after is not None]
    known = [cell.dollars for cell in fine if cell.dollars is not None]
    dollars = bool(fine) and len(known) == len(fine)
    held = [cell.retention for cell in fine if cell.retention is not None]
    return Row(
        setting,
        len(fine),
        len(cells) - len(fine),
        sum(cell.compactions for cell in fine) / count,
        sum(afters) / len(afters) if afters else None,
        max((cell.peak for cell in fine), default=0),
        sum(cell.over for cell in fine),
        sum(cell.sent for cell in fine) / count,
        sum(cell.rebilled for cell in fine) / count,
        fsum(known if dollars else (cell.units for cell in fine)) / count,
        dollars,
        fsum(held) / len(held) if held else None,
        tuple(_held([cell.watched[number] for cell in fine]) for number in range(len(plan.watched))),
    )


def _held(verdicts: Sequence[RuleVerdict | None]) -> Held:
    return Held(sum(one in KEPT_STATES for one in verdicts), sum(one is not None for one in verdicts))


def best(rows: Sequence[Row], criterion: Criterion) -> Row | None:
    """The best setting by a criterion. A setting under which prompts are larger than the window loses to one under
    which fewer are, whatever the criterion: it would have failed. Equal ones: the cheapest, the first of the grid."""
    able = [row for row in rows if row.files and row.figure(criterion.name) is not None]
    if not able:
        return None
    sign = -1 if criterion.largest else 1
    return min(able, key=lambda row: (row.over, sign * (row.figure(criterion.name) or 0.0), row.cost))
