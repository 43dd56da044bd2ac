"""`cwb ab`: two prompts or two models on the same head, side by side; of several sessions a verdict over all pairs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from workbench.analysis.prompt_use import by_id
from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.cli.ab_many import compared
from workbench.cli.compacting import NO_SUMMARY
from workbench.cli.loading import on_bench
from workbench.cli.outcomes import found_rows, policy_words
from workbench.cli.output import interrupted, only, plain, size_words, warn, write_fields, write_json
from workbench.cli.running import completed, keep
from workbench.cli.selection import Selection, selection
from workbench.cli.several import let_go, sessions_in
from workbench.cli.spending import OverTheLimit, max_cost
from workbench.cli.watched import stand_words
from workbench.compaction.outcome import verdict
from workbench.live_run import FinishedRun, LiveRun
from workbench.sides import check_two, sides, tried
from workbench.summarizers.named import Name, asking, parsed
from workbench.summarizers.purse import Purse, TooDear
from workbench.tokens.cost import usage_words


@click.command("ab")
@selection(
    "part",
    "window",
    "epoch",
    "watch",
    "mask",
    nargs=-1,
    strategy="How to compact; else the prompts' own strategy.",
    preset="Numbers and prompt to start from.",
    pin="Keep a message verbatim in both.",
)
@click.option("--prompt", "prompts", multiple=True, metavar="ID", help="A prompt by id, or a prompt's file; twice.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="A model, or CONNECTION/MODEL: live; twice.")
@click.option(
    "--summarizer",
    "names",
    multiple=True,
    metavar="NAME",
    help="Any summarizer that `cwb compact` takes, extractive without a model.",
)
@click.option("--batch", is_flag=True, help="Ask through Message Batches: half the price, within a day; resumable.")
@max_cost
@click.option("--no-journal", is_flag=True, help="Do not keep live or rehearsed runs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a report.")
def command(
    chosen: Selection,
    prompts: tuple[str, ...],
    models: tuple[str, ...],
    names: tuple[str, ...],
    batch: bool,
    purse: Purse,
    no_journal: bool,
    as_json: bool,
) -> None:
    """Compact FILE twice, with two prompts or by two models, and show both drafts and what each lost. Writes nothing.

    Of several FILEs, or the sessions in folders, each is a pair: what either side still tells rightly of the facts,
    what of its claims has ground, which questions it answers (looked up by code) and which --watch sentences still
    stand, for each session and, with the interval of paired draws, over all of them. Copies of a session count once.
    What the journal keeps of the same request to the same summarizer is not asked for again, so that a run that was
    broken off, or that reached --max-cost, goes on with the same command.

    \b
    cwb ab FILE --prompt exchange-summary.en --prompt mine.md --model claude-sonnet-5-5
    cwb ab FILE --model claude-haiku-5-5 --model claude-opus-5-5
    cwb ab FILE --summarizer extractive --summarizer recorded:RUN_ID
    cwb ab FOLDER --prompt exchange-summary.en --prompt mine.md --model claude-haiku-5-5 --batch --max-cost 5

    \b
    Exit codes: 0 done, 2 bad input or usage, 4 neither side gave a summary, 5 it could cost more than
    --max-cost, 130 cancelled
    """
    named = [*(asking(model) for model in models), *map(parsed, names)]
    files = sessions_in(chosen.files)
    if batch or len(files) > 1 or files != list(chosen.files):
        _many(replace(chosen, files=tuple(files)), prompts, named, purse, not no_journal, batch=batch, as_json=as_json)
        return
    bench = on_bench(chosen, chosen.policy if chosen.strategies or chosen.presets else None)
    pair = sides(bench, [by_id(prompt) for prompt in prompts], named)
    _tell_where(named)
    for side in pair:
        for doubt in side.bench.doubts if side.name.model else ():
            warn(f"{side.label}: {doubt}")
    both = _run(pair, purse, journal=not no_journal)
    kept = ["" if no_journal or not one.live.name.is_kept else keep(one.record) for one in both]
    if as_json:
        tries = [{**plain(one), "run": run or None} for one, run in zip(both, kept, strict=True)]
        write_json({"before": both[0].found.before, "sides": tries})
        _leave(both)
        return
    a, b = both
    click.echo(f"before: {size_words(a.found.before)}")
    for one, run in zip(both, kept, strict=True):
        click.echo()
        click.secho(one.live.label, bold=True)
        write_fields([(name, printable(value)) for name, value in _rows(one, run) if value])
    if a.draft == b.draft and a.draft:
        click.echo("\nBoth drafts are the same, word for word.")
    _leave(both)


def _many(
    chosen: Selection, prompts: tuple[str, ...], named: list[Name], purse: Purse, keeps: bool, *, batch: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Every session as a pair."""
    if chosen.part:
        raise click.UsageError("--part is of one session; name one FILE.")
    found = [by_id(prompt) for prompt in prompts]
    check_two(found, named)
    _tell_where(named)
    policy = chosen.policy if chosen.strategies or chosen.presets else None

    def opened(path: Path) -> tuple[LiveRun, LiveRun]:
        let_go()
        return sides(on_bench(replace(chosen, files=(path,)), policy), found, named)

    compared(chosen.files, opened, purse, keeps=keeps, batch=batch, as_json=as_json)


