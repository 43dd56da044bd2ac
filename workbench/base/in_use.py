"""Detect a file that is still being written: by its time, by a lock file next to it, by the process that has it open.

The result is a note, never a refusal: an export is a new file, and at worst it lacks the end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

RECENT_S = 10.0
"""Seconds since the last change within which a file counts as still being written."""

_LOOK_S = 0.2
"""Seconds of searching for open handles."""
_DAY_S = 86_400.0
"""Seconds since the last change after which open handles are not searched."""
_WRITES = os.O_WRONLY | os.O_RDWR


def still_written(path: Path, now: float | None = None) -> str:
    """Return why a file or folder seems to be in use, a clause such as "changed 3 s ago"; "" if it does not.

    `now` is in seconds since 1970. Nothing is read, locked or changed.
    """
    try:
        newest = max(_times(path), default=None)
    except OSError:
        return ""
    if newest is None:
        return ""
    age = (time.time() if now is None else now) - newest
    if -RECENT_S <= age <= RECENT_S:
        return f"changed {max(0, round(age))} s ago"
    for name in (f"{path.name}.lock", f".{path.name}.lock", f"{path.name}-shm"):
        if path.with_name(name).exists():
            return f"{name} exists next to it"
    if age < _DAY_S and (process := _holder(path)):
        return f"process {process} has it open for writing"
    return ""


def _times(path: Path) -> Iterator[float]:
    """Yield the time of the last change of a file; for a folder, also of its entries."""
    yield path.stat().st_mtime
    if not path.is_dir():
        return
    for entry in os.scandir(path):
        yield entry.stat(follow_symlinks=False).st_mtime


def _holder(path: Path) -> str:
    """Return the id of a process that has the file open for writing; "" if none is found within `_LOOK_S`, or without
    /proc."""
    target, own = os.path.realpath(path), str(os.getpid())
    until = time.monotonic() + _LOOK_S
    for process in _list_names("/proc"):
        if not process.isdecimal() or process == own:
            continue
        if time.monotonic() > until:
            break
        for handle in _list_names(f"/proc/{process}/fd"):
            try:
                if os.readlink(f"/proc/{process}/fd/{handle}") == target and _is_for_writing(process, handle):
                    return process
            except OSError:
                continue
    return ""


def _is_for_writing(process: str, handle: str) -> bool:
    with open(f"/proc/{process}/fdinfo/{handle}", encoding="ascii", errors="replace") as file:
        flags = next((line.split()[1] for line in file if line.startswith("flags:")), "0")
    return bool(int(flags, 8) & _WRITES)


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
