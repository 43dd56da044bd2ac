"""Cache files of sessions, which only save time: a large session that is parsed already, for example.

The first line of a file names its source and version; a checksum and the data follow. Only its owner can read a file.
Files of deleted sessions are removed, and the least recently used ones when the folder exceeds `MAX_BYTES`. The folder
may be deleted at any time; a damaged file counts as missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically
from workbench.base.version import __version__

MAX_BYTES = 512_000_000

_MAX_HEADER = 64_000
"""Longest first line, in bytes."""

_CHECKSUM_BYTES = 4
"""Bytes of the CRC-32 after the first line."""

_CHECKSUM_START = 1
"""Start value of the CRC-32. With 0, a file truncated after the zeros that hold the place of the checksum would count
as intact."""

_BLOCK = 1 << 22

About = Mapping[str, str | int]
"""Source and version of a cache file. `of` is the path of the session."""


def real_path(path: Path) -> str:
    """Return the real path of a session's file, the same for every link to it."""
    return os.path.realpath(path)  # `Path.resolve` raises for links in a circle


def cache_file(of: Path, kind: str, part: str = "") -> Path:
    """Return the path of a session's cache file of this kind. `part`: id of the session in a file with several."""
    name = hashlib.blake2b(f"{real_path(of)}\0{part}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return paths.sessions() / f"{name}.{kind}"


@contextlib.contextmanager
def open_cached(file: Path, about: About) -> Iterator[BinaryIO | None]:
    """Open a cache file at the beginning of its data; None if it is missing, damaged, or of another source or version
    than `about`."""
    try:
        found = file.open("rb")
    except OSError:
        yield None
        return
    with found:
        same = _read_about(found) == dict(about) and _is_intact(found)
        if same:
            with contextlib.suppress(OSError):
                os.utime(file)  # the least recently used files are removed first
        yield found if same else None


def store(file: Path, about: About, write: Callable[[Any], object], *, replace: bool = False) -> None:
    """Write a cache file: `write` gets the open file and writes the data. Without `replace`, a valid file stays as it
    is. A file that cannot be written is silently left out."""
    with open_cached(file, about) as there:
        if there and not replace:
            return

    def write_with_checksum(new: BinaryIO) -> None:
        new.write(json.dumps(dict(about)).encode() + b"\n")
        checksum_start = new.tell()
        new.write(bytes(_CHECKSUM_BYTES))
        summed = _ChecksumWriter(new)
        write(summed)
        new.seek(checksum_start)
        new.write(summed.sum.to_bytes(_CHECKSUM_BYTES, "big"))

    with contextlib.suppress(BadInput, OSError):
        make_folder(file.parent)
        write_atomically(file, write_with_checksum, overwrite=True)
        _prune(file.parent)


@cache
def code_digest(*rooms: str) -> str:
    """Return a digest that changes with the program's version and with every module in these packages."""
    root = Path(__file__).parent.parent
    stamps = sorted(
        (str(one), status.st_size, status.st_mtime_ns)
        for room in rooms
        for one in (root / room).rglob("*.py")
        if (status := one.stat())
    )
    return hashlib.blake2b(json.dumps([__version__, stamps]).encode(), digest_size=16).hexdigest()


def _read_about(file: BinaryIO) -> dict[str, Any] | None:
    try:
        about = json.loads(file.readline(_MAX_HEADER))
    except (OSError, ValueError):
        return None
    return about if isinstance(about, dict) else None


class _ChecksumWriter(io.RawIOBase):
    """Writes to a file and computes the checksum of the data."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.sum = file, _CHECKSUM_START

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sum = zlib.crc32(data, self.sum)
        return self.file.write(data)


def _is_intact(file: BinaryIO) -> bool:
    """Return True if the data matches the checksum. Expects the file at the checksum, and leaves it at the data."""
    try:
        expected, found = int.from_bytes(file.read(_CHECKSUM_BYTES), "big"), _CHECKSUM_START
        data_start = file.tell()
        while block := file.read(_BLOCK):
            found = zlib.crc32(block, found)
        file.seek(data_start)
    except OSError:
        return False
    return found == expected


def _prune(folder: Path) -> None:
    files: list[tuple[int, int, Path]] = []
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            with file.open("rb") as found:
                of = (_read_about(found) or {}).get("of")
            status = file.stat()
            if isinstance(of, str) and os.path.exists(of):
                files.append((status.st_mtime_ns, status.st_size, file))
            else:
                file.unlink()
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= MAX_BYTES:
            return
        with contextlib.suppress(OSError):
            file.unlink()
        total -= size
