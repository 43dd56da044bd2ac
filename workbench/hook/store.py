"""Files of the hooks in the user's state folder: a snapshot for each session, and the log.

A log line has time, agent, session, event and result, and nothing of the session's text.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.base import paths

DAYS = 30
"""Age at which a snapshot is removed: its session did not go on."""

LOG_BYTES = 64_000
"""Size at which the older half of the log is removed."""

NAME_CHARS = 80


def place_of(agent: str, session_id: str) -> Path:
    """Return the file of a session's snapshot. The id comes from the agent and may hold any character."""
    plain = "".join(one if one.isalnum() or one in "-_" else "_" for one in session_id)
    return paths.hooks() / f"{agent}-{plain[:NAME_CHARS]}.json"


def save(place: Path, data: bytes) -> None:
    """Write a snapshot and remove those that are older than DAYS. Raises BadInput."""
    from workbench.base.files import make_folder, write_atomically

    make_folder(place.parent)
    for old in _older_than(place.parent, time.time() - DAYS * 86_400):
        old.unlink(missing_ok=True)
    write_atomically(place, data, overwrite=True)


def _older_than(folder: Path, moment: float) -> Iterator[Path]:
    """Yield the snapshots last written before a moment, in seconds since 1970."""
    with os.scandir(folder) as found:
        yield from [Path(one.path) for one in found if one.name.endswith(".json") and one.stat().st_mtime < moment]


def log_file() -> Path:
    return paths.hooks() / "log.txt"


def log(line: str) -> None:
    """Append a line with the time to the log. A log that cannot be written is left as it is."""
    try:
        path = log_file()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists() and path.stat().st_size > LOG_BYTES:
            _halve(path)
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{now} {' '.join(line.split())}\n")
    except Exception:
        return


def _halve(path: Path) -> None:
    from workbench.base.files import write_atomically

    rest = path.read_bytes()[-LOG_BYTES // 2 :]
    write_atomically(path, rest[rest.find(b"\n") + 1 :], overwrite=True)


def created_parts(settings: Path) -> tuple[str, ...]:
    """Return what the installation created for a settings file; () if unknown."""
    return tuple(_all_created().get(str(settings), ()))


def remember_created(settings: Path, parts: Sequence[str] | None) -> None:
    """Remember what an installation created for a settings file, in addition to what is known; None forgets it."""
    from workbench.base.files import make_folder, write_atomically

    known = _all_created()
    known[str(settings)] = [] if parts is None else [*dict.fromkeys((*known.get(str(settings), ()), *parts))]
    make_folder(paths.hooks())
    write_atomically(
        _created_file(), json.dumps({one: made for one, made in known.items() if made}).encode(), overwrite=True
    )


def _created_file() -> Path:
    return paths.hooks() / "installed"


def _all_created() -> dict[str, list[str]]:
    try:
        known = json.loads(_created_file().read_bytes())
        return {path: [*map(str, made)] for path, made in known.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def newest_lines(count: int) -> list[str]:
    """Return the newest lines of the log, oldest first; [] without a log."""
    try:
        return log_file().read_text("utf-8", errors="replace").splitlines()[-count:]
    except OSError:
        return []