def _tell_where(named: Sequence[Name]) -> None:
    """At what address models are asked, before anything is sent."""
    for name in dict.fromkeys(named):
        if name.model:
            warn(f"{name.model} is asked at {name.connection.address}.")


def _leave(both: Sequence[FinishedRun]) -> None:
    """Where neither side has a summary, there is nothing to compare."""
    if all(one.failures and not one.draft for one in both):
        raise click.exceptions.Exit(NO_SUMMARY)


def _run(pair: tuple[LiveRun, LiveRun], purse: Purse, *, journal: bool) -> tuple[FinishedRun, ...]:
    clock = time.perf_counter()
    try:
        return completed(tried(pair, purse, keeps=journal))
    except TooDear as refused:
        raise OverTheLimit(str(refused)) from None
    except KeyboardInterrupt:
        seconds = time.perf_counter() - clock
        kept = [keep(side.unfinished(seconds)) for side in pair if journal and side.name.is_kept]
        where = f"; what had come is kept as {', '.join(filter(None, kept))}" if any(kept) else ""
        raise interrupted(f"Cancelled: nothing was written{where}.") from None


def _rows(one: FinishedRun, kept: str) -> list[tuple[str, str]]:
    failed = [f"{check.name}: {check.detail}" for check in one.found.failed]
    wrote = f"{grouped(len(one.draft))} characters, ≈{grouped(one.draft_tokens)} tokens" if one.draft else "nothing"
    return [
        ("strategy", policy_words(one.live.bench)),
        ("summary by", str(one.live.name)),
        ("wrote", f"{wrote}, {one.run.seconds:.1f} s"),
        ("billed", usage_words(one.usage) + f", {one.cost}" if one.usage else ""),
        ("failed", "\n".join(str(call) for call in one.failures if call.detail not in one.run.outcome.reason)),
        ("after", size_words(one.found.after)),
        ("checks", "\n".join([f"{len(one.found.checks) - len(failed)} passed", *failed])),
        ("doubts", "\n".join(one.live.bench.doubts)),
        ("status", verdict(one.run.outcome.status, one.run.outcome.reason)),
        *found_rows(one.found.grounding, one.found.lost),
        ("watched", "\n".join(map(stand_words, one.found.watched))),
        ("kept as", f"run {kept}" if kept else ""),
        ("draft", one.draft),
    ]


@plain.register
def _(one: FinishedRun) -> dict[str, Any]:
    bench, run = one.live.bench, one.run
    return {
        "label": one.live.label,
        "strategy": bench.strategy.id,
        "preset": bench.preset,
        "summarizer": str(one.live.name),
        **only(one, "draft", "draft_tokens"),
        "calls": run.answers,
        **only(one, "usage", "cost"),
        "seconds": round(run.seconds, 3),
        **only(one.found, "after", "checks"),
        "doubts": bench.doubts,
        **only(run.outcome, "status", "reason"),
        **only(one.found, "grounding", "lost", "watched"),
    }
