"""Recognise Crush databases."""

from __future__ import annotations

from workbench.formats.kit.database import Tables
from workbench.formats.look import Look

ID = "crush"


def recognise(look: Look) -> str:
    return "an SQLite database with Crush's sessions, messages and their parts" if is_database(look.tables) else ""


def is_database(tables: Tables) -> bool:
    """True for Crush's tables; `tables` are column names by table."""
    none = frozenset[str]()
    return "parent_session_id" in tables.get("sessions", none) and "parts" in tables.get("messages", none)
