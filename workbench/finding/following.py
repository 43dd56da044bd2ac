"""Following of a session file that its agent still writes: change marks, and reading without a partial last line.

The file is read again entirely, because a new line may change the meaning of older ones (a rewind, a compaction, a
response spread over several lines). Files are not held open.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import orjson

from workbench.formats.files import bytes_of, load, load_bytes
from workbench.formats.format import Progress, no_progress
from workbench.formats.kit.file_ends import are_lines
from workbench.session import Session

Mark = tuple[tuple[int, int, int], ...]
"""Inode, bytes and nanoseconds of the last change, for a file and the files that belong to it."""


def file_mark(path: Path | str) -> Mark | None:
    """Return the mark of a file, None if it does not exist. It covers a folder's files and events, and a database's
    write-ahead log."""
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
    """Read the session without a last line that is still being written. Raises BadInput as `load` does.

    A document that is being rewritten is rejected as well; it will change again soon.
    """
    if path.is_dir():
        return load(path, progress)
    return load_bytes(path, without_partial_line(bytes_of(path)), progress, part)


def without_partial_line(data: bytes) -> bytes:
    """Return a file of lines up to its last complete one; any other file unchanged."""
    end = data.rfind(b"\n") + 1
    rest = data[end:]
    if not end or not rest.strip() or not are_lines(data[: 1 << 20], b""):
        return data
    try:
        orjson.loads(rest)
    except orjson.JSONDecodeError:
        return data[:end]
    return data
