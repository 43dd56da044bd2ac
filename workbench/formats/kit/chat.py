"""Detection of the two chat APIs in a JSON body, and their tool definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Message, Tool

Dialect = Literal["anthropic", "openai", ""]

_OTHERS = frozenset(
    [
        "agentMode",
        "chatHistory",
        "eval",
        "history",
        "info",
        "loglines",
        "modelId",
        "projectHash",
        "schema_version",
        "sessionId",
        "toolConfig",
        "trajectory",
        "trajectory_format",
    ]
)
"""Top-level keys of other agents' sessions that have `messages` too."""

_ROLES = frozenset(["system", "developer", "user", "assistant", "tool", "function"])
_OTHERS_OF_MESSAGE = frozenset(["created", "messageId", "parts", "source", "toolInvocations", "ts"])
"""Keys of other agents' messages that have role and content too."""

_OPENAI_KEYS = frozenset(["tool_calls", "tool_call_id", "function_call"])
_OPENAI_PARTS = frozenset(["image_url", "input_audio", "file", "refusal"])
_ANTHROPIC_KEYS = frozenset(["system", "anthropic_version", "context_management"])
_ANTHROPIC_BLOCKS = frozenset(["tool_use", "tool_result", "thinking", "redacted_thinking", "compaction", "document"])
_SPELLED = re.compile(r"[a-z0-9_]+")
_NEEDED = {
    "text": frozenset(["text"]),
    "image": frozenset(["source"]),
    "file": frozenset(["file"]),
    "tool_use": frozenset(["id", "name"]),
    "tool_result": frozenset(["tool_use_id"]),
}
_LITELLM_KEYS = frozenset(["response", "cost", "latency_sec"])


def dialect(value: Any) -> tuple[Dialect, str]:
    """Return the chat API of a document, and the reason; "" twice if a message has content that neither API reads."""
    bare = isinstance(value, list)
    body: dict[str, Any] = dict_of(value)
    items = value if bare else body.get("messages")
    if _OTHERS & body.keys() or not isinstance(items, list):
        return "", ""
    messages = [item for item in items if isinstance(item, dict)]
    if any(map(_is_foreign, messages)) or (bare and not messages):
        return "", ""
    roles = {str(message["role"]) for message in messages}
    keys = {key for message in messages for key in message}
    tools = [tool for tool in list_of(body.get("tools")) if isinstance(tool, dict)]
    types = _block_types(messages)
    only_text = bool(types) and types <= {"text", "image"}
    claude = "max_tokens" in body and (only_text or str(body.get("model", "")).startswith("claude"))
    signs: list[tuple[object, Dialect, str]] = [
        (
            _OPENAI_KEYS & keys or roles & {"tool", "function"},
            "openai",
            "messages with tool calls as OpenAI writes them",
        ),
        (any("input_schema" in tool for tool in tools), "anthropic", "messages and tools with input_schema"),
        (_ANTHROPIC_KEYS & body.keys(), "anthropic", "messages with system or context_management"),
        (types & _ANTHROPIC_BLOCKS, "anthropic", "messages with typed content blocks"),
        (body.keys() >= _LITELLM_KEYS, "openai", "a LiteLLM log: messages with response, cost and latency_sec"),
        (any("function" in tool for tool in tools), "openai", "messages and tools with function"),
        (roles & {"system", "developer"}, "openai", "a system message among the messages"),
        (types & _OPENAI_PARTS, "openai", "messages with OpenAI content parts"),
        (claude, "anthropic", "messages with max_tokens for a Claude model"),
        (_are_cached(messages), "anthropic", "messages with text blocks and cache_control"),
        (bare and only_text, "anthropic", "a bare list of messages with text blocks"),
        ("content" in keys, "openai", "messages with role and content"),
        ("model" in body, "openai", "model and messages"),
    ]
    return next(((name, why) for found, name, why in signs if found), ("", ""))


def tools_of(definitions: Any) -> tuple[Tool, ...]:
    """Return the tool definitions of a body in either dialect."""
    tools: list[Tool] = []
    for definition in list_of(definitions):
        if isinstance(definition, dict):
            name = _function(definition).get("name") or definition.get("type")
            tools.append(Tool(str(name), json.dumps(definition, ensure_ascii=False, separators=(",", ":"))))
    return tuple(tools)


def definitions_for(tools: Sequence[Tool], messages: Sequence[Message]) -> list[tuple[str, str, Any]]:
    """Return (name, description, JSON schema) of each tool that a new body must define: those of the session, and any
    others that are called.

    APIs reject calls of undefined tools; a tool without a known definition accepts any object.
    """
    found: dict[str, tuple[str, str, Any]] = {}
    for tool in tools:
        try:
            definition = loads_text(tool.schema)
        except ValueError:
            continue
        if isinstance(definition, dict):
            inner = _function(definition)
            schema = inner.get("input_schema", inner.get("parameters"))
            if isinstance(schema, dict):
                found[tool.name] = (tool.name, str(inner.get("description") or ""), schema)
    for message in messages:
        for call in message.calls:
            found.setdefault(call.name, (call.name, "", {"type": "object"}))
    return list(found.values())


def _function(definition: dict[str, Any]) -> dict[str, Any]:
    inner = definition.get("function")
    return inner if isinstance(inner, dict) else definition


def _is_foreign(message: dict[str, Any]) -> bool:
    if text_of(message.get("role")) not in _ROLES or _OTHERS_OF_MESSAGE & message.keys():
        return True
    return any(_is_foreign_block(block) for block in list_of(message.get("content")) if isinstance(block, dict))


def _is_foreign_block(block: dict[str, Any]) -> bool:
    """Return True if neither API has such a block: its type is spelled differently, or a required key is missing."""
    kind = block.get("type")
    if not isinstance(kind, str) or not _SPELLED.fullmatch(kind):
        return True
    return not _NEEDED.get(kind, frozenset()) <= block.keys()


def _are_cached(messages: list[dict[str, Any]]) -> bool:
    blocks = (block for message in messages for block in list_of(message.get("content")))
    return any("cache_control" in block for block in blocks if isinstance(block, dict))


def _block_types(messages: list[dict[str, Any]]) -> set[str]:
    blocks = (block for message in messages for block in list_of(message.get("content")))
    return {kind for block in blocks if isinstance(block, dict) and isinstance(kind := block.get("type"), str)}
