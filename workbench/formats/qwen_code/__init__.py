"""Qwen Code (`~/.qwen/projects/<project>/chats/<session>.jsonl`): records in a tree, with messages of Google's API.

A compression is a record with the whole history that is sent from there on; what was just said or answered when it ran
stands before it in the file and is sent behind that history. Qwen Code itself forgets that when it resumes. Reminders
(skills, the date) that it puts before a request are recorded nowhere. Read only.
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
