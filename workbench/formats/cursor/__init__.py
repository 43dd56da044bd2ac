"""Cursor: the editor's `state.vscdb`, where each message is a bubble, and the transcripts of its agents as JSONL.

Both are undocumented. The database records the last bubble that a summary covers; a transcript holds no results and no
summaries. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.cursor.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place


def _codec() -> Codec:
    from workbench.formats.cursor import read

    return Codec(read.read, sessions_in=read.sessions_in, read_part=read.read_part)


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("Cursor", ID, machine.settings / "Cursor/User/globalStorage", ("state.vscdb",))
    yield Place("Cursor", ID, machine.home / ".cursor/projects", ("*/agent-transcripts/*/*.jsonl",))


FORMAT = Format(ID, "Cursor", recognise, _codec, keys=KEYS, places=_places)
