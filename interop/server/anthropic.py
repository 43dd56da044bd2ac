"""Anthropic's Messages API, streamed and not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from interop.server.script import Asked, Turn, typed
from interop.server.stream import STREAM, events

TOO_LONG = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
}


def asked(body: Mapping[str, Any]) -> Asked:
    prompt, since, before = "", 0, 0
    for message in body.get("messages") or ():
        if message["role"] == "assistant":
            since += 1
        elif text := typed(message["content"]):
            prompt, since, before = text, 0, before + since
    return Asked(prompt, since, before, bool(body.get("tools")))


def answer(turn: Turn, body: Mapping[str, Any], path: str, number: int, tokens: int) -> tuple[str, bytes]:
    blocks: list[dict[str, Any]] = []
    if turn.reasoning:
        blocks.append({"type": "thinking", "thinking": turn.reasoning, "signature": "c2lnbmVk"})
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    for at, call in enumerate(turn.calls):
        id = f"toolu_interop{number:04d}{at:02d}"
        blocks.append({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
    message = {
        "id": f"msg_interop{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": blocks,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        | {"output_tokens": 20},
    }
    if not body.get("stream"):
        return "application/json", json.dumps(message).encode()
    return STREAM, events(_streamed(message))


def _streamed(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": message | {"content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        start, deltas = _opened(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _opened(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what is added to it."""
    match block["type"]:
        case "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
            return block | {"thinking": "", "signature": ""}, deltas
        case "tool_use":
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        case _:
            return block | {"text": ""}, [{"type": "text_delta", "text": block["text"]}]
