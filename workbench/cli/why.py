"""`cwb why`: why a context overflowed, and what would have helped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from workbench.analysis.cost import paid
from workbench.analysis.pictures import growth_picture, in_characters
from workbench.analysis.rewrites import CAUSES, Rewrites
from workbench.analysis.watched import judge_recorded
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.analysis.why.findings import Finding
from workbench.analysis.why.waste import UNUSED_RULE
from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.text import counted
from workbench.cli.loading import on_bench_and_course
from workbench.cli.output import fields_of, only, plain, write_fields, write_json, write_table
from workbench.cli.replay import replay_document
from workbench.cli.rework import rework_document
from workbench.cli.selection import Selection, selection
from workbench.cli.watched import tell_recorded
from workbench.compaction.of_tool import tools_preset
from workbench.repairs.advice import advice

PRESET = "claude-code"
"""Whose trigger lines are drawn where no policy is named."""

SHOWN = 10
ID = 12


@click.command("why")
@selection(
    "part",
    "set",
    "window",
    "epoch",
    "watch",
    strategy="Whose triggers are looked at, with its own preset.",
    preset=f"Whose triggers are looked at; by default the tool's own, else {PRESET}.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with nothing left out.")
def command(chosen: Selection, as_json: bool) -> None:
    """Say why the context of FILE overflowed: how it grew, who filled it, and what would have helped.

    What would have helped is computed, not guessed: the session is played on with its own messages, without what a
    sentence speaks of or under the policy that it names.
    """
    bench, course = on_bench_and_course(chosen)
    preset = chosen.policy(tools_preset(bench.session) or PRESET)
    found = diagnose(bench.context, course, bench.epoch, preset)
    passed = [judge_recorded(one, bench.session) for one in bench.watched]
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
    _fillers(found)
    _waste(found)
    _cache(found)
    tell_recorded(passed)
    if advised:
        click.echo(f"\n{printable(str(advised))}")


def _where(one: Finding) -> str:
    """The ids to go to: the first few."""
    if not one.messages:
        return ""
    more = f" and {len(one.messages) - 3} more" if len(one.messages) > 3 else ""
    ids = printable(", ".join(id[:ID] for id in one.messages[:3]))
    return click.style(f"  → {ids}{more}", dim=True)


def _head(found: Diagnosis) -> None:
    epochs = len(found.session.epochs)
    limit = f"{grouped(found.limit.tokens)} tokens: {found.limit.why}" if found.limit else "not known; give --window"
    rows = [
        ("epoch", f"{found.epoch} of {epochs}"),
        ("context", f"{found.total} tokens in {counted(found.total.messages, 'message')}"),
        ("window", str(found.window or "unknown; give --window")),
        ("limit", limit),
        ("overflow", _overflow(found)),
        *([("cost", str(cost))] if (cost := paid(found.session)) else []),
        ("growth", f"{grouped(found.growth_per_round)} tokens per round, in the newest rounds"),
    ]
    rows += [("trigger", f"{found.preset.name}: {trigger}") for trigger in found.triggers]
    rows += [("failure", printable(str(one))) for one in found.failures.others]
    rows += [("refused", f"{one.text[:120]}  → {(one.message or '')[:ID]}") for one in found.refusals[:3]]
    write_fields(rows)
    click.echo()


def _overflow(found: Diagnosis) -> str:
    if found.limit is None:
        return "cannot be told without a limit"
    if found.crossing:
        at = found.crossing
        return f"call {grouped(at.call)} of the epoch, in round {at.round}  → {at.message[:ID]}"
    if found.limit.ended:
        return "after the epoch's last call"
    if found.rounds_left is None:
        return "not reached"
    return f"not reached; in about {counted(found.rounds_left, 'round')} at that growth"


def _ranked(title: str, found: Sequence[Any], columns: dict[str, Callable[[Any], str]], whole: int = 0) -> None:
    """A table of the first `SHOWN`, tokens first, as a share of `whole`, too, where that is given."""
    if not found:
        return
    shares: dict[str, Callable[[Any], str]] = {"%": lambda one: f"{100 * one.tokens / whole:.0f}"} if whole else {}
    cells = {"tokens": lambda one: grouped(one.tokens), **shares, **columns}
    click.echo(f"\n{title}")
    write_table(list(cells), [[printable(cell(one)) for cell in cells.values()] for one in found[:SHOWN]])


def _fillers(found: Diagnosis) -> None:
    whole = max(found.total.tokens, 1)
    _ranked("By layer", found.layers, {"layer": lambda one: one.name}, whole)
    for title, shares in (("By tool", found.tools), ("By file", found.files)):
        more = f", {len(shares) - SHOWN} more in --json" if len(shares) > SHOWN else ""
        columns = {"calls": lambda one: grouped(one.count), "name": lambda one: printable(one.name)}
        _ranked(title + more, shares, columns, whole)
    rounds = {
        "context then": lambda one: grouped(one.upto),
        "round": lambda one: str(one.number),
        "message": lambda one: one.message[:ID],
    }
    _ranked("Largest rounds", sorted(found.rounds, key=lambda one: -one.tokens), rounds, whole)
    messages = {
        "#": lambda one: str(one.number),
        "message": lambda one: one.message[:ID],
        "what": lambda one: printable(one.what),
    }
    _ranked("Largest messages", found.largest, messages, whole)


def _waste(found: Diagnosis) -> None:
    waste = found.waste
    rereads = {
        "reads": lambda one: str(len(one.reads)),
        "shown again later": lambda one: grouped(sum(read.tokens for read in one.repeated)),
        "file": lambda one: printable(one.path),
    }
    _ranked("Read again and again", waste.rereads, rereads)
    spots = {
        "#": lambda one: str(one.index + 1),
        "message": lambda one: one.message[:ID],
        "note": lambda one: printable(one.note),
    }
    unused = f"Never referred to later. {UNUSED_RULE}"
    kinds = ((unused, waste.unused), ("Base64", waste.base64), ("Logs", waste.logs), ("Cut results", waste.cut))
    for title, found_there in kinds:
        _ranked(title, sorted(found_there, key=lambda one: -one.tokens), spots)
        if len(found_there) > SHOWN:
            click.echo(f"{len(found_there) - SHOWN} more in --json")


def _cache(found: Diagnosis) -> None:
    """Print a table of the tokens that the whole session wrote to the prompt cache again, by cause."""
    if found.rewrites is None or not found.rewrites.again:
        return
    rewrites = found.rewrites
    columns = {
        "calls": lambda one: grouped(one.calls),
        "cost": lambda one: rewrites.rates.words(one.cost),
        "cause": lambda one: CAUSES[one.cause],
    }
    _ranked(f"Written to the cache again, {rewrites}", rewrites.by_cause, columns)


@plain.register
def _(found: Diagnosis) -> dict[str, Any]:
    ids = found.session.messages
    return {
        "epoch": found.epoch,
        "context": {**plain(found.total), "basis": found.total.basis},
        "window": found.window.tokens if found.window else None,
        "window_source": found.window.source if found.window else None,
        "cost": paid(found.session),
        **only(found, "limit", "crossing", "growth_per_round", "rounds_left"),
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
        "recorded_summaries": found.claims,
    }


@plain.register
def _(rewrites: Rewrites) -> dict[str, Any]:
    return {
        **only(rewrites, "calls", "written"),
        "written_again": rewrites.tokens,
        **only(rewrites, "by_cause", "again"),
        "unit": "USD" if rewrites.rates.known else "million input tokens",
    }


@plain.register
def _(one: Finding) -> dict[str, Any]:
    return {**fields_of(one), "delay_rounds": one.delay.rounds if one.delay else None}
