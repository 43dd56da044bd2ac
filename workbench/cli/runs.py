"""`cwb runs`: the kept runs of live compactions. `list` (when nothing is named), `show`, `diff`, `delete`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from workbench.analysis.transcript import printable
from workbench.cli.output import counted, warn, write_fields, write_json, write_table
from workbench.figures import grouped
from workbench.summarizers import journal
from workbench.summarizers.runs import Call, Run

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
        write_json({"journal": str(journal.path()), "runs": [asdict(entry) for entry in entries]})
    elif not entries:
        warn(f"no runs are kept in {journal.path()}; `cwb compact --summarizer anthropic:MODEL` makes one.")
    else:
        write_table(
            ["run", "began", "ended", "status", "calls", "in", "out", "seconds", "cost", "strategy", "by, file"],
            [_row(entry) for entry in entries],
        )


@command.command("show")
@click.argument("id")
@click.option("--request", "whole", is_flag=True, help="The requests in full, not only their beginnings.")
@as_json_option
def show(id: str, whole: bool, as_json: bool) -> None:
    """Show run ID (or the beginning of one): what was asked, answered, billed and checked."""
    run = journal.load(id)
    if as_json:
        write_json(document(run))
        return
    _write(_facts(run))
    for number, call in enumerate(run.calls, 1):
        click.echo()
        click.secho(f"call {number} of {len(run.calls)}: {call.purpose}", bold=True)
        asked = call.request if whole else _beginning(call.request)
        _write([*_call_facts(call), ("asked", asked), ("answered", call.text)])


@command.command("diff")
@click.argument("first")
@click.argument("second")
@as_json_option
def diff(first: str, second: str, as_json: bool) -> None:
    """Compare two runs: their policies, figures and answers."""
    a, b = journal.load(first), journal.load(second)
    fields = differing(a, b)
    if as_json:
        answers = [list(lines) for lines in _answers(a, b)]
        write_json({"a": a.id, "b": b.id, "fields": [_pair(*row) for row in fields], "answers": answers})
        return
    if not fields:
        click.echo("Nothing but the answers differs." if any(_answers(a, b)) else "The runs are alike.")
    else:
        write_table(["a", "b", "field"], [[_short(old), _short(new), name] for name, old, new in fields])
    for number, lines in enumerate(_answers(a, b), 1):
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


def document(run: Run) -> dict[str, Any]:
    return {**run.model_dump(mode="json"), "usage": asdict(run.usage)}


def _row(entry: journal.Entry) -> list[str]:
    return [
        entry.id,
        _time(entry.began),
        entry.end,
        entry.status.replace("_", " "),
        grouped(entry.calls),
        grouped(entry.input),
        grouped(entry.output),
        f"{entry.seconds:.1f}",
        _dollars(entry.dollars),
        entry.strategy,
        printable(f"{entry.summarizer}, {entry.file}"),
    ]


def _facts(run: Run) -> list[tuple[str, str]]:
    usage = run.usage
    failed = [check for check in run.checks if not check.passed]
    return [
        ("run", run.id),
        ("began", f"{_time(run.began)}, {run.seconds:.1f} s"),
        ("ended", f"{run.end}; {run.status.replace('_', ' ')}: {run.reason}" if run.status else run.end),
        ("session", f"{run.file} ({run.session[:12]})" if run.session else run.file),
        ("strategy", run.strategy + (f", preset {run.preset}" if run.preset else "")),
        ("policy", ", ".join(f"{name}={_short(value)}" for name, value in run.policy.items())),
        ("summarizer", run.summarizer),
        ("tokens", f"{grouped(run.before)} → {grouped(run.after)}" if run.after else f"{grouped(run.before)} before"),
        ("billed", f"{grouped(usage.context)} in, {grouped(usage.output)} out, {_dollars(run.dollars)}"),
        ("checks", "\n".join([f"{len(run.checks) - len(failed)} passed", *(f"{c.name}: {c.detail}" for c in failed)])),
    ]


def _call_facts(call: Call) -> list[tuple[str, str]]:
    failure = f"{call.failure}: {call.detail}" if call.failure else ""
    return [("failed", failure), ("model", call.model), ("notes", "\n".join(call.notes))]


def _write(rows: list[tuple[str, str]]) -> None:
    write_fields([(name, printable(value)) for name, value in rows if value])


def _beginning(text: str) -> str:
    if len(text) <= REQUEST_CHARS:
        return text
    left = len(text) - REQUEST_CHARS
    return f"{text[:REQUEST_CHARS]}\n[… {grouped(left)} more characters; --request shows them …]"


def differing(a: Run, b: Run) -> list[tuple[str, Any, Any]]:
    """Every field in which two runs differ, the policy's by their own names. Requests go by their keys."""
    return [(name, old, new) for name, old, new in _fields(a, b) if old != new]


def _fields(a: Run, b: Run) -> Iterator[tuple[str, Any, Any]]:
    for name in ("file", "session", "strategy", "preset", "summarizer", "end", "status", "before", "after", "dollars"):
        yield name, getattr(a, name), getattr(b, name)
    for name in dict.fromkeys((*a.policy, *b.policy)):
        yield f"policy.{name}", a.policy.get(name), b.policy.get(name)
    yield "calls", len(a.calls), len(b.calls)
    yield "input", a.usage.context, b.usage.context
    yield "output", a.usage.output, b.usage.output
    yield "requests", [call.key for call in a.calls], [call.key for call in b.calls]


def _answers(a: Run, b: Run) -> list[list[str]]:
    """For every call the unified difference of its answers, [] where they are the same."""
    most = max(len(a.calls), len(b.calls))
    return [
        list(difflib.unified_diff(_lines(a, number), _lines(b, number), a.id, b.id, lineterm=""))
        for number in range(most)
    ]


def _lines(run: Run, number: int) -> list[str]:
    if number >= len(run.calls):
        return []
    call = run.calls[number]
    return ([f"[{call.failure}: {call.detail}]"] if call.failure else []) + call.text.splitlines()


def _pair(name: str, old: Any, new: Any) -> dict[str, Any]:
    return {"field": name, "a": old, "b": new}


def _short(value: Any) -> str:
    text = printable(" ".join(str(value).split()))
    return text if len(text) <= 60 else text[:59] + "…"


def _dollars(dollars: float | None) -> str:
    return "unknown" if dollars is None else f"${dollars:.4f}"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
