"""opencode's own stores, read as the document that `opencode export` would write, or listed by glances at the sessions.

The database `opencode.db` stores every message and part as JSON, with ids in separate columns; the older folder
`storage` has a file for each, named by its id. Files are not changed, links not followed, and ids taken only from
columns and file names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from workbench.base.errors import BadInput
from workbench.base.reading import open_file, read_file
from workbench.base.stamps import seconds_of
from workbench.base.values import json_value
from workbench.formats.format import Part
from workbench.formats.glance import SessionGlance
from workbench.formats.kit.database import LISTED, connect_for_listing, connect_to_bytes, rows
from workbench.formats.kit.document import check_list_lengths, check_size, parse, render
from workbench.formats.kit.file_ends import REACH
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.several import sessions_of
from workbench.formats.kit.values import count_of, dict_of, text_of
from workbench.formats.opencode import ID, SESSION_ID, is_session_file
from workbench.session import LoadWarning

_TABLES = frozenset(["session", "message", "part"])
_MESSAGE_COLUMNS, _PART_COLUMNS = "id, data", "id, message_id, data"
"""Columns requested by name: SQLite rejects a database that lacks one."""
_LARGEST = 1 << 30
_MOST_FILES = 200_000


class StoredExport(NamedTuple):
    """A session as `opencode export` writes it: its bytes, their value, and warnings."""

    data: bytes
    document: Any
    warnings: list[LoadWarning]


def parse_export(path: Path, data: bytes) -> StoredExport:
    """Parse an export. Raises BadInput as `parse` does."""
    return StoredExport(data, *parse(path, data))


# -- The database


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the sessions that have messages, newest first, sub-agents last. Raises BadInput."""
    with connect_to_bytes(path, data, _TABLES, "opencode") as database:
        return sessions_of(database, "session", "message", "time_updated", "parent_id")


def from_database(path: Path, data: bytes, id: str) -> StoredExport:
    """Return a session of the database as an export. Raises BadInput if there is no such session, or it is too
    large."""
    with connect_to_bytes(path, data, _TABLES, "opencode") as database:
        found = rows(database, "SELECT * FROM session WHERE id = ?", id)
        messages = rows(
            database, f"SELECT {_MESSAGE_COLUMNS} FROM message WHERE session_id = ? ORDER BY time_created, id", id
        )
        parts = rows(database, f"SELECT {_PART_COLUMNS} FROM part WHERE session_id = ?", id)
    if not found:
        raise BadInput(f"{path} has no session {id!r}; choose a listed one.")
    parts.sort(key=lambda row: (str(row["message_id"]), str(row["id"])))  # faster than in SQLite
    raws = [_raw(row.get("data")) for row in (*parts, *messages)]
    check_size(path, b",".join(raws))
    warnings: list[LoadWarning] = []
    parts_of: dict[Any, list[dict[str, Any]]] = {}
    for row, raw in zip(parts, raws, strict=False):
        named = {"id": row["id"], "sessionID": id, "messageID": row["message_id"]}
        parts_of.setdefault(row["message_id"], []).append(_with_ids(raw, named, warnings))
    records = [
        {"info": _with_ids(raw, {"id": row["id"], "sessionID": id}, warnings), "parts": parts_of.get(row["id"], [])}
        for row, raw in zip(messages, raws[len(parts) :], strict=True)
    ]
    info = render(_info(found[0]))
    document = {"info": loads(info), "messages": records}
    check_list_lengths(path, document)
    return StoredExport(_document(info, map(render, records)), document, warnings)


def _info(row: Mapping[str, Any]) -> dict[str, Any]:
    info: dict[str, Any] = {
        "id": row["id"],
        "slug": row.get("slug") or "",
        "projectID": row.get("project_id") or "global",
        "directory": row.get("directory") or "/",
        "title": row.get("title") or "",
        "version": row.get("version") or "",
        "time": {"created": row.get("time_created") or 0, "updated": row.get("time_updated") or 0},
    }
    if row.get("parent_id"):
        info["parentID"] = row["parent_id"]
    revert = json_value(row.get("revert"))
    return info | ({"revert": revert} if revert else {})


