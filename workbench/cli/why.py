"""`cwb why`: why a context overflowed, and what would have helped."""

from __future__ import annotations

from typing import Any

import click

from workbench.analysis.pictures import growth_picture, in_characters
from workbench.analysis.transcript import printable
from workbench.analysis.why import Diagnosis, diagnose
from workbench.analysis.why.diagnosis import overflowed
from workbench.analysis.why.fillers import Share
from workbench.analysis.why.findings import Finding
from workbench.analysis.why.waste import UNUSED_RULE, Spot
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.cli.loading import on_bench_and_course
from workbench.cli.output import fields_of, only, plain, write_fields, write_json, write_table
from workbench.cli.replay import replay_document
from workbench.cli.selection import Selection, selection

PRESET = "claude-code"
"""Whose trigger lines are drawn where no policy is named."""

SHOWN = 10
ID = 12


@click.command("why")
@selection(
    "part",
    "set",
    "window",
    strategy="Whose triggers are looked at, with its own preset.",
    preset=f"Whose triggers are looked at; {PRESET} by default.",
    epoch="The epoch; by default the newest that overflowed, else the last.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with nothing left out.")
def command(chosen: Selection, as_json: bool) -> None:
    """Say why the context of FILE overflowed: how it grew, who filled it, and what would have helped.

    What would have helped is computed, not guessed: the session is played on with its own messages, without what a
    sentence speaks of or under the policy that it names.
    """
    preset = chosen.policy(PRESET)
    bench, course = on_bench_and_course(chosen, overflowed)
    found = diagnose(bench.context, course, bench.epoch, preset)
    if as_json:
        write_json(found)
        return
    _head(found)
    click.echo("\n".join(in_characters(growth_picture(found))) + "\n")
    for number, one in enumerate(found.findings, 1):
        click.echo(f"{number:2}. {one.text}{_where(one)}")
    _fillers(found)
    _waste(found)


def _where(one: Finding) -> str:
    """The ids to go to: the first few."""
    if not one.messages:
        return ""
    more = f" and {len(one.messages) - 3} more" if len(one.messages) > 3 else ""
    return click.style(f"  → {', '.join(id[:ID] for id in one.messages[:3])}{more}", dim=True)


def _head(found: Diagnosis) -> None:
    epochs = len(found.session.epochs)
    limit = f"{grouped(found.limit.tokens)} tokens: {found.limit.why}" if found.limit else "not known; give --window"
    rows = [
        ("epoch", f"{found.epoch} of {epochs}"),
        ("context", f"{found.total} tokens in {counted(found.total.messages, 'message')}"),
        ("limit", limit),
        ("overflow", _overflow(found)),
        ("growth", f"{grouped(found.growth_per_round)} tokens per round, in the newest rounds"),
    ]
    rows += [("trigger", f"{found.preset.id or found.preset.strategy}: {trigger}") for trigger in found.triggers]
    rows += [("refused", f"{one.text[:120]}  → {(one.message or '')[:ID]}") for one in found.refusals[:3]]
    write_fields(rows)
    click.echo()


def _overflow(found: Diagnosis) -> str:
    if found.limit is None:
        return "cannot be told without a limit"
    if found.crossing:
        at = found.crossing
        return f"call {grouped(at.call)} of the epoch, in round {at.round}  → {at.message[:ID]}"
    if found.rounds_left is None:
        return "not reached"
    return f"not reached; in about {counted(found.rounds_left, 'round')} at that growth"


def _fillers(found: Diagnosis) -> None:
    whole = max(found.total.tokens, 1)
    click.echo("\nBy layer")
    write_table(
        ["tokens", "%", "layer"],
        [[grouped(one.tokens), f"{100 * one.tokens / whole:.0f}", one.name] for one in found.layers],
    )
    for title, shares, thing in (("By tool", found.tools, "calls"), ("By file", found.files, "calls")):
        _shares(title, shares, thing, whole)
    click.echo("\nLargest rounds")
    largest = sorted(found.rounds, key=lambda one: -one.tokens)[:SHOWN]
    write_table(
        ["tokens", "%", "context then", "round", "message"],
        [
            [grouped(r.tokens), f"{100 * r.tokens / whole:.0f}", grouped(r.upto), str(r.number), r.message[:ID]]
            for r in largest
        ],
    )
    click.echo("\nLargest messages")
    write_table(
        ["tokens", "%", "#", "message", "what"],
        [
            [grouped(m.tokens), f"{100 * m.tokens / whole:.0f}", str(m.number), m.message[:ID], printable(m.what)]
            for m in found.largest
        ],
    )


def _shares(title: str, shares: tuple[Share, ...], thing: str, whole: int) -> None:
    if not shares:
        return
    more = f", {len(shares) - SHOWN} more in --json" if len(shares) > SHOWN else ""
    click.echo(f"\n{title}{more}")
    rows = [
        [grouped(one.tokens), f"{100 * one.tokens / whole:.0f}", grouped(one.count), printable(one.name)]
        for one in shares[:SHOWN]
    ]
    write_table(["tokens", "%", thing, "name"], rows)


def _waste(found: Diagnosis) -> None:
    waste = found.waste
    if waste.rereads:
        click.echo("\nRead again and again")
        write_table(
            ["tokens", "reads", "shown again later", "file"],
            [
                [grouped(r.tokens), str(len(r.reads)), grouped(sum(x.tokens for x in r.repeated)), printable(r.path)]
                for r in waste.rereads[:SHOWN]
            ],
        )
    if waste.unused:
        click.echo(f"\nNever referred to later. {UNUSED_RULE}")
        _spots(waste.unused)
    for title, spots in (("Base64", waste.base64), ("Logs", waste.logs), ("Cut results", waste.cut)):
        if spots:
            click.echo(f"\n{title}")
            _spots(spots)


def _spots(spots: tuple[Spot, ...]) -> None:
    largest = sorted(spots, key=lambda spot: -spot.tokens)[:SHOWN]
    rows = [[grouped(s.tokens), str(s.index + 1), s.message[:ID], printable(s.note)] for s in largest]
    write_table(["tokens", "#", "message", "note"], rows)
    if len(spots) > SHOWN:
        click.echo(f"{len(spots) - SHOWN} more in --json")


@plain.register
def _(found: Diagnosis) -> dict[str, Any]:
    ids = found.session.messages
    return {
        "epoch": found.epoch,
        "context": {**plain(found.total), "basis": found.total.basis},
        **only(found, "window", "limit", "crossing", "growth_per_round", "rounds_left"),
        "growth": [
            {"message": ids[point.message].id, **only(point, "epoch", "tokens", "basis", "compacted")}
            for point in found.points
        ],
        **only(found, "refusals", "triggers"),
        "replay": replay_document(found.played),
        **only(found, "layers", "tools", "files", "rounds", "largest"),
        "unused_rule": UNUSED_RULE,
        **only(found, "waste", "findings"),
    }


@plain.register
def _(one: Finding) -> dict[str, Any]:
    return {**fields_of(one), "delay_rounds": one.delay.rounds if one.delay else None}
