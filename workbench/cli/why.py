"""`cwb why`: causes of an overflow, changes that would have prevented it, and with `--rework` the work repeated after
each recorded compaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from workbench.analysis.pictures import growth_picture, in_characters
from workbench.analysis.rework import Rework, rework
from workbench.analysis.session_cost import Rewrites, session_cost
from workbench.analysis.watched_rules import judge_recorded
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.analysis.why.findings import Finding
from workbench.analysis.why.tables import KEYS, rework_table, tables
from workbench.analysis.why.waste import UNUSED_RULE, FileView, Spot
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.tables import ID
from workbench.base.text import counted
from workbench.cli.jobs import Job, Jobs
from workbench.cli.load_bench import on_bench_and_course
from workbench.cli.outcomes import print_trails
from workbench.cli.output import csv_option, only, plain, warn, write_csv, write_fields, write_json, write_tables
from workbench.cli.replay import cost_unit, replay_document
from workbench.cli.selection import Selection, selection
from workbench.compaction.preset import agent_preset_id
from workbench.repairs.advice import advice
from workbench.tokens.sizes import usage_words

PRESET = "claude-code"
"""Preset whose trigger lines are drawn if no policy is named."""

SHOWN = 10
"""Rows of each table; --json and --csv have all."""


@click.command(
    "why",
    cls=Jobs,
    jobs=(
        Job("", "part strategies presets fields watched epoch window as_json as_csv"),
        Job("--rework", "part epoch as_json as_csv", "only_rework"),
    ),
)
@selection(
    "part",
    "set",
    "window",
    "watch",
    epoch="The epoch, from 1, or `last`. Default: the newest that overflowed or was compacted; with --rework: all.",
    strategy="Show the triggers of this strategy, with its first preset.",
    preset=f"Show the triggers of this preset. Default: the agent's, else {PRESET}.",
)
@click.option(
    "--rework",
    "only_rework",
    is_flag=True,
    help="Only the rework after each recorded compaction, and when the next new step followed.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with nothing left out.")
@csv_option(*KEYS)
def command(chosen: Selection, only_rework: bool, **options: Any) -> None:
    """Say why the context of FILE overflowed: how it grew, who filled it, and what would have helped.

    Suggestions are computed: the session is replayed with its own messages, without the named content or under
    the named preset. Rework is work repeated after a compaction: unchanged files read again, commands and
    searches with the same result, repeated questions, repeated user instructions, and edits that undo or redo
    earlier ones.
    """
    if only_rework:
        write_rework(chosen, **options)
    else:
        _why(chosen, **options)


def _why(chosen: Selection, *, as_json: bool, as_csv: str | None) -> None:
    bench, course = on_bench_and_course(chosen)
    preset = chosen.policy(agent_preset_id(bench.session) or PRESET)
    found = diagnose(bench.context, course, bench.epoch, preset)
    passed = [judge_recorded(one, bench.session) for one in bench.watched]
    if as_csv:
        write_csv(tables(found), as_csv)
        return
    advised = advice(chosen.file, chosen.part) if not chosen.piped else None
    if as_json:
        write_json(found.failures, found, {"watched": passed, "repair": advised})
        return
    if headline := found.failures.headline:
        click.secho(printable(headline), bold=True)
    click.secho(found.verdict + "\n", bold=True)
    _head(found)
    click.echo("\n".join(in_characters(growth_picture(found))) + "\n")
    for number, one in enumerate(found.findings, 1):
        click.echo(f"{number:2}. {printable(one.text)}{_where(one)}")
    write_tables(tables(found).values(), SHOWN)
    print_trails(passed)
    if advised:
        click.echo(f"\n{printable(str(advised))}")


def _where(one: Finding) -> str:
    """Return the ids of the first three messages of a finding, for display."""
    if not one.messages:
        return ""
    more = f" and {len(one.messages) - 3} more" if len(one.messages) > 3 else ""
    ids = printable(", ".join(id[:ID] for id in one.messages[:3]))
    return click.style(f"  → {ids}{more}", dim=True)


def _head(found: Diagnosis) -> None:
    epochs = len(found.session.epochs)
    parts = f": {words}" if (words := usage_words(found.total, found.usage)) else ""
    limit = f"{grouped(found.limit.tokens)} tokens: {found.limit.why}" if found.limit else "not known; give --window"
    rows = [
        ("epoch", f"{found.epoch} of {epochs}"),
        (
            "context",
            f"{found.total} tokens in {counted(found.total.messages, 'message')}{parts}",
        ),
        ("window", str(found.window or "unknown; give --window")),
        ("limit", limit),
        ("overflow", found.reached + (f"  → {found.crossing.message[:ID]}" if found.crossing else "")),
        *([("cost", str(cost))] if (cost := session_cost(found.session)) else []),
        ("growth", f"{grouped(found.growth_per_round)} tokens per round, in the newest rounds"),
    ]
    rows += [("trigger", f"{found.preset.name}: {trigger}") for trigger in found.triggers]
    rows += [("failure", str(one)) for one in found.failures.others]
    rows += [("refused", f"{one.text[:120]}  → {(one.message or '')[:ID]}") for one in found.refusals[:3]]
    write_fields(rows)
    click.echo()


@plain.register
def _(found: Diagnosis) -> dict[str, Any]:
    ids = found.session.messages
    return {
        **only(found, "epoch", "verdict"),
        "context": {**plain(found.total), "basis": found.total.basis, "recorded_usage_tokens": found.usage},
        "window_tokens": found.window.tokens if found.window else None,
        "window_source": found.window.source if found.window else None,
        "session_cost": session_cost(found.session),
        **only(found, "limit", "crossing", "growth_tokens_per_round=growth_per_round", "rounds_left"),
        "growth": [
            {"message": ids[point.message].id, **only(point, "epoch", "tokens", "basis", "compacted")}
            for point in found.points
        ],
        **only(found, "refusals", "triggers"),
        "replay": replay_document(found.played),
        **only(found, "layers", "tools", "files", "rounds", "largest"),
        "unused_rule": UNUSED_RULE,
        **only(found, "waste"),
        "rework": [rework_document(one) for one in found.rework],
        "cache": found.rewrites,
        **only(found, "findings"),
        "recorded_claims": found.claims,
    }


@plain.register
def _(rewrites: Rewrites) -> dict[str, Any]:
    return {
        **only(rewrites, "calls", "written_tokens=written", "rewritten_tokens=tokens", "by_cause", "rewrites=again"),
        "cost_unit": cost_unit(known=rewrites.rates.known),
    }


@plain.register
def _(one: FileView) -> dict[str, Any]:
    again = None if one.by is None else one.by + 1
    return {"message": one.message, "number": one.index + 1, "tokens": one.tokens, "repeated_by_number": again}


@plain.register
def _(one: Spot) -> dict[str, Any]:
    return {"message": one.message, "number": one.index + 1, **only(one, "tokens", "note")}


def write_rework(chosen: Selection, *, as_json: bool, as_csv: str | None) -> None:
    """Write the work repeated after each recorded compaction, or after the one that ended the chosen epoch."""
    _, course = on_bench_and_course(replace(chosen, epoch=1))
    found = rework(course)
    if chosen.epoch is not None:
        newest = found[-1].compaction.epoch if found else None
        wanted = newest if chosen.epoch == "last" else chosen.epoch
        found = tuple(one for one in found if one.compaction.epoch == wanted)
        if not found:
            raise BadInput(f"No recorded compaction ended epoch {chosen.epoch}; leave --epoch out to see all.")
    table = rework_table((one.compaction.epoch, item) for one in found for item in one.items)
    if as_csv:
        write_csv({table.key: table}, as_csv)
        return
    if as_json:
        write_json({"recorded_compactions": [rework_document(one) for one in found]})
        return
    if not found:
        warn("this session records no compaction.")
    for one in found:
        _print_rework(one)
    write_tables([table])


def _print_rework(one: Rework) -> None:
    click.secho(f"epoch {one.compaction.epoch}: {one.compaction}", bold=True)
    cost = f": {grouped(one.tokens)} tokens" if one.items else ""
    write_fields(
        [("again", f"{one}{cost}"), ("new step", _resumed(one)), ("calls", f"{grouped(one.calls)} until the next")]
    )


def _resumed(one: Rework) -> str:
    spent = f"{counted(one.resumed.calls, 'call')} and {grouped(one.resumed.tokens)} tokens"
    return f"after {spent}  → {one.resumed.message[:ID]}" if one.resumed.message else f"none in {spent}"


def rework_document(one: Rework) -> dict[str, Any]:
    return {
        **plain(one.compaction),
        "tokens_before": one.compaction.tokens or None,
        **only(one, "calls", "until_new_step=resumed", "by_kind=kinds", "tokens", "items"),
    }
