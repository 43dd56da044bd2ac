"""Folders and files of this machine that writers need. Writers query the machine only here."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime

from workbench.base.reading import read_file
from workbench.base.stamps import utc_datetime
from workbench.session import Session


def folder_of(session: Session) -> str:
    """Return the session's working folder, or else the current one."""
    return session.cwd or current_folder()


def agent_home(variable: str, otherwise: str) -> str:
    """Return the agent's own folder: the value of its environment variable, or else `otherwise`; `~` is the home
    folder."""
    named = os.environ.get(variable, "").strip()
    return named.rstrip("/") if named.startswith(("/", "~/")) else otherwise


def written_at(session: Session, id: str) -> datetime:
    """Return the time of the last change of the loaded session's file if that session has this id, else the current
    time. Some agents derive the file name from it."""
    with suppress(OSError):
        if session.path is not None and id == session.id:
            return utc_datetime(session.path.stat().st_mtime)
    return utc_datetime(None)


def recorded_file_name(session: Session, id: str) -> str:
    """Return the file name of the loaded session if it ends with the id; "" for another id or name."""
    name = session.path.name if session.path and id and id == session.id else ""
    return name if name.partition(".")[0].endswith(id) else ""


def expand_home(path: str) -> str:
    """Return the path with the user's home folder in place of a leading `~`."""
    return os.path.expanduser(path)


def read_agent_file(path: str) -> bytes:
    """Return the bytes of an agent's file, `~` expanded; empty if it cannot be read."""
    try:
        return read_file(expand_home(path))
    except (OSError, ValueError):
        return b""


def current_folder() -> str:
    """Return the current folder, or the home folder if the current one was deleted."""
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return os.path.expanduser("~")
