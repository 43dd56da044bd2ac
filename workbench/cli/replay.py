"""`cwb compare --over-session`: a session replayed from its start under several presets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from workbench.analysis.course import Course
from workbench.analysis.pictures import in_characters, replay_picture, sign_of
from workbench.analysis.preset_check import PresetCheck, agent_report, check_own_preset
from workbench.analysis.recorded_compactions import recorded_compactions
from workbench.analysis.replay import Replay, default_summarizer, replays
from workbench.analysis.replay_table import (
    compactions_table,
    cost_basis,
    cost_recorded,
    replays_table,
    watched_table,
)
from workbench.analysis.session_cost import session_cost
from workbench.analysis.watched_rules import judge_recorded
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.cli.load_bench import on_bench_and_course
from workbench.cli.outcomes import print_trails
from workbench.cli.output import USD_PER_MILLION, only, plain, write_csv, write_json, write_tables
from workbench.cli.selection import Selection
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.summarizer import PureSummarizer
from workbench.tokens.cost import Rates

_SUMMARIZERS: dict[str, PureSummarizer] = {"estimate": estimate, "extractive": extractive}


def replay(chosen: Selection, *, summarizers: Sequence[str], drawn: bool, as_json: bool, as_csv: str | None) -> None:
    """Write when each preset would have compacted over the whole session, the sizes and the cost.

    Triggers are checked before each recorded answer, and where a prompt was rejected as too long. The recorded answers
    are used unchanged, although another context could have led to others. Without a named preset every strategy is
    replayed with its default preset. Recorded compactions are compared with the preset of the session's agent, as of
    the version that wrote the file.
    """
    unknown = [name for name in summarizers if name not in _SUMMARIZERS]
    if unknown or len(summarizers) > 1:
        raise click.UsageError(f"--over-session takes one --summarizer: {' or '.join(_SUMMARIZERS)}.")
    policies = chosen.policies()
    bench, course = on_bench_and_course(chosen.whole)
    answer = _SUMMARIZERS[summarizers[0]] if summarizers else default_summarizer(bench.watched)
    name = next(name for name, one in _SUMMARIZERS.items() if one is answer)
    played = list(replays(course, policies, bench.original.limit, answer, bench.watched))
    own_trails = [judge_recorded(sentence, course.session) for sentence in bench.watched]
    if as_csv:
        tables = {"replays": replays_table(played), "watched": watched_table(played, bench.watched)}
        write_csv(tables | ({"compactions": compactions_table(played[0])} if len(played) == 1 else {}), as_csv)
        return
    if as_json:
        calls = [course.message_of(index).id for index in course.calls]
        limit = bench.original.limit
        about = {
            "window_tokens": limit.tokens if limit else None,
            "window_source": limit.source if limit else None,
            "summarizer": name,
            "messages": len(course.messages),
            "session_cost": session_cost(course.session),
        }
        own = check_own_preset(course)
        agent_preset = {"preset": own[0].id, "version": own[0].version, "compactions": own[1]} if own else None
        recorded = {
            "recorded_compactions": recorded_compactions(course),
            "agent_preset": agent_preset,
            "watched_recorded": own_trails,
        }
        sizes = {"call_messages": calls, "uncompacted_tokens": course.plain}
        write_json(about, {**sizes, **recorded, "replays": played})
        return
    if drawn:
        click.echo("\n".join(_plot(course, played, bench.window)))
        click.echo()
    _table(bench, course, played, name)
    if len(played) == 1:
        click.echo()
        write_tables([compactions_table(played[0])])
    if bench.watched:
        write_tables([watched_table(played, bench.watched)])
    if any(trail.passed for trail in own_trails):
        print_trails(own_trails)


def _plot(course: Course, played: list[Replay], window: int | None) -> list[str]:
    picture = replay_picture(course, played, window)
    signs = {sign_of(place) for place in range(len(played))}
    return in_characters(picture, [pair for pair in picture.legend if pair[0] not in signs])  # the table explains these


def _table(bench: Bench, course: Course, played: list[Replay], summarizer: str) -> None:
    calls = len(course.calls)
    rates = played[0].rates if played else Rates()
    click.echo(
        f"{counted(calls, 'call')}, {counted(len(course.messages), 'message')}; without any compaction the last call "
        f"would be sent ~{grouped(course.plain[-1] if calls else 0)} tokens. All tokens of calls are estimates from "
        f"the messages. Summaries: {summarizer}."
    )
    click.echo(f"Context window: {bench.original.limit or 'unknown; name it with --window'}.")
    notes = (agent_report(course), cost_basis(rates), cost_recorded(course.session))
    click.echo("\n".join(filter(None, notes)) + "\n")
    write_tables([replays_table(played)])
    for one in played:
        if one.missed:
            first = one.missed[0]
            times = counted(len(one.missed), "time")
            click.echo(f"{one.name}: fired {times} without effect, first at call {first.call}: {first.reason}")


@plain.register
def _(rates: Rates) -> dict[str, Any]:
    unit = USD_PER_MILLION if rates.known else "input tokens per token"
    return {**only(rates, "input", "output", "cache_read=read", "cache_write=write", "source=by"), "unit": unit}


def cost_unit(*, known: bool) -> str:
    """Unit of every `cost` in the same JSON object: US dollars where the model's prices are `known`."""
    return "usd" if known else "million input tokens"


@plain.register
def replay_document(one: Replay) -> dict[str, Any]:
    return {
        "preset": one.preset.id,
        "version": one.preset.version,
        "strategy": one.preset.strategy,
        "prices": one.rates,
        "cost_unit": cost_unit(known=one.rates.known),
        **only(one, "sent_tokens=sent", "uncompacted_tokens=full", "peak_tokens=peak", "last_tokens=last"),
        **only(one, "calls_over_window=over_window", "mean_tokens_after=mean_after", "rebilled_tokens=rebilled"),
        **only(one, "cost", "compactions=compacted", "triggers_without_effect=missed", "triggers", "watched"),
    }


@plain.register
def _(one: PresetCheck) -> dict[str, Any]:
    """A recorded compaction compared with the agent's preset: the calls at which both compact, and the numbers of
    kept messages; `reason` explains a difference if the file or the agent does."""
    kept = {"kept_messages": len(one.kept_by_agent), "preset_kept_messages": len(one.kept_by_preset)}
    when = only(one, "epoch", "cause", "call", "preset_call=fires")
    return {**when, **kept, **only(one, "verdict", "difference", "reason")}
