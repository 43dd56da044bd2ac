"""Cache of parsed large sessions: opening one from the cache takes a quarter of the time of reading its file.

An entry is valid for the same bytes, which are hashed each time, and the same program. It contains the content of the
session's file and is readable by its owner only (`base/disk_cache.py`). Sessions of several files are not cached.
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

_GROUP_SIZE = 256
"""Messages per pickle; other threads wait while one is written."""

_MAX_VALUES = 200_000
"""Maximum JSON values in one pickle; a session above it is not cached. Pickle remembers every value: two million take
150 MB in addition to the session."""

_BLOCK = 1 << 22

_READ_ERRORS = (OSError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError, pickle.UnpicklingError)

_SEPARATE_FIELDS = ("path", "messages", "records")
"""Fields of a session that are not pickled with the others."""

_ROOMS = ("workbench.session.", "workbench.formats.")
_PLAIN = {"builtins.range", "builtins.frozenset", "builtins.set", "array.array", "array._array_reconstructor"}


def store(session: Session) -> None:
    """Store a session that was read from a large file and is unchanged."""
    path, records = session.path, session.records
    if path is None or not records.digest or not _needs_no_other_file(session.format, path):
        return
    if not all(map(_is_small_enough, _message_groups(session))):
        return
    key = _key(path, records.size, records.digest)
    disk_cache.store(
        disk_cache.cache_file(path, "session", session.facts.part), key, lambda file: _write(session, file)
    )


def _message_groups(session: Session) -> Iterator[tuple[Message, ...]]:
    """Yield the messages in groups of `_GROUP_SIZE`."""
    for start in range(0, len(session.messages), _GROUP_SIZE):
        yield session.messages[start : start + _GROUP_SIZE]


def _is_small_enough(part: tuple[Message, ...]) -> bool:
    """True if the messages hold at most `_MAX_VALUES` JSON values; stops counting there."""
    blocks = [block for message in part for block in message.blocks]
    waiting: list[object] = [block.input for block in blocks if isinstance(block, ToolUse)]
    waiting += [block.raw for block in blocks if isinstance(block, Opaque)]
    room = _MAX_VALUES - len(waiting)
    while waiting and room >= 0:
        one = waiting.pop()
        if isinstance(one, dict | list):
            room -= len(one)
            if room >= 0:
                waiting += one.values() if isinstance(one, dict) else one
    return room >= 0


def _needs_no_other_file(format: str, path: Path) -> bool:
    alone = by_id(format).codec.alone
    try:
        with open_file(path) as file:
            return alone is not None and alone(file.readline(_BLOCK)) and not sidecar_of(path).exists()
    except OSError:
        return False


def recall(path: Path, part: str = "", progress: Progress = no_progress) -> Session | None:
    """Return the cached session of this file, None if it is not cached or outdated."""
    try:
        place = disk_cache.cache_file(path, "session", part)
        if not place.exists() or sidecar_of(path).exists():
            return None
        size = path.stat().st_size
        digest = _digest(path, size, progress)
        with disk_cache.open_cached(place, _key(path, size, digest)) as file:
            return _read(file, path, size, digest) if file else None
    except _READ_ERRORS:
        return None


def _key(path: Path, size: int, digest: bytes) -> disk_cache.About:
    program = disk_cache.code_digest("base", "session", "formats")
    return {"of": disk_cache.real_path(path), "size": size, "digest": digest.hex(), "program": program}


def _digest(path: Path, size: int, progress: Progress) -> bytes:
    hasher, done = hashlib.blake2b(digest_size=DIGEST_BYTES), 0
    with open_file(path) as file:
        while block := file.read(_BLOCK):
            hasher.update(block)
            done += len(block)
            progress(done, size)
    return hasher.digest()


def _write(session: Session, file: BinaryIO) -> None:
    """Write all other fields, then the messages in groups, then an empty group."""
    other_fields = {one.name: getattr(session, one.name) for one in fields(Session) if one.name not in _SEPARATE_FIELDS}
    pickle.dump((other_fields, session.records.packed), file, 5)
    for part in _message_groups(session):
        pickle.dump(part, file, 5)
    pickle.dump((), file, 5)


def _read(file: BinaryIO, path: Path, size: int, digest: bytes) -> Session:
    other_fields, spans = _SessionUnpickler(file).load()
    messages: list[Message] = []
    while group := _SessionUnpickler(file).load():
        messages += group
    records = Records.in_file(path, size, digest, spans)
    return Session(path=path, messages=tuple(messages), records=records, **other_fields)


class _SessionUnpickler(pickle.Unpickler):
    """An unpickler that creates only the classes of sessions."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.startswith(_ROOMS) else None
        # A module also contains imported classes, which could run any code.
        if isinstance(found, type) and found.__module__.startswith(_ROOMS):
            return found
        if f"{module}.{name}" in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a session")
