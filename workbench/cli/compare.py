"""`cwb compare`: many strategies and presets on one session, in one table."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from workbench.analysis.compare import Column, candidates, compare
from workbench.analysis.cost import Cost, actual
from workbench.bench import Bench, choose_preset
from workbench.cli.by_hand import by_hand
from workbench.cli.loading import on_bench, part_option
from workbench.cli.output import size_fields, size_words, write_json, write_table
from workbench.cli.pinning import auto_pin_option, auto_pinned
from workbench.cli.running import cost_fields, keep, need_key
from workbench.compaction.preset import Preset
from workbench.figures import grouped
from workbench.kept import finished, unfinished
from workbench.summarizers.named import Name, named, parsed
from workbench.summarizers.recorder import Recorder
from workbench.summarizers.summarizer import blocking


@click.command("compare")
@click.argument("file", type=click.Path(path_type=Path))
@part_option
@click.option("--strategies", metavar="ID,…", default="", help="Strategies, each with its own preset; all by default.")
@click.option("--presets", metavar="NAME,…", default="", help="Presets, `all` for every one.")
@click.option("--epoch", type=int, metavar="N", help="The epoch to compact, from 1; the last one by default.")
@click.option("--window", type=click.IntRange(1), metavar="N", help="The model's context window in tokens.")
@click.option("--pin", "pins", multiple=True, metavar="ID", help="Keep a message verbatim in all of them.")
@auto_pin_option
@click.option("--drop", "drops", multiple=True, metavar="ID", help="Leave a message out in all of them.")
@click.option("--shorten", "shortens", multiple=True, metavar="ID", help="Cut a message in the middle in all of them.")
@click.option("--split-at", "split", metavar="ID", help="The first message of the tail, where a strategy has a split.")
@click.option(
    "--summarizer",
    default="extractive",
    show_default=True,
    metavar="NAME",
    help="Who writes the summaries: any that `cwb compact` takes; live runs are kept, and `cwb runs` lists them.",
)
@click.option("--no-journal", is_flag=True, help="Do not keep live or rehearsed runs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
def command(
    file: Path,
    strategies: str,
    presets: str,
    epoch: int | None,
    window: int | None,
    pins: tuple[str, ...],
    auto_pin: bool,
    drops: tuple[str, ...],
    shortens: tuple[str, ...],
    split: str | None,
    summarizer: str,
    no_journal: bool,
    as_json: bool,
) -> None:
    """Compact FILE by many strategies at once, write nothing, and show one table."""
    from workbench.compaction.preset import preset_names

    named = list(preset_names()) if presets.strip() == "all" else _names(presets)
    chosen = candidates(_names(strategies), named)
    opened = on_bench(file, epoch=epoch, window=window)
    bench = by_hand(opened, pins=pins, drops=drops, shortens=shortens, split=split)
    bench = auto_pinned(bench) if auto_pin else bench
    name = parsed(summarizer)
    asyncio.run(need_key(name))
    made = [_made(bench, preset, name, journal=not no_journal) for preset in chosen]
    columns = [column for column, _ in made]
    if as_json:
        documents = [{**_document(column), "cost": cost_fields(cost) if cost else None} for column, cost in made]
        write_json({"summarizer": str(name), "before": size_fields(bench.context.total), "columns": documents})
        return
    click.echo(f"before: {size_words(bench.context.total)}\n")
    write_table(
        ["preset", "strategy", "fired", "head", "tail", "after", "saved", "calls", "kept", "pinned", "summarized",
         "dropped", "checks", "status"],
        [_row(column) for column in columns],
    )  # fmt: skip
    if costs := [f"{column.name} {cost}" for column, cost in made if cost]:
        click.echo(f"\n{name}: {', '.join(costs)}")


def _made(bench: Bench, preset: Preset, name: Name, *, journal: bool) -> tuple[Column, Cost | None]:
    """A column, and what it cost where a model wrote in it; such a run is kept before the next one begins."""
    recorder, began = Recorder(), time.time()
    summarizer = named(name, on_event=recorder.heard, tools=bench.session.tools, session=bench.session)
    chosen, kept = choose_preset(bench, preset), journal and name.is_kept
    try:
        (column,) = compare(bench.context, [preset], recorder.noting(blocking(summarizer)), bench.edits)
    except KeyboardInterrupt:
        if kept:
            keep(unfinished(chosen, name, recorder, began, time.time() - began))
        raise
    if kept:
        record = unfinished(chosen, name, recorder, began, column.seconds)
        keep(finished(record, column.outcome, bench.context, column.checks))
    return column, actual(recorder.usage, name.model) if name.model else None


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _row(column: Column) -> list[str]:
    fates = {fate.value: count for fate, count in column.outcome.fate_counts.items()}
    failed = ", ".join(check.name for check in column.failed)
    return [
        column.name,
        column.preset.strategy,
        "yes" if column.fired else "no",
        str(column.head),
        str(column.tail),
        str(column.after),
        f"{100 * column.saved / column.before.tokens:.0f} %" if column.before.tokens else "",
        str(column.calls),
        grouped(fates["kept"] + fates["compressed"]),
        grouped(fates["pinned"]),
        grouped(fates["summarized"]),
        grouped(fates["dropped"] + fates["abridged"]),
        failed or "passed",
        column.outcome.status.replace("_", " "),
    ]


def _document(column: Column) -> dict[str, Any]:
    return {
        "preset": column.preset.id,
        "strategy": column.preset.strategy,
        "fired": column.fired,
        "triggers": [{**asdict(trigger), "distance": trigger.distance} for trigger in column.triggers],
        "head": size_fields(column.head),
        "tail": size_fields(column.tail),
        "after": size_fields(column.after),
        "saved": column.saved,
        "calls": column.calls,
        "fates": {fate.value: count for fate, count in column.outcome.fate_counts.items()},
        "checks": [asdict(check) for check in column.checks],
        "status": column.outcome.status,
        "reason": column.outcome.reason,
        "rungs": [asdict(rung) for rung in column.outcome.rungs],
        "seconds": round(column.seconds, 4),
    }
