"""A large session as it was read, kept for the next time it is opened: that takes a quarter of what reading it takes.

It holds for the same bytes and the same program; the bytes are looked at each time. What is kept is what the session's
file holds and lies in the cache, for its owner only (`base/disk_cache.py`). Nothing is kept for a format whose sessions
take several files.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

from workbench.base import disk_cache
from workbench.base.reading import open_file
from workbench.formats.export_note import sidecar_of
from workbench.formats.format import Progress, no_progress
from workbench.formats.registry import by_id
from workbench.session import Message, Opaque, Records, Session, ToolUse
from workbench.session.session import DIGEST_BYTES

_TOGETHER = 256
"""Messages that are written in one go: other threads wait so long."""

_MOST_VALUES = 200_000
"""JSON values of so many messages; where there are more the session is not kept. A pickle notes each that it writes and
each that it reads: of two million it would take 150 MB more than the session does."""

_BLOCK = 1 << 22

_BROKEN = (OSError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError, pickle.UnpicklingError)

_APART = ("path", "messages", "records")
"""What of a session is not kept as it is."""

_ROOMS = ("workbench.session.", "workbench.formats.")
_PLAIN = {"builtins.range", "builtins.frozenset", "builtins.set", "array.array", "array._array_reconstructor"}


def keep(session: Session) -> None:
    """Keep a session that was read from a large file and is as its file says."""
    path, records = session.path, session.records
    if path is None or not records.digest or not _stands_alone(session.format, path):
        return
    if not all(map(_has_room, _parts(session))):
        return
    about = _about(path, records.size, records.digest)
    disk_cache.store(
        disk_cache.cache_file(path, "session", session.facts.part), about, lambda file: _write(session, file)
    )


def _parts(session: Session) -> Iterator[tuple[Message, ...]]:
    """The messages as they are written."""
    for start in range(0, len(session.messages), _TOGETHER):
        yield session.messages[start : start + _TOGETHER]


def _has_room(part: tuple[Message, ...]) -> bool:
    """Whether the messages hold `_MOST_VALUES` JSON values at most; no more than that are looked at."""
    blocks = [block for message in part for block in message.blocks]
    waiting: list[object] = [block.input for block in blocks if isinstance(block, ToolUse)]
    waiting += [block.raw for block in blocks if isinstance(block, Opaque)]
    room = _MOST_VALUES - len(waiting)
    while waiting and room >= 0:
        one = waiting.pop()
        if isinstance(one, dict | list):
            room -= len(one)
            if room >= 0:
                waiting += one.values() if isinstance(one, dict) else one
    return room >= 0


def _stands_alone(format: str, path: Path) -> bool:
    alone = by_id(format).codec.alone
    try:
        with open_file(path) as file:
            return alone is not None and alone(file.readline(_BLOCK)) and not sidecar_of(path).exists()
    except OSError:
        return False


def recall(path: Path, part: str = "", progress: Progress = no_progress) -> Session | None:
    """The session as it was read from this very file, None where that is not kept."""
    try:
        place = disk_cache.cache_file(path, "session", part)
        if not place.exists() or sidecar_of(path).exists():
            return None
        size = path.stat().st_size
        digest = _digest(path, size, progress)
        with disk_cache.open_cached(place, _about(path, size, digest)) as file:
            return _read(file, path, size, digest) if file else None
    except _BROKEN:
        return None


def _about(path: Path, size: int, digest: bytes) -> disk_cache.About:
    program = disk_cache.code_digest("base", "session", "formats")
    return {"of": disk_cache.real_path(path), "size": size, "digest": digest.hex(), "program": program}


def _digest(path: Path, size: int, progress: Progress) -> bytes:
    made, done = hashlib.blake2b(digest_size=DIGEST_BYTES), 0
    with open_file(path) as file:
        while block := file.read(_BLOCK):
            made.update(block)
            done += len(block)
            progress(done, size)
    return made.digest()


def _write(session: Session, file: BinaryIO) -> None:
    """Everything but the messages, then these in parts, then nothing."""
    whole = {one.name: getattr(session, one.name) for one in fields(Session) if one.name not in _APART}
    pickle.dump((whole, session.records.packed), file, 5)
    for part in _parts(session):
        pickle.dump(part, file, 5)
    pickle.dump((), file, 5)


def _read(file: BinaryIO, path: Path, size: int, digest: bytes) -> Session:
    whole, spans = _Known(file).load()
    messages: list[Message] = []
    while some := _Known(file).load():
        messages += some
    return Session(path=path, messages=tuple(messages), records=Records.in_file(path, size, digest, spans), **whole)


class _Known(pickle.Unpickler):
    """Makes nothing but what sessions are made of."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.startswith(_ROOMS) else None
        # A module knows classes of others, too, by which anything could be done.
        if isinstance(found, type) and found.__module__.startswith(_ROOMS):
            return found
        if f"{module}.{name}" in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a session")
