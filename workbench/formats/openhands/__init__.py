"""OpenHands conversations: a list of events in one file, a conversation's folder, or an evaluation's output.

Events are append-only: a condensation is an event that names forgotten events, and holds a summary with its offset
among the remaining events. V0 sends only the newest summary, V1 every summary that is not forgotten itself. V1 events
that name their parents form a tree; the branch whose head `base_state.json` names is sent. Events without content for
the model are kept in the file but are no messages. A folder is read as the list of its events, ordered by file name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.base.reading import open_file
from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.kit.outline import glimpse
from workbench.formats.kit.values import dict_of
from workbench.formats.look import HEAD, Look
from workbench.formats.machine import Machine, Place, Program

ID = "openhands"
KEYS = frozenset(
    [
        "action",
        "args",
        "history",
        "id",
        "instance_id",
        "kind",
        "llm_message",
        "message",
        "metadata",
        "observation",
        "source",
        "timestamp",
    ]
)

V0_FILE = re.compile(r"[0-9]{1,9}\.json")
_SOURCES = ("user", "agent", "environment")


def recognise(look: Look) -> str:
    if is_output(look):
        return "lines with a history of events, as written by OpenHands' evaluations and resolver"
    if is_lines(look):
        return "lines of events with kind, source and id"
    items = look.document
    events = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    if not events or not all(event.get("source") in _SOURCES and "id" in event for event in events[:3]):
        return ""
    if any(("action" in event or "observation" in event) and not is_v1(event) for event in events[:3]):
        return "a list of events with action or observation, source and id"
    if all(is_v1(event) and "timestamp" in event for event in events[:3]):
        return "a list of events with kind, source and id"
    return ""


def recognise_folder(path: Path) -> str:
    """Return the reason why a folder is a conversation: V1 has base_state.json, V0 numbers its events."""
    events = path / "events"
    if not events.is_dir():
        return ""
    if (path / "base_state.json").is_file():
        return "a folder with base_state.json and events"
    first = next((file for file in islice(events.iterdir(), 1000) if V0_FILE.fullmatch(file.name)), None)
    event = glimpse(_head(first)) if first is not None and first.is_file() else None
    known = isinstance(event, dict) and "source" in event and ("action" in event or "observation" in event)
    return "a folder with events by their numbers, as OpenHands V0 kept them" if known else ""


def _head(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            return file.read(HEAD)
    except OSError:
        return b""


def is_output(look: Look) -> bool:
    """Return True for the output of an evaluation or the resolver: its first line names an instance or an issue and
    holds its history."""
    line = look.first
    if "instance_id" in line:
        return isinstance(line.get("history"), list) or "agent_class" in dict_of(line.get("metadata"))
    return isinstance(line.get("issue"), dict) and "history" in line


def is_lines(look: Look) -> bool:
    """Return True if the first lines are V1 events. A single event is not enough: it is a file of a conversation's
    folder."""
    several = look.document is None and look.first
    events = [record.value for record in look.records[:3] if record.readable] if several else []
    return bool(events) and all(is_v1(e) and e.get("source") in _SOURCES and "timestamp" in e for e in events)


def is_v1(event: Any) -> bool:
    return isinstance(event, dict) and isinstance(event.get("kind"), str)


def _codec() -> Codec:
    from workbench.formats.openhands import note, read, rules, v1, write

    return Codec(
        read.read,
        write.write,
        rules.validate,
        read_folder=read.read_folder,
        folder=v1.folder,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        note=note.NOTE,
        glance=read.glance,
    )


def _places(machine: Machine) -> Iterator[Place]:
    home = machine.first("OPENHANDS_PERSISTENCE_DIR", otherwise=machine.home / ".openhands")
    conversations = machine.first("OPENHANDS_CONVERSATIONS_DIR", otherwise=home / "conversations")
    yield Place("OpenHands", ID, conversations, ("*/base_state.json",))
    store = machine.first("FILE_STORE_PATH", otherwise=home)
    for folder in dict.fromkeys((store, machine.home / ".openhands-state")):
        yield Place("OpenHands", ID, folder / "sessions", ("*/events/0.json",))


def _setting(trigger: int, window: int) -> str:
    return f"set max_tokens = {trigger} of its condenser"


FORMAT = Format(
    ID,
    "OpenHands conversation",
    recognise,
    _codec,
    recognise_folder,
    keys=KEYS,
    preset="openhands",
    places=_places,
    marks=("base_state.json", "events/0.json"),
    trigger_setting=TriggerSetting(_setting, in_tokens=True),
    program=Program("openhands", "openhands", ("condenser/prompts/summarizing_system.j2",), kind="whole"),
)
