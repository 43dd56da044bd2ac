"""Glance at opencode's sessions: those of its database, and a session's file in its older folder `storage`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.base.reading import open_file
from workbench.base.stamps import seconds_of
from workbench.base.values import json_value
from workbench.formats.glance import SessionGlance
from workbench.formats.kit.database import LISTED, connect_for_listing, rows
from workbench.formats.kit.ends import REACH
from workbench.formats.kit.values import count_of, dict_of, text_of
from workbench.formats.opencode import ID, SESSION_ID, is_session_file

MESSAGES = 20_000
"""Messages counted per session in a storage folder."""

TRIED = 10
"""Last messages among which one with recorded tokens is searched."""

_ANSWERED = (
    "CASE WHEN json_valid(m.data) THEN json_extract(m.data, '$.role') = 'assistant'"
    " AND json_extract(m.data, '$.tokens.input') > 0 END"
)
_LAST = f"SELECT data FROM message m WHERE m.session_id = s.id AND {_ANSWERED} ORDER BY m.id DESC LIMIT 1"
_BYTES = "SELECT SUM(LENGTH(data)) FROM part p WHERE p.session_id = s.id"
_LIST = f"SELECT s.*, ({_LAST}) AS _last, ({_BYTES}) AS _bytes FROM session s ORDER BY time_updated DESC LIMIT {LISTED}"


def list_sessions(path: Path) -> list[SessionGlance]:
    """List sessions with messages, newest first, without those of sub-agents. Raises BadInput."""
    with connect_for_listing(path) as database:
        found = rows(database, _LIST)
        return [_in_database(path, row) for row in found if row["_bytes"] and not row.get("parent_id")]


def _in_database(path: Path, row: Mapping[str, Any]) -> SessionGlance:
    time = seconds_of(row.get("time_updated"))
    last = dict_of(json_value(row.get("_last")))
    return _session_glance(path, count_of(row["_bytes"]), time, row, last, text_of(row["id"]))


def glance(path: Path) -> SessionGlance | None:
    """Return a session in the storage folder, by its file and its last messages. None for other files, and for a
    sub-agent's session."""
    if not SESSION_ID.fullmatch(path.name.removesuffix(".json")):
        return None
    try:
        info = _head_of(path)
        if not is_session_file(info) or info.get("parentID"):
            return None
        messages = path.parent.parent.parent / "message" / path.stem
        with os.scandir(messages) as entries:
            files = sorted((entry.name, entry.stat().st_size) for entry in islice(entries, MESSAGES))
        last = next((one for name, _ in files[: -TRIED - 1 : -1] if _tokens(one := _head_of(messages / name))), {})
    except OSError:
        return None
    time = seconds_of(dict_of(info["time"]).get("updated"))
    return _session_glance(path, sum(size for _, size in files), time, info, last)


def _session_glance(
    path: Path, bytes: int, time: float | None, info: Mapping[str, Any], last: Mapping[str, Any], part: str = ""
) -> SessionGlance:
    return SessionGlance(
        path,
        bytes,
        time or path.stat().st_mtime,
        ID,
        "opencode",
        title=text_of(info.get("title")),
        folder=text_of(info.get("directory")),
        model=text_of(last.get("modelID")),
        part=part,
        tokens=_tokens(last),
    )


def _head_of(path: Path) -> dict[str, Any]:
    with open_file(path) as file:
        return dict_of(json_value(file.read(REACH)))


def _tokens(message: Mapping[str, Any]) -> int | None:
    """Return the tokens of context and response recorded for a call."""
    tokens = dict_of(message.get("tokens"))
    parts = [tokens.get("input"), tokens.get("output"), *dict_of(tokens.get("cache")).values()]
    return sum(part for part in parts if type(part) is int) or None
