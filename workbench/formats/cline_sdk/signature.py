"""Recognise Cline SDK sessions."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from workbench.formats.look import Look

ID = "cline-sdk"
KEYS = frozenset(["agent", "messages", "sessionId", "version"])


def recognise(look: Look) -> str:
    document = look.document
    if not isinstance(document, dict) or type(document.get("version")) is not int or "agent" not in document:
        return ""
    if "sessionId" not in document or not isinstance(document.get("messages", []), list):
        return ""
    return "version, agent and sessionId with messages"


def recognise_folder(path: Path) -> str:
    return "a folder with <id>.messages.json" if main_file(path) else ""


def main_file(path: Path) -> Path | None:
    """Return the lead agent's messages: the file named like its folder, else the only one, if it has a manifest."""
    own = path / f"{path.name}.messages.json"
    if own.is_file():
        return own
    files = list(islice(path.glob("*.messages.json"), 2))
    manifest = files[0].name.removesuffix(".messages.json") + ".json" if len(files) == 1 else ""
    return files[0] if manifest and (path / manifest).is_file() else None
