"""Sub-agents of a Claude Code session, and the calls that wrote its summaries.

A sub-agent is a chain of `isSidechain` lines in the session's file, or a file in a folder next to it. A summary call is
such a file too, `agent-acompact-….jsonl`: its last request asks for the summary and the answer is the summary. That
request and the boundary that followed name the same line of the session as their parent.
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
"""Prefix of a summary call's id."""

_LARGEST = 16 << 20
"""Maximum bytes of a summary call's file that is read together with its session."""

_MAX_FILES = 500
"""Maximum sub-agent files listed per folder."""


class SubAgent(Struct, frozen=True):
    """A sub-agent. `Codec.read_part` takes its `id`; `file` is None for a sub-agent in the session's own file."""

    id: str
    file: Path | None = None

    @property
    def is_summary_call(self) -> bool:
        """True for the call that wrote a summary."""
        return self.id.startswith(COMPACT)


class CompactionCall(Struct, frozen=True):
    """The recorded request for a summary and its answer; None if no answer was recorded."""

    prompt: Message
    answer: Message | None


def agent_files(path: Path) -> list[SubAgent]:
    """Return the sub-agents with files of their own, in a folder named after the session. Links are not followed."""
    found: list[SubAgent] = []
    for folder in (path.with_suffix("") / "subagents", path.with_suffix(".subagents")):
        try:
            with os.scandir(folder) as entries:
                names = sorted(e.name for e in entries if e.is_file(follow_symlinks=False))
        except (OSError, ValueError):
            continue
        found += [
            SubAgent(name.removeprefix("agent-").removesuffix(".jsonl"), folder / name)
            for name in names[:_MAX_FILES]
            if name.startswith("agent-") and name.endswith(".jsonl")
        ]
    return found


def agents_inside(data: bytes) -> dict[str, list[bytes]]:
    """Return the lines of each sub-agent in a session's file, by agent id or by the uuid of the chain's first line."""
    ids: dict[str, str] = {}
    lines: dict[str, list[bytes]] = {}
    for record in _sidechain_lines(data):
        value = record.value
        parent = value.get("parentUuid") or value.get("logicalParentUuid")
        uuid, name = value.get("uuid"), value.get("agentId")
        id = name if isinstance(name, str) and name else ids.get(str(parent)) or str(uuid)
        ids[str(uuid)] = id
        lines.setdefault(id, []).append(data[record.start : record.stop])
    return lines


def _sidechain_lines(data: bytes) -> Iterator[Record]:
    for record in records_of(data):
        value = record.value
        if isinstance(value, dict) and value.get("isSidechain") is True and isinstance(value.get("uuid"), str):
            yield record


def compaction_calls(session: Session) -> dict[str, Path]:
    """Return the files of the calls that wrote a session's summaries, by the id of the boundary that followed."""
    if session.path is None:
        return {}
    boundaries: dict[str, str] = {}
    for message in session.messages:
        if message.kind == "boundary":
            parent = loads(session.records[message.source[0]]).get("logicalParentUuid")
            boundaries |= {parent: message.id} if isinstance(parent, str) else {}
    found: dict[str, Path] = {}
    for agent in agent_files(session.path) if boundaries else ():
        if not agent.is_summary_call or agent.file is None:
            continue
        try:
            data = read_file(agent.file) if agent.file.stat().st_size <= _LARGEST else b""
        except OSError:  # deleted meanwhile, or not readable for this user
            continue
        for record in records_of(data):
            parent = record.value.get("parentUuid") if isinstance(record.value, dict) else None
            if isinstance(parent, str) and parent in boundaries:
                found[boundaries[parent]] = agent.file
    return found


def compaction_call(session: Session) -> CompactionCall | None:
    """Return the summary call that an opened sub-agent's file holds; None for any other session."""
    return _last_request(session.context()) if session.facts.agent.startswith(COMPACT) else None


def _last_request(messages: Sequence[Message]) -> CompactionCall | None:
    place = next((n for n in range(len(messages) - 1, -1, -1) if messages[n].starts_round), None)
    if place is None:
        return None
    answer = next((message for message in messages[place + 1 :] if message.role == "assistant"), None)
    return CompactionCall(messages[place], answer)
