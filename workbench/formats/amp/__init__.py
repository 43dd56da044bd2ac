"""Amp threads: `~/.local/share/amp/threads/T-<id>.json`, and the output of `amp threads export`.

The format is undocumented; this is what public readers of it agree on. Since spring 2026 Amp keeps threads on its
server only. A message of the role `info` with a summary replaces the messages before it. Messages of sub-agents name
the call that started them, and are shown only in the view of the whole file. The file has no system prompt or
tools. Read only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "amp"
KEYS = frozenset(["agentMode", "created", "env", "id", "messages", "nextMessageId", "title", "v"])

_THREAD = re.compile(r"T-[0-9A-Za-z-]{1,60}")


def recognise(look: Look) -> str:
    thread = dict_of(look.document)
    if "v" not in thread or not isinstance(thread.get("messages"), list):
        return ""
    first = dict_of(next(iter(list_of(thread["messages"])), None))
    is_thread = _THREAD.fullmatch(text_of(thread.get("id"))) or "messageId" in first
    return "a thread: v and a T- id with messages" if is_thread else ""


def _codec() -> Codec:
    from workbench.formats.amp import read

    return Codec(read.Reader.read)


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("Amp", ID, machine.data / "amp/threads", ("T-*.json",))


FORMAT = Format(ID, "Amp thread", recognise, _codec, keys=KEYS, places=_places)
