"""`cwb list runs`: the kept runs of live compactions. `list` (when nothing is named), `spent`, `show`, `text`, `diff`,
`delete`."""

from __future__ import annotations

from typing import get_args

import click

from workbench.analysis.kept_runs import answer_diffs, call_facts, differing, facts, short_value
from workbench.analysis.spending import By, in_all, spending
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.stamps import shown
from workbench.base.text import counted
from workbench.cli.output import fields_of, warn, write_fields, write_json, write_table
from workbench.summarizers import journal
from workbench.tokens.cost import money

REQUEST_CHARS = 1_000
"""Of each request so much is shown; --request shows all of it."""

as_json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")


@click.group("runs", invoke_without_command=True)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the newest N.")
@as_json_option
@click.pass_context
def command(ctx: click.Context, limit: int | None, as_json: bool) -> None:
    """List the kept runs, the newest first.

    Every run of a live summarizer is kept on this machine, failed and cancelled ones too, with all that was sent and
    answered, and never a key. `cwb compact --summarizer recorded:ID` plays one again without asking anybody.
    """
    if ctx.invoked_subcommand is not None:
        return
    entries = journal.kept(limit)
    if as_json:
        write_json({"journal": paths.runs(), "runs": entries})
    elif not entries:
        warn(f"no runs are kept in {paths.runs()}; `cwb compact --summarizer anthropic:MODEL` makes one.")
    else:
        write_table(
            ["run", "began", "ended", "status", "calls", "in", "out", "seconds", "cost", "strategy", "by, file"],
            [_row(entry) for entry in entries],
        )


@command.command("spent")
@click.option("--by", type=click.Choice(get_args(By)), default="day", show_default=True, help="What is added up.")
@as_json_option
def spent(by: By, as_json: bool) -> None:
    """Add up what the kept runs have cost: by day (UTC), model or session, and in all. Deleted runs are in no sum."""
    entries = journal.kept()
    rows, whole = spending(entries, by), in_all(entries)
    if as_json:
        write_json({"by": by, "sums": rows, "all": whole})
        return
    heads = ["runs", "calls", "in", "out", "cost", "price unknown", by]
    cells = [
        [grouped(row.runs), grouped(row.calls), grouped(row.input), grouped(row.output), money(row.dollars),
         grouped(row.unknown) if row.unknown else "", printable(row.title)]
        for row in (*rows, whole)
    ]  # fmt: skip
    write_table(heads, cells)


@command.command("show")
@click.argument("id")
@click.option("--request", "whole", is_flag=True, help="The requests in full, not only their beginnings.")
@as_json_option
def show(id: str, whole: bool, as_json: bool) -> None:
    """Show run ID (or the beginning of one): what was asked, answered, billed and checked."""
    run = journal.load(id)
    if as_json:
        write_json(run.model_dump(mode="json"), {"usage": fields_of(run.usage)})
        return
    _write(facts(run))
    for number, call in enumerate(run.calls, 1):
        click.echo()
        click.secho(f"call {number} of {len(run.calls)}: {call.purpose}", bold=True)
        asked = call.request if whole else _beginning(call.request)
        _write([*call_facts(call), ("asked", asked), ("answered", call.text)])


@command.command("text")
@click.argument("id")
def text(id: str) -> None:
    """Write what the model wrote in run ID, and nothing else, to standard output; of calls that broke off or failed as
    far as it came. `--summarizer typed:FILE` takes it from a file.
    """
    run = journal.load(id)
    if not any(call.text for call in run.calls):
        raise BadInput(f"In run {run.id} nothing was written.")
    click.echo(printable("\n\n".join(call.text for call in run.calls if call.text)))


@command.command("diff")
@click.argument("first")
@click.argument("second")
@as_json_option
def diff(first: str, second: str, as_json: bool) -> None:
    """Compare two runs: their policies, figures and answers."""
    a, b = journal.load(first), journal.load(second)
    fields = differing(a, b)
    if as_json:
        differences = [{"field": name, "a": old, "b": new} for name, old, new in fields]
        write_json({"a": a.id, "b": b.id, "fields": differences, "answers": answer_diffs(a, b)})
        return
    if not fields:
        click.echo("Nothing but the answers differs." if any(answer_diffs(a, b)) else "The runs are alike.")
    else:
        write_table(["a", "b", "field"], [[short_value(old), short_value(new), name] for name, old, new in fields])
    for number, lines in enumerate(answer_diffs(a, b), 1):
        if lines:
            click.secho(f"\nanswer {number}", bold=True)
            click.echo("\n".join(map(printable, lines)))


@command.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@as_json_option
def delete(ids: tuple[str, ...], as_json: bool) -> None:
    """Delete runs by their ids, or beginnings of them; all of them or, when one is not there, none."""
    whole = list(dict.fromkeys(map(journal.whole_id, ids)))
    journal.delete(whole)
    if as_json:
        write_json({"deleted": whole})
    else:
        click.echo(f"Deleted {counted(len(whole), 'run')}: {', '.join(whole)}.")


def _beginning(text: str) -> str:
    if len(text) <= REQUEST_CHARS:
        return text
    left = len(text) - REQUEST_CHARS
    return f"{text[:REQUEST_CHARS]}\n[… {grouped(left)} more characters; --request shows them …]"


def _row(entry: journal.Entry) -> list[str]:
    return [
        entry.id,
        shown(entry.began),
        entry.end,
        entry.status.replace("_", " "),
        grouped(entry.calls),
        grouped(entry.input),
        grouped(entry.output),
        f"{entry.seconds:.1f}",
        money(entry.dollars),
        entry.strategy,
        printable(f"{entry.summarizer}, {entry.file}"),
    ]


def _write(rows: list[tuple[str, str]]) -> None:
    write_fields([(name, printable(value)) for name, value in rows if value])
