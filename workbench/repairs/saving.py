"""Save a repaired copy, and give the steps that resume it in its agent."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from workbench.base.errors import BadInput
from workbench.base.files import same_file, write_atomically
from workbench.formats.steps import steps
from workbench.repairs.engine import Repair


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
