"""`cwb rules`: rules of the user, and passages marked as pins, with the cost of pinning each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from workbench.analysis.suggested_pins import SuggestedPin, auto_pins, suggest
from workbench.base.figures import grouped
from workbench.base.printable import one_line
from workbench.base.tables import Row, Table, columns
from workbench.base.text import counted
from workbench.cli.load_bench import on_bench
from workbench.cli.load_epoch import epoch_words
from workbench.cli.output import csv_option, only, plain, write_csv, write_json, write_tables
from workbench.cli.selection import Selection, selection
from workbench.facts.standing import PIN_REASON

WORDS = 140


@click.command("rules")
@selection("part", "epoch")
@click.option("--marked/--suggest", "marked", help="Only passages marked with <Pin>. Default: every rule as well.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
@csv_option("rules")
def command(chosen: Selection, marked: bool, as_json: bool, as_csv: str | None) -> None:
    """List the rules of FILE's user, which hold for the whole session, with what pinning each costs.

    Pass the ids on to `cwb compact --pin`, or pin all of them with `--auto-pin`, which leaves out superseded and
    expensive ones.
    """
    bench = on_bench(chosen)
    context = bench.context
    found = [pin for pin in suggest(context) if not marked or pin.reason == PIN_REASON]
    taken = auto_pins(found)
    tokens = sum(pin.tokens for pin in {pin.message: pin for pin in found if pin.message in taken}.values())
    table = _table(found)
    if as_csv:
        write_csv({table.key: table}, as_csv)
        return
    if as_json:
        write_json({"rules": found, "auto_pinned": taken, "auto_pinned_tokens": tokens})
        return
    if epoch := epoch_words(bench.session, bench.epoch):
        click.echo(f"epoch: {epoch}")
    if not found:
        click.echo(_nothing(marked))
        return
    write_tables([table])
    click.echo(f"\n--auto-pin keeps {counted(len(taken), 'message')} of these, {grouped(tokens)} tokens.")


@plain.register
def _(pin: SuggestedPin) -> dict[str, Any]:
    about = only(pin, "message", "text", "reason", "tokens", "superseded_by", "pinned", "auto_pin=accepted_unasked")
    return {"number": pin.index + 1, **about}


def _table(found: Sequence[SuggestedPin]) -> Table:
    numbers = {pin.message: pin.index + 1 for pin in found}
    rows = (
        Row((pin.index + 1, pin.message, pin.tokens, _reason(pin, numbers), one_line(pin.text, WORDS)), pin.message)
        for pin in found
    )
    return Table("rules", "", columns("number:count:message message:message:id tokens:tokens reason text"), tuple(rows))


def _nothing(marked: bool) -> str:
    more = " --suggest also looks for rules and answers."
    return f"There is no <Pin> passage.{more}" if marked else "No rule found."


def _reason(pin: SuggestedPin, numbers: dict[str, int]) -> str:
    if pin.superseded_by is not None:
        return f"{pin.reason}; superseded by message {numbers.get(pin.superseded_by, '?')}"
    return pin.reason if pin.accepted_unasked else f"{pin.reason}; expensive"
