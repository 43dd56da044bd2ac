"""`cwb why --rework`: work repeated after each compaction that the agent recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from workbench.analysis.rework import Rework, rework
from workbench.analysis.why.tables import rework_table
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.tables import ID
from workbench.base.text import counted
from workbench.cli.loading import on_bench_and_course
from workbench.cli.output import only, plain, warn, write_csv, write_fields, write_json, write_tables
from workbench.cli.selection import Selection


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
