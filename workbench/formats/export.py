"""A session on its way out: written in a format, judged by that tool's own loader rules, and only then put on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.files import write_atomically
from workbench.base.in_use import still_written
from workbench.formats import registry
from workbench.formats.format import Format, Written
from workbench.session import Message, Session


@dataclass(frozen=True, slots=True)
class Export:
    """A session in its new form and what its format's validator says of it; not yet on disk.

    `judged` is False where the format has no validator.
    """

    format: Format
    written: Written
    problems: tuple[str, ...]
    judged: bool = True

    @property
    def verdict(self) -> str:
        """What the validator found, in one line."""
        more = len(self.problems) - 5
        found = " ".join(self.problems[:5]) + (f" And {more} more." if more > 0 else "")
        if not self.judged:
            return f"{self.format.title} has no rules here to judge it by"
        return found or f"{self.format.title} can load it"


def export(
    session: Session, messages: Sequence[Message], format_id: str | None = None, memories: str | None = None
) -> Export:
    """`messages` as a session in `session`'s own format, or in the one named; `memories` replace the session's.

    `format_id` may name a way of a format behind a colon (`codex:appended`). A session's file that is still being
    written is pointed out in the notes. Raises BadInput for an unknown format or way, and when the file was changed
    since it was opened.
    """
    target = registry.target(format_id or session.format)
    source = session if memories is None else replace(session, memories=memories)
    with session.records.held():
        written = target.write(source, messages)
    if session.path is not None and (why := still_written(session.path)):
        told = f"{session.path.name} is still being written ({why}): what came since it was opened is not in the export"
        written = replace(written, notes=(*written.notes, told))
    problems = tuple(target.validate(written.data)) if target.validate else ()
    return Export(target.format, written, problems, judged=target.validate is not None)


def save(export: Export, out: Path, source: Path | None, *, overwrite: bool = False) -> Path:
    """Put an export on disk, under its own name if `out` is a folder; returns where.

    Raises BadInput when that is the session itself, which is never written over, or exists and `overwrite` is not set.
    """
    target = out / export.written.name if out.is_dir() else out
    if source is not None and target.exists() and source.exists() and os.path.samefile(target, source):
        raise BadInput(f"{target} is the session itself, which is never written over; choose another name.")
    write_atomically(target, export.written.data, overwrite=overwrite)
    return target


def resume_words(written: Written, where: Path) -> str:
    """How to go on with an export in its tool, "" where there is no way."""
    if not written.resume:
        return ""
    if not written.home or where.resolve() == Path(written.home).expanduser().resolve():
        return written.resume
    return f"{written.resume}\nafter copying it to {written.home}"
