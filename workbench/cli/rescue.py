"""`cwb rescue`: compact a session that its agent can no longer compact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from workbench.base.printable import printable
from workbench.base.text import counted
from workbench.bench import Bench, choose_preset
from workbench.bench.rescue import newest_session_in, repaired_copy, with_model, without_model
from workbench.cli.compacting import DONE, CompactionResult, run_compaction
from workbench.cli.load_bench import on_bench
from workbench.cli.outcomes import state_words
from workbench.cli.output import only, plain, write_json
from workbench.cli.running import max_cost
from workbench.cli.selection import Selection, selection
from workbench.compaction.outcome import verdict
from workbench.formats.export import Saved, refuse_place, save, save_in_place
from workbench.formats.format import Written
from workbench.formats.masked import without_secrets
from workbench.formats.registry import by_id
from workbench.formats.steps import steps
from workbench.repairs.engine import Repair
from workbench.repairs.result import save as save_repair
from workbench.repairs.result import steps_of
from workbench.summarizers.by_name import parse_name
from workbench.summarizers.spend_limit import SpendLimit

NO_MODEL = "extractive"
"""Default summarizer, offline."""


@click.command("rescue")
@selection(
    "part",
    "set",
    "watch",
    "window",
    "mask",
    required=False,
    strategy="The strategy, instead of the agent's or the ledger.",
    preset="Settings and prompt to start from, instead of the agent's or the ledger's.",
)
@click.option(
    "--summarizer",
    "summarizer_name",
    metavar="NAME",
    help="Who writes the summary, such as anthropic:MODEL (live), for the agent's own preset; else no model is asked.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write to this file or folder, instead of where the agent keeps its sessions.",
)
@max_cost
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a sentence and the steps.")
def command(
    chosen: Selection, summarizer_name: str | None, spend_limit: SpendLimit, out: Path | None, as_json: bool
) -> None:
    """Compact a session that its agent can no longer compact, and print the steps to resume it there.

    Without FILE it is the newest session of this folder, whichever agent's. A damaged one is repaired first, as
    `cwb repair` does. It is compacted by the agent's own preset where that needs no model or --summarizer names one,
    else by the ledger. The new session is written in the agent's own format where the agent looks for it; the old one
    is not changed. A report goes to stderr, the steps to stdout:

    \b
      sh -c "$(cwb rescue)"

    \b
    Exit codes:
      0    done
      1    nothing to compact, or not smaller
      2    bad input or usage, or the newest session is still being written
      3    a required check failed, and nothing was written
      5    it could cost more than --max-cost, and nothing was sent
    """
    if not chosen.files:
        found = newest_session_in(Path.cwd())
        chosen = replace(chosen, files=(found.path,), part=found.part)
    if out is not None:
        refuse_place(out, chosen.file)
    name = parse_name(summarizer_name or NO_MODEL)
    damaged, repair = chosen.file, repaired_copy(chosen.file, chosen.part)
    if repair is not None:
        chosen = replace(chosen, files=(_temporary_file(repair),), part="" if repair.written else chosen.part)
    bench = _under_its_policy(on_bench(replace(chosen, epoch="last")), chosen, asks=summarizer_name is not None)
    done = run_compaction(bench, name, spend_limit, journal=True, to=bench.session.format)
    export = done.export
    saved = None
    if export and done.code == DONE:
        saved = save(export, out) if out else save_in_place(export)
    result, code = _result(damaged, done, saved, _reasons(repair)), done.code
    if repair is not None and done.assessment.outcome.status != "compacted":  # then the repair alone is written
        repair = replace(repair, data=without_secrets(repair.data)) if chosen.mask else repair
        where = save_repair(repair, out)
        result, code = replace(result, out=str(where), steps=steps_of(repair, where)), DONE
    if as_json:
        write_json(result)
    else:
        if result.repaired:
            click.echo(printable(f"repaired first: {'; '.join(result.repaired)}"), err=True)
        click.echo(printable(_sentence(result)), err=True)
        for stand in done.assessment.watched:
            click.echo(f"watched {state_words(stand)}", err=True)
        click.echo("".join(f"{printable(line)}\n" for line in result.steps), nl=False)
    raise click.exceptions.Exit(code)


def _temporary_file(repair: Repair) -> Path:
    """Write the repaired copy to a temporary file with the name of the session. It is removed when the command ends."""
    folder = TemporaryDirectory(prefix="cwb-")
    click.get_current_context().call_on_close(folder.cleanup)
    return save_repair(repair, Path(folder.name, repair.path.stem + Path(repair.name).suffix))


def _reasons(repair: Repair | None) -> tuple[str, ...]:
    return tuple(f"{fix.place}: {fix.reason}" for fix in repair.fixes) if repair else ()


def _under_its_policy(bench: Bench, chosen: Selection, *, asks: bool) -> Bench:
    own = with_model(bench) if asks else without_model(bench)
    named = chosen.strategies or chosen.presets or chosen.fields
    return choose_preset(bench, chosen.policy(own.preset)) if named else own


@dataclass(frozen=True, slots=True)
class RescueResult:
    """A compaction, its assessment, and the `steps` to resume. `out` is the path of the new session, None if
    nothing was saved; `written` is its export, also None if only the repair was saved. `repaired` lists the fixes made
    before, each with its place."""

    file: Path
    done: CompactionResult
    written: Written | None
    out: str | None
    steps: tuple[str, ...]
    repaired: tuple[str, ...]


def _result(file: Path, done: CompactionResult, saved: Saved | None, repaired_copy: tuple[str, ...]) -> RescueResult:
    written = done.export.written if done.export and saved else None
    out, after = (str(saved.where), steps(written, saved.where)) if written and saved else (None, ())
    return RescueResult(file, done, written, out, after, repaired_copy)


@plain.register
def _(result: RescueResult) -> dict[str, Any]:
    done, found, written = result.done, result.done.assessment, result.written
    session = found.bench.session
    return {
        "file": result.file,
        "part": session.facts.part or None,
        **only(session, "format", "title", "project=cwd"),
        "preset": found.name,
        "window_tokens": found.bench.window,
        **only(found, "before", "after"),
        **only(found.outcome, "status", "reason"),
        "checks": done.checks,
        "run": done.run_id or None,
        "id": written.id if written else "",
        "output_file": result.out,
        "notes": written.notes if written else (),
        "watched": found.watched,
        **only(result, "resume_steps=steps", "repaired"),
    }


def _sentence(result: RescueResult) -> str:
    """Say which session was found, its tokens before and after, the checks, and the path of the result."""
    one, checks = result.done.assessment, result.done.checks
    session, outcome = one.bench.session, one.outcome
    part = f" --part {session.facts.part}" if session.facts.part else ""
    found = f"{by_id(session.format).title}, {result.file}{part}"
    if result.out is None and all(check.passed or not check.hard for check in checks):
        nothing = "nothing was written; `cwb rescue FILE` takes another session; `cwb compact` offers every strategy"
        return f"{found}: {verdict(outcome.status, outcome.reason)}; {nothing}."
    if outcome.status != "compacted" and result.out:
        return f"{found}: {verdict(outcome.status, outcome.reason)}; the repaired session was written to {result.out}."
    passed = [check.name for check in checks if check.passed]
    failed = [f"{check.name} ({check.detail})" for check in checks if not check.passed]
    results = f"passed: {', '.join(passed)}" + (f"; failed: {', '.join(failed)}" if failed else "")
    sizes = " → ".join(f"{counted(size.messages, 'message')}, {size} tokens" for size in (one.before, one.after))
    written = f"written to {result.out}" if result.out else "nothing was written"
    return f"{found}: {sizes}, by {one.name}; {counted(len(checks), 'check')}, {results}; {written}."
