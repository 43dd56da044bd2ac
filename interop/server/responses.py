"""OpenAI's Responses API, streamed and not; its own compaction of a context, too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from interop.server.script import Asked, Turn, typed
from interop.server.stream import STREAM, events

TOO_LONG = {
    "error": {
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
        "message": "Your input exceeds the context window of this model.",
    }
}


def asked(body: Mapping[str, Any]) -> Asked:
    prompt, since, before, speaking = "", 0, 0, False
    given = body.get("input") or ()
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind, theirs = item.get("type", "message"), item.get("role") == "assistant"
        if kind in ("function_call", "custom_tool_call", "reasoning") or (kind == "message" and theirs):
            since, speaking = since + (not speaking), True  # one turn may be several items
            continue
        speaking = False
        if kind == "message" and item["role"] == "user" and (text := typed(item["content"])):
            prompt, since, before = text, 0, before + since
    return Asked(prompt, since, before, bool(body.get("tools")))


def answer(turn: Turn, body: Mapping[str, Any], path: str, number: int, tokens: int) -> tuple[str, bytes]:
    items: list[dict[str, Any]] = []
    if [item.get("type") for item in body["input"][-1:]] == ["compaction_trigger"]:
        items.append({"type": "compaction", "id": f"cmp_{number}", "encrypted_content": "c2VhbGVkIHN1bW1hcnk="})
        turn = Turn("")
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        items.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "c2VhbGVk"})
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    for at, call in enumerate(turn.calls):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        named = {"call_id": f"call_{number:04d}{at:02d}", "name": call.name, "arguments": arguments}
        items.append({"type": "function_call", "id": f"fc_{number}_{at}"} | named)
    items = [item | ({} if "encrypted_content" in item else {"status": "completed"}) for item in items]
    response = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body.get("model"),
        "output": items,
        "usage": {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens + 20,
        },
    }
    if not body.get("stream"):
        return "application/json", json.dumps(response).encode()
    stream: list[dict[str, Any]] = [{"type": "response.created", "response": response | {"output": []}}]
    for index, item in enumerate(items):
        stream.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            where = {"item_id": item["id"], "output_index": index, "content_index": 0}
            stream.append({"type": "response.output_text.delta", "delta": turn.text} | where)
        stream.append({"type": "response.output_item.done", "output_index": index, "item": item})
    stream.append({"type": "response.completed", "response": response})
    return STREAM, events(one | {"sequence_number": at} for at, one in enumerate(stream))
