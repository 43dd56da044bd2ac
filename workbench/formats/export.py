"""Export of a session: write it in a format, validate it by the agent's loader rules, read it back, and save it.

No other module saves an export, so that each one is verified.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.files import make_folder, refuse_existing, same_file, write_atomically, write_folder
from workbench.base.in_use import still_written
from workbench.base.text import counted
from workbench.formats import registry
from workbench.formats.export_note import (
    count_stale_usage,
    is_note,
    note_in,
    put_note,
    sidecar_bytes,
    sidecar_of,
    with_note,
)
from workbench.formats.files import gc_paused
from workbench.formats.format import Format, Written, no_progress
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.read_back import difference
from workbench.formats.sanitize import sanitize
from workbench.formats.usage_checks import check_usage
from workbench.session import ExportNote, Message, Session


@dataclass(frozen=True, slots=True)
class Export:
    """A session written in a format, with the findings of its validator and reader; not yet saved.

    The file must hold `messages` and the memories of `source`. `changed`: one of them, or the format, differs from the
    loaded session's. `found` is the session read back, or a text that says what the file lacks. `problems` are the
    validator's; `judged` is False for a format without a validator. `export_note` is the note about the export, None
    without one; `note` is its sidecar file, b"" if the file itself holds the note or there is none.
    """

    format: Format
    written: Written
    problems: tuple[str, ...]
    source: Session
    messages: tuple[Message, ...]
    changed: bool
    found: Session | str
    export_note: ExportNote | None = None
    note: bytes = b""
    judged: bool = True

    @property
    def verdict(self) -> str:
        """Result of the validator in one line, with at most five problems."""
        more = len(self.problems) - 5
        found = " ".join(self.problems[:5]) + (f" And {more} more." if more > 0 else "")
        if not self.judged:
            return f"{self.format.title} has no validation rules"
        return found or f"{self.format.title} can load it"


class Saved(Struct, frozen=True):
    """Place of a saved export, and the word for it: an unchanged copy of the loaded session is not "written"."""

    where: Path
    word: Literal["written", "copied"]


def export(
    session: Session,
    messages: Sequence[Message],
    format_id: str | None = None,
    memories: str | None = None,
    *,
    export_note: ExportNote | None = None,
) -> Export:
    """Write `messages` into memory as a session in `format_id` (None: the session's own format), validate it and read
    it back. `memories` replace the session's (None: unchanged). An unchanged file gets no `export_note`.

    `format_id` may name a variant of a format after a colon (`codex:appended`). Losses include memories without a place
    in the format, and a source file that is still being written. Raises BadInput for an unknown format or variant, if
    the file was changed since it was opened, if the writer cannot copy it, and for new memories that the format cannot
    store.
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
        written = _write_target(target, source, messages)
        data, sanitized = sanitize(written.data)
        written, losses = replace(written, data=data), [*losses, *sanitized]
        # A file taken out of its folder may show other sizes than the session did.
        copied = written.data == session.records.data and not (session.path and session.path.is_dir())
        export_note = None if copied else export_note
        data_with_note = put_note(target.format.codec, written.data, export_note) if export_note else None
        if data_with_note is not None:
            written = replace(written, data=data_with_note)
        elif export_note is not None:
            losses.append(Loss(LossKind.SIZES_BESIDE))
        problems = target.validate(written.data) if target.validate else []
        if problems and target.validate and same_history and changed:  # ignore problems of the loaded history
            before = target.validate(session.records.data)
            problems = [problem for problem in problems if problem not in before]
    if session.path is not None and (why := still_written(session.path)):
        losses.append(Loss(LossKind.STILL_WRITTEN, 1, (session.path.name, why)))
    result = Export(
        target.format,
        replace(written, losses=(*written.losses, *losses)),
        tuple(problems),
        source,
        tuple(messages),
        changed,
        found="it was not read back",
        export_note=export_note,
        judged=target.validate is not None,
    )
    return read_back(result)


def _write_target(target: registry.Target, source: Session, messages: Sequence[Message]) -> Written:
    """Write the messages in the target format. Raises BadInput if a writer cannot copy the loaded file."""
    try:
        return target.write(source, messages)
    except ValueError as error:
        where = f"{source.path or 'The session'} cannot be written as {target.title}"
        raise BadInput(f"{where}: {error}; choose another format.") from error


def read_back(export: Export) -> Export:
    """Return the export with the session that its format's reader finds in it, or with the reason why that fails. The
    note gets the number of messages with stale usage in the file."""
    codec, data, export_note = export.format.codec, export.written.data, export.export_note
    try:
        with gc_paused():
            found = codec.read(Path(export.written.name), data, no_progress)
    except BadInput as error:
        return replace(export, found=f"it cannot be read back: {str(error).rstrip('.')}")
    if export_note and (stale := count_stale_usage(found)) != export_note.spent:
        export_note = replace(export_note, spent=stale)
        data = put_note(codec, data, export_note) or data
    note_found = note_in(codec, data)
    note = sidecar_bytes(data, export_note) if export_note and note_found is None else b""
    found = check_usage(with_note(found, export_note if note else note_found))
    return replace(
        export,
        written=replace(export.written, data=data),
        found=_missing_content(export, found, export_note) or found,
        export_note=export_note,
        note=note,
    )


def _missing_content(export: Export, found: Session, export_note: ExportNote | None) -> str:
    """Return the first difference between promised and found content, "" if there is none."""
    wrong = difference(export.source, export.messages, found, export.written.losses)
    if export.format.codec.memories and found.memories != export.source.memories:
        wrong = wrong or "the memories are lost"
    if export_note and found.facts.export_note != export_note:
        wrong = wrong or "its recorded size is lost"
    return wrong


def save(export: Export, out: Path, *, overwrite: bool = False) -> Saved:
    """Save an export under its own name if `out` is a folder, or as a session folder for agents that use one.

    The saved bytes are read again before the file gets its name. Raises BadInput and saves nothing if content is
    missing, if the place is the session's own file, or if it or the file that the agent needs next to it exists and
    `overwrite` is not set. An existing session folder is never overwritten. A failure to write a sidecar file is raised
    after the export itself was saved.
    """
    codec = export.format.codec
    if codec.folder and out.is_dir() and (folder := codec.folder(export.source, export.written.data)):
        where = out / folder.name
        write_folder(where, folder.files, verify=lambda temporary: _verify_folder(export, temporary, str(where)))
        return Saved(where, _word(export))
    target = out / export.written.name if out.is_dir() else out
    _refuse_own_file(target, export.source.path)
    _raise_if_missing(export.found, export, str(target))
    note = sidecar_of(target)
    if export.note and os.path.lexists(note) and not (overwrite or is_note(note)):
        raise BadInput(f"{note} exists, but the sidecar file of {target.name} needs that name; choose another one.")
    if export.written.sidecar:
        refuse_existing(target.with_name(export.written.sidecar[0]), overwrite=overwrite)
    write_atomically(
        target, export.written.data, overwrite=overwrite, verify=lambda data: _verify_bytes(export, data, target)
    )
    if export.written.sidecar:
        name, data = export.written.sidecar
        write_atomically(target.with_name(name), data, overwrite=overwrite)
    if export.note:
        write_atomically(note, export.note, overwrite=True)
    return Saved(target, _word(export))


def refuse_place(out: Path, source: Path, *, overwrite: bool = False) -> None:
    """Raise BadInput if `save` would refuse the file `out` for the session in `source`; a folder is not examined.
    Called before costly work."""
    if not out.is_dir():
        _refuse_own_file(out, source)
        refuse_existing(out, overwrite=overwrite)


def _refuse_own_file(target: Path, source: Path | None) -> None:
    if source is not None and same_file(target, source):
        raise BadInput(f"{target} is the session itself, which is never overwritten; choose another name.")


def save_in_place(export: Export) -> Saved:
    """Save an export where its agent looks for sessions, else in the current folder. Creates the folders; never
    overwrites a file. Raises BadInput as `save` does."""
    written = export.written
    if written.session_folder:
        folder = Path(written.session_folder).expanduser()
        make_folder(folder)
        return save(export, folder)
    where = Path(written.home or written.name).expanduser()
    make_folder(where.parent)
    return save(export, where)


def write_to_stream(export: Export, out: BinaryIO, name: Path) -> Saved:
    """Write an export to a stream, without sidecar files. `name` is the place in the result. Raises BadInput if content
    is missing."""
    _raise_if_missing(export.found, export, "the export")
    out.write(export.written.data)
    return Saved(name, _word(export))


def _word(export: Export) -> Literal["written", "copied"]:
    return "written" if export.changed else "copied"


def _verify_bytes(export: Export, data: bytes, target: Path) -> None:
    """Raise BadInput unless the disk returns the data that were read back."""
    if data != export.written.data:
        raise BadInput(f"{target} was not written: the disk returned other data than was written; use another disk.")


def _verify_folder(export: Export, folder: Path, where: str) -> None:
    """Raise BadInput unless the format's reader finds the promised content in a folder."""
    codec = export.format.codec
    assert codec.read_folder is not None, "a format that is written as a folder is read as one"
    try:
        with gc_paused():
            found = codec.read_folder(folder, no_progress)
    except BadInput as error:
        _raise_if_missing(f"it cannot be read back: {str(error).rstrip('.')}", export, where)
    else:
        _raise_if_missing(
            _missing_content(export, with_note(found, note_in(codec, found.records.data)), export.export_note),
            export,
            where,
        )


def _raise_if_missing(wrong: Session | str, export: Export, where: str) -> None:
    """Raise BadInput if `wrong` is a text: the reason why content is missing."""
    if wrong and isinstance(wrong, str):
        raise BadInput(
            f"{where} was not written: as {export.format.title} it would lose content ({wrong}); choose another format."
        )
