"""`cwb list runs`: the run history, with the subcommands `list` (default), `spent`, `show`, `text`, `diff` and
`delete`."""

from __future__ import annotations

from typing import get_args

import click

from workbench.analysis.run_reports import (
    By,
    answer_diffs,
    call_facts,
    differing_fields,
    run_facts,
    short_value,
    spending,
    total_spending,
)
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.tables import Row, Table, columns
from workbench.base.text import counted
from workbench.cli.output import (
    csv_option,
    json_option,
    warn,
    write_csv,
    write_fields,
    write_json,
    write_tables,
)
from workbench.summarizers import run_history

REQUEST_CHARS = 1_000
"""Characters shown of each request; --request shows all of it."""

RUNS = (
    "id:text:run began:time end:text:ended status calls:count input_tokens:tokens:in output_tokens:tokens:out "
    "seconds:seconds usd:money:cost strategy summarizer:text:by file"
)


@click.group("runs", invoke_without_command=True)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the newest N.")
@json_option
@csv_option("runs")
@click.pass_context
def command(ctx: click.Context, limit: int | None, as_json: bool, as_csv: str | None) -> None:
    """List the run history, newest first.

    Every run of a live summarizer is saved on this machine, failed and cancelled ones, too, with its requests and
    answers, and never with a key. `cwb compact --summarizer recorded:ID` repeats a run without asking a model.
    """
    if ctx.invoked_subcommand is not None:
        return
    entries = run_history.list_runs(limit)
    table = Table("runs", "", columns(RUNS), tuple(map(_row, entries)))
    if as_csv:
        write_csv({"runs": table}, as_csv)
    elif as_json:
        write_json({"run_history": paths.runs(), "runs": entries})
    elif not entries:
        warn(f"there are no runs in {paths.runs()}; `cwb compact --summarizer anthropic:MODEL` makes one.")
    else:
        write_tables([table])


@command.command("spent")
@click.option("--by", type=click.Choice(get_args(By)), default="day", show_default=True, help="Group the sums by this.")
@json_option
@csv_option("spent")
def spent(by: By, as_json: bool, as_csv: str | None) -> None:
    """Sum the cost of the saved runs by day (UTC), model or session, and in total, without deleted runs."""
    entries = run_history.list_runs()
    rows, whole = spending(entries, by), total_spending(entries)
    if as_json:
        write_json({"grouped_by": by, "groups": rows, "total": whole})
        return
    spec = (
        "runs:count calls:count input_tokens:tokens:in output_tokens:tokens:out usd:money:cost "
        f"runs_without_price:count:price_unknown name:text:{by}"
    )
    sums = (
        Row((row.runs, row.calls, row.input, row.output, row.dollars, row.unknown or None, row.title))
        for row in (*rows, whole)
    )
    table = Table("spent", "", columns(spec), tuple(sums))
    if as_csv:
        write_csv({"spent": table}, as_csv)
    else:
        write_tables([table])


@command.command("show")
@click.argument("id")
@click.option("--request", "whole", is_flag=True, help="Show requests in full.")
@json_option
def show(id: str, whole: bool, as_json: bool) -> None:
    """Show run ID (or the beginning of an id): its requests, answers, usage and checks."""
    run = run_history.load_run(id)
    if as_json:
        write_json({"run": run.model_dump(mode="json"), "usage": run.usage})
        return
    _write(run_facts(run))
    for number, call in enumerate(run.calls, 1):
        click.echo()
        click.secho(f"call {number} of {len(run.calls)}: {call.purpose}", bold=True)
        request = call.request if whole else _beginning(call.request)
        _write([*call_facts(call), ("asked", request), ("answered", call.text)])


@command.command("text")
@click.argument("id")
def text(id: str) -> None:
    """Print only the model's text of run ID; of an interrupted or failed call, the received part. `--summarizer
    typed:FILE` reads it from a file.
    """
    run = run_history.load_run(id)
    if not any(call.text for call in run.calls):
        raise BadInput(f"In run {run.id} nothing was written.")
    click.echo(printable("\n\n".join(call.text for call in run.calls if call.text)))


@command.command("diff")
@click.argument("first")
@click.argument("second")
@json_option
@csv_option("differences")
def diff(first: str, second: str, as_json: bool, as_csv: str | None) -> None:
    """Compare two runs: their policies, figures and answers."""
    a, b = run_history.load_run(first), run_history.load_run(second)
    fields = differing_fields(a, b)
    if as_json:
        differences = [{"field": name, "a": old, "b": new} for name, old, new in fields]
        write_json({"a": a.id, "b": b.id, "differences": differences, "answer_diffs": answer_diffs(a, b)})
        return
    rows = tuple(Row((short_value(old), short_value(new), name)) for name, old, new in fields)
    table = Table("differences", "", columns("a b field"), rows)
    if as_csv:
        write_csv({table.key: table}, as_csv)
        return
    if not fields:
        click.echo("Only the answers differ." if any(answer_diffs(a, b)) else "The runs are alike.")
    else:
        write_tables([table])
    for number, lines in enumerate(answer_diffs(a, b), 1):
        if lines:
            click.secho(f"\nanswer {number}", bold=True)
            click.echo("\n".join(map(printable, lines)))


@command.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
def delete(ids: tuple[str, ...], as_json: bool) -> None:
    """Delete runs by their ids, or beginnings of ids. If one does not exist, none is deleted."""
    whole = list(dict.fromkeys(map(run_history.full_run_id, ids)))
    run_history.delete_runs(whole)
    if as_json:
        write_json({"deleted": whole})
    else:
        click.echo(f"Deleted {counted(len(whole), 'run')}: {', '.join(whole)}.")


def _beginning(text: str) -> str:
    if len(text) <= REQUEST_CHARS:
        return text
    left = len(text) - REQUEST_CHARS
    return f"{text[:REQUEST_CHARS]}\n[… {grouped(left)} more characters; --request shows them …]"


def _row(entry: run_history.RunRow) -> Row:
    sizes = (entry.calls, entry.input, entry.output, entry.seconds, entry.dollars)
    status = entry.status.replace("_", " ")
    return Row((entry.id, entry.began, entry.end, status, *sizes, entry.strategy, str(entry.summarizer), entry.file))


def _write(rows: list[tuple[str, str]]) -> None:
    write_fields([(name, value) for name, value in rows if value])
