"""Recognise Cline and Roo tasks."""

from __future__ import annotations

from pathlib import Path

from workbench.formats.kit.blocks import as_text
from workbench.formats.look import Look

ID = "roo-cline"
KEYS = frozenset(["content", "role", "ts"])

HISTORY = "api_conversation_history.json"
_KEYS = frozenset(["ts", "modelInfo", "isSummary", "condenseId", "condenseParent", "truncationParent"])


def recognise(look: Look) -> str:
    items = look.document
    if not isinstance(items, list):
        return ""
    messages = [item for item in items if isinstance(item, dict) and item.get("role") in ("user", "assistant")]
    if not messages or len(messages) < len(items):
        return ""
    if any(_KEYS & item.keys() and "content" in item for item in messages):
        return "a bare list of messages with the keys of Cline and Roo"
    if any("<environment_details>" in as_text(item.get("content")) for item in messages[:3]):
        return "a bare list of messages with <environment_details>"
    return ""


def recognise_folder(path: Path) -> str:
    return f"a folder with {HISTORY}" if main_file(path) else ""


def main_file(path: Path) -> Path | None:
    """Return the file with the messages in a task folder, None if it is missing."""
    found = path / HISTORY
    return found if found.is_file() else None
