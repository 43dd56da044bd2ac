"""A folder of files that only save time: each says in its first line of what it is, and holds for that alone.

Large sessions are kept so from one opening to the next. A file is readable by its owner only, goes when the session
that it is of is gone, and the ones that were used least lately go when all together are larger than `MAX_BYTES`. The
folder may be deleted at any time, and whatever is wrong with it is as if nothing were kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically
from workbench.base.version import __version__

MAX_BYTES = 512_000_000

_LONGEST = 64_000
"""Bytes of a first line."""

About = Mapping[str, str | int]
"""Of what a file is. `of` is the path of the session."""


def place(of: Path, kind: str, part: str = "") -> Path:
    """Where a file of this kind lies that is kept of a session, or of one of several in its file."""
    name = hashlib.blake2b(f"{of.resolve()}\0{part}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return paths.sessions() / f"{name}.{kind}"


@contextlib.contextmanager
def opened(file: Path, about: About) -> Iterator[BinaryIO | None]:
    """The file, to be read from behind its first line; None where it is not there or is of something else."""
    try:
        found = file.open("rb")
    except OSError:
        yield None
        return
    with found:
        same = _about(found) == dict(about)
        if same:
            with contextlib.suppress(OSError):
                os.utime(file)  # the one that was used last goes last
        yield found if same else None


def put(file: Path, about: About, write: Callable[[BinaryIO], object]) -> None:
    """Keep what `write` writes, unless that is kept already or cannot be."""
    with opened(file, about) as there:
        if there:
            return

    def told(new: BinaryIO) -> None:
        new.write(orjson.dumps(dict(about)) + b"\n")
        write(new)

    with contextlib.suppress(BadInput, OSError):
        make_folder(file.parent)
        write_atomically(file, told, overwrite=True)
        _prune(file.parent)


@cache
def program(*rooms: str) -> str:
    """Stands for the program's version, and for the modules of these rooms as they lie here: a change to any of them
    makes another of it."""
    root = Path(__file__).parent.parent
    stamps = sorted(
        (str(one), status.st_size, status.st_mtime_ns)
        for room in rooms
        for one in (root / room).rglob("*.py")
        if (status := one.stat())
    )
    return hashlib.blake2b(orjson.dumps([__version__, stamps]), digest_size=16).hexdigest()


def _about(file: BinaryIO) -> dict[str, Any] | None:
    try:
        about = orjson.loads(file.readline(_LONGEST))
    except (OSError, ValueError):
        return None
    return about if isinstance(about, dict) else None


def _prune(folder: Path) -> None:
    kept: list[tuple[int, int, Path]] = []
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            with file.open("rb") as found:
                of = (_about(found) or {}).get("of")
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
