"""Droid (Factory): `~/.factory/sessions/<folder>/<id>.jsonl` and its sidecar file `<id>.settings.json`.

Lines are messages in Anthropic's blocks, hook records that only the user sees, and compactions: a summary replaces
everything up to its anchor. `/compress` starts a new session with the summary alone. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "droid"
KEYS = frozenset({"owner", "hostId", "parentId", "visibility", "compactionSummaryId", "summaryText", "anchorMessage"})

_LINES = ("message", "compaction_state", "todo_state", "session_settings", "agent_turn_outcome")


def recognise(look: Look) -> str:
    """Recognise a file by its `session_start` line, or without it by a compaction among Droid's kinds of line."""
    for number, record in enumerate(look.records):
        value = record.value
        if not isinstance(value, dict):
            continue
        kind = value.get("type")
        if kind == "session_start" and "id" in value and {"cwd", "version", "owner", "title"} & value.keys():
            return f"line {record.line} is the start of a Droid session"
        if number and kind == "compaction_state" and "summaryText" in value:
            return f"line {record.line} is a compaction of Droid"
        if kind not in _LINES:
            return ""
    return ""


def _codec() -> Codec:
    from workbench.formats.droid.read import Reader

    return Codec(Reader.read)


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("Droid", ID, machine.home / ".factory/sessions", ("*/*.jsonl",))


FORMAT = Format(ID, "Droid", recognise, _codec, keys=KEYS, places=_places)
