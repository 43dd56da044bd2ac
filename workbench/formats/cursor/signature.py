"""Recognise Cursor databases and agent transcripts."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

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
