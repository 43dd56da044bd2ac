"""`cwb why --rework`: work repeated after each compaction that the agent recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from workbench.analysis.rework import KINDS, Rework, rework
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.text import counted
from workbench.cli.loading import on_bench_and_course
from workbench.cli.output import only, warn, write_fields, write_json, write_table
from workbench.cli.selection import Selection

ID = 12
WORDS = 120


def write_rework(chosen: Selection, *, as_json: bool) -> None:
    """Write the work repeated after each recorded compaction, or after the one that ended the epoch that is chosen."""
    _, course = on_bench_and_course(replace(chosen, epoch=1))
    found = rework(course)
    if chosen.epoch is not None:
        newest = found[-1].made.epoch if found else None
        wanted = newest if chosen.epoch == "last" else chosen.epoch
        found = tuple(one for one in found if one.made.epoch == wanted)
        if not found:
            raise BadInput(f"No recorded compaction ended epoch {chosen.epoch}; leave --epoch out to see all.")
    if as_json:
        write_json({"recorded": [rework_document(one) for one in found]})
        return
    if not found:
        warn("this session records no compaction.")
    for one in found:
        _tell(one)


def _tell(one: Rework) -> None:
    click.secho(f"epoch {one.made.epoch}: {one.made}", bold=True)
    cost = f": {grouped(one.tokens)} tokens" if one.items else ""
    write_fields(
        [("again", f"{one}{cost}"), ("new step", _resumed(one)), ("calls", f"{grouped(one.calls)} until the next")]
    )
    if one.items:
        click.echo()
        rows = [
            [
                grouped(item.tokens),
                item.before[:ID],
                item.after[:ID],
                KINDS[item.kind][0],
                printable(one_line(item.what, WORDS)),
            ]
            for item in one.items
        ]
        write_table(["tokens", "before", "again", "done", "what"], rows, {"before": 0, "again": 0, "done": 0})
    click.echo()


def _resumed(one: Rework) -> str:
    spent = f"{counted(one.resumed.calls, 'call')} and {grouped(one.resumed.tokens)} tokens"
    return f"after {spent}  → {one.resumed.message[:ID]}" if one.resumed.message else f"none in {spent}"


def rework_document(one: Rework) -> dict[str, Any]:
    return {
        **only(one.made, "epoch", "call", "way", "asked"),
        "tokens_before": one.made.tokens or None,
        **only(one, "calls", "resumed", "kinds", "tokens", "items"),
    }
