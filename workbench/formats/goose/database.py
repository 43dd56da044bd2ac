"""Read sessions from goose's `sessions.db`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.base.values import json_value
from workbench.formats.format import Part
from workbench.formats.glance import SessionGlance
from workbench.formats.goose import ID
from workbench.formats.kit.database import LISTED, connect_for_listing, connect_to_bytes, rows
from workbench.formats.kit.several import sessions_of
from workbench.formats.kit.titles import shortened
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of

_TABLES = frozenset(["sessions", "messages"])
_FIRST = "SELECT content_json FROM messages m WHERE m.session_id = s.id AND m.role = 'user' ORDER BY m.rowid LIMIT 1"
_BYTES = "SELECT SUM(LENGTH(content_json)) FROM messages m WHERE m.session_id = s.id"
_LIST = (
    f"SELECT s.*, ({_FIRST}) AS _first, ({_BYTES}) AS _bytes FROM sessions s ORDER BY updated_at DESC LIMIT {LISTED}"
)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """List sessions with messages, newest first. Raises BadInput for a database that is not goose's."""
    with connect_to_bytes(path, data, _TABLES, "goose") as database:
        return sessions_of(database, "sessions", "messages", "updated_at", titles=("name", "description"))


def session_rows(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a session's row and those of its messages in order. Raises BadInput for an unknown session."""
    with connect_to_bytes(path, data, _TABLES, "goose") as database:
        sessions = rows(database, "SELECT * FROM sessions WHERE id = ?", id)
        messages = rows(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY timestamp, rowid", id)
    if not sessions:
        raise BadInput(f"{path} has no session {id!r}; choose a listed one.")
    return sessions[0], messages


def list_sessions(path: Path) -> list[SessionGlance]:
    """List sessions with messages and their metadata, newest first. Raises BadInput."""
    with connect_for_listing(path) as database:
        return [_glance(path, row) for row in rows(database, _LIST) if row["_bytes"]]


def _glance(path: Path, row: Mapping[str, Any]) -> SessionGlance:
    model = dict_of(json_value(row.get("model_config_json")))
    texts = [part.get("text") for part in list_of(json_value(row.get("_first"))) if isinstance(part, dict)]
    return SessionGlance(
        path,
        count_of(row["_bytes"]),
        seconds_of(row.get("updated_at")) or path.stat().st_mtime,
        ID,
        "goose",
        title=text_of(row.get("name") or row.get("description")),
        request=shortened(next((text for text in texts if isinstance(text, str)), "")),
        folder=text_of(row.get("working_dir")),
        model=text_of(model.get("model_name")),
        part=text_of(row["id"]),
        tokens=count_of(row.get("total_tokens")) or None,
        window=count_of(model.get("context_limit")) or None,
    )
