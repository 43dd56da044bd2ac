"""Sessions that lie on this machine: the files in the places of every tool, or below any folder, the newest first.

Finding looks at names and dates only; each file is then glanced at when it is asked for. Whatever lies there is
bounded: a walk does not follow links to folders and ends at a depth and a number of files, and nothing but regular
files is opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.finding.glances import Found, Unreadable, glance
from workbench.finding.stores import stored, stored_file
from workbench.formats import registry
from workbench.formats.format import Format
from workbench.formats.kit.database import is_database
from workbench.formats.machine import Place
from workbench.formats.roo_cline.signature import HISTORY

MOST = 50_000
"""Files that one search looks at; what lies beyond is told as one that could not be read."""

DEEPEST = 12
"""Folders below the root into which a search goes."""

_SUFFIXES = (".jsonl", ".json", ".jsonl.zst", ".traj", ".eval", ".har", ".af", ".db", ".md")
_PASSED_BY = frozenset([".git", "node_modules", ".venv", "venv", "__pycache__", "site-packages", ".tox", ".mypy_cache"])


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be a session, by its name. `tool` is "" where the place does not tell, `size` None for a folder and
    where nobody looked."""

    time: float
    path: Path
    tool: str = ""
    expected: Format | None = None
    size: int | None = None


Result = Found | Unreadable


def never() -> bool:
    """For callers that do not cancel."""
    return False


def discover(
    looked_at: Sequence[Place] | None = None, root: Path | None = None, cancelled: Callable[[], bool] = never
) -> Iterator[Result]:
    """Every session in the places of all tools, or below `root`, the newest file first, each read when it is asked for.

    A database gives all its sessions where it stands. Ends early when `cancelled` says so.
    """
    found: list[Candidate] = []
    over: list[Unreadable] = []
    for candidate in below(root) if root else in_places(registry.places() if looked_at is None else looked_at):
        if cancelled():
            return
        if isinstance(candidate, Candidate):
            found.append(candidate)
        else:
            over.append(candidate)
    found.sort(key=lambda candidate: (-candidate.time, str(candidate.path)))
    for candidate in found:
        if cancelled():
            return
        yield from _results(candidate)
    yield from over


def _results(candidate: Candidate) -> Iterator[Result]:
    path = candidate.path
    if path.suffix == ".db" and is_database(path):
        try:
            yield from stored(path)
        except BadInput as refused:
            yield Unreadable(path, str(refused))
        return
    if path.name.startswith("ses_") and (session := stored_file(path)):
        yield session
        return
    result = glance(path, candidate.expected)
    if isinstance(result, Found):
        yield replace(result, whole=None, tool=candidate.tool or result.tool)
    elif path.suffix != ".md" or candidate.expected:
        yield result


# --- where the tools keep them --------------------------------------------------------------------------------------


def in_places(looked_at: Iterable[Place]) -> Iterator[Candidate | Unreadable]:
    """The files of every place, each once, whichever place names it first. Places that are not there give nothing."""
    seen: set[tuple[int, int]] = set()
    for place in looked_at:
        expected = registry.by_id(place.format)
        for pattern in place.patterns:
            for entry in _matching(place.folder, pattern.split("/")):
                if fnmatchcase(entry.name, place.except_for):
                    continue
                status = _status(entry)
                if status is None:
                    yield Candidate(0.0, Path(entry.path), place.agent, expected)
                    continue
                if (status.st_dev, status.st_ino) in seen and status.st_ino:
                    continue
                seen.add((status.st_dev, status.st_ino))
                yield _candidate(entry, status.st_mtime, place.agent, expected)
                if len(seen) >= MOST:
                    yield Unreadable(place.folder, f"More than {MOST} files: the search ended here.")
                    return


def _matching(folder: Path | str, names: Sequence[str]) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(folder):
        if not fnmatchcase(entry.name, names[0]):
            continue
        if len(names) == 1:
            yield entry
        elif _is_folder(entry, follow=True):
            yield from _matching(entry.path, names[1:])


def _candidate(entry: os.DirEntry[str], time: float, tool: str, expected: Format | None) -> Candidate:
    """The file, or the folder that it marks as a session."""
    path = Path(entry.path)
    return Candidate(time, _folder_marked(path) or path, tool, expected)


def is_session_folder(path: Path) -> bool:
    """Whether a folder is a session, and not one in which to look for them."""
    try:
        return bool(registry.detect_folder(path))
    except (BadInput, OSError):
        return False


def _folder_marked(path: Path) -> Path | None:
    """The folder that is a session because this file lies in it: a task, a conversation, a session of an SDK."""
    folder = path.parent
    if not _marks(path.name, folder.name):
        return None
    return folder.parent if path.name == "0.json" else folder


def _marks(name: str, folder: str) -> bool:
    """Whether a file of this name marks the folder in which it lies, or the one about that, as a session."""
    return name in (HISTORY, "base_state.json", f"{folder}.messages.json") or (name == "0.json" and folder == "events")


# --- below a folder -------------------------------------------------------------------------------------------------


def below(root: Path) -> Iterator[Candidate | Unreadable]:
    """What may be a session below a folder, by its name. Links to folders are passed by, so no walk goes in circles."""
    waiting: list[tuple[str, int]] = [(str(root), 0)]
    count = 0
    while waiting:
        folder, depth = waiting.pop()
        entries = _entries(folder)
        here = Path(folder).name
        if marks := [entry for entry in entries if _marks(entry.name, here)]:
            yield _candidate(marks[0], _time(marks[0]), "", None)
            continue
        for entry in entries:
            if _is_folder(entry, follow=False):
                if depth < DEEPEST and entry.name not in _PASSED_BY:
                    waiting.append((entry.path, depth + 1))
            elif entry.name.endswith(_SUFFIXES):
                count += 1
                if count > MOST:
                    yield Unreadable(root, f"More than {MOST} files: the search ended at {folder}.")
                    return
                status = _status(entry)
                if status and stat.S_ISREG(status.st_mode):
                    yield Candidate(status.st_mtime, Path(entry.path), size=status.st_size)
                else:
                    yield Candidate(0.0, Path(entry.path))


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    """What lies in a folder; nothing where it cannot be listed, which is where it is a file or not there, too."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []


def _is_folder(entry: os.DirEntry[str], *, follow: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:
        return False


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return None


def _time(entry: os.DirEntry[str]) -> float:
    status = _status(entry)
    return status.st_mtime if status and stat.S_ISREG(status.st_mode) else 0.0
