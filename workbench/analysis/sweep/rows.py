"""Results of a sweep: one row per setting, the best by a criterion, and the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from workbench.analysis.rule_text import RuleVerdict
from workbench.analysis.sweep.cells import SweepCell
from workbench.analysis.sweep.plan import Number, SweepPlan
from workbench.analysis.watched_rules import KEPT_STATES, sentence_columns
from workbench.base.tables import Column, Row, Table, columns


@dataclass(frozen=True, slots=True)
class Criterion:
    """Criterion for the best setting. `largest`: more is better."""

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
class RuleCount:
    """Number of files that keep a watched rule to the end (`keeping`), `of` the files that ever had it."""

    keeping: int
    of: int

    def __str__(self) -> str:
        return f"{self.keeping} of {self.of}" if self.of else "–"


@dataclass(frozen=True, slots=True)
class SweepRow:
    """Result of a setting over all files without an error: means over files, but the largest `peak` and the sum of
    `over`. None if unknown.

    `cost` is in dollars if all prices are known (`dollars`), else in million input tokens.
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
    rule_counts: tuple[RuleCount, ...] = ()
    """Count for each watched rule."""

    @property
    def watched(self) -> float | None:
        """Share of watched rules still kept; None if no session had one."""
        of = sum(one.of for one in self.rule_counts)
        return sum(one.keeping for one in self.rule_counts) / of if of else None

    def figure(self, criterion: str) -> float | None:
        """Return the value of a criterion."""
        value = getattr(self, criterion)
        return None if value is None else float(value)


def rows_of(plan: SweepPlan, cells: Iterable[SweepCell]) -> tuple[SweepRow, ...]:
    """Group the cells by setting, in the order of the grid; settings without a cell are left out."""
    groups: dict[tuple[Number, ...], list[SweepCell]] = {}
    for cell in cells:
        groups.setdefault(cell.setting, []).append(cell)
    return tuple(_row(plan, setting, groups[setting]) for setting in plan.settings if setting in groups)


def _row(plan: SweepPlan, setting: tuple[Number, ...], cells: Sequence[SweepCell]) -> SweepRow:
    fine = [cell for cell in cells if not cell.error]
    count = max(len(fine), 1)
    afters = [cell.after for cell in fine if cell.after is not None]
    known = [cell.dollars for cell in fine if cell.dollars is not None]
    dollars = bool(fine) and len(known) == len(fine)
    shares = [cell.retention for cell in fine if cell.retention is not None]
    return SweepRow(
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
        fsum(shares) / len(shares) if shares else None,
        tuple(_rule_count([cell.watched[number] for cell in fine]) for number in range(len(plan.watched))),
    )


def _rule_count(verdicts: Sequence[RuleVerdict | None]) -> RuleCount:
    return RuleCount(sum(one in KEPT_STATES for one in verdicts), sum(one is not None for one in verdicts))


def best(rows: Sequence[SweepRow], criterion: Criterion) -> SweepRow | None:
    """Return the best setting by a criterion. The number of prompts above the window decides first, because they would
    have failed. Ties go to the cheapest setting, then to the first of the grid."""
    able = [row for row in rows if row.files and row.figure(criterion.name) is not None]
    if not able:
        return None
    sign = -1 if criterion.largest else 1
    return min(able, key=lambda row: (row.over, sign * (row.figure(criterion.name) or 0.0), row.cost))


def values_table(plan: SweepPlan, rows: Sequence[SweepRow], best: SweepRow | None) -> Table:
    """A row per setting; `failed` counts the files that could not be replayed."""
    axes = (Column(axis.field, axis.field, "number") for axis in plan.axes)
    cost = "money" if all(row.dollars for row in rows) else "input"
    kept = columns("kept_share:share:kept") if plan.retained else ()
    spec = (
        *axes,
        *columns("compactions:number tokens_after:tokens:mean_after peak_tokens:tokens:peak calls_over_window:count"),
        *columns(f"rebilled_tokens:tokens:billed_again cost:{cost}"),
        *kept,
        *sentence_columns(plan.watched),
        *columns("failed:count best:flag"),
    )
    return Table(
        "values", "", spec, tuple(_table_row(row, is_best=row is best, retained=plan.retained) for row in rows)
    )


def _table_row(one: SweepRow, *, is_best: bool, retained: bool) -> Row:
    kept = (one.retention,) if retained else ()
    figures = (one.compactions, one.after, one.peak, one.over, one.rebilled, one.cost)
    return Row((*one.setting, *figures, *kept, *map(str, one.rule_counts), one.failed or None, is_best or None))
