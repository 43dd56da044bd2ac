"""What SWE-agent demands of a trajectory's history, judged on the JSON alone (formats.md §2.11)."""

from __future__ import annotations

import json
from typing import Any

from workbench.formats.openai_chat import rules as openai_chat_rules


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming messages of the history by their place from 1.

    What the main agent sends must be what a chat API takes; a tool's message names its call in `tool_call_ids`.
    """
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    history = document.get("history") if isinstance(document, dict) else None
    if not isinstance(history, list) or not history:
        return ["there is no history"]
    faults = [f"{key} is missing" for key in ("trajectory", "info") if key not in document]
    sent: list[dict[str, Any]] = []
    main = next((item.get("agent") for item in history if isinstance(item, dict)), None)
    for number, item in enumerate(history, 1):
        if not isinstance(item, dict) or not isinstance(item.get("agent"), str):
            faults.append(f"message {number}: names no agent")
            continue
        if not isinstance(item.get("content"), str | list):
            faults.append(f"message {number}: its content is neither text nor a list of parts")
        ids = item.get("tool_call_ids")
        if item.get("role") == "tool" and not (isinstance(ids, list) and ids and isinstance(ids[0], str)):
            faults.append(f"message {number}: is a tool's but has no tool_call_ids")
            continue
        if item["agent"] == main:
            message = {key: item[key] for key in ("role", "content", "tool_calls") if item.get(key)}
            if isinstance(ids, list) and item.get("role") == "tool":
                message |= {"tool_call_id": ids[0], "content": item.get("content")}
            sent.append(message)
    return faults or openai_chat_rules.validate(json.dumps(sent).encode())
