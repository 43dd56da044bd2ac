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
    """Advice to repair a session. `fixes` counts its fixes, `faults` names their kinds, each once."""

    command: str
    fixes: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        kinds = ", ".join(fault.replace("-", " ") for fault in self.faults)
        return f"Damaged ({kinds}): `{self.command}` repairs {counted(self.fixes, 'fault')}."


def advice(path: Path, part: str = "") -> Advice | None:
    """Advice for the session in a file; None where nothing can be repaired, and for a file of more than `LARGE` bytes,
    whose repair would take as long as reading it again."""
    try:
        if path.is_dir() or path.stat().st_size > LARGE:
            return None
        made = repair(path, part=part)
    except (BadInput, OSError):
        return None
    if not made.fixes or not made.is_sound:
        return None
    chosen = f" --part {quote(part)}" if part else ""
    fixed = [fix.fault for fix in made.fixes if fix.fault is not Fault.REWRITTEN]
    if not fixed:  # the format's validation objects to it, and it is written anew: that is not damage
        return None
    faults = tuple(dict.fromkeys(fault.value for fault in fixed))
    return Advice(f"cwb repair {quote(str(path))}{chosen}", len(fixed), faults)
