"""`cwb rules`: rules of the user, passages marked as pins, and rules of recorded files, with the cost of pinning.

With --instruction the line for the agent's own compaction command, which quotes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import click

from workbench.analysis.broken_rules import BrokenRule, RuleBreak, broken_rules
from workbench.analysis.compact_instruction import LIMIT, CompactInstruction, compact_instruction
from workbench.analysis.rule_file_states import FileRule, FileRuleState, RuleFileState, rule_file_states
from workbench.analysis.suggested_pins import SuggestedPin, auto_pins, pin_tokens, suggest
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.tables import ID, Row, Table, columns
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.cli.jobs import Job, Jobs
from workbench.cli.load_bench import on_bench
from workbench.cli.load_epoch import epoch_words
from workbench.cli.output import csv_option, only, plain, warn, write_csv, write_json, write_tables
from workbench.cli.selection import Selection, selection
from workbench.facts.standing import PIN_REASON

WORDS = 140

EPOCH = (
    "The epoch, from 1, or `last`. Default: the newest that overflowed or was compacted; with --instruction the last."
)

SHOWN = 20
"""Most rows of the table of a rule file; --json and --csv have all."""


@click.command(
    "rules",
    cls=Jobs,
    jobs=(
        Job("", "part epoch marked as_json as_csv"),
        Job("--instruction", "part epoch pins watched limit as_json", "instruction"),
    ),
)
@selection(
    "part",
    epoch=EPOCH,
    pin="Quote this message too. Repeatable.",
    watch="Quote this sentence too, or the rules of CLAUDE.md. Repeatable.",
)
@click.option("--marked/--suggest", "marked", help="Only passages marked with <Pin>. Default: every rule as well.")
@click.option(
    "--instruction",
    is_flag=True,
    help="Print the line for the agent's own compaction (`/compact …`) that quotes the rules, pins and open request.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=LIMIT,
    metavar="TOKENS",
    help=f"Most tokens of the instruction. Default: {LIMIT}, about ten rules.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table or line.")
@csv_option("rules")
def command(chosen: Selection, instruction: bool, **options: Any) -> None:
    """List the rules of FILE's user, which hold for the whole session, with what pinning each costs.

    Then the rules of each rule file (CLAUDE.md, AGENTS.md, …) that FILE records, with their state after the compaction
    that ended the epoch: in force, injected again, read again, or gone. `--watch CLAUDE.md` tracks them.

    Last come rules that a later call broke: with the call, and whether a compaction had dropped the rule before.

    Pass the ids on to `cwb compact --pin`, or pin all of them with `--auto-pin`, which leaves out superseded and
    expensive ones.

    With --instruction, standard output has the line alone, in the words of the session; on standard error is what it
    quotes. An agent whose compaction command takes no instruction gets the text without the command.

    \b
    cwb rules FILE --instruction --pin 12 --limit 300
    """
    if instruction:
        _write_instruction(chosen, **options)
    else:
        _list_rules(chosen, **options)


def _write_instruction(chosen: Selection, limit: int, as_json: bool) -> None:
    bench = on_bench(replace(chosen, epoch=chosen.epoch or "last"))
    found = compact_instruction(bench.session, bench.epoch, bench.context, bench.watched, limit)
    if as_json:
        write_json(found)
        return
    if not found.line:
        warn(f"{found.words}.")
        return
    click.echo(found.line)
    warn(f"Quoted {found.words}.")
    if found.remark:
        warn(found.remark)


def _list_rules(chosen: Selection, marked: bool, as_json: bool, as_csv: str | None) -> None:
    bench = on_bench(chosen)
    context = bench.context
    found = [pin for pin in suggest(context) if not marked or pin.reason == PIN_REASON]
    pinned = auto_pins(found)
    tokens = sum(pin.tokens for pin in {pin.message: pin for pin in found if pin.message in pinned}.values())
    files = () if marked else rule_file_states(bench.session, bench.epoch)
    broken = () if marked else broken_rules(bench.session, bench.epoch)
    table = _table(found)
    if as_csv:
        write_csv({table.key: _complete_table(table, files, bench)}, as_csv)
        return
    if as_json:
        listed = [_file_document(one, bench) for one in files]
        about = {"rules": found, "auto_pinned": pinned, "auto_pinned_tokens": tokens, "rule_files": listed}
        write_json({**about, "broken_rules": broken})
        return
    if epoch := epoch_words(bench.session, bench.epoch):
        click.echo(f"epoch: {epoch}")
    if not found:
        click.echo(_nothing(marked))
    else:
        write_tables([table])
        click.echo(f"\n--auto-pin keeps {counted(len(pinned), 'message')} of these, {grouped(tokens)} tokens.")
    write_tables([_file_table(one, bench) for one in files], SHOWN)
    write_tables([_broken_table(broken)])


@plain.register
def _(found: CompactInstruction) -> dict[str, Any]:
    fields = (
        "line text tokens limit_tokens=limit quoted_rules=rules quoted_pins=pins quotes_request=has_request left_out"
    )
    accepts = bool(found.command and found.command.takes_instruction)
    command = found.command.name if found.command else None
    about = {"agent": found.agent, "command": command, "takes_instruction": accepts, "note": found.remark or None}
    return only(found, *fields.split()) | about


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


def _file_table(one: RuleFileState, bench: Bench) -> Table:
    """Return the rules of a rule file, gone ones first; the title says where the file is recorded."""
    states = get_args(FileRuleState)
    rules = sorted(one.rules, key=lambda rule: -states.index(rule.state))
    rows = (Row((_state(rule), one_line(rule.text, WORDS)), rule.message) for rule in rules)
    title = f"{one}; {_place(one, bench)}"
    return Table("rule_files", printable(title), columns("state rule"), tuple(rows))


def _state(rule: FileRule) -> str:
    since = f" since epoch {rule.gone_since}" if rule.gone_since else ""
    return f"{rule.state}{since}" + (f" in {rule.message[:ID]}" if rule.message else "")


def _place(one: RuleFileState, bench: Bench) -> str:
    """Return where a rule file is, and what pinning it costs."""
    if one.message is None:
        return "in the system prompt"
    index = bench.context.shape.index_of.get(one.message)
    if index is None:
        return f"recorded in {one.message[:ID]}, which is not in this context"
    pin = f"{grouped(pin_tokens(bench.context, index))} tokens to pin"
    sent = "; the agent sends the file with every call" if one.sent_with_calls else ""
    return f"recorded in message {index + 1}, {one.message[:ID]}, {pin}{sent}"


def _broken_table(broken: Sequence[BrokenRule]) -> Table:
    """Return the calls that broke a rule; empty if none did."""
    rows = (
        Row((one.epoch, one.number, one.message, one.command, _lost(one), one_line(rule.text, WORDS)), one.message)
        for rule in broken
        for one in rule.breaks
    )
    calls = counted(sum(len(rule.breaks) for rule in broken), "later call")
    heads = "epoch:count number:count:message message:message:id command:text:call lost:text:rule_then text:text:rule"
    title = f"{counted(len(broken), 'rule')} broken by {calls}"
    return Table("broken_rules", title, columns(heads), tuple(rows))


def _lost(one: RuleBreak) -> str:
    return f"dropped in epoch {one.lost_in}" if one.lost_in else "in the context"


def _complete_table(table: Table, files: Sequence[RuleFileState], bench: Bench) -> Table:
    """Return the table of the user's rules with those of rule files below, and the columns file and state."""
    index_of = bench.context.shape.index_of
    rows = [replace(row, values=(*row.values[:-1], None, None, row.values[-1])) for row in table.rows]
    for one in files:
        at = index_of.get(one.message or "")
        number, tokens = (None, None) if at is None else (at + 1, pin_tokens(bench.context, at))
        values = (number, one.message, tokens, "in a rule file", one.path)
        rows += [Row((*values, rule.state, one_line(rule.text, WORDS)), one.message) for rule in one.rules]
    return replace(table, columns=(*table.columns[:-1], *columns("file state"), table.columns[-1]), rows=tuple(rows))


def _file_document(one: RuleFileState, bench: Bench) -> dict[str, Any]:
    at = bench.context.shape.index_of.get(one.message or "")
    tokens = None if at is None else pin_tokens(bench.context, at)
    number = None if at is None else at + 1
    return {"file": one.path, "message": one.message, "number": number, "tokens": tokens} | only(
        one, "sent_with_calls", "rules"
    )


def _nothing(marked: bool) -> str:
    more = " --suggest also looks for rules and answers."
    return f"There is no <Pin> passage.{more}" if marked else "No rule found."


def _reason(pin: SuggestedPin, numbers: dict[str, int]) -> str:
    if pin.superseded_by is not None:
        return f"{pin.reason}; superseded by message {numbers.get(pin.superseded_by, '?')}"
    return pin.reason if pin.accepted_unasked else f"{pin.reason}; expensive"
