"""`cwb repair`: a repaired copy of a damaged session, with each fix and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from workbench.base.printable import printable
from workbench.base.text import counted
from workbench.cli.output import write_json
from workbench.cli.selection import Selection, selection
from workbench.formats.fixes import Branch, Fix
from workbench.repairs import engine
from workbench.repairs.result import lines_of, save, steps_of

NOTHING_WRONG = 1
FAULTS_LEFT = 3

SHOWN = 200
"""Fixes that the text form lists; `--json` lists all."""


@click.command("repair")
@selection(part="One of several sessions in FILE.")
@click.option(
    "--branch",
    type=click.IntRange(1),
    metavar="LINE",
    help="Keep the branch whose newest message is on this line. Default: the longest.",
)
@click.option("--dry-run", is_flag=True, help="List the fixes and write nothing.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write to this file or folder, instead of next to FILE as NAME.repaired.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def command(chosen: Selection, branch: int | None, dry_run: bool, out: Path | None, as_json: bool) -> None:
    """Write a repaired copy of FILE without compacting it, and list each fix with its line and reason.

    FILE itself is never changed. Only damaged records are changed; the others stay byte for byte. The copy passes the
    validation of its format and is read back. Faults that cannot be repaired are listed as well.

    \b
    Exit codes:
      0    repaired (with --dry-run: can be repaired)
      1    nothing to repair, and nothing was written
      2    bad input or usage
      3    faults are left; the copy has the fixes that were possible, if any
    """
    repair = engine.repair(chosen.file, branch=branch, part=chosen.part)
    where = save(repair, out) if repair.fixes and repair.is_sound and not dry_run else None
    result = RepairDocument(
        file=repair.path,
        format=repair.format.id,
        fixes=tuple(map(FaultEntry.of_fix, repair.fixes)),
        left=tuple(map(FaultEntry.of_fault, repair.left)),
        branches=repair.branches,
        messages=len(repair.session.context()) if repair.session else 0,
        out=str(where) if where else None,
        steps=steps_of(repair, where) if where else (),
    )
    if as_json:
        write_json(result)
    else:
        click.echo(printable("\n".join(_lines(repair, result, dry_run=dry_run))))
    raise click.exceptions.Exit(FAULTS_LEFT if repair.left else 0 if repair.fixes else NOTHING_WRONG)


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """A fix, or a fault that is not repaired, as JSON."""

    fault: str
    line: int | None
    entry: int | None
    subject: str
    reason: str

    @classmethod
    def of_fix(cls, fix: Fix) -> FaultEntry:
        return cls(fix.fault.value, fix.line, fix.entry, fix.subject, fix.reason)

    @classmethod
    def of_fault(cls, fix: Fix) -> FaultEntry:
        return cls(fix.fault.value, fix.line, fix.entry, fix.subject, fix.objection)


@dataclass(frozen=True, slots=True)
class RepairDocument:
    """A repair as JSON. `messages` counts those of the repaired context; `out` is the path of the copy, None without
    one; `steps` resume it in its agent."""

    file: Path
    format: str
    fixes: tuple[FaultEntry, ...]
    left: tuple[FaultEntry, ...]
    branches: tuple[Branch, ...]
    messages: int
    out: str | None
    steps: tuple[str, ...]


def _lines(repair: engine.Repair, result: RepairDocument, *, dry_run: bool) -> list[str]:
    lines = lines_of(repair, SHOWN)
    if not repair.fixes and not repair.left:
        return lines
    if result.out:
        lines += [f"Written to {result.out}; read back: {counted(result.messages, 'message')} in the context."]
        lines += ["To resume:", *(f"  {step}" for step in result.steps)] if result.steps else []
    elif dry_run and repair.fixes:
        lines.append("Dry run: nothing was written.")
    else:
        lines.append("Nothing was written.")
    return lines
