"""goose sessions: its `sessions.db`, an exported session as JSON, and the JSONL of earlier versions.

goose compacts by visibility: older messages stay in the file but are hidden from the agent; the context is every
visible message. A session of a database becomes records like those of an export, one per message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.formats.format import Codec, CompactCommand, Format, RecordRepair, TriggerSetting
from workbench.formats.kit.database import Tables
from workbench.formats.kit.sheet import RepairSheet
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "goose"
KEYS = frozenset(["content", "conversation", "created_at", "id", "message_count", "role", "working_dir"])

_CONTENT = frozenset(["text", "image", "toolRequest", "toolResponse", "thinking", "redactedThinking"])


def recognise(look: Look) -> str:
    if look.tables:
        return "an SQLite database with goose's sessions and messages" if is_database(look.tables) else ""
    if isinstance(look.first.get("conversation"), list) and "working_dir" in look.first:
        return "conversation with working_dir, as exported by goose"
    for record in look.records:
        if isinstance(record.value, dict) and is_message(record.value):
            return f"line {record.line} is a message of goose"
    if "working_dir" in look.first and "message_count" in look.first:
        return "line 1 has working_dir and message_count, as goose's has"
    return ""


def is_database(tables: Tables) -> bool:
    """True for goose's tables; `tables` are column names by table."""
    none = frozenset[str]()
    return "working_dir" in tables.get("sessions", none) and "content_json" in tables.get("messages", none)


def is_message(value: Mapping[str, Any]) -> bool:
    content = value.get("content")
    if value.get("role") not in ("user", "assistant") or type(value.get("created")) is not int:
        return False
    return isinstance(content, list) and all(
        isinstance(item, dict) and str(item.get("type")) in _CONTENT for item in content
    )


def _codec() -> Codec:
    from workbench.formats.goose import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        note=in_document(EXPORT_NOTE, ()),
        repair=lambda: RecordRepair(_repair_header),
        list_sessions=read.list_sessions,
    )


def _repair_header(sheet: RepairSheet) -> None:
    """Move the header to the first line: elsewhere goose reads it as a message."""
    headers = [entry for entry in sheet.entries if "working_dir" in entry.object and "role" not in entry.object]
    if headers and sheet.lines and sheet.entries[0] is not headers[0]:
        sheet.move_header(headers[0])


def _places(machine: Machine) -> Iterator[Place]:
    if root := machine.named("GOOSE_PATH_ROOT"):
        folders = [root / "data/sessions"]
    elif machine.system == "win32":
        folders = [machine.settings / "Block/goose/data/sessions", machine.settings / "Block/goose/sessions"]
    else:
        folders = [machine.data / "goose/sessions", machine.home / ".goose/sessions"]
    for folder in folders:
        yield Place("goose", ID, folder, ("sessions.db", "*.jsonl"))


def _setting(trigger: int, window: int) -> str:
    return f"set GOOSE_AUTO_COMPACT_THRESHOLD={trigger / window:.2f}"


FORMAT = Format(
    ID,
    "goose",
    recognise,
    _codec,
    keys=KEYS,
    preset="goose",
    places=_places,
    suffixes=(".db",),
    trigger_setting=TriggerSetting(_setting),
    compact_command=CompactCommand("goose"),
)
