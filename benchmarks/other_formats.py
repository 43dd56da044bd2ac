"""The generated session as other tools keep theirs: a Codex rollout, opencode's database, OpenHands' folder of events.

Made by the workbench's own writers from the same messages, so that figures can be held beside those of the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

EVENTS = 5_000

_TABLES = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text,
  revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
CREATE INDEX part_session_idx ON part (session_id);
"""


def written(source: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Each form's name and where it lies, made when it is asked for."""
    from workbench.formats.files import load
    from workbench.formats.registry import by_id

    session = load(source)

    def as_of(format: str, messages: int | None = None) -> bytes:
        write = by_id(format).codec.write
        assert write is not None
        return write(session, session.messages[:messages]).data

    rollout = folder / "rollout-2026-01-01T00-00-00-00000000-0000-4000-8000-000000000000.jsonl"
    rollout.write_bytes(as_of("codex"))
    yield "Codex", rollout
    yield "opencode, a database", written_database(folder / "opencode.db", orjson.loads(as_of("opencode")))
    yield f"OpenHands, {EVENTS} events", written_events(folder / "openhands", orjson.loads(as_of("openhands", EVENTS)))


def values_in(path: Path) -> Iterator[bytes]:
    """What has to be parsed of any of them."""
    if path.is_dir():
        yield from (file.read_bytes() for file in sorted((path / "events").iterdir()))
    elif path.suffix == ".db":
        base = sqlite3.connect(path)
        for table in ("message", "part"):
            yield from (data.encode() for (data,) in base.execute(f"SELECT data FROM {table}"))
        base.close()
    else:
        with path.open("rb") as lines:
            yield from lines


def bytes_in(path: Path) -> int:
    return sum(one.stat().st_size for one in (path / "events").iterdir()) if path.is_dir() else path.stat().st_size


def written_database(path: Path, export: dict[str, Any]) -> Path:
    info = export["info"]
    base = sqlite3.connect(path)
    base.executescript(_TABLES)
    about = (info["id"], "p", None, info["directory"], info["title"], "1.4.3", None, 1, 2)
    base.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", about)
    for record in export["messages"]:
        message = record["info"]
        row = (message["id"], info["id"], message["time"]["created"], _without(message, "id", "sessionID"))
        base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        for part in record["parts"]:
            data = _without(part, "id", "sessionID", "messageID")
            base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (part["id"], message["id"], info["id"], data))
    base.commit()
    base.close()
    return path


def written_events(folder: Path, events: list[dict[str, Any]]) -> Path:
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_bytes(b"{}")
    for number, event in enumerate(events[:EVENTS]):
        (folder / "events" / f"event-{number:05}-{event['id']}.json").write_bytes(orjson.dumps(event))
    return folder


def _without(value: dict[str, Any], *keys: str) -> str:
    return orjson.dumps({key: inner for key, inner in value.items() if key not in keys}).decode()
