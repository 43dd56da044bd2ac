"""`cwb replay`: a session played from its start under many policies."""

from __future__ import annotations

import string
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from workbench.analysis.cache import Rates
from workbench.analysis.compare import candidates
from workbench.analysis.course import Course
from workbench.analysis.growth import growth
from workbench.analysis.plots import Level, Line, plot
from workbench.analysis.replay import Compacted, Replay, replays
from workbench.cli import settings
from workbench.cli.loading import part_option
from workbench.cli.output import counted, write_json, write_table
from workbench.cli.whole import bench_and_course, whole_session
from workbench.compaction.preset import Preset
from workbench.errors import BadInput
from workbench.figures import grouped
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive

SIGNS = string.ascii_uppercase + string.ascii_lowercase
RECORDED = "·"


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


def money(amount: float, rates: Rates) -> str:
    """Dollars, or millions of input tokens' worth where the price is not known."""
    return f"${amount:,.2f}" if rates.known else f"{amount:.2f} M in"


def _plot(course: Course, played: list[Replay], window: int | None) -> list[str]:
    lines = [Line(sign, one.series) for sign, one in zip(SIGNS, played, strict=False)]
    number = {member: call for call, member in enumerate((course.members[i] for i in course.calls), 1)}
    points = [point for point in growth(course.session, course.sizes.meter.tokens) if point.message in number]
    marks = {number[point.message]: "▼" for point in points if point.compacted and point.epoch > course.numbers[0]}
    lines.insert(0, Line(RECORDED, [(number[point.message], point.tokens) for point in points]))
    levels = [Level("window", window)] if window else []
    if len(played) == 1:
        levels += [
            Level(f"trigger: {trigger.name}", trigger.limit, "┄")
            for trigger in played[0].triggers
            if trigger.unit == "tokens" and trigger.limit
        ]
    drawn = plot(lines, levels, marks)
    legend = f"{RECORDED} as recorded" + ("   ▼ recorded compactions" if marks else "")
    return [*drawn, legend]


def _table(course: Course, played: list[Replay], summarizer: str) -> None:
    calls = len(course.calls)
    rates = played[0].rates if played else Rates()
    click.echo(
        f"{counted(calls, 'call')}, {counted(len(course.messages), 'message')}; without any compaction the last call "
        f"would be sent {grouped(course.plain[-1] if calls else 0)} tokens. Summaries: {summarizer}."
    )
    click.echo(_basis(rates) + "\n")
    write_table(
        ["", "preset", "strategy", "compactions", "first at", "mean after", "peak", "last", "over window", "summaries",
         "re-billed", "cost", "pays off after"],
        [_row(sign, one) for sign, one in zip(SIGNS, played, strict=False)],
    )  # fmt: skip
    for one in played:
        if one.missed:
            first = one.missed[0]
            times = counted(len(one.missed), "time")
            click.echo(f"{one.name}: fired {times} in vain, first at call {first.call}: {first.reason}")


def _basis(rates: Rates) -> str:
    if rates.known:
        return "Cost: all prompts and summaries at the model's prices, what did not change read from the cache."
    return (
        "Cost: in millions of input tokens' worth, for the model's cache prices are not known "
        f"(cache read × {rates.read:g}, write × {rates.write:g}, output × {rates.output:g})."
    )


def _row(sign: str, one: Replay) -> list[str]:
    first = one.compacted[0] if one.compacted else None
    return [
        sign,
        one.name,
        one.preset.strategy,
        str(len(one.compacted)),
        f"call {grouped(first.call)}" if first else "never",
        grouped(one.mean_after) if one.mean_after is not None else "",
        grouped(one.peak),
        grouped(one.last),
        grouped(one.over_window),
        str(sum(each.requests for each in one.compacted)),
        grouped(one.rebilled),
        money(one.cost, one.rates),
        _pay_off(one.compacted),
    ]


def _pay_off(compacted: tuple[Compacted, ...]) -> str:
    """In the middle of all compactions, and how many never paid off before the next one."""
    after = sorted(
        one.pays_off_after for one in compacted if one.pays_off_at is not None and one.pays_off_after is not None
    )
    never = len(compacted) - len(after)
    words = [counted(after[len(after) // 2], "call")] if after else []
    words += [f"{never} never"] if never else []
    return ", ".join(words)


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
                money(each.summary_cost + each.cache_cost, one.rates),
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
        "triggers": [{**asdict(trigger), "distance": trigger.distance} for trigger in one.triggers],
    }
