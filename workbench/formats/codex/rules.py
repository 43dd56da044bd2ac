"""What Codex's loader and the Responses API ask of a rollout (formats.md §2.2).

Written from those rules and from the standard library alone: it judges the writer, so it shares nothing with it.
"""

from __future__ import annotations

import json
from typing import Any

_SPARE_TOKENS = 30_000
"""Tokens that the newest count may claim beyond what the items could be: instructions and tools."""

_MOST = 20
_META = ("id", "timestamp", "cwd", "originator", "cli_version")

Item = tuple[int, dict[str, Any]]


def validate(data: bytes) -> list[str]:
    """What is wrong with a rollout, a sentence each; nothing when Codex would resume it."""
    faults: list[str] = []
    lines = _lines(data, faults)
    if not lines or lines[0][1].get("type") != "session_meta":
        return [*faults[:_MOST], "Line 1 is not a session_meta line."]
    meta = lines[0][1]["payload"]
    faults += [f"Line 1 has no {key}." for key in _META if not isinstance(meta.get(key), str)]
    if meta.get("history_mode") == "paginated" and "ordinal" not in lines[-1][1]:
        faults.append(f"Line {lines[-1][0]} has no ordinal, which a paginated history needs.")
    if not any(_event(value) == "user_message" for _, value in lines):
        faults.append("There is no user_message event, so Codex would not list the session.")
    items = _context(lines)
    if not items:
        faults.append("There are no response items.")
    faults += _pairs(items)
    faults += [fault for number, item in items for fault in _shape(number, item)]
    faults += _stale(lines, items)
    return [*faults[:_MOST], f"{len(faults) - _MOST} more faults."] if len(faults) > _MOST else faults


def _lines(data: bytes, faults: list[str]) -> list[Item]:
    lines: list[Item] = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not isinstance(value.get("payload"), dict):
            faults.append(f"Line {number} is not a rollout line, so Codex would pass over it.")
        elif not isinstance(value.get("timestamp"), str) or not isinstance(value.get("type"), str):
            faults.append(f"Line {number} has no timestamp or no type.")
        else:
            lines.append((number, value))
    return lines


def _event(value: dict[str, Any]) -> Any:
    return value["payload"].get("type") if value["type"] == "event_msg" else None


def _context(lines: list[Item]) -> list[Item]:
    """The items that the loader would send: from the newest replacement on, less turns that were rolled back."""
    items: list[Item] = []
    for number, value in lines:
        payload = value["payload"]
        if value["type"] == "response_item":
            items.append((number, payload))
        elif value["type"] == "compacted":
            replaced = payload.get("replacement_history")
            if isinstance(replaced, list):
                items = [(number, item) for item in replaced if isinstance(item, dict)]
            else:
                items = [item for item in items if item[1].get("role") == "user"]
                items.append((number, {"type": "message", "role": "user", "content": payload.get("message")}))
        elif _event(value) == "thread_rolled_back":
            turns = payload.get("num_turns")
            for _ in range(turns if isinstance(turns, int) else 0):
                while items and items.pop()[1].get("role") != "user":
                    pass
    return items


def _pairs(items: list[Item]) -> list[str]:
    """Each output to a call before it, of its type. A call without an output is no fault: the loader adds one."""
    faults: list[str] = []
    calls: dict[str, tuple[int, str]] = {}
    for number, item in items:
        kind, id = str(item.get("type")), item.get("call_id")
        if kind.endswith("_call") and isinstance(id, str):
            if id in calls:
                faults.append(f"Line {number} has a call with the id of line {calls[id][0]}.")
            calls[id] = number, kind
        elif kind.endswith("_output") and isinstance(id, str):
            if id not in calls:
                faults.append(f"Line {number} has an output, but its call does not stand before it.")
            elif (kind == "custom_tool_call_output") != (calls[id][1] == "custom_tool_call"):
                faults.append(f"Line {number} has an output of another type than its call on line {calls[id][0]}.")
    return faults


def _shape(number: int, item: dict[str, Any]) -> list[str]:
    kind = item.get("type")
    if not isinstance(kind, str):
        return [f"Line {number} has an item without a type."]
    if kind == "message":
        content = item.get("content")
        if item.get("role") not in ("user", "assistant", "developer", "system"):
            return [f"Line {number} has a message without a known role."]
        if isinstance(content, list):
            wrong = "input_text" if item["role"] == "assistant" else "output_text"
            if any(isinstance(part, dict) and part.get("type") == wrong for part in content):
                return [f"Line {number} has a part of type {wrong}, which a message of its role cannot have."]
    elif kind == "function_call" and not (isinstance(item.get("name"), str) and isinstance(item.get("arguments"), str)):
        return [f"Line {number} has a call without a name or without arguments as text."]
    elif kind == "custom_tool_call" and not (isinstance(item.get("name"), str) and isinstance(item.get("input"), str)):
        return [f"Line {number} has a call without a name or without its input as text."]
    if kind.endswith("_call_output") and not isinstance(item.get("output"), str | list | dict):
        return [f"Line {number} has an output without content."]
    return []


def _stale(lines: list[Item], items: list[Item]) -> list[str]:
    """The newest count of tokens must not claim more than the items can be: Codex compacts by it."""
    largest = sum(len(json.dumps(item, ensure_ascii=False)) for _, item in items) + _SPARE_TOKENS
    for number, value in reversed(lines):
        info = value["payload"].get("info") if _event(value) == "token_count" else None
        last = info.get("last_token_usage") if isinstance(info, dict) else None
        if isinstance(last, dict):
            total = last.get("total_tokens")
            if isinstance(total, int) and total > largest:
                return [f"Line {number} counts {total} tokens, more than the context can have."]
            return []
    return []
