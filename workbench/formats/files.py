"""The one way a session file is opened."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from workbench.base.errors import BadInput
from workbench.base.files import reason
from workbench.base.reading import open_file, special_file_kind
from workbench.formats import parsed, registry
from workbench.formats.absurd import judged
from workbench.formats.export_note import note_in, read_sidecar_note, sidecar_of, with_note
from workbench.formats.format import Codec, Format, Part, Progress, no_progress
from workbench.formats.kit.bounds import line_beyond
from workbench.formats.kit.database import describe_oversized_value
from workbench.formats.kit.epochs import mark_empty_compactions
from workbench.formats.kit.jsonl import BLOCK, Longer, lines_in, object_of
from workbench.formats.kit.magic import SQLITE
from workbench.formats.kit.odd import TOLD, limit_warnings
from workbench.formats.look import HEAD, Look, Unread
from workbench.formats.refusal import refused_folder
from workbench.session import Session
from workbench.session.session import DIGEST_BYTES, digest_of

LARGE = 8_000_000
"""Bytes above which a session lets go of its file's bytes and reads them again for an export."""

INSIDE = 50
"""Files in a folder that is no session itself which are looked at for one that is."""

_BLANKS = b" \t\r\n\x00"


def load(path: Path, progress: Progress = no_progress, part: str = "") -> Session:
    """Open a session file of any known format, recognised by its content.

    A folder is opened when a tool keeps its sessions so. Of a file with several sessions `part` chooses one by its id
    (`parts_of` lists them), which is noted in the session's facts; without it the format chooses. Raises BadInput with
    one sentence for any other folder, for a missing, unreadable, empty or binary file, for one that no format
    recognises, and for a part that it does not have. The file itself is never changed or held open.
    """
    if path.is_dir():
        return _load_folder(path, progress)
    return _remembered(path, progress, part) or _read(path, progress, part)


def load_newest(path: Path, progress: Progress = no_progress) -> Session:
    """The same, but of a large file only the end where that tells the newest epochs, is less than half of it, and
    nothing is kept of the whole: `Session.begins_at` says so, and `load` then gives the whole."""
    if path.is_dir():
        return load(path, progress)
    return _remembered(path, progress) or _newest(path) or _read(path, progress)


def _remembered(path: Path, progress: Progress, part: str = "") -> Session | None:
    with gc_paused():
        return parsed.recall(path, part, progress)


def _newest(path: Path) -> Session | None:
    with _readable(path) as file:
        codec = _codec_of_lines(path, file)
    if codec is None or codec.newest is None:
        return None
    data = bytes_of(path)
    with reading(path):
        session = codec.newest(path, data)
    if session is None or 2 * session.begins_at < len(data) or note_in(codec, data):
        return None
    return _checked(session)


def _read(path: Path, progress: Progress, part: str = "") -> Session:
    session = None if part else _by_line(path, progress)
    return session or load_bytes(path, bytes_of(path), progress, part)


def _by_line(path: Path, progress: Progress) -> Session | None:
    """A large file of lines, of which a line at a time is in memory; None for any other."""
    from concurrent.futures import ThreadPoolExecutor

    with _readable(path) as file:
        codec = _codec_of_lines(path, file)
        first = file.readline(BLOCK)
        read = codec.by_line(first) if codec and codec.by_line else None
        if codec is None or read is None:
            return None
        file.seek(0)
        made, size = hashlib.blake2b(digest_size=DIGEST_BYTES), os.fstat(file.fileno()).st_size
        with gc_paused(), ThreadPoolExecutor(1, "digest") as aside:  # summing lets other threads run
            try:
                session = read(path, lines_in(file, size, lambda block: aside.submit(made.update, block)), progress)
            except Longer:
                return None
        session.records.let_go(path, file.tell(), made.digest())
    return _checked(with_note(session, note_in(codec, first)))


def _codec_of_lines(path: Path, file: BinaryIO) -> Codec | None:
    """That of a large file which begins with a line that is an object, and beside which no note lies that holds for all
    of it; None for any other. The file is at its beginning afterwards."""
    head = file.read(HEAD)
    file.seek(0)
    if os.fstat(file.fileno()).st_size <= LARGE or object_of(file.readline(BLOCK)) is None or sidecar_of(path).exists():
        return None
    file.seek(0)
    return _format_of(path, Look(head, lambda: bytes_of(path), path)).codec


def load_bytes(path: Path, data: bytes, progress: Progress = no_progress, part: str = "") -> Session:
    """Open a session whose file has been read already: `data` is the file, or what of it is to be seen."""
    if len(data) <= LARGE or data.startswith(SQLITE):  # what is read of a database are documents made from it
        return read_bytes(path, data, progress, part)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "digest") as executor:  # summing lets other threads run
        digest = executor.submit(digest_of, data)
        session = read_bytes(path, data, progress, part)
    if session.records.data is data:
        session.records.let_go(path, len(data), digest.result())
    return session


