"""Sessions that lie on this machine: what a file holds at a glance, and the files that Claude Code keeps.

A glance reads the first and the last 64 KiB of a file, no more, so that a folder of gigabytes is listed in seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import BadInput
from workbench.formats import registry
from workbench.formats.format import no_progress
from workbench.formats.titles import first_words
from workbench.session import Session

REACH = 64 * 1024
"""Bytes read at each end of a file."""


@dataclass(frozen=True, slots=True)
class Found:
    """A session file at a glance. `time` is when the file was last changed, in seconds since the epoch.

    What its two ends do not tell is "". `whole` is the session itself where the file is so short that all was read.
    """

    path: Path
    bytes: int
    time: float
    format: str
    title: str = ""
    request: str = ""
    folder: str = ""
    model: str = ""
    whole: Session | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that looked like a session by its name only, and why it is none."""

    path: Path
    reason: str


def claude_code_root() -> Path:
    """Where Claude Code keeps its sessions: a folder for each project, a JSONL file for each session."""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"
    return Path(home).expanduser() / "projects"


def discover(root: Path) -> Iterator[Found | Unreadable]:
    """Every `*/*.jsonl` below `root`, the newest first, each read only when it is asked for. No root, no sessions."""
    for _, path in sorted(_dated(root), reverse=True):
        yield glance(path)


def glance(path: Path) -> Found | Unreadable:
    """What `path` is, by its two ends."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            head = file.read(REACH)
            file.seek(max(len(head), status.st_size - REACH))
            tail = file.read(REACH)
    except (OSError, ValueError) as error:
        return Unreadable(path, (error.strerror if isinstance(error, OSError) else None) or str(error))
    try:
        known, _ = registry.detect(head)
    except BadInput as error:
        return Unreadable(path, str(error))
    found = Found(path, status.st_size, status.st_mtime, known.title)
    is_whole = status.st_size <= len(head) + len(tail)
    try:
        session = known.read(path, head + tail if is_whole else _whole_lines(head, tail), no_progress)
    except BadInput as error:
        # Half a document says nothing against the whole of it.
        return Unreadable(path, str(error)) if is_whole else found
    return Found(
        path,
        found.bytes,
        found.time,
        found.format,
        title=session.title,
        request=first_words(session.messages),
        folder=session.cwd or "",
        model=session.model or "",
        whole=session if is_whole else None,
    )


def _whole_lines(head: bytes, tail: bytes) -> bytes:
    """The two ends without the lines that are cut."""
    return head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]


def _dated(root: Path) -> Iterator[tuple[float, Path]]:
    for folder in _entries(root):
        for entry in _entries(folder.path):
            if entry.name.endswith(".jsonl"):
                try:
                    yield entry.stat().st_mtime, Path(entry.path)
                except OSError:
                    yield 0.0, Path(entry.path)


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    """What lies in a folder; nothing where it cannot be listed, which is where it is a file or not there, too."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
