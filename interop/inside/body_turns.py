"""anthropic and openai: a request's body, held against the SDK's own types without any key that they do not have, sent
by its client, and kept with what was answered. $API is `anthropic`, `chat` or `responses`."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from turns import main, read_file

_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
_SYSTEM = "You keep the notes."


def _strict(package: str, module: str, name: str) -> TypeAdapter[Any]:
    """The type `name` of an SDK, every object in it closed and every list looked into."""
    typing.Iterable = list  # type: ignore  # pydantic looks into an Iterable only when it is iterated
    types = importlib.import_module(f"{package}.types")
    for found in pkgutil.walk_packages(types.__path__, f"{package}.types."):
        importlib.import_module(found.name)
    for loaded in [loaded for name, loaded in sys.modules.items() if name.startswith(f"{package}.types")]:
        for one in vars(loaded).values():
            if isinstance(one, type) and issubclass(one, dict) and hasattr(one, "__required_keys__"):
                one.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)  # type: ignore[attr-defined]
    return TypeAdapter(getattr(importlib.import_module(f"{package}.types.{module}"), name))


def _anthropic(server: str, body: dict[str, Any]) -> bool:
    """Asks once, and answers the calls; whether there were any."""
    from anthropic import Anthropic

    client = Anthropic(base_url=server, api_key="dummy", max_retries=0)
    messages = client.beta.messages if "context_management" in body else client.messages
    said = [block.model_dump(exclude_none=True) for block in messages.create(**body).content]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": read_file(**block["input"])}
        for block in said
        if block["type"] == "tool_use"
    ]
    body["messages"] += [{"role": "assistant", "content": said}]
    body["messages"] += [{"role": "user", "content": results}] if results else []
    return bool(results)


def _chat(server: str, body: dict[str, Any]) -> bool:
    from openai import OpenAI

    client = OpenAI(base_url=f"{server}/v1", api_key="dummy", max_retries=0)
    said = client.chat.completions.create(**body).choices[0].message
    body["messages"].append(said.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
    for call in said.tool_calls or ():
        result = read_file(**json.loads(call.function.arguments))
        body["messages"].append({"role": "tool", "tool_call_id": call.id, "content": result})
    return bool(said.tool_calls)


def _responses(server: str, body: dict[str, Any]) -> bool:
    from openai import OpenAI

    client = OpenAI(base_url=f"{server}/v1", api_key="dummy", max_retries=0)
    said = client.responses.create(**body).output
    body["input"] += [item.model_dump(exclude_none=True) for item in said]
    calls = [item for item in said if item.type == "function_call"]
    for call in calls:
        result = read_file(**json.loads(call.arguments))
        body["input"].append({"type": "function_call_output", "call_id": call.call_id, "output": result})
    return bool(calls)


_NEW: dict[str, dict[str, Any]] = {
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 1000,
        "system": _SYSTEM,
        "tools": [{"name": "read_file", "description": "Reads a file.", "input_schema": _SCHEMA}],
        "messages": [],
    },
    "chat": {
        "model": "gpt-4o",
        "tools": [{"type": "function", "function": {"name": "read_file", "parameters": _SCHEMA}}],
        "messages": [{"role": "system", "content": _SYSTEM}],
    },
    "responses": {
        "model": "gpt-5",
        "store": False,
        "instructions": _SYSTEM,
        "tools": [{"type": "function", "name": "read_file", "parameters": _SCHEMA, "strict": False}],
        "input": [],
    },
}
_API = os.environ["API"]
_ASK = {"anthropic": _anthropic, "chat": _chat, "responses": _responses}[_API]
_TYPE = _strict(
    *{
        "anthropic": ("anthropic", "message_create_params", "MessageCreateParamsNonStreaming"),
        "chat": ("openai", "chat.completion_create_params", "CompletionCreateParamsNonStreaming"),
        "responses": ("openai", "responses.response_create_params", "ResponseCreateParamsNonStreaming"),
    }[_API]
)
_BETA = (
    _strict("anthropic", "beta.message_create_params", "MessageCreateParamsNonStreaming")
    if _API == "anthropic"
    else _TYPE
)
"""Of a body that has the API compact it."""
_LIST = "input" if _API == "responses" else "messages"
_REQUIRED = {key: _NEW[_API][key] for key in ("model", "max_tokens") if key in _NEW[_API]}
"""What a body needs that a bare list of messages does not tell."""


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else _NEW[_API]
    body = _REQUIRED | ({_LIST: kept} if isinstance(kept, list) else kept)
    for prompt in prompts:
        body[_LIST].append({"role": "user", "content": prompt})
        type_ = _BETA if "context_management" in body else _TYPE
        type_.validate_python(body)
        while _ASK(server, body):
            type_.validate_python(body)
    file.write_text(json.dumps(body, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(_turns)
