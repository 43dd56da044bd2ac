"""Repairing a damaged session."""

from __future__ import annotations

from pathlib import Path

from workbench.repairs.engine import Repair
from workbench.repairs.engine import repair as repaired
from workbench.repairs.saving import save


def repair(path: str | Path, out: str | Path | None = None, *, branch: int | None = None, part: str = "") -> Repair:
    """A repaired copy of the session in a file, with each fix as a typed value; the file itself is never changed.

    The copy is written to `out`, a new file or a folder, where that is named and anything was repaired; else it is in
    `Repair.data` alone. `branch` is the line of the newest message of the branch to keep where links were damaged, by
    default the longest one's. `part` is the id of one session of several. Raises BadInput for a file that no format
    recognises or that is only read, for a branch that is none, and for a place that is taken.
    """
    made = repaired(Path(path), branch=branch, part=part)
    if out is not None and made.fixes and made.is_sound:
        save(made, Path(out))
    return made
