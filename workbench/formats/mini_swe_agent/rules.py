"""Rules for a mini-swe-agent trajectory, checked on the JSON alone: https://github.com/SWE-agent/mini-swe-agent."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, document, inner, require_list, validator
from workbench.formats.openai_chat.rules import chat_faults


@validator
def validate(data: bytes) -> Faults:
    """Yield faults of the trajectory, and those for which a chat API would reject its messages. The key `extra` and a
    final message with the role `exit` are not sent, so they are no faults."""
    body = document(data)
    items = require_list(body.get("messages") if isinstance(body, dict) else body, "messages")
    if isinstance(body, dict):
        if not str(body.get("trajectory_format")).startswith("mini-swe-agent"):
            yield f"The trajectory_format {body.get('trajectory_format')} is not mini-swe-agent's."
        if not isinstance(body.get("info"), dict):
            yield "There is no info."
    sent = [_sent(item) for item in items]
    if inner(sent[-1], "role", str) == "exit":
        sent.pop()
    yield from chat_faults(sent)


def _sent(item: Any) -> Any:
    """Return an item as a message of the chat API. Items of the Responses API are converted, because it pairs calls and
    results by the same rules."""
    if not isinstance(item, dict):
        return item
    if item.get("type") == "function_call_output":
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    if item.get("object") != "response":
        return {key: value for key, value in item.items() if key != "extra"}
    output = [part for part in inner(item, "output", list) if isinstance(part, dict)]
    texts = [part.get("content") for part in output if part.get("type") == "message"]
    calls = [
        {"id": part.get("call_id"), "function": {"name": part.get("name"), "arguments": part.get("arguments")}}
        for part in output
        if part.get("type") == "function_call"
    ]
    return {"role": "assistant", "content": texts[0] if texts else None, "tool_calls": calls or None}
