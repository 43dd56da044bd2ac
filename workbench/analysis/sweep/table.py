"""Table of a sweep: mean results of each setting over the files."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.sweep.cells import SweepPlan
from workbench.analysis.sweep.rows import SweepRow as Setting
from workbench.analysis.watched_rules import sentence_columns
from workbench.base.tables import Column, Row, Table, columns


def values_table(plan: SweepPlan, rows: Sequence[Setting], best: Setting | None) -> Table:
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
    return Table("values", "", spec, tuple(_row(row, is_best=row is best, retained=plan.retained) for row in rows))


def _row(one: Setting, *, is_best: bool, retained: bool) -> Row:
    kept = (one.retention,) if retained else ()
    figures = (one.compactions, one.after, one.peak, one.over, one.rebilled, one.cost)
    return Row((*one.setting, *figures, *kept, *map(str, one.held), one.failed or None, is_best or None))
