"""What Claude Code's loader and the Messages API ask of a session file (formats.md §2.1).

Written from those rules and from the standard library alone: it judges the writer, so it shares nothing with it.
"""

from __future__ import annotations

import json
from typing import Any

SMALL_USAGE = 20_000
"""Tokens that the last call may claim to have been sent before the tool would think the context full already."""

_MOST = 20

Line = tuple[int, dict[str, Any]]


def validate(data: bytes) -> list[str]:
    """What is wrong with a session file, a sentence each; nothing when Claude Code would resume it."""
    lines, faults = _lines(data)
    linked = [line for line in lines if isinstance(line[1].get("uuid"), str) and not line[1].get("isSidechain")]
    if not any(value.get("type") in ("user", "assistant") for _, value in linked):
        return [*faults, "It holds no user or assistant line of a main session."]
    faults += _identity(lines, linked)
    loaded = _loaded(linked, faults)
    faults += _contents(loaded)
    faults += _pairs(loaded)
    faults += _last_usage(loaded)
    if len(faults) > _MOST:
        faults = [*faults[:_MOST], f"{len(faults) - _MOST} more faults."]
    return faults


def _lines(data: bytes) -> tuple[list[Line], list[str]]:
    lines: list[Line] = []
    faults: list[str] = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            lines.append((number, value))
        else:
            faults.append(f"Line {number} is not a JSON object.")
    return lines, faults


def _identity(lines: list[Line], linked: list[Line]) -> list[str]:
    """One session id, and every uuid once."""
    faults: list[str] = []
    ids = {value["sessionId"] for _, value in lines if isinstance(value.get("sessionId"), str)}
    if len(ids) != 1:
        faults.append(f"It has {len(ids)} session ids where there must be one.")
    faults += [f"Line {number} has no sessionId." for number, value in linked if not value.get("sessionId")]
    seen: dict[str, int] = {}
    for number, value in linked:
        first = seen.setdefault(value["uuid"], number)
        if first != number:
            faults.append(f"Line {number} has the uuid of line {first}.")
        parent = value.get("parentUuid")
        if parent is not None and str(parent) not in seen:
            faults.append(f"Line {number} names a parent that does not stand before it.")
    return faults


def _loaded(linked: list[Line], faults: list[str]) -> list[Line]:
    """The lines that the loader would take: from the newest leaf up to the newest boundary or a line without parent."""
    by_uuid = {value["uuid"]: (number, value) for number, value in linked}
    here: Line | None = next(
        line for line in reversed(linked) if line[1].get("type") in ("user", "assistant", "attachment")
    )
    walked: dict[int, dict[str, Any]] = {}
    top = 0
    while here is not None and here[0] not in walked:
        number, value = here
        walked[number] = value
        top = number
        if value.get("subtype") == "compact_boundary":
            break
        here = by_uuid.get(str(value.get("parentUuid")))
    boundary = max((number for number, value in linked if value.get("subtype") == "compact_boundary"), default=0)
    if boundary and top != boundary:
        faults.append(f"The newest line's parents do not lead up to the boundary of line {boundary}.")
    for number, value in linked:
        if number > boundary and value.get("type") in ("user", "assistant") and number not in walked:
            faults.append(f"Line {number} is not among the parents of the newest line, so it would not be loaded.")
    return [(number, walked[number]) for number in sorted(walked)]


def _body(value: dict[str, Any]) -> dict[str, Any]:
    body = value.get("message")
    return body if isinstance(body, dict) else {}


def _blocks(value: dict[str, Any]) -> list[dict[str, Any]]:
    content = _body(value).get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _contents(loaded: list[Line]) -> list[str]:
    """No message without content, no block without text, and a user's message first."""
    faults: list[str] = []
    opened = False
    for number, value in loaded:
        type = value.get("type")
        if type not in ("user", "assistant"):
            continue
        if not opened and type == "assistant":
            faults.append(f"Line {number} is an assistant's, but the first message must be a user's.")
        opened = True
        if _body(value).get("role") != type:
            faults.append(f"Line {number} is of type {type}, but its message has another role.")
        if not _body(value).get("content"):
            faults.append(f"Line {number} has a message without content.")
        if any(block.get("type") == "text" and not block.get("text") for block in _blocks(value)):
            faults.append(f"Line {number} has an empty text block.")
    return faults


def _pairs(loaded: list[Line]) -> list[str]:
    """Each call answered before the next response, but for calls of the last one; each answer to a call before it."""
    faults: list[str] = []
    calls: dict[str, int] = {}
    waiting: dict[str, int] = {}
    response: Any = None
    for number, value in loaded:
        if value.get("type") == "assistant" and not value.get("isApiErrorMessage"):
            id = _body(value).get("id") or number
            if id != response:
                faults += [f"The call of line {line} has no result before line {number}." for line in waiting.values()]
                waiting.clear()
                response = id
        for block in _blocks(value):
            if block.get("type") == "tool_use":
                if block.get("id") in calls:
                    faults.append(f"Line {number} has a call with the id of line {calls[str(block.get('id'))]}.")
                calls[str(block.get("id"))] = waiting[str(block.get("id"))] = number
            elif block.get("type") == "tool_result":
                id = str(block.get("tool_use_id"))
                if id not in calls:
                    faults.append(f"Line {number} has a result, but its call does not stand before it.")
                elif waiting.pop(id, None) is None:
                    faults.append(f"Line {number} has a result of a call that was answered or passed over before.")
    return faults


def _last_usage(loaded: list[Line]) -> list[str]:
    for number, value in reversed(loaded):
        usage = _body(value).get("usage")
        if value.get("type") == "assistant" and isinstance(usage, dict) and _body(value).get("model") != "<synthetic>":
            keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
            total = sum(count for key in keys if isinstance(count := usage.get(key), int))
            if total > SMALL_USAGE:
                return [f"Line {number} claims {total} tokens, so Claude Code would compact the session at once."]
            return []
    return []
