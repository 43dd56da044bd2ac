"""`cwb compare`: size, cost and kept facts for strategies, presets, values, prompts or models on the same messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.analysis.outcome_comparison import added_messages, ceiling_of, compare_fates
from workbench.analysis.sweep.rows import CRITERIA
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.tables import Column, Row, Table, columns
from workbench.bench import Bench, choose_preset
from workbench.bench.assessment import Assessment, assess_recorded
from workbench.cli.compare_many import compare_many
from workbench.cli.jobs import Job, Jobs
from workbench.cli.load_bench import on_bench
from workbench.cli.load_epoch import epoch_words
from workbench.cli.output import csv_option, fields_of, only, plain, size_words, write_csv, write_json, write_tables
from workbench.cli.replay import cost_unit, replay
from workbench.cli.retention import later_use_document
from workbench.cli.running import max_cost, run_named, save_record
from workbench.cli.selection import Selection, selection
from workbench.cli.session_files import sessions_in
from workbench.compaction.context import Context
from workbench.compaction.preset import Preset
from workbench.runs.variants import figures_table, retention_table, rules_table
from workbench.summarizers.by_name import SummarizerName, parse_name
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.spend_limit import SpendLimit

OFFLINE = {"extractive": extractive, "estimate": estimate}
"""Summarizers that need neither a model nor the user."""

WORDS = 400
"""Characters of a new message that --diff shows; `cwb compact -o` writes the complete message."""


@click.command(
    "compare",
    cls=Jobs,
    jobs=(
        Job(
            "",
            "part strategies presets fields pins auto_pin drops shortens split watched epoch window mask summarizers "
            "spend_limit diff no_journal as_json as_csv",
        ),
        Job(
            "--over-session",
            "part strategies presets fields watched epoch window mask summarizers drawn as_json as_csv",
            "over_session",
        ),
        Job(
            "--vary",
            "part strategies presets fields watched window vary retained criterion_name save_as resume cluster as_json "
            "as_csv",
            "vary sweeps",
        ),
        Job(
            "--prompt or --model",
            "part strategies presets fields pins watched epoch window mask prompts models summarizers batch "
            "spend_limit no_journal as_json as_csv",
            "prompts models two",
            selects=lambda values: len(values["summarizers"]) > 1,
        ),
    ),
)
@selection(
    "part",
    "strategies",
    "presets",
    "set",
    "auto_pin",
    "watch",
    "window",
    "mask",
    nargs=-1,
    pin="Keep a message verbatim in all of them.",
    drop="Drop a message in all of them.",
    shorten="Shorten a message in all of them.",
    split_at="First message kept verbatim after the summary, for strategies with a split.",
    epoch="The epoch, from 1, or `last`. Default: the newest that overflowed or was compacted, and with "
    "--over-session: the first.",
)
@click.option("--over-session", is_flag=True, help="Replay the whole session: when each one compacts, and the cost.")
@click.option(
    "--vary",
    multiple=True,
    metavar="FIELD=A..B:STEP",
    help="Replay FILEs with several values of a setting, or of `window`; A,B,C lists values, 50k is 50 000. Once "
    "or twice.",
)
@click.option(
    "--prompt", "prompts", multiple=True, metavar="ID", help="A prompt by id, or a prompt's file; repeatable."
)
@click.option(
    "--model", "models", multiple=True, metavar="MODEL", help="A model, or CONNECTION/MODEL: live; repeatable."
)
@click.option("--sweep", "sweeps", is_flag=True, hidden=True)
@click.option("--two", is_flag=True, hidden=True)
@click.option(
    "--summarizer",
    "summarizers",
    multiple=True,
    metavar="NAME",
    help="Summarizer, as in `cwb compact`; default: extractive (no model). Repeat it to compare several. With "
    "--over-session: estimate (filler of the likely length; the default) or extractive (sentences of the session; the "
    "default with --watch).",
)
@max_cost
@click.option(
    "--diff", is_flag=True, help="Show where two outcomes differ: two named ones, or one and the agent's compaction."
)
@click.option(
    "--no-journal", is_flag=True, help="Do not save live or rehearsed runs in the run history (`cwb list runs`)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables, with nothing left out.")
@csv_option("variants", "kept", "watched", "replays", "compactions", "values", "sessions", "verdicts")
@click.option("--plot/--no-plot", "drawn", default=True, help="Plot the context size of each call above the table.")
@click.option("--retention", "retained", is_flag=True, help="Also find which facts the outcomes keep; takes longer.")
@click.option(
    "--best",
    "criterion_name",
    type=click.Choice([one.name for one in CRITERIA]),
    default="cost",
    show_default=True,
    help="Criterion for the best value; `watched` needs --watch.",
)
@click.option("--save-preset", "save_as", metavar="NAME", help="Save the best values as your preset.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="JOURNAL",
    help="Save progress in this file, and continue from it.",
)
@click.option("--cluster", default="", metavar="tcp://HOST:PORT", help="Run on the workers of this Dask scheduler.")
@click.option("--batch", is_flag=True, help="Use Message Batches: half the price, within a day; resumable.")
def command(
    chosen: Selection, over_session: bool, vary: tuple[str, ...], prompts: tuple[str, ...], models: tuple[str, ...],
    sweeps: bool, two: bool, **options: Any,
) -> None:  # fmt: skip
    """Compact FILE by many strategies, or with many values, prompts or models, and show the size, cost and kept
    facts of each. Nothing is written. For several FILEs, or the sessions in folders, the means of each are shown.

    The best is first: results below the trigger of the session's agent, by share of facts kept and then by
    cost; then results that do not shrink enough, fail a required check, or free nothing. The agent's recorded
    compaction of the same context is included. The costs of summaries are estimated at the prices of the
    session's model. Shares are of all the context's facts: kept (still in the context), correct (kept and not
    contradicted), weighted (kept; facts used again count four times), and kept by kind. "needed later" is the
    share kept of what the agent used again before a message stated it again.

    With --over-session the recorded answers are used unchanged, whatever the context would have been, and a
    watched sentence is judged at every compaction. --vary runs on all cores, over the files in folders, too; a file
    that fails is a row with its reason. With --prompt or --model, each prompt by each model compacts the same
    messages, and every draft is shown. Over several FILEs, or the sessions in folders, each variant is compared
    with the first, and its verdict shows the difference with its 95 % interval. An interrupted run, or one that
    reached --max-cost, continues with the same command.

    \b
    cwb compare FILE --presets claude-code,codex --diff
    cwb compare FOLDER --preset all
    cwb compare FILE --over-session --preset all
    cwb compare FOLDER --preset claude-code --vary window=150k,200k
    cwb compare FILE --prompt exchange-summary.en --prompt mine.md --model claude-sonnet-5-5
    cwb compare FOLDER --model claude-haiku-5-5 --model claude-opus-5-5 --batch --max-cost 5

    \b
    Exit codes: 0 done, 2 bad input or usage, 4 none gave a summary, 5 it could cost more than
    --max-cost, 130 cancelled
    """
    if over_session:
        replay(chosen, **options)
    elif vary or sweeps:
        from workbench.cli.sweep import sweep

        sweep(chosen, vary=vary, **options)
    elif prompts or models or two or len(options["summarizers"]) > 1:
        from workbench.cli.side_by_side import side_by_side

        side_by_side(chosen, prompts=prompts, models=models, **options)
    else:
        _compare(chosen, **options)


def _compare(
    chosen: Selection,
    *,
    summarizers: tuple[str, ...],
    spend_limit: SpendLimit,
    diff: bool,
    no_journal: bool,
    as_json: bool,
    as_csv: str | None,
) -> None:
    name = parse_name(*summarizers or ("extractive",))
    files = sessions_in(chosen.files)
    if files != list(chosen.files) or len(files) > 1:
        if diff:
            raise click.UsageError("--diff needs one session; name one FILE.")
        if str(name) not in OFFLINE:
            raise click.UsageError("Several sessions are compared with --summarizer extractive or estimate; --model "
                                   "asks a model.")  # fmt: skip
        compare_many(chosen, files, OFFLINE[str(name)], as_json=as_json, as_csv=as_csv)
        return
    policies = chosen.policies()
    bench = on_bench(chosen)
    recorded = assess_recorded(bench)
    if diff and len(policies) != 2 and not (recorded and len(policies) == 1):
        raise click.UsageError("--diff is for two outcomes: name two presets or strategies, or one where the session "
                               "records a compaction of the same context.")  # fmt: skip
    ours = [_run_and_assess(bench, preset, name, spend_limit, journal=not no_journal) for preset in policies]
    unsorted = [*filter(None, (recorded,)), *ours]
    pair = unsorted[-2:] if diff else []
    ceiling = ceiling_of(bench.session, bench.context)
    variants = sorted(unsorted, key=lambda one: one.rank)
    if as_json:
        ours = [one for one in variants if one is not recorded]
        compared = {"summarizer": str(name), "before": bench.context.total, "limit": ceiling, "recorded": recorded}
        diff_of = {"diff": list(compare_fates(*(one.outcome for one in pair)))} if pair else {}
        write_json({**compared, "variants": ours, **diff_of})
        return
    if as_csv:
        tables = (figures_table(bench, variants), retention_table(bench, variants), rules_table(bench, variants))
        write_csv({one.key: one for one in tables}, as_csv)
        return
    if epoch := epoch_words(bench.session, bench.epoch):
        click.echo(f"epoch: {epoch}")
    click.echo(f"before: {size_words(bench.context.total)}")
    click.echo(f"to fit: below {grouped(ceiling.tokens)} tokens, {ceiling.source}\n" if ceiling else "")
    write_tables([figures_table(bench, variants)])
    for one in variants:
        for note in filter(None, (one.fit_words if one.fit != "fits" else "", one.language_note)):
            click.echo(f"{one.name} {note}")
    write_tables([retention_table(bench, variants), *([rules_table(bench, variants)] if bench.watched else [])])
    if billed := [f"{one.name} {one.billed}" for one in variants if one.billed]:
        click.echo(f"\n{name}: {', '.join(billed)}")
    if pair:
        click.echo()
        _write_diff(bench.context, *pair)


def _write_diff(context: Context, first: Assessment, second: Assessment) -> None:
    """Print all messages as spans with their fates in both outcomes, then the new messages of each."""
    rows = (
        Row((f"{one.start + 1}–{one.stop}", context.size(one.start, one.stop).tokens, one.first, one.second))
        for one in compare_fates(first.outcome, second.outcome)
    )
    names = Column("first", first.name), Column("second", second.name)
    write_tables([Table("diff", "", (*columns("messages tokens:tokens"), *names), tuple(rows))])
    for one in (first, second):
        for piece in added_messages(one.outcome):
            words = printable(one_line(" ".join(piece.message.text.split()), WORDS))
            click.echo(f"\nnew in {one.name}, {context.measure((piece.message,))} tokens: {words}")


def _run_and_assess(
    bench: Bench, preset: Preset, name: SummarizerName, spend_limit: SpendLimit, *, journal: bool
) -> Assessment:
    """Run a preset and assess it. A live or rehearsed run is saved at once, before another preset can fail."""
    chosen = choose_preset(bench, preset)
    call = run_named(chosen, chosen.compacting, name, spend_limit, journal=journal)
    if journal and name.has_run_record:
        save_record(call.record)
    return Assessment(bench, call.run, chosen.as_preset, call.cost)


@plain.register
def _(one: Assessment) -> dict[str, Any]:
    spent = one.spent
    return {
        "preset": one.preset.id if one.preset else None,
        "strategy": one.strategy or None,
        **only(one, "fired", "triggers", "head", "tail", "after", "saved_tokens=saved"),
        "summaries": {**plain(spent), "cost": one.summary_cost} if spent else None,
        "cache": {
            **plain(one.cache),
            "cost": one.cache_cost,
            "paid_back_after_calls": one.pays_off_after,
        },
        "prices": one.rates,
        "cost_unit": cost_unit(known=one.rates.known),
        "fates": {fate.value: count for fate, count in one.outcome.fate_counts.items()},
        "checks": one.checks,
        **only(one.outcome, "status", "reason", "rungs"),
        "seconds": round(one.run.seconds, 4),
        **only(one, "fit", "fit_note=fit_words", "language_note"),
        "retention": {key: value for key, value in fields_of(one.retention).items() if key != "facts"},
        "later_use": later_use_document(one.later_use) if one.later_use else None,
        "billed": one.billed,
        "watched": one.watched,
    }
