"""goose's `sessions.db`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Part
from workbench.formats.kit.database import opened, rows
from workbench.formats.kit.several import sessions_of

_TABLES = frozenset(["sessions", "messages"])


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The sessions that have messages, the newest first. Raises BadInput for a database that is none of goose's."""
    with opened(path, data, _TABLES, "goose") as database:
        return sessions_of(database, "sessions", "messages", "updated_at", titles=("name", "description"))


def session_rows(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A session's row and those of its messages, in their order. Raises BadInput where there is no such session."""
    with opened(path, data, _TABLES, "goose") as database:
        found = rows(database, "SELECT * FROM sessions WHERE id = ?", id)
        messages = rows(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY timestamp, rowid", id)
    if not found:
        raise BadInput(f"{path} has no session {id!r}; choose a listed one.")
    return found[0], messages
