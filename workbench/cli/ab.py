"""`cwb ab`: two prompts or two models on the same head, side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from workbench.analysis.prompt_use import by_id
from workbench.analysis.transcript import printable
from workbench.base.figures import grouped
from workbench.cli.compacting import NO_SUMMARY
from workbench.cli.loading import on_bench
from workbench.cli.outcomes import found_rows, policy_words
from workbench.cli.output import interrupted, only, plain, size_words, warn, write_fields, write_json
from workbench.cli.running import completed, keep
from workbench.cli.selection import Selection, selection
from workbench.cli.watched import stand_words
from workbench.compaction.outcome import verdict
from workbench.sides import Side, Tried, sides, tried
from workbench.summarizers.named import asking, parsed
from workbench.tokens.cost import usage_words


@click.command("ab")
@selection(
    "part",
    "epoch",
    "window",
    "watch",
    strategy="How to compact; else the prompts' own strategy.",
    preset="Numbers and prompt to start from.",
    pin="Keep a message verbatim in both.",
)
@click.option("--prompt", "prompts", multiple=True, metavar="ID", help="A prompt by id, or a prompt's file; twice.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="A model, or CONNECTION/MODEL: live; twice.")
@click.option("--summarizer", "names", multiple=True, metavar="NAME", help="Any summarizer that `cwb compact` takes.")
@click.option("--no-journal", is_flag=True, help="Do not keep live or rehearsed runs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a report.")
def command(
    chosen: Selection,
    prompts: tuple[str, ...],
    models: tuple[str, ...],
    names: tuple[str, ...],
    no_journal: bool,
    as_json: bool,
) -> None:
    """Compact FILE twice, with two prompts or by two models, and show both drafts and what each lost. Writes nothing.

    \b
    cwb ab FILE --prompt exchange-summary.en --prompt mine.md --model claude-sonnet-4-5
    cwb ab FILE --model claude-haiku-4-5 --model claude-opus-4-5
    cwb ab FILE --summarizer extractive --summarizer recorded:RUN_ID

    \b
    Exit codes: 0 done, 2 bad input or usage, 4 neither side gave a summary, 130 cancelled
    """
    named = [*(asking(model) for model in models), *map(parsed, names)]
    bench = on_bench(chosen, chosen.policy if chosen.strategies or chosen.presets else None)
    pair = sides(bench, [by_id(prompt) for prompt in prompts], named)
    for side in pair:
        for doubt in side.bench.doubts if side.name.model else ():
            warn(f"{side.label}: {doubt}")
    both = _run(pair, journal=not no_journal)
    kept = ["" if no_journal or not one.side.name.is_kept else keep(one.record) for one in both]
    if as_json:
        tries = [{**plain(one), "run": run or None} for one, run in zip(both, kept, strict=True)]
        write_json({"before": both[0].before, "sides": tries})
        _leave(both)
        return
    a, b = both
    click.echo(f"before: {size_words(a.before)}")
    for one, run in zip(both, kept, strict=True):
        click.echo()
        click.secho(one.side.label, bold=True)
        write_fields([(name, printable(value)) for name, value in _rows(one, run) if value])
    if a.draft == b.draft and a.draft:
        click.echo("\nBoth drafts are the same, word for word.")
    _leave(both)


def _leave(both: Sequence[Tried]) -> None:
    """Where neither side has a summary, there is nothing to compare."""
    if all(one.failures and not one.draft for one in both):
        raise click.exceptions.Exit(NO_SUMMARY)


def _run(pair: tuple[Side, Side], *, journal: bool) -> tuple[Tried, ...]:
    clock = time.perf_counter()
    try:
        return completed(tried(pair))
    except KeyboardInterrupt:
        seconds = time.perf_counter() - clock
        kept = [keep(side.record(seconds)) for side in pair if journal and side.name.is_kept]
        where = f"; what had come is kept as {', '.join(filter(None, kept))}" if any(kept) else ""
        raise interrupted(f"Cancelled: nothing was written{where}.") from None


def _rows(one: Tried, kept: str) -> list[tuple[str, str]]:
    failed = [f"{check.name}: {check.detail}" for check in one.failed]
    wrote = f"{grouped(len(one.draft))} characters, ≈{grouped(one.draft_tokens)} tokens" if one.draft else "nothing"
    return [
        ("strategy", policy_words(one.side.bench)),
        ("summary by", str(one.side.name)),
        ("wrote", f"{wrote}, {one.run.seconds:.1f} s"),
        ("billed", usage_words(one.usage) + f", {one.cost}" if one.usage else ""),
        ("failed", "\n".join(map(str, one.failures))),
        ("after", size_words(one.after)),
        ("checks", "\n".join([f"{len(one.checks) - len(failed)} passed", *failed])),
        ("doubts", "\n".join(one.side.bench.doubts)),
        ("status", verdict(one.run.outcome.status, one.run.outcome.reason)),
        *found_rows(one.grounding, one.lost),
        ("watched", "\n".join(map(stand_words, one.watched))),
        ("kept as", f"run {kept}" if kept else ""),
        ("draft", one.draft),
    ]


@plain.register
def _(one: Tried) -> dict[str, Any]:
    bench, run = one.side.bench, one.run
    return {
        "label": one.side.label,
        "strategy": bench.strategy.id,
        "preset": bench.preset,
        "summarizer": str(one.side.name),
        **only(one, "draft", "draft_tokens"),
        "calls": run.answers,
        **only(one, "usage", "cost"),
        "seconds": round(run.seconds, 3),
        **only(one, "after", "checks"),
        "doubts": bench.doubts,
        **only(run.outcome, "status", "reason"),
        **only(one, "grounding", "lost", "watched"),
    }
