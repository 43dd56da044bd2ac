"""A session on its way out: written in a format, judged by that tool's own loader rules, read back once, and only then
put on disk. Nobody else writes a session, so that nobody can say "written" of one that does not hold what was promised.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.files import make_folder, refuse_taken, same_file, write_atomically, write_folder
from workbench.base.in_use import still_written
from workbench.base.text import counted
from workbench.formats import registry
from workbench.formats.absurd import judged
from workbench.formats.carried import (
    beside,
    carried_in,
    carrying,
    is_note,
    spent_in,
    told_beside,
    with_carried,
)
from workbench.formats.files import gc_paused
from workbench.formats.format import Format, Written, no_progress
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.read_back import difference
from workbench.formats.sanitize import sanitize
from workbench.session import Carried, Message, Session


@dataclass(frozen=True, slots=True)
class Export:
    """A session in its new form, what its format's validator and its reader say of it; not yet on disk.

    Promised are `messages`, and the memories of `source`; `changed`, whether they are others than the loaded session's,
    or in another format. `found` is the session as the format's reader finds it in the file, or, in words, why it does
    not hold what was promised. `carried` is what the file says of itself, None where it says nothing, and `note` the
    file beside it that does, b"" where it has room for that. `judged` is False where the format has no validator.
    """

    format: Format
    written: Written
    problems: tuple[str, ...]
    source: Session
    messages: tuple[Message, ...]
    changed: bool
    found: Session | str
    carried: Carried | None = None
    note: bytes = b""
    judged: bool = True

    @property
    def verdict(self) -> str:
        """What the validator found, in one line."""
        more = len(self.problems) - 5
        found = " ".join(self.problems[:5]) + (f" And {more} more." if more > 0 else "")
        if not self.judged:
            return f"{self.format.title} has no validation rules"
        return found or f"{self.format.title} can load it"


class Saved(Struct, frozen=True):
    """Where an export went, which was read back there, and what may be said of it: a copy of the loaded session is
    nothing that was written."""

    where: Path
    word: Literal["written", "copied"]


def export(
    session: Session,
    messages: Sequence[Message],
    format_id: str | None = None,
    memories: str | None = None,
    *,
    carried: Carried | None = None,
) -> Export:
    """`messages` as a session in `session`'s own format, or in the one named; `memories` replace the session's, and
    `carried` is what the file is to say of itself, if anything changed.

    `format_id` may name a way of a format behind a colon (`codex:appended`). A session's file that is still being
    written is among the losses, and so are memories that the format has no place for. Raises BadInput for an
    unknown format or way, when the file was changed since it was opened, and when there is no place for new memories.
    """
    target = registry.target(format_id or session.format)
    source = session if memories is None else replace(session, memories=memories)
    losses: Losses = []
    if source.memories and not target.format.codec.memories:
        lines = len(source.memories.splitlines())
        if source.memories != session.memories:
            raise BadInput(
                f"{target.title} cannot store an agent's memories, and {counted(lines, 'line')} of new ones would "
                "be lost; choose a format that can, such as augment."
            )
        losses.append(Loss(LossKind.MEMORIES, lines, (target.format.title,)))
    same_history = target.format.id == session.format and tuple(messages) == session.context()
    changed = not same_history or source.memories != session.memories
    with session.records.held():
        written = _written(target, source, messages)
        data, mended = sanitize(written.data)
        written, losses = replace(written, data=data), [*losses, *mended]
        # The file alone, without what lay around it in a folder, may show other sizes than the session did.
        copied = written.data == session.records.data and not (session.path and session.path.is_dir())
        carried = None if copied else carried
        noted = carrying(target.format.codec, written.data, carried) if carried else None
        if noted is not None:
            written = replace(written, data=noted)
        elif carried is not None:
            losses.append(Loss(LossKind.SIZES_BESIDE))
        problems = target.validate(written.data) if target.validate else []
        if problems and target.validate and same_history and changed:  # what was wrong with the history before
            before = target.validate(session.records.data)
            problems = [problem for problem in problems if problem not in before]
    if session.path is not None and (why := still_written(session.path)):
        losses.append(Loss(LossKind.STILL_WRITTEN, 1, (session.path.name, why)))
    made = Export(
        target.format,
        replace(written, losses=(*written.losses, *losses)),
        tuple(problems),
        source,
        tuple(messages),
        changed,
        found="it was not read back",
        carried=carried,
        judged=target.validate is not None,
    )
    return read_back(made)


def _written(target: registry.Target, source: Session, messages: Sequence[Message]) -> Written:
    """Write the messages in the target format. Raises BadInput if a writer cannot copy the loaded file."""
    try:
        return target.write(source, messages)
    except ValueError as error:
        where = f"{source.path or 'The session'} cannot be written as {target.title}"
        raise BadInput(f"{where}: {error}; choose another format.") from error


def read_back(made: Export) -> Export:
    """An export with what its format's reader finds in it, and with the bills counted that the file speaks of itself
    without: each is for the context that was."""
    codec, data, carried = made.format.codec, made.written.data, made.carried
    try:
        with gc_paused():
            found = codec.read(Path(made.written.name), data, no_progress)
    except BadInput as error:
        return replace(made, found=f"it cannot be read back: {str(error).rstrip('.')}")
    if carried and (spent := spent_in(found)) != carried.spent:
        carried = replace(carried, spent=spent)
        data = carrying(codec, data, carried) or data
    noted = carried_in(codec, data)
    note = told_beside(data, carried) if carried and noted is None else b""
    found = judged(with_carried(found, carried if note else noted))
    return replace(
        made,
        written=replace(made.written, data=data),
        found=_wrong(made, found, carried) or found,
        carried=carried,
        note=note,
    )


def _wrong(made: Export, found: Session, carried: Carried | None) -> str:
    """What a reader does not find of what was promised, "" where it finds all."""
    wrong = difference(made.source, made.messages, found, made.written.losses)
    if made.format.codec.memories and found.memories != made.source.memories:
        wrong = wrong or "the memories are lost"
    if carried and found.facts.carried != carried:
        wrong = wrong or "its recorded size is lost"
    return wrong


def save(export: Export, out: Path, *, overwrite: bool = False) -> Saved:
    """Put an export on disk, under its own name if `out` is a folder, and there as the folder that its tool keeps a
    session in, if it does.

    What the disk has is read again before it gets its name. Raises BadInput, and leaves nothing, when that does not
    hold what was promised, when the place is that of the session itself, which is never written over, and when it
    exists and `overwrite` is not set.
    """
    codec = export.format.codec
    if codec.folder and out.is_dir() and (folder := codec.folder(export.source, export.written.data)):
        where = out / folder.name
        write_folder(where, folder.files, judge=lambda there: _hold_folder_to(export, there, str(where)))
        return Saved(where, _word(export))
    target = out / export.written.name if out.is_dir() else out
    _refuse_itself(target, export.source.path)
    _refuse(export.found, export, str(target))
    note = beside(target)
    if export.note and os.path.lexists(note) and not (overwrite or is_note(note)):
        raise BadInput(f"{note} exists, and {target.name} needs it for its sidecar file; choose another name.")
    write_atomically(target, export.written.data, overwrite=overwrite, judge=lambda data: _same(export, data, target))
    if export.written.beside:
        name, data = export.written.beside
        write_atomically(target.with_name(name), data, overwrite=overwrite)
    if export.note:
        write_atomically(note, export.note, overwrite=True)
    return Saved(target, _word(export))


def refuse_place(out: Path, source: Path, *, overwrite: bool = False) -> None:
    """Raises BadInput where `save` could put no export of the session in `source`, before one is worked for."""
    if not out.is_dir():
        _refuse_itself(out, source)
        refuse_taken(out, overwrite=overwrite)


def _refuse_itself(target: Path, source: Path | None) -> None:
    if source is not None and same_file(target, source):
        raise BadInput(f"{target} is the session itself, which is never overwritten; choose another name.")


def place(export: Export) -> Saved:
    """Put an export where its tool looks for it, with the folders on the way; in the present folder where the tool
    looks nowhere in particular. Raises BadInput as `save` does; never writes over a file."""
    written = export.written
    if written.kept_in:
        folder = Path(written.kept_in).expanduser()
        make_folder(folder)
        return save(export, folder)
    where = Path(written.home or written.name).expanduser()
    make_folder(where.parent)
    return save(export, where)


def send(export: Export, out: BinaryIO, name: Path) -> Saved:
    """The same to a stream, which goes by `name`; what would lie beside the file is not written."""
    _refuse(export.found, export, "the export")
    out.write(export.written.data)
    return Saved(name, _word(export))


def _word(export: Export) -> Literal["written", "copied"]:
    return "written" if export.changed else "copied"


def _same(export: Export, data: bytes, target: Path) -> None:
    """Raises BadInput unless the disk has what was read back."""
    if data != export.written.data:
        raise BadInput(f"{target} was not written: the disk returned other data than was written; use another disk.")


def _hold_folder_to(export: Export, there: Path, where: str) -> None:
    """Raises BadInput unless the format's own reader finds in a folder what was promised."""
    codec = export.format.codec
    assert codec.read_folder is not None, "a format that is written as a folder is read as one"
    try:
        with gc_paused():
            found = codec.read_folder(there, no_progress)
    except BadInput as error:
        _refuse(f"it cannot be read back: {str(error).rstrip('.')}", export, where)
    else:
        _refuse(
            _wrong(export, with_carried(found, carried_in(codec, found.records.data)), export.carried), export, where
        )


def _refuse(wrong: Session | str, export: Export, where: str) -> None:
    """Raises BadInput where something is wrong, in words."""
    if wrong and isinstance(wrong, str):
        raise BadInput(
            f"{where} was not written: as {export.format.title} it would lose content ({wrong}); choose another format."
        )
