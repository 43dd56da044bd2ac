"""Cline SDK and CLI sessions: `~/.cline/data/sessions/<id>/<id>.messages.json`.

The newest compaction is in a sidecar file, `<id>.compaction.json`: the messages that replace the first messages of the
session. So there are two epochs, or one where the session file itself was rewritten. Basic compaction leaves a notice
in the user's messages, agentic compaction a summary. Files attached to a message are sent as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from workbench.formats.format import Codec, CompactCommand, Format
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

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


def _codec() -> Codec:
    from workbench.formats.cline_sdk import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        read_folder=read.read_folder,
        note=in_document(EXPORT_NOTE, ()),
        main_file=main_file,
    )


def _places(machine: Machine) -> Iterator[Place]:
    cline = machine.first("CLINE_DIR", otherwise=machine.home / ".cline")
    data = machine.first("CLINE_DATA_DIR", otherwise=cline / "data")
    sessions = machine.first("CLINE_SESSION_DATA_DIR", otherwise=data / "sessions")
    yield Place("Cline SDK", ID, sessions, ("*/*.messages.json",))


FORMAT = Format(
    ID,
    "Cline SDK session",
    recognise,
    _codec,
    recognise_folder,
    keys=KEYS,
    preset="cline",
    places=_places,
    marks=("{name}.messages.json",),
    compact_command=CompactCommand("Cline"),
    program=Program("cline", "cline", ("core/dist/index.js", "bin/cline"), "\n\n## Goal\n", "tagged"),
)
