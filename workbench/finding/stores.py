"""Where a tool keeps many sessions in one database, or one in many files: a list of them, nothing touched.

goose's `sessions.db`, opencode's `opencode.db` and its older folder `storage`, Crush's `crush.db`. By queries alone: a
database is not read into memory. What is not yet moved from its write-ahead log is seen in a copy; of a database too
large to copy, only what has been moved.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import open_file
from workbench.base.stamps import seconds_of
from workbench.base.text import clip_at_word
from workbench.base.values import json_value
from workbench.finding.glances import REACH, Found
from workbench.formats.crush import signature as crush
from workbench.formats.goose import signature as goose
from workbench.formats.kit.database import WORDS, connected, rows, tables_in
from workbench.formats.kit.titles import shortened
from workbench.formats.kit.values import dict_of, text_of
from workbench.formats.opencode import signature as opencode

MESSAGES = 20_000
"""Messages of one session in a storage folder that are counted."""

TRIED = 10
"""Of these, how many of the last are looked at for one that tells its tokens."""

LISTED = 5_000
"""Sessions listed of one database, the newest."""


def stored(path: Path) -> list[Found]:
    """The sessions in a database, the newest first. Raises BadInput where it is none of a tool known here."""
    try:
        with connected(path) as database:
            tables = tables_in(database)
            if goose.is_database(tables):
                return [found for row in _goose(database) if (found := _goose_found(path, row))]
            if opencode.is_database(tables):
                return [found for row in _opencode(database) if (found := _opencode_found(path, row))]
            if crush.is_database(tables):
                return [found for row in _crush(database) if (found := _crush_found(path, row))]
    except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
        told = clip_at_word(str(error), WORDS)  # it may quote a schema of several lines
        raise BadInput(f"The database cannot be read ({told}).") from None
    raise BadInput("This database is not from a known agent.")


def _goose(database: sqlite3.Connection) -> list[dict[str, Any]]:
    first = "SELECT content_json FROM messages m WHERE m.session_id = s.id AND m.role = 'user' ORDER BY m.rowid LIMIT 1"
    long = "SELECT SUM(LENGTH(content_json)) FROM messages m WHERE m.session_id = s.id"
    query = f"SELECT s.*, ({first}) AS _first, ({long}) AS _bytes FROM sessions s"
    return rows(database, f"{query} ORDER BY updated_at DESC LIMIT {LISTED}")


def _goose_found(path: Path, row: Mapping[str, Any]) -> Found | None:
    if not row["_bytes"]:
        return None  # a session without a message
    model = json_value(row.get("model_config_json"))
    content = json_value(row.get("_first"))
    texts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    tokens = row.get("total_tokens")
    limit = model.get("context_limit") if isinstance(model, dict) else None
    return Found(
        path,
        _whole(row["_bytes"]),
        seconds_of(row.get("updated_at")) or path.stat().st_mtime,
        "goose",
        "goose",
        title=text_of(row.get("name") or row.get("description")),
        request=shortened(next((text for text in texts if isinstance(text, str)), "")),
        folder=text_of(row.get("working_dir")),
        model=text_of(model.get("model_name")) if isinstance(model, dict) else "",
        part=text_of(row["id"]),
        tokens=tokens if type(tokens) is int and tokens > 0 else None,
        window=limit if type(limit) is int and limit > 0 else None,
    )


def _crush(database: sqlite3.Connection) -> list[dict[str, Any]]:
    """Sessions of their own, not those of sub-agents, each with the model of its last answer."""
    said = "m.session_id = s.id AND m.role = 'assistant'"
    model = f"SELECT model FROM messages m WHERE {said} ORDER BY m.rowid DESC LIMIT 1"
    long = "SELECT SUM(LENGTH(parts)) FROM messages m WHERE m.session_id = s.id"
    query = f"SELECT s.*, ({model}) AS _model, ({long}) AS _bytes FROM sessions s"
    found = rows(database, f"{query} ORDER BY updated_at DESC LIMIT {LISTED}")
    return [row for row in found if not row.get("parent_session_id")]


def _crush_found(path: Path, row: Mapping[str, Any]) -> Found | None:
    if not row["_bytes"]:
        return None
    project = path.absolute().parent
    return Found(
        path,
        _whole(row["_bytes"]),
        seconds_of(row.get("updated_at")) or path.stat().st_mtime,
        "Crush",
        "crush",
        title=text_of(row.get("title")),
        folder=str(project.parent) if project.name == ".crush" else "",
        model=text_of(row.get("_model")),
        part=text_of(row["id"]),
        tokens=(_whole(row.get("prompt_tokens")) + _whole(row.get("completion_tokens"))) or None,
    )


def _opencode(database: sqlite3.Connection) -> list[dict[str, Any]]:
    """Sessions of their own, not those of sub-agents, each with its last answer."""
    answered = (
        "CASE WHEN json_valid(m.data) THEN json_extract(m.data, '$.role') = 'assistant'"
        " AND json_extract(m.data, '$.tokens.input') > 0 END"
    )
    last = f"SELECT data FROM message m WHERE m.session_id = s.id AND {answered} ORDER BY m.id DESC LIMIT 1"
    long = "SELECT SUM(LENGTH(data)) FROM part p WHERE p.session_id = s.id"
    query = f"SELECT s.*, ({last}) AS _last, ({long}) AS _bytes FROM session s"
    found = rows(database, f"{query} ORDER BY time_updated DESC LIMIT {LISTED}")
    return [row for row in found if not row.get("parent_id")]


def _opencode_found(path: Path, row: Mapping[str, Any]) -> Found | None:
    if not row["_bytes"]:
        return None
    last = json_value(row.get("_last")) or {}
    return Found(
        path,
        _whole(row["_bytes"]),
        seconds_of(row.get("time_updated")) or path.stat().st_mtime,
        "opencode",
        "opencode",
        title=text_of(row.get("title")),
        folder=text_of(row.get("directory")),
        model=text_of(last.get("modelID")),
        part=text_of(row["id"]),
        tokens=_spent_of(last),
    )


# --- a file for each session, message and part ----------------------------------------------------------------------


def stored_file(path: Path) -> Found | None:
    """A session of opencode's storage folder by what its own file and its last messages say; None for other files."""
    try:
        with open_file(path) as file:
            info = json_value(file.read(REACH))
        if not opencode.is_session_file(info) or info.get("parentID"):
            return None
        messages = path.parent.parent.parent / "message" / path.stem
        with os.scandir(messages) as entries:
            files = sorted((entry.name, entry.stat().st_size) for entry in islice(entries, MESSAGES))
        last = next((one for name, _ in files[: -TRIED - 1 : -1] if _spent_of(one := _head_of(messages / name))), {})
    except OSError:
        return None
    return Found(
        path,
        sum(size for _, size in files),
        seconds_of(info["time"].get("updated") if isinstance(info["time"], dict) else None) or path.stat().st_mtime,
        "opencode",
        "opencode",
        title=text_of(info.get("title")),
        folder=text_of(info.get("directory")),
        model=text_of(last.get("modelID")),
        tokens=_spent_of(last),
    )


def _head_of(path: Path) -> dict[str, Any]:
    with open_file(path) as file:
        found = json_value(file.read(REACH))
    return dict_of(found)


def _spent_of(message: Mapping[str, Any]) -> int | None:
    tokens = message.get("tokens")
    return _spent(tokens) if isinstance(tokens, dict) else None


def _spent(tokens: Mapping[str, Any]) -> int | None:
    cache = tokens.get("cache")
    parts = [tokens.get("input"), tokens.get("output"), *(cache.values() if isinstance(cache, dict) else ())]
    return sum(part for part in parts if type(part) is int) or None


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0
