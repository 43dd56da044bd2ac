"""Repair a damaged session."""

from __future__ import annotations

from pathlib import Path

from workbench.repairs.engine import Repair
from workbench.repairs.engine import repair as repaired
from workbench.repairs.saving import save


def repair(path: str | Path, out: str | Path | None = None, *, branch: int | None = None, part: str = "") -> Repair:
    """Return a repaired copy of the session in a file, with its fixes; the file itself is never changed.

    If anything was repaired, the copy is written to `out`, a new file or a folder; without `out` it is only in
    `Repair.data`. `branch` is the line of the last message of the branch to keep where links were damaged, by default
    of the longest one. `part` is the id of one session in a file with several. Raises BadInput for a file of an unknown
    or read-only format, for an unknown branch, and for an `out` that exists.
    """
    result = repaired(Path(path), branch=branch, part=part)
    if out is not None and result.fixes and result.is_sound:
        save(result, Path(out))
    return result
