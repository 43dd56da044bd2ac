"""`cwb compare`: many strategies and presets on one session, in one table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from workbench.analysis.compare import Column, candidates, compare
from workbench.bench import toggle_pin
from workbench.cli.loading import on_bench
from workbench.cli.output import size_fields, size_words, write_json, write_table
from workbench.cli.reference import message_id
from workbench.figures import grouped
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive


@click.command("compare")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strategies", metavar="ID,…", default="", help="Strategies, each with its own preset; all by default.")
@click.option("--presets", metavar="NAME,…", default="", help="Presets, `all` for every one.")
@click.option("--epoch", type=int, metavar="N", help="The epoch to compact, from 1; the last one by default.")
@click.option("--window", type=click.IntRange(1), metavar="N", help="The model's context window in tokens.")
@click.option("--pin", "pins", multiple=True, metavar="ID", help="Keep a message verbatim in all of them.")
@click.option(
    "--summarizer",
    type=click.Choice(["extractive", "estimate"]),
    default="extractive",
    show_default=True,
    help="Who writes the summaries.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
def command(
    file: Path,
    strategies: str,
    presets: str,
    epoch: int | None,
    window: int | None,
    pins: tuple[str, ...],
    summarizer: str,
    as_json: bool,
) -> None:
    """Compact FILE by many strategies at once, write nothing, and show one table."""
    from workbench.compaction.preset import preset_names

    named = list(preset_names()) if presets.strip() == "all" else _names(presets)
    chosen = candidates(_names(strategies), named)
    bench = on_bench(file, epoch=epoch, window=window)
    for reference in pins:
        bench = toggle_pin(bench, message_id(bench.messages, reference))
    answer = extractive if summarizer == "extractive" else estimate
    columns = list(compare(bench.context, chosen, answer))
    if as_json:
        write_json({"before": size_fields(bench.context.total), "columns": [_document(column) for column in columns]})
        return
    click.echo(f"before: {size_words(bench.context.total)}\n")
    write_table(
        ["preset", "strategy", "fired", "head", "tail", "after", "saved", "calls", "kept", "pinned", "summarized",
         "dropped", "checks", "status"],
        [_row(column) for column in columns],
    )  # fmt: skip


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
