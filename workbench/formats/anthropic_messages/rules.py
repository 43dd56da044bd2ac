"""Rules of the Messages API for a request body, checked on the JSON alone.

Source: https://docs.anthropic.com/en/api/messages.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from workbench.formats.faults import Faults, document, inner, objects, require_list, validator


@validator
def validate(data: bytes) -> Faults:
    """Yield the faults that the API would refuse; messages are numbered from 1."""
    body = document(data)
    if isinstance(body, dict):
        if inner(body, "max_tokens", int) <= 0:
            yield "The field max_tokens is missing or not a positive number."
        if not isinstance(body.get("model"), str):
            yield "The model is missing."
        if "system" in body and not isinstance(body["system"], str | list):
            yield "The system is neither text nor a list of blocks."
        body = body.get("messages")
    messages = require_list(body, "messages")
    if inner(messages[0], "role", str) != "user" and not _is_compacted(messages[0]):
        yield "Message 1 is not a user message; the first must be."
    for number, message in enumerate(messages, 1):
        yield from _faults_of(f"Message {number}", message, final=number == len(messages))
    yield from _check_pairs(messages)


def _is_compacted(message: Any) -> bool:
    """True for an assistant turn that begins with the API's compaction block: it may be the first message."""
    first = next(iter(inner(message, "content", list)), None)
    return inner(message, "role", str) == "assistant" and inner(first, "type", str) == "compaction"


def _faults_of(where: str, message: Any, final: bool) -> Faults:
    role = inner(message, "role", str)
    if role not in ("user", "assistant"):
        yield f"{where} is neither a user nor an assistant message."
        return
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        yield f"{where} has content that is neither text nor a list of blocks."
        return
    if not content and not (final and role == "assistant"):
        yield f"{where} has no content."
    others_seen = False
    for block in content:
        kind = inner(block, "type", str)
        if not kind:
            yield f"{where} has a block without a type."
        elif kind == "text" and not inner(block, "text", str).strip():
            yield f"{where} has an empty text block."
        elif kind == "thinking" and not block.get("signature"):
            yield f"{where} has a thinking block without a signature."
        elif kind == "tool_use" and role != "assistant":
            yield f"{where} is a user message with a tool_use block."
        elif kind == "tool_use" and not isinstance(block.get("input"), dict):
            yield f"{where} has the call {block.get('id')}, whose input is not an object."
        elif kind == "tool_result" and role != "user":
            yield f"{where} is an assistant message with a tool_result block."
        elif kind == "tool_result" and others_seen:
            yield f"{where} has a tool_result block after other blocks; results must come first."
        others_seen = others_seen or kind != "tool_result"


def _check_pairs(messages: list[Any]) -> Faults:
    """Check that each call is answered in the user message after its turn, each result has its call, and ids are
    unique."""
    seen: set[str] = set()
    open_calls: dict[str, int] = {}
    for number, message in enumerate(messages, 1):
        if inner(message, "role", str) == "assistant":
            for id in _ids(message, "tool_use", "id"):
                if id in seen:
                    yield f"Message {number} has a call with the id {id}, which was used before."
                seen.add(id)
                open_calls[id] = number
            continue
        answered = Counter(_ids(message, "tool_result", "tool_use_id"))
        for id, times in answered.items():
            if id not in open_calls:
                yield f"Message {number} has the result {id}, which answers no call of the turn before it."
            if times > 1:
                yield f"Message {number} answers the call {id} twice."
        for id, where in open_calls.items():
            if id not in answered:
                yield f"Message {number} has no result for the call {id} of message {where}."
        open_calls = {}


def _ids(message: Any, kind: str, key: str) -> list[str]:
    return [str(block.get(key)) for block in objects(inner(message, "content", list)) if block.get("type") == kind]
