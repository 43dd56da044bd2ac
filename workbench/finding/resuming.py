"""Steps to resume a loaded session in its agent, from the place of its file."""

from __future__ import annotations

import os
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from workbench.formats.format import Written
from workbench.formats.registry import by_id, places
from workbench.formats.steps import steps
from workbench.session import Session


def steps_of(session: Session) -> tuple[str, ...]:
    """Return commands to run in one `sh`, line by line; the last line opens the session.

    A session in one of its agent's places stays there. A step without a command is a comment.
    """
    path = session.path or Path()
    written = _addressed(session)
    if path.is_dir() and os.path.isfile(path / written.name):
        path = path / written.name
    if path.suffix == ".zst":
        written = replace(written, home=f"{written.home}.zst")
    if session.path and _is_in_place(session.path, session.format):
        written = replace(written, home="", sidecar=None, commands=written.commands[-1:])
    return steps(written, path)


def can_be_resumed(lines: tuple[str, ...]) -> bool:
    """Return True if the last step is a command, not a comment for the user."""
    return not lines[-1].startswith("# ")


def _addressed(session: Session) -> Written:
    format = by_id(session.format)
    if format.codec.addressed is not None:
        return format.codec.addressed(session, b"", session.id, ())
    if format.codec.write is not None:
        return format.codec.write(session, session.context())
    return Written(b"", "", by_hand=f"{format.title} is read-only here: resume it in its own agent")


def _is_in_place(path: Path, format: str) -> bool:
    """Return True for a file or folder in one of the places of its agent."""
    found = path.absolute()
    for place in places():
        if place.format == format and found.is_relative_to(place.folder):
            names = found.relative_to(place.folder).parts
            for pattern in place.patterns:
                pattern_names = pattern.split("/")
                whole = len(names) == len(pattern_names) or (path.is_dir() and len(names) < len(pattern_names))
                if whole and all(map(fnmatchcase, names, pattern_names)):
                    return True
    return False
