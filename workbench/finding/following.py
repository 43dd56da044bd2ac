"""A session file that its agent still writes: whether it has changed, and what of it is finished. Nothing is held open.

It is read anew as a whole: a new line may change what older ones mean (a rewind, a compaction, an answer spread over
several lines). That is done where nobody waits for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import orjson

from workbench.formats.files import bytes_of, load, load_bytes
from workbench.formats.format import Progress, no_progress
from workbench.formats.kit.ends import are_lines
from workbench.session import Session

Mark = tuple[tuple[int, int, int], ...]
"""Inode, bytes and nanoseconds of the last change, of a file and the files that belong to it."""


def file_mark(path: Path | str) -> Mark | None:
    """None where the file is not there. Of a folder count what lies in it and its events, of a database its write-ahead
    log."""
    marks = tuple(_marks(path))
    return marks or None


def _marks(path: Path | str) -> Iterator[tuple[int, int, int]]:
    for one in (str(path), f"{path}-wal"):
        if status := _status(one):
            yield status.st_ino, status.st_size, status.st_mtime_ns
            if stat.S_ISDIR(status.st_mode):
                inside = (_status(os.path.join(path, name)) for name in ("events", *_names_in(path)))
                yield from ((known.st_ino, known.st_size, known.st_mtime_ns) for known in inside if known)
                return


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _names_in(folder: Path | str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def read_finished(path: Path, part: str = "", progress: Progress = no_progress) -> Session:
    """The session without a last line that is still being written. Raises BadInput as `load` does.

    A document that is just being rewritten is refused, too: it will have changed again soon.
    """
    if path.is_dir():
        return load(path, progress)
    return load_bytes(path, without_partial_line(bytes_of(path)), progress, part)


def without_partial_line(data: bytes) -> bytes:
    """A file of lines up to its last whole one; anything else as it is."""
    end = data.rfind(b"\n") + 1
    rest = data[end:]
    if not end or not rest.strip() or not are_lines(data[: 1 << 20], b""):
        return data
    try:
        orjson.loads(rest)
    except orjson.JSONDecodeError:
        return data[:end]
    return data
