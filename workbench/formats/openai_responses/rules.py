"""What the Responses API refuses in a list of items, judged on the JSON alone (formats.md §2.5)."""

from __future__ import annotations

import json
from typing import Any

_ROLES = ("user", "assistant", "system", "developer")


def validate(data: bytes) -> list[str]:
    """What the API would refuse, one sentence each, naming items by their place from 1.

    Calls may be open at the end. A call may be answered later than by the next item.
    """
    try:
        body = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    items = body.get("input", body.get("output")) if isinstance(body, dict) else body
    if isinstance(items, str):
        return [] if items else ["the input is empty"]
    if not isinstance(items, list) or not items:
        return ["there are no items"]
    faults: list[str] = []
    waiting: dict[str, int] = {}
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict):
            faults.append(f"item {number}: is not an object")
            continue
        kind = str(item.get("type", "message"))
        if kind == "message":
            faults += [f"item {number}: {fault}" for fault in _faults_of(item)]
        if kind in ("function_call", "custom_tool_call"):
            if not isinstance(item.get("name"), str) or not isinstance(item.get("call_id"), str):
                faults.append(f"item {number}: the call has no name or no call_id")
            elif item["call_id"] in waiting:
                faults.append(f"item {number}: the call {item['call_id']} is open already")
            elif not isinstance(item.get("arguments" if kind == "function_call" else "input"), str):
                faults.append(f"item {number}: the arguments of {item['name']} are no string")
            waiting[str(item.get("call_id"))] = number
        elif kind in ("function_call_output", "custom_tool_call_output"):
            if waiting.pop(str(item.get("call_id")), None) is None:
                faults.append(f"item {number}: answers the call {item.get('call_id')}, which no item before it made")
            if not isinstance(item.get("output"), str | list):
                faults.append(f"item {number}: its output is neither text nor a list of parts")
        elif kind == "compaction" and not isinstance(item.get("encrypted_content"), str):
            faults.append(f"item {number}: the compaction has no encrypted_content")
        elif kind == "reasoning" and number == len(items) and "input" in _dict(body):
            faults.append(f"item {number}: reasoning without the item that must follow it")
    last_said = max((n for n, item in enumerate(items, 1) if _dict(item).get("role") == "user"), default=0)
    return faults + [
        f"item {number}: no output for the call {id}" for id, number in waiting.items() if number < last_said
    ]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _faults_of(item: dict[str, Any]) -> list[str]:
    content = item.get("content")
    if item.get("role") not in _ROLES:
        return [f"its role is none of {', '.join(_ROLES)}"]
    if not isinstance(content, str | list) or not content:
        return ["its content is empty or no content"]
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    wanted = ("output_text", "refusal") if item["role"] == "assistant" else ("input_",)
    return [
        f"a part of type {p.get('type')} for the {item['role']}"
        for p in parts
        if not str(p.get("type")).startswith(wanted)
    ]
