"""Threads in Zed's database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.format import Part
from workbench.formats.glance import SessionGlance
from workbench.formats.kit import zstd
from workbench.formats.kit.database import LISTED, connect_for_listing, connect_to_bytes, rows
from workbench.formats.kit.document import parse
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.zed import ID

_TABLES = frozenset(["threads"])


def threads_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the threads with messages, newest first. Raises BadInput for any other database."""
    with connect_to_bytes(path, data, _TABLES, "Zed") as database:
        found = rows(database, "SELECT * FROM threads ORDER BY updated_at DESC, id DESC")
    parts = [Part(text_of(row.get("id")), text_of(row.get("summary")), _count(path, row)) for row in found]
    return tuple(part for part in parts if part.id and part.messages)


def thread_bytes(path: Path, data: bytes, id: str) -> bytes:
    """Return a thread's document. Raises BadInput if there is no such thread, or its data are damaged."""
    with connect_to_bytes(path, data, _TABLES, "Zed") as database:
        found = rows(database, "SELECT * FROM threads WHERE id = ?", id)
    if not found:
        raise BadInput(f"{path} has no thread {id!r}; choose a listed one.")
    return _document(path, found[0])


def _count(path: Path, row: dict[str, Any]) -> int:
    try:
        return len(list_of(dict_of(parse(path, _document(path, row))[0]).get("messages")))
    except BadInput:
        return 0


def _document(path: Path, row: dict[str, Any]) -> bytes:
    data = row.get("data")
    raw = data if isinstance(data, bytes) else text_of(data).encode()
    return zstd.unpack(path, raw) if row.get("data_type") == "zstd" else raw


def list_sessions(path: Path) -> list[SessionGlance]:
    """Glance at the threads, newest first. Raises BadInput."""
    query = (
        f"SELECT id, summary, updated_at, LENGTH(data) AS _bytes FROM threads ORDER BY updated_at DESC LIMIT {LISTED}"
    )
    with connect_for_listing(path) as database:
        return [_thread_glance(path, row) for row in rows(database, query) if row["_bytes"]]


def _thread_glance(path: Path, row: dict[str, Any]) -> SessionGlance:
    time = seconds_of(row["updated_at"]) or path.stat().st_mtime
    title, part = text_of(row["summary"]), text_of(row["id"])
    return SessionGlance(path, count_of(row["_bytes"]), time, ID, "Zed", title=title, part=part)
