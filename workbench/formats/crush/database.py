"""Read sessions from Crush's `crush.db`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.crush import ID
from workbench.formats.format import Part
from workbench.formats.glance import SessionGlance
from workbench.formats.kit.database import LISTED, connect_for_listing, connect_to_bytes, rows
from workbench.formats.kit.several import sessions_of
from workbench.formats.kit.values import count_of, text_of

_TABLES = frozenset(["sessions", "messages"])
_MODEL = "SELECT model FROM messages m WHERE m.session_id = s.id AND m.role = 'assistant' ORDER BY m.rowid DESC LIMIT 1"
_BYTES = "SELECT SUM(LENGTH(parts)) FROM messages m WHERE m.session_id = s.id"
_LIST = (
    f"SELECT s.*, ({_MODEL}) AS _model, ({_BYTES}) AS _bytes FROM sessions s ORDER BY updated_at DESC LIMIT {LISTED}"
)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """List sessions with messages, newest first, those of sub-agents last. Raises BadInput."""
    with connect_to_bytes(path, data, _TABLES, "Crush") as database:
        return sessions_of(database, "sessions", "messages", "updated_at", "parent_session_id")


def session_rows(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a session's row and those of its messages in order. Raises BadInput for an unknown or empty session."""
    with connect_to_bytes(path, data, _TABLES, "Crush") as database:
        sessions = rows(database, "SELECT * FROM sessions WHERE id = ?", id)
        messages = rows(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid", id)
    if not sessions or not messages:
        raise BadInput(f"{path} has no session {id!r} with a message; choose a listed one.")
    return sessions[0], messages


def list_sessions(path: Path) -> list[SessionGlance]:
    """List sessions with messages, newest first, without those of sub-agents. Raises BadInput."""
    with connect_for_listing(path) as database:
        sessions = rows(database, _LIST)
        return [_glance(path, row) for row in sessions if row["_bytes"] and not row.get("parent_session_id")]


def _glance(path: Path, row: Mapping[str, Any]) -> SessionGlance:
    project = path.absolute().parent
    return SessionGlance(
        path,
        count_of(row["_bytes"]),
        seconds_of(row.get("updated_at")) or path.stat().st_mtime,
        ID,
        "Crush",
        title=text_of(row.get("title")),
        folder=str(project.parent) if project.name == ".crush" else "",
        model=text_of(row.get("_model")),
        part=text_of(row["id"]),
        tokens=count_of(row.get("prompt_tokens")) + count_of(row.get("completion_tokens")) or None,
    )
