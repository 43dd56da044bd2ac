"""What the Chat Completions API refuses in a list of messages, judged on the JSON alone (formats.md §2.5)."""

from __future__ import annotations

import json
from typing import Any

_ROLES = ("system", "developer", "user", "assistant", "tool")


def validate(data: bytes) -> list[str]:
    """What the API would refuse, one sentence each, naming messages by their place from 1.

    Calls of the last turn may be open. Ids may repeat, but not within one turn.
    """
    try:
        body = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    messages = body.get("messages") if isinstance(body, dict) else body
    if not isinstance(messages, list) or not messages:
        return ["there are no messages"]
    faults: list[str] = []
    waiting: list[str] = []
    asked_in = 0
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            faults.append(f"message {number}: its role is none of {', '.join(_ROLES)}")
            continue
        if message["role"] == "tool":
            answered = message.get("tool_call_id")
            if answered in waiting:
                waiting.remove(answered)
            else:
                faults.append(f"message {number}: answers the call {answered}, which no message before it left open")
        elif waiting:
            faults += [
                f"message {number}: stands before the answer to call {id} of message {asked_in}" for id in waiting
            ]
            waiting = []
        faults += [f"message {number}: {fault}" for fault in _faults_of(message)]
        calls = message.get("tool_calls")
        if message["role"] == "assistant" and isinstance(calls, list):
            waiting, asked_in = [str(call.get("id")) for call in calls if isinstance(call, dict)], number
            if len(set(waiting)) < len(waiting):
                faults.append(f"message {number}: two calls have the same id")
    return faults


def _faults_of(message: dict[str, Any]) -> list[str]:
    faults: list[str] = []
    content, calls = message.get("content"), message.get("tool_calls")
    speaks = message["role"] != "tool" and not (
        message["role"] == "assistant" and (calls or message.get("function_call"))
    )
    if content is not None and not isinstance(content, str | list):
        faults.append("its content is neither text nor a list of parts")
    elif speaks and not content:
        faults.append("its content is empty")
    elif message["role"] == "tool" and content is None:
        faults.append("its content is missing")
    if calls is not None and not isinstance(calls, list):
        return [*faults, "its tool_calls are no list"]
    for call in calls or ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            faults.append("a tool call names no function")
        elif not isinstance(function.get("arguments"), str):
            faults.append(f"the arguments of {function['name']} are no string")
    return faults
