"""Zed's agent threads: `threads/threads.db`, where each is one compressed document, or such a document alone.

After a compaction the newest user messages, up to 80 000 bytes, come before the summary; a provider's own compaction
hides everything before it. Read only; external agents in Zed store their own sessions.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "zed"
KEYS = frozenset({"request_token_usage", "cumulative_token_usage", "initial_project_snapshot", "detailed_summary"})

_COLUMNS = frozenset({"id", "summary", "updated_at", "data_type", "data"})
_ENTRIES = ("User", "Agent", "Compaction")


def recognise(look: Look) -> str:
    if look.tables.get("threads", frozenset()) >= _COLUMNS:
        return "a database with Zed's table of threads"
    document = look.unpacked.first if look.unpacked is not None else look.first
    entries = [dict_of(entry) for entry in list_of(document.get("messages"))]
    dated = "updated_at" in document or "version" in document
    if dated and any(name in entry for entry in entries for name in _ENTRIES):
        return "messages keyed by User and Agent, as in a Zed thread"
    return ""


def _codec() -> Codec:
    from workbench.formats.zed import read

    return Codec(read.read, sessions_in=read.sessions_in, read_part=read.read_part, list_sessions=read.list_sessions)


def _places(machine: Machine) -> Iterator[Place]:
    zed = machine.settings / "Zed" if machine.system in ("darwin", "win32") else machine.data / "zed"
    yield Place("Zed", ID, zed / "threads", ("threads.db",))


FORMAT = Format(ID, "Zed", recognise, _codec, keys=KEYS, places=_places, suffixes=(".db",))