def read_bytes(path: Path, data: bytes, progress: Progress = no_progress, part: str = "") -> Session:
    """The same of bytes that the file `path` need not hold, and that are kept at hand."""
    codec = _format_of(path, Look.of(data, path)).codec
    if part and codec.read_part is None:
        raise BadInput(f"{path} holds one session; leave out the part {part!r}.")
    with reading(path):
        if part and codec.read_part is not None:
            session = codec.read_part(path, data, part, progress)
            session = replace(session, facts=replace(session.facts, part=part))
        else:
            session = codec.read(path, data, progress)
    carried = note_in(codec, session.records.data)
    return _checked(with_note(session, carried or (None if part else read_sidecar_note(path, data))))


def _checked(session: Session) -> Session:
    """The session with what cannot be true of its usage marked, compactions that removed nothing as such, and no more
    warnings than anyone reads."""
    if any(epoch.ended_by and epoch.ended_by.way == "removal" for epoch in session.epochs):
        session = replace(session, epochs=mark_empty_compactions(session.epochs))
    if len(session.warnings) > TOLD:
        session = replace(session, warnings=limit_warnings(session.warnings))
    return judged(session)


def parts_of(path: Path) -> tuple[Part, ...]:
    """The sessions in a file that may hold several, or the branches of one that is damaged; none for a file or folder
    that holds one session.

    Raises BadInput as `load` does.
    """
    codec = _codec_of(path)
    parts_in = codec and (codec.sessions_in or codec.branches)
    return parts_in(path, bytes_of(path)) if parts_in else ()


def branches_of(path: Path) -> tuple[Part, ...]:
    """The branches of one session whose file is damaged, none for any other. Raises BadInput as `load` does."""
    codec = _codec_of(path)
    return codec.branches(path, bytes_of(path)) if codec and codec.branches and not codec.sessions_in else ()


def _codec_of(path: Path) -> Codec | None:
    """None for a folder, and for a file without content."""
    if path.is_dir():
        return None
    look = look_at(path)
    return _format_of(path, look).codec if look.head.strip(_BLANKS) else None


def look_at(path: Path) -> Look:
    """A look at a file, of which no more is read than the formats ask for. Raises BadInput, then or now, as `load`."""
    with _readable(path) as file:
        return Look(file.read(HEAD), lambda: bytes_of(path), path)


def _format_of(path: Path, look: Look) -> Format:
    try:
        return registry.detect(look)[0]
    except Unread:
        raise
    except BadInput as error:
        if folder := registry.folder_of(path):
            raise BadInput(f"{path} is only part of a session; open its folder {folder}.") from None
        raise BadInput(f"{path}: {error}") from None


def _load_folder(path: Path, progress: Progress) -> Session:
    try:
        found, _ = registry.detect_folder(path)
    except BadInput:
        raise BadInput(refused_folder(path, _first_inside(path))) from None
    codec = found.codec
    if codec.read_folder is None:
        raise BadInput(f"{path} is a folder; open a session file in it.")
    with reading(path):
        session = codec.read_folder(path, progress)
    return _checked(with_note(session, note_in(codec, session.records.data)))


def _first_inside(folder: Path) -> str:
    """The name of the first session in a folder that is none itself, "" where there is none."""
    with contextlib.suppress(OSError):
        for entry in sorted(folder.iterdir())[:INSIDE]:
            with contextlib.suppress(BadInput):
                if entry.is_dir():
                    registry.detect_folder(entry)
                else:
                    registry.detect(look_at(entry))
                return entry.name
    return ""


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """Without the cyclic collector: a load makes millions of objects and no garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Run a format's reader without the collector. Trouble with a file next to the session becomes one sentence."""
    with gc_paused():
        try:
            yield
        except OSError as error:
            raise _unread(Path(os.fsdecode(error.filename)) if error.filename else path, error) from None


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[BinaryIO]:
    """The file, open to be read. Trouble with it, now or in the block, becomes one sentence."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise Unread(f"{path} is a folder; open a session file in it.")
        if what := special_file_kind(status):
            raise Unread(f"{path} is {what}, not a regular file; copy its content to a file and open that.")
        file = open_file(path)
    except FileNotFoundError:
        raise Unread(f"{path} does not exist; check the name.") from None
    except (OSError, ValueError) as error:
        raise _unread(path, error) from None
    with file:
        try:
            yield file
        except OSError as error:
            raise _unread(path, error) from None


def _unread(path: Path, error: Exception) -> Unread:
    return Unread(f"{path} cannot be read: {reason(error)}; check its name and permissions.")


def bytes_of(path: Path) -> bytes:
    """The whole file. Raises Unread for what is no regular file, cannot be read, or is empty, and for a line of JSON or
    a row of a database that holds more than any session's: all that is done with a file would have it in memory several
    times."""
    with _readable(path) as file:
        if where := describe_oversized_value(path):
            raise Unread(f"{path}: {where}, too much for a session; delete that row from a copy and open the copy.")
        data = file.read()
    if not data[:1].strip(_BLANKS) and not data.strip(_BLANKS):
        raise Unread(f"{path} is empty; open a file with a session.")
    if found := line_beyond(data):
        line, much = found
        raise Unread(f"{path}: line {line} holds {much}, too much for a session; remove it and try again.")
    return data
