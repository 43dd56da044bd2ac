"""Where a session is gone on with, for tools that look for their sessions by folder: all that a writer asks of the
machine it runs on is asked here."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime

from workbench.base.reading import read_file
from workbench.base.stamps import moment
from workbench.session import Session


def folder_of(session: Session) -> str:
    """The folder that the session was held in, else the one where the person is now."""
    return session.cwd or current_folder()


def agent_home(variable: str, otherwise: str) -> str:
    """Where a tool keeps its own files: the folder that its variable names, else the usual one, `~` for the home."""
    named = os.environ.get(variable, "").strip()
    return named.rstrip("/") if named.startswith(("/", "~/")) else otherwise


def written_at(session: Session, id: str) -> datetime:
    """When the session of this id was written, by which some tools name its file: now, unless it is the loaded one."""
    with suppress(OSError):
        if session.path is not None and id == session.id:
            return moment(session.path.stat().st_mtime)
    return moment(None)


def recorded_file_name(session: Session, id: str) -> str:
    """The file's name as its tool gave it to the loaded session, with its id at the end; "" for another id or name."""
    name = session.path.name if session.path and id and id == session.id else ""
    return name if name.partition(".")[0].endswith(id) else ""


def expand_home(path: str) -> str:
    """A path with the person's home for the `~` that it begins with."""
    return os.path.expanduser(path)


def read_agent_file(path: str) -> bytes:
    """What a tool's own file says, of which `~` stands for the home; nothing where it cannot be read."""
    try:
        return read_file(expand_home(path))
    except (OSError, ValueError):
        return b""


def current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return os.path.expanduser("~")
