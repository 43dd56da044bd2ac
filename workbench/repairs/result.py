"""The result of a repair for a user: its fixes as lines, the saved copy, and the steps that resume it in its agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from workbench.base.errors import BadInput
from workbench.base.files import same_file, write_atomically
from workbench.base.text import counted
from workbench.formats.fixes import Branch, Fix
from workbench.formats.steps import steps
from workbench.repairs.engine import Repair


def lines_of(repair: Repair, most: int, *, chosen_by: str = "--branch LINE chooses") -> list[str]:
    """Return a heading, each fix with place and reason, the remaining faults, and the branches; at most `most` fixes
    and `most` faults. `chosen_by` says how to choose a branch."""
    if not repair.fixes and not repair.left:
        return [f"{repair.format.title}, {repair.path}: nothing to repair."]
    lines = [f"{repair.format.title}, {repair.path}: {counted(len(repair.fixes), 'repair')}."]
    lines += _listed(repair.fixes, [fix.reason for fix in repair.fixes], most)
    if repair.left:
        lines += ["Not repaired:", *_listed(repair.left, [fix.objection for fix in repair.left], most)]
    if repair.branches:
        lines.append(f"Branches, by the line of their newest message ({chosen_by}):")
        lines += [_branch(branch) for branch in repair.branches]
    return lines


def _listed(fixes: Sequence[Fix], texts: Sequence[str], most: int) -> list[str]:
    width = max((len(fix.place) for fix in fixes[:most]), default=0)
    lines = [f"  {fix.place:<{width}}  {text}" for fix, text in zip(fixes[:most], texts[:most], strict=True)]
    return lines + ([f"  … {len(fixes) - most} more (--json lists all)"] if len(fixes) > most else [])


def _branch(branch: Branch) -> str:
    notes = ["loaded now"] if branch.live else []
    notes += ["kept"] if branch.chosen else []
    return f"  line {branch.line}: {counted(branch.messages, 'message')}" + (f" ({', '.join(notes)})" if notes else "")


def save(repair: Repair, out: Path | None = None, *, overwrite: bool = False) -> Path:
    """Save a repaired copy, by default next to the damaged file, and return its path. `out` may be a folder.

    Raises BadInput for the path of the damaged file, and without `overwrite` for an existing file.
    """
    where = out or repair.path.parent / repair.name
    where = where / repair.name if where.is_dir() else where
    if same_file(where, repair.path):
        raise BadInput(f"{where} is the damaged file itself, which is never overwritten; choose another name.")
    write_atomically(where, repair.data, overwrite=overwrite)
    return where


def steps_of(repair: Repair, where: Path) -> tuple[str, ...]:
    """Return shell commands that resume the repaired copy at `where` in its agent, empty if the agent has none. If the
    damaged file is in the agent's place, it is renamed first."""
    session, codec = repair.session, repair.format.codec
    if repair.written is not None:
        return steps(repair.written, where)
    if session is None or codec.addressed is None:
        return ()
    written = codec.addressed(session, repair.data, session.id, ())
    home = Path(written.home).expanduser() if written.home else repair.path
    if not same_file(home, repair.path):
        return steps(written, where)
    damaged = quote(str(repair.path.absolute()))
    return (
        f"mv {damaged} {quote(f'{repair.path.absolute()}.damaged')}",
        f"mv {quote(str(where.absolute()))} {damaged}",
        *steps(written, home),
    )
