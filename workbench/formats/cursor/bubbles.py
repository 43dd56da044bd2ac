"""The conversations in Cursor's database: composers, and their bubbles in order."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.values import json_value
from workbench.formats.format import Part
from workbench.formats.kit.database import opened, rows
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of

_TABLES = frozenset(["cursorDiskKV"])
_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"


def composers_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The conversations with messages, the newest first. Raises BadInput for a database that is none of Cursor's."""
    with opened(path, data, _TABLES, "Cursor") as database:
        query = "SELECT key, value FROM cursorDiskKV WHERE key LIKE ?"
        composers = rows(database, query, f"{_COMPOSER}%")
    found = [(row["key"][len(_COMPOSER) :], dict_of(json_value(row["value"]))) for row in composers]
    parts = [
        (count_of(about.get("lastUpdatedAt")), Part(id, text_of(about.get("name")), len(_order(about))))
        for id, about in found
    ]
    return tuple(part for _, part in sorted(parts, key=lambda one: (-one[0], one[1].id)) if part.messages)


def composer(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A conversation and its bubbles in order, each with its `bubbleId`; one that the database no longer holds is left
    out. Raises BadInput where there is no such conversation."""
    with opened(path, data, _TABLES, "Cursor") as database:
        about = _value(database, f"{_COMPOSER}{id}")
        if not about:
            raise BadInput(f"{path} has no conversation {id!r}; choose a listed one.")
        bubbles = []
        for head in _order(about):
            name = text_of(head.get("bubbleId"))
            kept = head if "text" in head else _value(database, f"{_BUBBLE}{id}:{name}")
            if kept:
                bubbles.append({**kept, "bubbleId": name})
    return about, bubbles


def _order(about: dict[str, Any]) -> list[dict[str, Any]]:
    """The heads of the bubbles; conversations of before 2025 hold the bubbles themselves."""
    heads = list_of(about.get("fullConversationHeadersOnly")) or list_of(about.get("conversation"))
    return [head for head in heads if isinstance(head, dict)]


def _value(database: sqlite3.Connection, key: str) -> dict[str, Any]:
    row = database.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
    return dict_of(json_value(row[0])) if row else {}
