"""Variants over one context as tables: size, cost and checks of each, and the state of watched sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.analysis.cache import back_after
from workbench.analysis.retention_tables import by_variant
from workbench.analysis.watched import sentence_columns
from workbench.assessment import Assessment
from workbench.base.tables import Row, Table, Value, columns
from workbench.bench import Bench, stands


def figures(bench: Bench, several: Sequence[Assessment]) -> Table:
    """Everything known of each variant without looking for facts. A cell is empty where the agent's own compaction does
    not record it."""
    rates = several[0].rates.kind if several else "money"
    spec = (
        "preset fit strategy fired:flag head:tokens tail:tokens after:tokens saved:share calls:count "
        f"summary_cost:{rates} first_changed:tokens:stays_cached rebilled:tokens:billed_again paid_back "
        "kept:count:kept_messages pinned:count summarized:count dropped:count checks status"
    )
    return Table("variants", "", columns(spec), tuple(map(_figures, several)))


def _figures(one: Assessment) -> Row:
    fates = {fate.value: count for fate, count in one.outcome.fate_counts.items()}
    theirs = one.preset is None
    values: tuple[Value, ...] = (
        one.name,
        one.fit,
        one.strategy or "the agent's own",
        None if theirs else one.fired,
        one.head.tokens,
        one.tail.tokens,
        one.after.tokens,
        one.saved / one.before.tokens if one.before.tokens else None,
        one.calls,
        one.summary_cost,
        one.cache.first_changed,
        one.cache.rebilled,
        paid_back_words(one),
        fates["kept"] + fates["compressed"],
        fates["pinned"],
        fates["summarized"],
        fates["dropped"] + fates["abridged"],
        None if theirs else ", ".join(check.name for check in one.failed) or "passed",
        one.outcome.status.replace("_", " "),
    )
    return Row(values)


def paid_back_words(one: Assessment) -> str | None:
    """When a variant is paid back; the lost cache alone is counted where the summary's cost is not recorded."""
    if one.outcome.status == "unchanged":
        return None
    return back_after(one.pays_off_after) + ("" if one.spent else " (cache)")


def kept(bench: Bench, several: Iterable[Assessment]) -> Table:
    """What each variant keeps of all facts of the context."""
    rows = ((one.name, one.retention, one.later_use) for one in several)
    return by_variant(rows, goes_on=bool(bench.needed))


def watched(bench: Bench, several: Iterable[Assessment]) -> Table:
    """The state of the watched sentences before, and in each variant."""
    before = Row(("(before)", *(one.now for one in stands(bench, None))))
    rows = (Row((one.name, *(stand.after for stand in one.watched))) for one in several)
    spec = (*columns("preset"), *sentence_columns(bench.watched))
    return Table("watched", "Watched sentences", spec, (before, *rows))
