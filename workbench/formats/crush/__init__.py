"""Crush (`.crush/crush.db` in a project): an SQLite database with sessions, and messages whose parts are JSON.

The context follows `internal/agent/agent.go` of https://github.com/charmbracelet/crush: messages from the newest
summary on, which is sent as a user message, without results that have no call; a call without a result is answered as
interrupted. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.kit.database import Tables
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "crush"


def recognise(look: Look) -> str:
    return "an SQLite database with Crush's sessions, messages and their parts" if is_database(look.tables) else ""


def is_database(tables: Tables) -> bool:
    """True for Crush's tables; `tables` are column names by table."""
    none = frozenset[str]()
    return "parent_session_id" in tables.get("sessions", none) and "parts" in tables.get("messages", none)


def _codec() -> Codec:
    from workbench.formats.crush import read

    return Codec(read.read, sessions_in=read.sessions_in, read_part=read.read_part, list_sessions=read.list_sessions)


def _places(machine: Machine) -> Iterator[Place]:
    for folder in machine.projects:
        yield Place("Crush", ID, folder / ".crush", ("crush.db",))


FORMAT = Format(ID, "Crush", recognise, _codec, places=_places, suffixes=(".db",))
