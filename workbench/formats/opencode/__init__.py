"""opencode sessions as `opencode export` writes them: `{info, messages: [{info, parts}]}`.

opencode's database and its older folder of files are read as the export that it would write of them.

opencode does not send everything in the file: it omits bookkeeping parts, and responses with an error other than an
interruption. A call that never ended is answered "[Tool execution was interrupted]". A pruned output is sent as
"[Old tool result content cleared]" from the time in `state.time.compacted` on, and an epoch ends there. An assistant's
record holds calls *and* results, so each of its steps becomes an assistant message and a tool message with the same
source.

A recorded compaction is a user record that asks "What did we do so far?" and an assistant record that answers. Both are
one message here, with the user role as summaries have in other formats, so that every strategy treats them alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.formats.format import Codec, CompactCommand, Format, TriggerSetting
from workbench.formats.kit.database import Tables
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "opencode"
KEYS = frozenset(["info", "messages", "parts"])

SESSION_ID = re.compile(r"ses_[A-Za-z0-9]{1,100}")


def recognise(look: Look) -> str:
    if look.tables:
        return "an SQLite database with opencode's sessions, messages and parts" if is_database(look.tables) else ""
    document = look.document
    if is_session_file(document):
        return "a ses_ id with title and time, as in opencode's storage"
    info = document.get("info") if isinstance(document, dict) else None
    if not isinstance(info, dict) or not str(info.get("id", "")).startswith("ses_"):
        return ""
    items = document.get("messages", [])
    if not isinstance(items, list) or any(isinstance(item, dict) and "info" not in item for item in items[:1]):
        return ""
    return "info with a ses_ id, and messages with info and parts"


def recognise_folder(path: Path) -> str:
    return "a folder with session, message and part, like opencode's storage" if is_storage(path) else ""


def is_database(tables: Tables) -> bool:
    """Return True if a database with these tables and columns is opencode's."""
    none = frozenset[str]()
    return {"message_id", "data"} <= tables.get("part", none) and {"session", "message"} <= tables.keys()


def is_session_file(value: Any) -> bool:
    """Return True if a document is a session's file in the storage folder, which holds no messages."""
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str) or "messages" in value:
        return False
    return SESSION_ID.fullmatch(value["id"]) is not None and "time" in value and "title" in value


def is_storage(path: Path) -> bool:
    return (path / "session").is_dir() and (path / "message").is_dir() and (path / "part").is_dir()


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document
    from workbench.formats.opencode import read, rules, store, write

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        read_folder=read.read_folder,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        note=in_document(EXPORT_NOTE, ()),
        glance=store.glance,
        list_sessions=store.list_sessions,
    )


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("opencode", ID, machine.data / "opencode", ("opencode*.db", "storage/session/*/ses_*.json"))


_RESERVED = 32_000
"""Tokens reserved for the response."""


def _setting(trigger: int, window: int) -> str:
    limit = f'set "limit": {{"context": {min(window, trigger + _RESERVED)}}} of the model in opencode.json'
    return f"{limit}, which reserves 32 000 for its answer"


FORMAT = Format(
    ID,
    "opencode",
    recognise,
    _codec,
    recognise_folder,
    keys=KEYS,
    preset="opencode",
    places=_places,
    suffixes=(".db",),
    trigger_setting=TriggerSetting(_setting, lambda window: window - _RESERVED),
    compact_command=CompactCommand("opencode"),
    program=Program("opencode", "opencode", ("opencode", "opencode.exe"), "<template>\n", "instructed"),
)
