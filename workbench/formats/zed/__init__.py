"""Zed's agent threads: `threads/threads.db`, where each is one compressed document, or such a document alone.

After a compaction the newest user messages, up to 80 000 bytes, come before the summary; a provider's own compaction
hides everything before it. Read only; external agents in Zed store their own sessions.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place
from workbench.formats.zed.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.zed import read, threads

    return Codec(read.read, sessions_in=read.sessions_in, read_part=read.read_part, list_sessions=threads.list_sessions)


def _places(machine: Machine) -> Iterator[Place]:
    zed = machine.settings / "Zed" if machine.system in ("darwin", "win32") else machine.data / "zed"
    yield Place("Zed", ID, zed / "threads", ("threads.db",))


FORMAT = Format(ID, "Zed", recognise, _codec, keys=KEYS, places=_places, suffixes=(".db",))
