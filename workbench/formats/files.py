"""Open session files: recognise the format, read the session, and check its recorded usage."""

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
from workbench.formats import load_cache, registry
from workbench.formats.export_note import note_in, read_sidecar_note, sidecar_of, with_note
from workbench.formats.format import Codec, Format, Part, Progress, no_progress
from workbench.formats.kit.database import SQLITE, describe_oversized_value
from workbench.formats.kit.epochs import mark_empty_compactions
from workbench.formats.kit.jsonl import BLOCK, LineTooLong, lines_in, object_of
from workbench.formats.kit.limits import MOST_WARNINGS, limit_warnings, line_beyond
from workbench.formats.look import HEAD, Look, Unread
from workbench.formats.refusal import refused_folder
from workbench.formats.usage_checks import check_usage
from workbench.session import Session
from workbench.session.session import DIGEST_BYTES, digest_of

LARGE = 8_000_000
"""Bytes above which a session releases its file's bytes and reads them again for an export."""

INSIDE = 50
"""Most entries of a folder that are tried as sessions if the folder itself is none."""

_BLANKS = b" \t\r\n\x00"


def load(path: Path, progress: Progress = no_progress, part: str = "") -> Session:
    """Open a session file of any known format, recognised by its content.

    A folder is opened if an agent stores sessions as such folders. `part` is the id of one session in a file with
    several (`parts_of` lists them) and is recorded in the session's facts; without it the format chooses. Raises
    BadInput with one sentence for any other folder, for a missing, unreadable, empty, binary or unrecognised file, and
    for an unknown part. The file is never changed or kept open.
    """
    if path.is_dir():
        return _load_folder(path, progress)
    return _recall(path, progress, part) or _read(path, progress, part)


def load_newest(path: Path, progress: Progress = no_progress) -> Session:
    """Open like `load`, but read only the end of a large file if the session is uncached and its end is sufficient for
    the newest epochs and less than half of the file. `Session.begins_at` is then set."""
    if path.is_dir():
        return load(path, progress)
    return _recall(path, progress) or _newest(path) or _read(path, progress)


def _recall(path: Path, progress: Progress, part: str = "") -> Session | None:
    with gc_paused():
        return load_cache.recall(path, part, progress)


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
    """Read a large file of lines with one line at a time in memory; None for any other file."""
    from concurrent.futures import ThreadPoolExecutor

    with _readable(path) as file:
        codec = _codec_of_lines(path, file)
        first = file.readline(BLOCK)
        read = codec.by_line(first) if codec and codec.by_line else None
        if codec is None or read is None:
            return None
        file.seek(0)
        digest, size = hashlib.blake2b(digest_size=DIGEST_BYTES), os.fstat(file.fileno()).st_size
        with gc_paused(), ThreadPoolExecutor(1, "digest") as executor:  # hashing releases the GIL
            try:
                lines = lines_in(file, size, lambda block: executor.submit(digest.update, block))
                session = read(path, lines, progress)
            except LineTooLong:
                return None
        session.records.let_go(path, file.tell(), digest.digest())
    return _checked(with_note(session, note_in(codec, first)))


def _codec_of_lines(path: Path, file: BinaryIO) -> Codec | None:
    """Return the codec of a large file whose first line is an object and that has no sidecar note; None for any other.
    Leaves the file position at the start."""
    head = file.read(HEAD)
    file.seek(0)
    if os.fstat(file.fileno()).st_size <= LARGE or object_of(file.readline(BLOCK)) is None or sidecar_of(path).exists():
        return None
    file.seek(0)
    return _format_of(path, Look(head, lambda: bytes_of(path), path)).codec


def load_bytes(path: Path, data: bytes, progress: Progress = no_progress, part: str = "") -> Session:
    """Open a session from `data`, the content of its file or the part of it to use."""
    if len(data) <= LARGE or data.startswith(SQLITE):  # records of a database are not bytes of the file
        return read_bytes(path, data, progress, part)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "digest") as executor:  # hashing releases the GIL
        digest = executor.submit(digest_of, data)
        session = read_bytes(path, data, progress, part)
    if session.records.data is data:
        session.records.let_go(path, len(data), digest.result())
    return session


def read_bytes(path: Path, data: bytes, progress: Progress = no_progress, part: str = "") -> Session:
    """Open a session from bytes that stay in memory; the file `path` may differ or not exist."""
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
    """Check recorded usage, mark compactions that removed nothing, and limit the number of warnings."""
    if any(epoch.ended_by and epoch.ended_by.way == "removal" for epoch in session.epochs):
        session = replace(session, epochs=mark_empty_compactions(session.epochs))
    if len(session.warnings) > MOST_WARNINGS:
        session = replace(session, warnings=limit_warnings(session.warnings))
    return check_usage(session)


def parts_of(path: Path) -> tuple[Part, ...]:
    """Return the sessions in a file that may hold several, or the branches of a damaged session; () for a file or
    folder with one session. Raises BadInput like `load`."""
    codec = _codec_of(path)
    parts_in = codec and (codec.sessions_in or codec.branches)
    return parts_in(path, bytes_of(path)) if parts_in else ()


def branches_of(path: Path) -> tuple[Part, ...]:
    """Return the branches of a damaged session, () for any other file. Raises BadInput like `load`."""
    codec = _codec_of(path)
    return codec.branches(path, bytes_of(path)) if codec and codec.branches and not codec.sessions_in else ()


def _codec_of(path: Path) -> Codec | None:
    """Return the codec of a file, None for a folder or an empty file."""
    if path.is_dir():
        return None
    look = look_at(path)
    return _format_of(path, look).codec if look.head.strip(_BLANKS) else None


def look_at(path: Path) -> Look:
    """Return a look at a file, which reads only what formats request. Raises BadInput like `load`, now or later."""
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
    """Return the name of the first session in a folder that is not a session itself, "" if there is none."""
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
    """Pause the cyclic garbage collector: a load makes millions of objects and no garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Run a format's reader without the garbage collector. An OSError of a file next to the session becomes Unread."""
    with gc_paused():
        try:
            yield
        except OSError as error:
            raise _unreadable(Path(os.fsdecode(error.filename)) if error.filename else path, error) from None


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading. An error, now or in the block, becomes Unread with one sentence."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise Unread(f"{path} is a folder; open a session file in it.")
        if kind := special_file_kind(status):
            raise Unread(f"{path} is {kind}, not a regular file; copy its content to a file and open that.")
        file = open_file(path)
    except FileNotFoundError:
        raise Unread(f"{path} does not exist; check the name.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    with file:
        try:
            yield file
        except OSError as error:
            raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> Unread:
    return Unread(f"{path} cannot be read: {reason(error)}; check its name and permissions.")


def bytes_of(path: Path) -> bytes:
    """Return the complete file. Raises Unread if it is no regular file, unreadable or empty, or if a JSON line or
    database row is larger than in any session: most work with a file needs several copies in memory."""
    with _readable(path) as file:
        if where := describe_oversized_value(path):
            raise Unread(f"{path}: {where}, too much for a session; delete that row from a copy and open the copy.")
        data = file.read()
    if not data[:1].strip(_BLANKS) and not data.strip(_BLANKS):
        raise Unread(f"{path} is empty; open a file with a session.")
    if found := line_beyond(data):
        line, excess = found
        raise Unread(f"{path}: line {line} holds {excess}, too much for a session; remove it and try again.")
    return data
