"""Advice to repair a damaged session, with the command that does it."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.formats.files import LARGE
from workbench.formats.fixes import Fault
from workbench.repairs.engine import repair


class Advice(Struct, frozen=True):
    """Advice to repair a session. `fixes` is the number of faults that `command` repairs; `faults` are their kinds,
    each once."""

    command: str
    fixes: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        kinds = ", ".join(fault.replace("-", " ") for fault in self.faults)
        return f"Damaged ({kinds}): `{self.command}` repairs {counted(self.fixes, 'fault')}."


def advice(path: Path, part: str = "") -> Advice | None:
    """Return advice for the session in a file; `part` is its id in a file with several. None if nothing is damaged, if
    the repaired copy would not be sound, if the file cannot be read, for a folder, and for a file of more than `LARGE`
    bytes, whose repair would take as long as loading it."""
    try:
        if path.is_dir() or path.stat().st_size > LARGE:
            return None
        repaired = repair(path, part=part)
    except (BadInput, OSError):
        return None
    if not repaired.fixes or not repaired.is_sound:
        return None
    chosen = f" --part {quote(part)}" if part else ""
    fixed = [fix.fault for fix in repaired.fixes if fix.fault is not Fault.REWRITTEN]
    if not fixed:  # not damaged: rewritten only because the validation objected
        return None
    faults = tuple(dict.fromkeys(fault.value for fault in fixed))
    return Advice(f"cwb repair {quote(str(path))}{chosen}", len(fixed), faults)
