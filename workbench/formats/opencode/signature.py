"""Recognise opencode sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.formats.kit.database import Tables
from workbench.formats.look import Look

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
