"""What the Messages API refuses in a request body, judged on the JSON alone (formats.md §2.5)."""

from __future__ import annotations

import json
from typing import Any


def validate(data: bytes) -> list[str]:
    """What the API would refuse, one sentence each, naming messages by their place from 1."""
    try:
        body = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    faults: list[str] = []
    if isinstance(body, dict):
        if not (isinstance(body.get("max_tokens"), int) and body["max_tokens"] > 0):
            faults.append("max_tokens is missing or no positive number")
        if not isinstance(body.get("model"), str):
            faults.append("model is missing")
        if "system" in body and not isinstance(body["system"], str | list):
            faults.append("system is neither text nor a list of blocks")
        body = body.get("messages")
    if not isinstance(body, list) or not body:
        return [*faults, "there are no messages"]
    if _get(body[0], "role") != "user" and not _is_compacted(body[0]):
        faults.append("message 1 is not the user's: the first must be")
    for number, message in enumerate(body, 1):
        faults += [f"message {number}: {fault}" for fault in _faults_of(message, final=number == len(body))]
    return faults + _pairing(body)


def _is_compacted(message: Any) -> bool:
    """Whether it is an assistant's turn that begins with the API's own compaction block: such a one may stand first."""
    content = _get(message, "content")
    first = content[0] if isinstance(content, list) and content else None
    return bool(_get(message, "role") == "assistant" and _get(first, "type") == "compaction")


def _faults_of(message: Any, final: bool) -> list[str]:
    if _get(message, "role") not in ("user", "assistant"):
        return [f"its role {_get(message, 'role')!r} is neither user nor assistant"]
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return ["its content is neither text nor a list of blocks"]
    if not content and not (final and message["role"] == "assistant"):
        return ["its content is empty"]
    faults: list[str] = []
    others_seen = False
    for block in content:
        kind = _get(block, "type")
        if not isinstance(kind, str):
            faults.append("a block has no type")
        elif kind == "text" and not (isinstance(block.get("text"), str) and block["text"].strip()):
            faults.append("a text block is empty")
        elif kind == "thinking" and not block.get("signature"):
            faults.append("a thinking block has no signature")
        elif kind == "tool_use" and message["role"] != "assistant":
            faults.append("a tool_use block stands in a user message")
        elif kind == "tool_use" and not isinstance(block.get("input"), dict):
            faults.append(f"the input of call {block.get('id')} is no object")
        elif kind == "tool_result" and message["role"] != "user":
            faults.append("a tool_result block stands in an assistant message")
        elif kind == "tool_result" and others_seen:
            faults.append("a tool_result block stands after other blocks: results come first")
        others_seen = others_seen or kind != "tool_result"
    return faults


def _pairing(messages: list[Any]) -> list[str]:
    """Every call answered in the one user message after its turn; no answer without its call; ids unique."""
    faults: list[str] = []
    seen: set[str] = set()
    asked: dict[str, int] = {}
    for number, message in enumerate(messages, 1):
        if _get(message, "role") == "assistant":
            for id in _ids(message, "tool_use", "id"):
                if id in seen:
                    faults.append(f"message {number}: the call id {id} was used before")
                seen.add(id)
                asked[id] = number
            continue
        answered = _ids(message, "tool_result", "tool_use_id")
        faults += [
            f"message {number}: the result {id} answers no call of the turn before it"
            for id in answered
            if id not in asked
        ]
        faults += [
            f"message {number}: call {id} of message {where} has no result here"
            for id, where in asked.items()
            if id not in answered
        ]
        faults += [f"message {number}: call {id} is answered twice" for id in set(answered) if answered.count(id) > 1]
        asked = {}
    return faults


def _ids(message: Any, kind: str, key: str) -> list[str]:
    content = _get(message, "content")
    blocks = content if isinstance(content, list) else []
    return [str(block.get(key)) for block in blocks if _get(block, "type") == kind]


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
