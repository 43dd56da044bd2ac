"""Gemini's generateContent and streamGenerateContent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from interop.server.script import Asked, Turn, typed
from interop.server.stream import STREAM, data

TOO_LONG = {
    "error": {
        "code": 400,
        "status": "INVALID_ARGUMENT",
        "message": "The input token count exceeds the maximum number of tokens allowed.",
    }
}


def asked(body: Mapping[str, Any]) -> Asked:
    prompt, since, before = "", 0, 0
    for content in body.get("contents") or ():
        parts = content.get("parts") or ()
        if content.get("role") == "model":
            since += 1
        elif any("functionResponse" in part for part in parts):
            continue
        elif text := typed(parts):
            prompt, since, before = text, 0, before + since
    return Asked(prompt, since, before, bool(body.get("tools")))


def answer(turn: Turn, body: Mapping[str, Any], path: str, number: int, tokens: int) -> tuple[str, bytes]:
    parts: list[dict[str, Any]] = []
    if turn.reasoning:
        parts.append({"text": turn.reasoning, "thought": True})
    if turn.text:
        parts.append({"text": turn.text})
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in turn.calls]
    whole = {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20},
        "modelVersion": "interop",
        "responseId": f"response-{number}",
    }
    if path.endswith(":streamGenerateContent"):
        return STREAM, data([whole])
    return "application/json", json.dumps(whole).encode()
