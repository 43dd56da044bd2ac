"""Cursor: the editor's `state.vscdb`, where each message is a bubble, and the transcripts of its agents as JSONL.

Both are undocumented. The database records the last bubble that a summary covers; a transcript holds no results and no
summaries. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "cursor"
KEYS = frozenset({"composerId", "bubbleId", "fullConversationHeadersOnly", "toolFormerData"})


def recognise(look: Look) -> str:
    if look.tables.get("cursorDiskKV", frozenset()) >= {"key", "value"}:
        return "a database with Cursor's key-value table"
    lines = [dict_of(value) for value in look.values]
    messages = [line for line in lines if line.keys() == {"role", "message"} and "content" in dict_of(line["message"])]
    rest = [line for line in lines if line not in messages]
    if messages and all(line.get("type") == "turn_ended" for line in rest):
        return "lines with only role and message, as in Cursor's agent transcripts"
    return ""


def _codec() -> Codec:
    from workbench.formats.cursor import read

    return Codec(read.read, sessions_in=read.sessions_in, read_part=read.read_part)


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("Cursor", ID, machine.settings / "Cursor/User/globalStorage", ("state.vscdb",))
    yield Place("Cursor", ID, machine.home / ".cursor/projects", ("*/agent-transcripts/*/*.jsonl",))


FORMAT = Format(ID, "Cursor", recognise, _codec, keys=KEYS, places=_places)
