"""What LangChain's loaders and the chat models behind them refuse, judged on the JSON alone (formats.md §2.13)."""

from __future__ import annotations

import json
from typing import Any

_TYPES = ("human", "ai", "system", "tool", "function", "chat", "remove")
_CLASSES = tuple(f"{name.upper() if name == 'ai' else name.capitalize()}Message" for name in _TYPES)


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming messages by their place from 1. The last calls may be open."""
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    items = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(items, list) or not items:
        return ["there are no messages"]
    faults: list[str] = []
    waiting: list[str] = []
    for number, item in enumerate(items, 1):
        name, fields, fault = _opened(item)
        if fault:
            faults.append(f"message {number}: {fault}")
            continue
        if not isinstance(fields.get("content"), str | list):
            faults.append(f"message {number}: its content is neither text nor a list of blocks")
        if name == "tool":
            if fields.get("tool_call_id") in waiting:
                waiting.remove(fields["tool_call_id"])
            else:
                faults.append(
                    f"message {number}: answers the call {fields.get('tool_call_id')}, which nothing before made"
                )
            continue
        faults += [f"message {number}: stands before the answer to the call {id}" for id in waiting]
        waiting = []
        for call in _list(fields.get("tool_calls")) + _list(fields.get("invalid_tool_calls")):
            if not isinstance(call, dict) or not isinstance(call.get("name"), str):
                faults.append(f"message {number}: a call has no name")
                continue
            waiting.append(str(call.get("id")))
            wanted = str if call.get("type") == "invalid_tool_call" else dict
            if not isinstance(call.get("args"), wanted):
                faults.append(f"message {number}: the args of {call['name']} are no {wanted.__name__}")
    return faults


def _opened(item: Any) -> tuple[str, dict[str, Any], str]:
    """The short name and fields of a message, or what is wrong with it."""
    if not isinstance(item, dict):
        return "", {}, "is not an object"
    if "lc" in item:
        last = str((_list(item.get("id")) or [""])[-1]).removesuffix("Chunk")
        fields = item.get("kwargs")
        if item["lc"] != 1 or item.get("type") != "constructor" or last not in _CLASSES or not isinstance(fields, dict):
            return "", {}, "is no constructor of a message"
        return last.removesuffix("Message").lower(), fields, ""
    fields = item.get("data")
    if item.get("type") not in _TYPES or not isinstance(fields, dict):
        return "", {}, "has no known type or no data"
    return str(item["type"]), fields, ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
