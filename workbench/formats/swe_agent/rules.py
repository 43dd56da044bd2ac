"""Loader rules of SWE-agent for a trajectory's history, checked on the JSON alone:
https://github.com/SWE-agent/SWE-agent."""

from __future__ import annotations

from workbench.formats.faults import Faults, Item, document, inner, require_list, validator
from workbench.formats.openai_chat.rules import chat_faults


@validator
def validate(data: bytes) -> Faults:
    """Yield messages of the main agent that a chat API would reject; a tool message names its call in
    `tool_call_ids`."""
    body = document(data)
    history = require_list(body.get("history") if isinstance(body, dict) else None, "messages in its history")
    known = ("trajectory", "info")
    faults = [f"It has no {key}." for key in known if key not in body and len(body.keys() & set(known))]
    sent: list[Item] = []
    main = next((item.get("agent") for item in history if isinstance(item, dict)), None)
    for number, item in enumerate(history, 1):
        where = f"Message {number}"
        if not isinstance(item, dict) or not isinstance(item.get("agent"), str):
            faults.append(f"{where} names no agent.")
            continue
        if not isinstance(item.get("content"), str | list):
            faults.append(f"{where} has content that is neither text nor a list of parts.")
        ids = inner(item, "tool_call_ids", list)
        if item.get("role") == "tool" and not (ids and isinstance(ids[0], str)):
            faults.append(f"{where} is a tool message without tool_call_ids.")
        elif item["agent"] == main:
            message = {key: item[key] for key in ("role", "content", "tool_calls") if item.get(key)}
            if item.get("role") == "tool":
                message |= {"tool_call_id": ids[0], "content": item.get("content")}
            sent.append(message)
    yield from faults or chat_faults(sent)
