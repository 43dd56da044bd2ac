"""`cwb compare`: many strategies and presets on one session, in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from workbench.analysis.compare import (
    Ceiling,
    Column,
    Fit,
    ceiling_of,
    column_of,
    fit_of,
    fit_words,
    rank,
    theirs,
)
from workbench.analysis.later_use import LaterUse
from workbench.analysis.retention import KINDS, Retention
from workbench.analysis.two_outcomes import added, stretches
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.text import counted
from workbench.bench import Bench, Stand, choose_preset, stands
from workbench.cli.loading import on_bench
from workbench.cli.opening import epoch_words
from workbench.cli.output import fields_of, only, plain, size_words, write_json, write_table
from workbench.cli.retention import percent, told_share
from workbench.cli.running import keep_run, run_named
from workbench.cli.selection import Selection, selection
from workbench.cli.spending import max_cost
from workbench.cli.watched import heads
from workbench.compaction.context import Context
from workbench.compaction.edits import compacting
from workbench.compaction.preset import Preset
from workbench.summarizers.named import Name, parsed
from workbench.summarizers.purse import Purse
from workbench.tokens.cost import Cost
from workbench.tokens.sizes import Size

WORDS = 400
"""So much of a new message is shown with --diff; `cwb compact` writes all of it."""


@click.command("compare")
@selection(
    "part",
    "strategies",
    "presets",
    "auto_pin",
    "watch",
    "epoch",
    "window",
    "mask",
    pin="Keep a message verbatim in all of them.",
    drop="Leave a message out in all of them.",
    shorten="Cut a message in the middle in all of them.",
    split_at="The first message of the tail, which stays as it is, where a strategy has a split.",
)
@click.option(
    "--summarizer",
    default="extractive",
    show_default=True,
    metavar="NAME",
    help="Who writes the summaries: any that `cwb compact` takes, extractive without a model; live runs are kept, and "
    "`cwb runs` lists them.",
)
@max_cost
@click.option("--diff", is_flag=True, help="What two differ in: the two named, or one and the agent's own compaction.")
@click.option("--no-journal", is_flag=True, help="Do not keep live or rehearsed runs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
def command(chosen: Selection, summarizer: str, purse: Purse, diff: bool, no_journal: bool, as_json: bool) -> None:
    """Compact FILE by many strategies at once, write nothing, and show what each leaves, costs and still holds.

    The best is first: what fits below the trigger of the session's own agent, by the share of facts that is kept and
    then by cost; then what is still too large, then what compacts nothing. What the agent's own compaction made of the
    same context stands among them, where the session records one. The costs
    of summaries are estimates at the session's model's prices. "present", "right", "weighted" and the kinds are
    shares of all the context's facts, so that columns can be compared: what is still told, what of it is told
    rightly, and what is told where what is needed again counts four times. "needed" is what the session really
    needed again and was not told again, where it goes on.
    """
    policies = chosen.policies()
    bench = on_bench(chosen)
    name = parsed(summarizer)
    recorded = theirs(bench.session, bench.epoch, bench.context)
    if diff and len(policies) != 2 and not (recorded and len(policies) == 1):
        raise click.UsageError("--diff is for two outcomes: name two presets or strategies, or one where the session "
                               "records a compaction of the same context.")  # fmt: skip
    made = [_made(bench, preset, name, purse, journal=not no_journal) for preset in policies]
    columns = [*filter(None, (recorded,)), *(column for column, _ in made)]
    costs = [*([None] if recorded else []), *(cost for _, cost in made)]
    pair = columns[-2:] if diff else []
    ceiling = ceiling_of(bench.session, bench.context)
    judged = sorted(
        (
            Judged(
                column,
                bench.held(column.outcome),
                bench.later_use(column.outcome),
                cost,
                stands(bench, column.outcome),
                fit_of(column, ceiling),
                ceiling,
            )
            for column, cost in zip(columns, costs, strict=True)
        ),
        key=lambda one: one.rank,
    )
    if as_json:
        their = next((one for one in judged if one.column.preset is None), None)
        ours = [one for one in judged if one is not their]
        compared = Compared(str(name), bench.context.total, ceiling, their, ours)
        write_json(compared, {"diff": list(stretches(*(column.outcome for column in pair)))} if pair else {})
        return
    if epoch := epoch_words(bench.session, bench.epoch):
        click.echo(f"epoch: {epoch}")
    click.echo(f"before: {size_words(bench.context.total)}")
    click.echo(f"to fit: below {grouped(ceiling.tokens)} tokens, {ceiling.source}\n" if ceiling else "")
    write_table(
        ["preset", "fit", "strategy", "fired", "head", "tail", "after", "saved", "calls", "summary cost",
         "first changed", "re-billed", "pays off after", "kept", "pinned", "summarized", "dropped", "checks", "status"],
        [_row(one.column, one.fit) for one in judged],
    )  # fmt: skip
    for one in judged:
        if one.fit == "too large":
            click.echo(f"{one.column.name} does not compact enough: {fit_words(one.column, one.fit, ceiling)}")
    click.echo()
    write_table(
        ["present", "right", "weighted", *KINDS, *(["needed"] if bench.needed else []), "preset"],
        [_held_row(bench, one.column, one.held, one.needed) for one in judged],
    )
    if bench.watched:
        click.echo()
        now = [one.now for one in stands(bench, None)]
        rows = [[*(str(stand.after) for stand in one.watched), one.column.name] for one in judged]
        write_table([*heads(bench.watched), "preset"], [[*now, "(before)"], *rows])
    if billed := [f"{column.name} {cost}" for column, cost in made if cost]:
        click.echo(f"\n{name}: {', '.join(billed)}")
    if pair:
        click.echo()
        _write_diff(bench.context, *pair)


@dataclass(frozen=True, slots=True)
class Judged:
    """A column, what it holds, what a model's summary in it cost, how watched sentences stand in it, and whether it is
    small enough."""

    column: Column
    held: Retention
    needed: LaterUse | None
    cost: Cost | None
    watched: tuple[Stand, ...]
    fit: Fit
    ceiling: Ceiling | None

    @property
    def rank(self) -> tuple[int, float, float]:
        return rank(self.fit, self.held.whole.share, self.column.summary_cost)


@dataclass(frozen=True, slots=True)
class Compared:
    """Every outcome over one context, the best first; `recorded` is the agent's own."""

    summarizer: str
    before: Size
    ceiling: Ceiling | None
    recorded: Judged | None
    columns: Sequence[Judged]


