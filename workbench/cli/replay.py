"""`cwb replay`: a session played from its start under many policies."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from workbench.analysis.cache import Rates
from workbench.analysis.compare import candidates
from workbench.analysis.course import Course
from workbench.analysis.pictures import SIGNS, in_characters, replay_picture
from workbench.analysis.replay import Replay, replays
from workbench.analysis.replay_table import HEADS, cost_basis, row
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.cli import settings
from workbench.cli.loading import part_option
from workbench.cli.output import counted, trigger_fields, write_json, write_table
from workbench.cli.whole import bench_and_course, whole_session
from workbench.compaction.preset import Preset
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive


@click.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strategy", "strategies", multiple=True, metavar="ID", help="A strategy with its own preset; several.")
@click.option("--preset", "presets", multiple=True, metavar="NAME", help="A preset; several, and `all` for every one.")
@click.option(
    "--set", "fields", multiple=True, metavar="FIELD=VALUE", help="Change a field, where one policy is named."
)
@click.option("--epoch", type=click.IntRange(1), default=1, metavar="N", help="Start with this epoch, not the first.")
@click.option("--window", type=click.IntRange(1), metavar="N", help="The model's context window in tokens.")
@click.option(
    "--summarizer",
    type=click.Choice(["estimate", "extractive"]),
    default="estimate",
    show_default=True,
    help="Who writes the summaries: filler of the likely length, or sentences of the session.",
)
@click.option("--plot/--no-plot", "drawn", default=True, help="Draw the saw-teeth above the table.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with every compaction and both series.")
@part_option
def command(
    file: Path,
    strategies: tuple[str, ...],
    presets: tuple[str, ...],
    fields: tuple[str, ...],
    epoch: int,
    window: int | None,
    summarizer: str,
    drawn: bool,
    as_json: bool,
) -> None:
    """Play FILE from its start under many policies: when each would have compacted, to what, and at what cost.

    Before each of the recorded answers the policy's triggers are read; the answers are taken to be the same whatever
    the context would have been. Without --strategy and --preset every strategy is played with its own preset.
    """
    chosen = chosen_presets(strategies, presets, fields)
    session, counter = whole_session(file)
    bench, course = bench_and_course(session, counter, epoch, window)
    answer = extractive if summarizer == "extractive" else estimate
    played = list(replays(course, chosen, bench.window, answer))
    if as_json:
        write_json(_document(course, played, bench.window, summarizer))
        return
    if drawn:
        click.echo("\n".join(_plot(course, played, bench.window)))
        click.echo()
    _table(course, played, summarizer)
    for one in played if len(played) == 1 else ():
        click.echo()
        _compactions(one)


def chosen_presets(strategies: tuple[str, ...], presets: tuple[str, ...], fields: tuple[str, ...]) -> list[Preset]:
    """What the flags name, in order; `all` stands for every preset. Raises BadInput."""
    from workbench.compaction.preset import preset_names

    named = [name.strip() for text in presets for name in text.split(",") if name.strip()]
    if "all" in named:
        named = list(preset_names())
    ids = [name.strip() for text in strategies for name in text.split(",") if name.strip()]
    if not fields:
        return list(candidates(ids, named))
    if len(named) + len(ids) != 1:
        raise BadInput("--set changes one policy; name just one with --strategy or --preset.")
    return [settings.chosen(ids[0] if ids else None, named[0] if named else None, None, fields)]


def _plot(course: Course, played: list[Replay], window: int | None) -> list[str]:
    picture = replay_picture(course, played, window)
    return in_characters(picture, [pair for pair in picture.legend if pair[0] not in SIGNS])  # the table names these


def _table(course: Course, played: list[Replay], summarizer: str) -> None:
    calls = len(course.calls)
    rates = played[0].rates if played else Rates()
    click.echo(
        f"{counted(calls, 'call')}, {counted(len(course.messages), 'message')}; without any compaction the last call "
        f"would be sent {grouped(course.plain[-1] if calls else 0)} tokens. Summaries: {summarizer}."
    )
    click.echo(cost_basis(rates) + "\n")
    rows = [list(row(sign, one)) for sign, one in zip(SIGNS, played, strict=False)]
    write_table(list(HEADS), rows)
    for one in played:
        if one.missed:
            first = one.missed[0]
            times = counted(len(one.missed), "time")
            click.echo(f"{one.name}: fired {times} in vain, first at call {first.call}: {first.reason}")


def _compactions(one: Replay) -> None:
    """Every compaction of one policy."""
    write_table(
        ["call", "round", "before", "after", "first changed", "re-billed", "summary read", "summary written", "cost",
         "pays off at", "message", "because"],
        [
            [
                grouped(each.call),
                grouped(each.round),
                grouped(each.before),
                grouped(each.after),
                grouped(each.cache.first_changed),
                grouped(each.cache.rebilled),
                grouped(each.request_tokens),
                grouped(each.summary_tokens),
                one.rates.words(each.summary_cost + each.cache_cost),
                f"call {grouped(each.pays_off_at)}" if each.pays_off_at is not None else "never",
                each.message[:12],
                ", ".join(trigger.name for trigger in each.triggers),
            ]
            for each in one.compacted
        ],
    )  # fmt: skip


def _document(course: Course, played: list[Replay], window: int | None, summarizer: str) -> dict[str, Any]:
    return {
        "window": window,
        "summarizer": summarizer,
        "messages": len(course.messages),
        "calls": [course.messages[index].id for index in course.calls],
        "plain": list(course.plain),
        "replays": [replay_fields(one) for one in played],
    }


def replay_fields(one: Replay) -> dict[str, Any]:
    """A replay as JSON: costs in dollars, or in millions of input tokens' worth where `rates.known` is false."""
    return {
        "preset": one.preset.id,
        "strategy": one.preset.strategy,
        "rates": asdict(one.rates),
        "sent": list(one.sent),
        "full": list(one.full),
        "peak": one.peak,
        "last": one.last,
        "over_window": one.over_window,
        "mean_after": one.mean_after,
        "rebilled": one.rebilled,
        "cost": one.cost,
        "compactions": [
            {
                **asdict(each),
                "rebilled": each.cache.rebilled,
                "pays_off_at": each.pays_off_at,
            }
            for each in one.compacted
        ],
        "missed": [asdict(each) for each in one.missed],
        "triggers": [trigger_fields(trigger) for trigger in one.triggers],
    }
