"""Recognise Claude Code sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.look import Look

ID = "claude-code"
KEYS = frozenset(
    [
        "cwd",
        "gitBranch",
        "isSidechain",
        "message",
        "parentUuid",
        "sessionId",
        "timestamp",
        "type",
        "userType",
        "uuid",
        "version",
    ]
)

_LINKED = ("user", "assistant", "system", "attachment", "progress")
_FIRST = 5
"""Lines searched for the first answer of iFlow CLI."""

_IFLOWS_ID = re.compile(r"response-\d{13}(?:-|$)")
WEB_EXPORT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"loglines"\s*:')


def recognise(look: Look) -> str:
    """Return why a file is a session, "" if it is not. All lines of `look` are checked: a file may begin with any
    type."""
    if WEB_EXPORT.match(look.head):
        return "a JSON object with loglines, as exported by Claude Code on the web"
    if any(is_iflows(dict_of(record.value)) for record in look.records[:_FIRST]):
        return ""
    for record in look.records:
        if isinstance(record.value, dict) and _is_line(record.value):
            return f"line {record.line} is a {record.value['type']} line of Claude Code"
        if isinstance(record.value, dict) and is_printed(record.value):
            return f"line {record.line} is a {record.value['type']} line, as claude -p prints them with stream-json"
    if any(is_printed(one) for one in list_of(look.document) if isinstance(one, dict)):
        return "a list of messages, as claude -p --verbose prints them with json"
    return ""


def _is_qwens(value: dict[str, Any]) -> bool:
    """Return True for a line of Qwen Code, which links lines the same way but has parts in its messages."""
    return "systemPayload" in value or "parts" in dict_of(value.get("message"))


def is_iflows(value: dict[str, Any]) -> bool:
    """Return True if iFlow CLI wrote the line. It uses Claude Code's keys, but its tool results hold parts of Google's
    API and the ids of its assistant messages are times."""
    body = dict_of(value.get("message"))
    if value.get("type") == "assistant":
        return _IFLOWS_ID.match(text_of(body.get("id"))) is not None
    results = (dict_of(dict_of(block).get("content")) for block in list_of(body.get("content")))
    return any("responseParts" in result for result in results)


def _is_line(value: dict[str, Any]) -> bool:
    type = value.get("type")
    if type in _LINKED and not _is_qwens(value):
        return "uuid" in value and ("sessionId" in value or "parentUuid" in value)
    return (
        (type == "summary" and "leafUuid" in value)
        or (type == "file-history-snapshot" and "snapshot" in value)
        or (
            type in ("queue-operation", "last-prompt", "mode", "permission-mode", "custom-title")
            and "sessionId" in value
        )
    )


def is_printed(value: Mapping[str, Any]) -> bool:
    """Return True for a line that `claude -p` printed."""
    if not isinstance(value.get("session_id"), str) or "sessionId" in value:
        return False
    match value.get("type"):
        case "user" | "assistant" | "stream_event":
            return "parent_tool_use_id" in value or (isinstance(value.get("message"), dict) and "role" not in value)
        case "system":
            return isinstance(value.get("subtype"), str)
        case "result":
            return "total_cost_usd" in value or "num_turns" in value
    return False
