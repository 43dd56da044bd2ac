"""Qwen Code (`~/.qwen/projects/<project>/chats/<session>.jsonl`): records in a tree, with messages in Google's API
form.

A compression is a record with the complete history sent from there on; messages in progress at that time are before it
in the file and sent after that history. Qwen Code itself drops them on resume. Reminders (skills, the date) that it
puts before a request are not recorded. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place, Program
from workbench.formats.qwen_code.signature import ID, KEYS, recognise


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
    program=Program("qwen-code", "qwen", ("chunks/*.js", "cli.js"), "getCompressionPrompt", "template"),
)