# -- The storage folder


def session_files(storage: Path) -> list[Path]:
    """Return the session files in a storage folder, most recently changed first."""
    projects = [entry for entry in _entries(storage / "session") if entry.is_dir(follow_symlinks=False)]
    found = [
        (entry.stat(follow_symlinks=False).st_mtime, Path(entry.path))
        for project in projects
        for entry in _entries(Path(project.path))
        if entry.is_file(follow_symlinks=False) and SESSION_ID.fullmatch(entry.name.removesuffix(".json"))
    ]
    return [path for _, path in sorted(found, reverse=True)]


def from_files(path: Path, info: bytes) -> StoredExport:
    """Return the session with the file `path` in a storage folder as an export. Raises BadInput if it has no
    messages."""
    id, storage = path.name.removesuffix(".json"), path.absolute().parent.parent.parent
    warnings: list[LoadWarning] = []
    records: list[tuple[float, str, bytes]] = []
    budget = [_LARGEST, _MOST_FILES]
    if SESSION_ID.fullmatch(id):
        for name, raw in _files(path, storage / "message" / id, budget):
            named = {"id": name, "sessionID": id}
            body = _with_ids(raw, named, warnings)
            parts = [
                _with_ids(part, {"id": part_id, "sessionID": id, "messageID": name}, warnings)
                for part_id, part in _files(path, storage / "part" / name, budget)
            ]
            created = dict_of(body.get("time")).get("created")
            record = render({"info": body, "parts": parts})
            records.append((created if isinstance(created, int | float) else 0, name, record))
    if not records:
        raise BadInput(
            f"{path} describes a session, but its messages are not in the folder message next to it; open it"
            " in opencode's storage, or open the output of `opencode export`."
        )
    document = _document(info.strip().removeprefix(b"\xef\xbb\xbf"), [raw for _, _, raw in sorted(records)])
    data, value, problems = parse_export(path, document)
    return StoredExport(data, value, warnings + problems)


def _files(path: Path, folder: Path, budget: list[int]) -> Iterator[tuple[str, bytes]]:
    """Yield id and bytes of each JSON file in a folder, by name. `budget` holds the bytes and files left; beyond it,
    BadInput is raised."""
    for entry in sorted(_entries(folder), key=lambda entry: entry.name):
        if not entry.name.endswith(".json") or not entry.is_file(follow_symlinks=False):
            continue
        budget[0] -= entry.stat(follow_symlinks=False).st_size
        budget[1] -= 1
        if min(budget) < 0:
            raise BadInput(
                f"{path}: its messages are more than {_LARGEST >> 20} MiB or {_MOST_FILES} files; export it."
            )
        try:
            yield entry.name.removesuffix(".json"), read_file(entry.path)
        except OSError as error:
            raise BadInput(f"{entry.path} cannot be read: {error.strerror}; check its permissions.") from None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (OSError, ValueError):
        return []


# -- Both


def _raw(data: Any) -> bytes:
    """Return the bytes of a JSON column."""
    return data.encode(errors="replace") if isinstance(data, str) else data if isinstance(data, bytes) else b""


def _with_ids(raw: bytes, ids: Mapping[str, Any], warnings: list[LoadWarning]) -> dict[str, Any]:
    """Return the JSON of a message or part with its ids in front, or only these if it is damaged."""
    value = json_value(raw)
    if not isinstance(value, dict):
        warnings.append(LoadWarning(f"{ids['id']} is not a JSON object; shown as empty"))
        value = {}
    record = {**{key: id for key, id in ids.items() if key not in value}, **value, **ids}
    # A column may hold values that JSON does not have.
    return record if all(isinstance(id, str) for id in ids.values()) else dict_of(loads(render(record)))


def _document(info: bytes, records: Iterable[bytes]) -> bytes:
    return b'{"info":' + info + b',"messages":[' + b",\n".join(records) + b"]}\n"


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
