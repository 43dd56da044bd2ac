"""A repaired copy on disk, and how to go on with it in its agent."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from workbench.base.errors import BadInput
from workbench.base.files import write_atomically
from workbench.formats.steps import steps
from workbench.repairs.engine import Repair


def save(made: Repair, out: Path | None = None, *, overwrite: bool = False) -> Path:
    """Put a repaired copy on disk, next to the damaged file where no place is named; return where it lies.

    Raises BadInput for the place of the damaged file itself, and for one that exists.
    """
    where = out or made.path.parent / made.name
    where = where / made.name if where.is_dir() else where
    if where.exists() and made.path.exists() and where.samefile(made.path):
        raise BadInput(f"{where} is the damaged file itself, which is never written over; choose another name.")
    write_atomically(where, made.data, overwrite=overwrite)
    return where


def steps_of(made: Repair, where: Path) -> tuple[str, ...]:
    """Shell lines that resume the repaired copy at `where` in its agent; the damaged file in its place is renamed."""
    session, codec = made.session, made.format.codec
    if made.written is not None:
        return steps(made.written, where)
    if session is None or codec.addressed is None:
        return ()
    written = codec.addressed(session, made.data, session.id, ())
    home = Path(written.home).expanduser() if written.home else made.path
    if not (home.exists() and made.path.exists() and home.samefile(made.path)):
        return steps(written, where)
    damaged = quote(str(made.path.absolute()))
    return (
        f"mv {damaged} {quote(f'{made.path.absolute()}.damaged')}",
        f"mv {quote(str(where.absolute()))} {damaged}",
        *steps(written, home),
    )