def _write_diff(context: Context, first: Column, second: Column) -> None:
    """What becomes of the messages in either, where that changes; then what is new in each."""
    rows = [
        [f"{one.start + 1}–{one.stop}", str(context.size(one.start, one.stop)), one.first, one.second]
        for one in stretches(first.outcome, second.outcome)
    ]
    write_table(["messages", "tokens", first.name, second.name], rows)
    for column in (first, second):
        for piece in added(column.outcome):
            words = printable(one_line(" ".join(piece.message.text.split()), WORDS))
            click.echo(f"\nnew in {column.name}, {context.measure((piece.message,))} tokens: {words}")


def _made(bench: Bench, preset: Preset, name: Name, purse: Purse, *, journal: bool) -> tuple[Column, Cost | None]:
    """A column, and what it cost where a model wrote in it; such a run is kept before the next one begins."""
    chosen = choose_preset(bench, preset)
    context = bench.context.with_(split_at=bench.context.split_at if chosen.strategy.movable else None)
    make = partial(compacting, context, bench.edits, chosen.strategy, chosen.policy)
    call = run_named(chosen, make, name, purse, journal=journal)
    column = column_of(context, chosen.chosen, call.run, bench.edits, call.run.seconds)
    if journal and name.is_kept:
        keep_run(call, context, column.checks)
    return column, call.cost


def _row(column: Column, fit: Fit) -> list[str]:
    fates = {fate.value: count for fate, count in column.outcome.fate_counts.items()}
    failed = ", ".join(check.name for check in column.failed)
    theirs, cost = column.preset is None, column.summary_cost
    return [
        column.name,
        fit,
        column.strategy,
        "" if theirs else "yes" if column.fired else "no",
        str(column.head),
        str(column.tail),
        str(column.after),
        f"{round(100 * column.saved / column.before.tokens)} %" if column.before.tokens else "",
        "" if column.calls is None else str(column.calls),
        "" if cost is None else column.rates.words(cost),
        grouped(column.cache.first_changed),
        grouped(column.cache.rebilled),
        _pays_off(column),
        grouped(fates["kept"] + fates["compressed"]),
        grouped(fates["pinned"]),
        grouped(fates["summarized"]),
        grouped(fates["dropped"] + fates["abridged"]),
        "" if theirs else failed or "passed",
        column.outcome.status.replace("_", " "),
    ]


def _pays_off(column: Column) -> str:
    if column.outcome.status == "unchanged" or column.spent is None:
        return ""
    return "never" if column.pays_off_after is None else counted(column.pays_off_after, "call")


def _held_row(bench: Bench, column: Column, held: Retention, needed: LaterUse | None) -> list[str]:
    whole, kinds = held.whole, held.whole_kinds
    shares = [told_share(whole, one) for one in (whole.share, whole.right, whole.weighted)]
    shares += [told_share(kinds[kind], kinds[kind].share) if kind in kinds else "" for kind in KINDS]
    shares += [percent(needed.share) if needed else "unknown"] if bench.needed else []
    return [*shares, column.name]


@plain.register
def _(one: Judged) -> dict[str, Any]:
    held = only(one.held, "of_context", "whole", "whole_kinds", "overall", "kinds")
    return {
        **plain(one.column),
        "fit": one.fit,
        "fit_words": fit_words(one.column, one.fit, one.ceiling),
        "retention": held,
        "needed_again": one.needed,
        "cost": one.cost,
        "watched": one.watched,
    }


@plain.register
def _(column: Column) -> dict[str, Any]:
    outcome, spent = column.outcome, column.spent
    return {
        "preset": column.preset.id if column.preset else None,
        "strategy": column.strategy or None,
        **only(column, "fired", "triggers", "head", "tail", "after", "saved", "calls"),
        "summaries": {**fields_of(spent), "cost": column.summary_cost} if spent else None,
        "cache": {
            **only(column.cache, "before", "after", "first_changed", "rebilled"),
            "cost": column.cache_cost,
            "pays_off_after": column.pays_off_after,
        },
        "rates": column.rates,
        "fates": {fate.value: count for fate, count in outcome.fate_counts.items()},
        "checks": [fields_of(check) for check in column.checks],
        **only(outcome, "status", "reason", "rungs"),
        "seconds": round(column.seconds, 4),
    }
