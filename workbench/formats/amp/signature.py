"""Recognise Amp threads."""

from __future__ import annotations

import re

from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.look import Look

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
