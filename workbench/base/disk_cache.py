"""A folder of files that only save time: each says in its first line of what it is, and holds for that alone, with a
sum of the rest behind it.

Large sessions are kept so from one opening to the next. A file is readable by its owner only, goes when the session
that it is of is gone, and the ones that were used least lately go when all together are larger than `MAX_BYTES`. The
folder may be deleted at any time, and whatever is wrong with it is as if nothing were kept.
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
"""Bytes of a first line."""

_CHECKSUM_BYTES = 4
"""Bytes of the sum behind it, of CRC-32."""

_CHECKSUM_START = 1
"""From what it is summed: that of nothing is not the zero that a file cut off shows."""

_BLOCK = 1 << 22

About = Mapping[str, str | int]
"""Of what a file is. `of` is the path of the session."""


def real_path(path: Path) -> str:
    """The name of a session's file that every link to it has."""
    return os.path.realpath(path)  # `Path.resolve` raises for links in a circle


def cache_file(of: Path, kind: str, part: str = "") -> Path:
    """Where a file of this kind lies that is kept of a session, or of one of several in its file."""
    name = hashlib.blake2b(f"{real_path(of)}\0{part}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return paths.sessions() / f"{name}.{kind}"


@contextlib.contextmanager
def open_cached(file: Path, about: About) -> Iterator[BinaryIO | None]:
    """The file, to be read from behind its first line and its sum; None where it is not there, is of something else, or
    is not what was written."""
    try:
        found = file.open("rb")
    except OSError:
        yield None
        return
    with found:
        same = _read_about(found) == dict(about) and _is_intact(found)
        if same:
            with contextlib.suppress(OSError):
                os.utime(file)  # the one that was used last goes last
        yield found if same else None


def store(file: Path, about: About, write: Callable[[Any], object], *, anew: bool = False) -> None:
    """Keep what `write` writes, unless that cannot be, or something of the same is kept already and not to be written
    `anew`."""
    with open_cached(file, about) as there:
        if there and not anew:
            return

    def told(new: BinaryIO) -> None:
        new.write(json.dumps(dict(about)).encode() + b"\n")
        cache_file = new.tell()
        new.write(bytes(_CHECKSUM_BYTES))
        summed = _ChecksumWriter(new)
        write(summed)
        new.seek(cache_file)
        new.write(summed.sum.to_bytes(_CHECKSUM_BYTES, "big"))

    with contextlib.suppress(BadInput, OSError):
        make_folder(file.parent)
        write_atomically(file, told, overwrite=True)
        _prune(file.parent)


@cache
def code_digest(*rooms: str) -> str:
    """Stands for the program's version, and for the modules of these rooms as they lie here: a change to any of them
    makes another of it."""
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
    """What is written goes on to a file, and into a sum."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.sum = file, _CHECKSUM_START

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sum = zlib.crc32(data, self.sum)
        return self.file.write(data)


def _is_intact(file: BinaryIO) -> bool:
    """Whether what follows is what was written, by the sum before it. The file is left where that begins."""
    try:
        wanted, found = int.from_bytes(file.read(_CHECKSUM_BYTES), "big"), _CHECKSUM_START
        cache_file = file.tell()
        while block := file.read(_BLOCK):
            found = zlib.crc32(block, found)
        file.seek(cache_file)
    except OSError:
        return False
    return found == wanted


def _prune(folder: Path) -> None:
    kept: list[tuple[int, int, Path]] = []
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            with file.open("rb") as found:
                of = (_read_about(found) or {}).get("of")
            status = file.stat()
            if isinstance(of, str) and os.path.exists(of):
                kept.append((status.st_mtime_ns, status.st_size, file))
            else:
                file.unlink()
    total = sum(size for _, size, _ in kept)
    for _, size, file in sorted(kept):
        if total <= MAX_BYTES:
            return
        with contextlib.suppress(OSError):
            file.unlink()
        total -= size
