"""A repair as lines of text, for the command line and the screen."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.text import counted
from workbench.formats.fixes import Branch, Fix
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
    said = ["loaded now"] if branch.live else []
    said += ["kept"] if branch.chosen else []
    return f"  line {branch.line}: {counted(branch.messages, 'message')}" + (f" ({', '.join(said)})" if said else "")
