"""litellm: the body of a chat request, as litellm takes it and makes a request for Anthropic of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import litellm
from turns import main, read_file

_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
_TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": _SCHEMA}}]


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    messages: list[dict[str, Any]] = kept if isinstance(kept, list) else kept["messages"]
    tools = _TOOLS if isinstance(kept, list) else kept.get("tools") or _TOOLS
    for prompt in prompts:
        messages.append({"role": "user", "content": prompt})
        while _asked(server, messages, tools):
            pass
    file.write_text(json.dumps({"model": "claude-sonnet-4-5", "messages": messages, "tools": tools}, indent=1))


def _asked(server: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> bool:
    """Asks once, and answers the calls; whether there were any."""
    model = "anthropic/claude-sonnet-4-5"
    response = litellm.completion(model=model, api_base=server, api_key="dummy", messages=messages, tools=tools)
    said = response.choices[0].message
    messages.append(said.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
    for call in said.tool_calls or ():
        result = read_file(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return bool(said.tool_calls)


if __name__ == "__main__":
    main(_turns)
