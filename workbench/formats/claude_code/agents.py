"""What Claude Code keeps apart from a session: its sub-agents, and the calls that wrote summaries.

Sub-agents are chains of `isSidechain` lines in the session's own file, or files in a folder beside it. The call for a
summary is such a file too, `agent-acompact-….jsonl`: its last request asks for the summary, the answer is it, and that
request and the boundary it led to name the same line of the session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from workbench.base.reading import read_file
from workbench.formats.kit.jsonl import Record, loads, records_of
from workbench.session import Message, Session

COMPACT = "acompact"
"""How the id of a call for a summary begins."""

_LARGEST = 16 << 20
"""Bytes of a compaction call's file up to which it is read along with its session."""
_MOST = 500


class Agent(Struct, frozen=True):
    """A sub-agent. `id` finds it again (`Format.read_part`), `file` is where it lies if not in the session's own."""

    id: str
    file: Path | None = None

    @property
    def compacts(self) -> bool:
        """Whether this is the call that wrote a summary."""
        return self.id.startswith(COMPACT)


class CompactionCall(Struct, frozen=True):
    """The request for a summary and its answer, as Claude Code recorded them."""

    prompt: Message
    answer: Message | None


def agent_files(path: Path) -> list[Agent]:
    """The files of a session's sub-agents, which lie in a folder named after it. Links are not followed."""
    found: list[Agent] = []
    for folder in (path.with_suffix("") / "subagents", path.with_suffix(".subagents")):
        try:
            with os.scandir(folder) as entries:
                names = sorted(e.name for e in entries if e.is_file(follow_symlinks=False))
        except (OSError, ValueError):
            continue
        found += [
            Agent(name.removeprefix("agent-").removesuffix(".jsonl"), folder / name)
            for name in names[:_MOST]
            if name.startswith("agent-") and name.endswith(".jsonl")
        ]
    return found


def agents_inside(data: bytes) -> dict[str, list[bytes]]:
    """The lines of each sub-agent in a session's own file: by its name, or by the first line of its chain."""
    of: dict[str, str] = {}
    lines: dict[str, list[bytes]] = {}
    for record in _side_lines(data):
        value = record.value
        parent = value.get("parentUuid") or value.get("logicalParentUuid")
        uuid, name = value.get("uuid"), value.get("agentId")
        id = name if isinstance(name, str) and name else of.get(str(parent)) or str(uuid)
        of[str(uuid)] = id
        lines.setdefault(id, []).append(data[record.start : record.stop])
    return lines


def _side_lines(data: bytes) -> Iterator[Record]:
    for record in records_of(data):
        value = record.value
        if isinstance(value, dict) and value.get("isSidechain") is True and isinstance(value.get("uuid"), str):
            yield record


def compaction_calls(session: Session) -> dict[str, Path]:
    """The files of the calls that wrote a session's summaries, by the ids of the boundaries that they led to."""
    if session.path is None:
        return {}
    led_to: dict[str, str] = {}
    for message in session.messages:
        if message.kind == "boundary":
            parent = loads(session.records[message.source[0]]).get("logicalParentUuid")
            led_to |= {parent: message.id} if isinstance(parent, str) else {}
    found: dict[str, Path] = {}
    for agent in agent_files(session.path) if led_to else ():
        if not agent.compacts or agent.file is None:
            continue
        try:
            data = read_file(agent.file) if agent.file.stat().st_size <= _LARGEST else b""
        except OSError:  # it went away, or is another user's
            continue
        for record in records_of(data):
            parent = record.value.get("parentUuid") if isinstance(record.value, dict) else None
            if isinstance(parent, str) and parent in led_to:
                found[led_to[parent]] = agent.file
    return found


def compaction_call(session: Session) -> CompactionCall | None:
    """The call that a sub-agent's file holds, None where it is the file of no such call."""
    return _call(session.context()) if session.facts.agent.startswith(COMPACT) else None


def _call(messages: Sequence[Message]) -> CompactionCall | None:
    place = next((n for n in range(len(messages) - 1, -1, -1) if messages[n].starts_round), None)
    if place is None:
        return None
    answer = next((message for message in messages[place + 1 :] if message.role == "assistant"), None)
    return CompactionCall(messages[place], answer)
