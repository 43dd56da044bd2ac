"""Search for sessions: files in the places of every agent, or below any folder, newest first.

The search uses names and dates only; a file is read, in part, when its result is requested. It does not follow links to
folders, stops at a depth and a number of files, and opens regular files only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.finding.glances import Unreadable, glances
from workbench.formats import registry
from workbench.formats.format import Format
from workbench.formats.glance import SessionGlance
from workbench.formats.machine import Place

MOST = 50_000
"""Files that one search examines; a further one is reported as unreadable."""

DEEPEST = 12
"""Folder levels below the root that are searched."""

_SKIPPED = frozenset([".git", "node_modules", ".venv", "venv", "__pycache__", "site-packages", ".tox", ".mypy_cache"])


@dataclass(frozen=True, slots=True)
class Candidate:
    """File or folder that may be a session, by its name. `tool` is the agent or ""; `size` in bytes is None for
    folders, and if it was not read."""

    time: float
    path: Path
    tool: str = ""
    expected: Format | None = None
    size: int | None = None


Result = SessionGlance | Unreadable


def never() -> bool:
    """Return False, for callers that do not cancel."""
    return False


def discover(
    places: Sequence[Place] | None = None, root: Path | None = None, cancelled: Callable[[], bool] = never
) -> Iterator[Result]:
    """Yield every session in the places of all agents, or below `root`, newest file first, read on demand.

    A database yields all its sessions in its place. Ends early if `cancelled` returns True.
    """
    found: list[Candidate] = []
    unreadable: list[Unreadable] = []
    for candidate in files_below(root) if root else files_in_places(registry.places() if places is None else places):
        if cancelled():
            return
        if isinstance(candidate, Candidate):
            found.append(candidate)
        else:
            unreadable.append(candidate)
    found.sort(key=lambda candidate: (-candidate.time, str(candidate.path)))
    for candidate in found:
        if cancelled():
            return
        yield from _results(candidate)
    yield from unreadable


def _results(candidate: Candidate) -> Iterator[Result]:
    for result in glances(candidate.path, candidate.expected):
        if isinstance(result, SessionGlance):
            yield replace(result, whole=None, tool=candidate.tool or result.tool)
        elif candidate.path.suffix != ".md" or candidate.expected:
            yield result


# --- places of agents -----------------------------------------------------------------------------------------------


def files_in_places(places: Iterable[Place]) -> Iterator[Candidate | Unreadable]:
    """Yield the files of every place, each once. Missing places yield nothing."""
    seen: set[tuple[int, int]] = set()
    for place in places:
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
    """Return the file, or the session folder that it marks."""
    path = Path(entry.path)
    return Candidate(time, _folder_marked(path) or path, tool, expected)


def is_session_folder(path: Path) -> bool:
    """Return True for a folder that is a session."""
    try:
        return bool(registry.detect_folder(path))
    except (BadInput, OSError):
        return False


def _folder_marked(path: Path) -> Path | None:
    """Return the session folder that contains this file as its mark: a task, a conversation, an SDK session."""
    levels = _marks_in(path.parent.name).get(path.name)
    return None if levels is None else path.parents[levels]


def _marks_in(folder: str) -> dict[str, int]:
    """Return names of files that mark a session in a folder called `folder`, with the levels up to the session."""
    found = {}
    for inner, name in _marks():
        if not inner or inner[-1] == folder:
            found[name.format(name=folder)] = len(inner)
    return found


@cache
def _marks() -> tuple[tuple[list[str], str], ...]:
    """Return folders and name of each path that marks a session folder of a format."""
    paths = [mark.split("/") for known in registry.all_formats([]) for mark in known.marks]
    return tuple((path[:-1], path[-1]) for path in paths)


# --- below a folder -------------------------------------------------------------------------------------------------


def files_below(root: Path) -> Iterator[Candidate | Unreadable]:
    """Yield files and folders below `root` that may be sessions, by name. Links to folders are not followed."""
    suffixes = (".jsonl", ".json", *{one for known in registry.all_formats([]) for one in known.suffixes})
    waiting: list[tuple[str, int]] = [(str(root), 0)]
    count = 0
    while waiting:
        folder, depth = waiting.pop()
        entries = _entries(folder)
        marked = _marks_in(Path(folder).name)
        if marks := [entry for entry in entries if entry.name in marked]:
            yield _candidate(marks[0], _time(marks[0]), "", None)
            continue
        for entry in entries:
            if _is_folder(entry, follow=False):
                if depth < DEEPEST and entry.name not in _SKIPPED:
                    waiting.append((entry.path, depth + 1))
            elif entry.name.endswith(suffixes):
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
    """Return a folder's entries; none if it cannot be listed, is a file, or does not exist."""
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
