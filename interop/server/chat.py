"""OpenAI's chat completions, streamed and not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from interop.server.script import Asked, Turn, typed
from interop.server.stream import STREAM, data

TOO_LONG = {
    "error": {
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
        "message": "This model's maximum context length is 200000 tokens.",
    }
}


def asked(body: Mapping[str, Any]) -> Asked:
    prompt, since, before = "", 0, 0
    for message in body.get("messages") or ():
        if message["role"] == "assistant":
            since += 1
        elif message["role"] == "user" and (text := typed(message.get("content") or "")):
            prompt, since, before = text, 0, before + since
    return Asked(prompt, since, before, bool(body.get("tools")))


def answer(turn: Turn, body: Mapping[str, Any], path: str, number: int, tokens: int) -> tuple[str, bytes]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    calls = [
        {
            "id": f"call_{number:04d}{at:02d}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for at, call in enumerate(turn.calls)
    ]
    finish = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
    head = {"id": f"chatcmpl-{number}", "created": 1, "model": body.get("model")}
    if not body.get("stream"):
        choice = {"index": 0, "message": message | ({"tool_calls": calls} if calls else {}), "finish_reason": finish}
        whole = head | {"object": "chat.completion", "choices": [choice], "usage": usage}
        return "application/json", json.dumps(whole).encode()
    delta = message | ({"tool_calls": [call | {"index": at} for at, call in enumerate(calls)]} if calls else {})
    head |= {"object": "chat.completion.chunk"}
    thought = {key: delta.pop(key) for key in ("role", "reasoning_content") if key in delta}
    parts = [
        head | {"choices": [{"index": 0, "delta": thought, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        head | {"choices": [], "usage": usage},
    ]
    return STREAM, data([*parts, "[DONE]"])
