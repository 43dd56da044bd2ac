"""Qwen Code (`~/.qwen/projects/<project>/chats/<session>.jsonl`): records in a tree, with messages in Google's API
form.

A compression is a record with the complete history that is sent from there on. A request that was in progress is before
it in the file and is sent after that history; on resume, Qwen Code drops it. Reminders (skills, the date) that it puts
before a request are not recorded. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.formats.format import Codec, CompactCommand, Format
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "qwen-code"
KEYS = frozenset(
    ["cwd", "message", "model", "parentUuid", "sessionId", "systemPayload", "timestamp", "type", "uuid", "version"]
)

_MESSAGE_TYPES = ("user", "assistant", "tool_result")


def recognise(look: Look) -> str:
    for record in look.records:
        if isinstance(record.value, dict) and is_record(record.value):
            return f"line {record.line} is a {record.value['type']} record of Qwen Code"
    return ""


def is_record(value: dict[str, Any]) -> bool:
    """Return True if a line is Qwen Code's: linked as Claude Code's, but a message has parts, and a system record a
    payload."""
    if "uuid" not in value or "sessionId" not in value:
        return False
    if value.get("type") in _MESSAGE_TYPES:
        return isinstance(dict_of(value.get("message")).get("parts"), list)
    return value.get("type") == "system" and isinstance(value.get("systemPayload"), dict)


def _codec() -> Codec:
    from workbench.formats.qwen_code.read import Reader

    return Codec(Reader.read)


def _places(machine: Machine) -> Iterator[Place]:
    qwen = machine.first("QWEN_RUNTIME_DIR", "QWEN_HOME", otherwise=machine.home / ".qwen")
    yield Place("Qwen Code", ID, qwen / "projects", ("*/chats/*.jsonl",))


FORMAT = Format(
    ID,
    "Qwen Code",
    recognise,
    _codec,
    keys=KEYS,
    places=_places,
    compact_command=CompactCommand("Qwen Code", "/compress", takes_instruction=True, most_characters=2_000),
    program=Program("qwen-code", "qwen", ("chunks/*.js", "cli.js"), "getCompressionPrompt", "template"),
)
