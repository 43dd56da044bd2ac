"""A request's conversation as units: its texts, calls, results and reasoning in the order in which they were sent.

Each protocol is read here anew, from its vendor's description and by nothing of the workbench's own readers, which are
what is held against it. System prompts and tool definitions are no part of the conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.session import Media, Message, Text, Thinking, ToolResult, ToolUse

Protocol = Literal["anthropic", "responses", "chat", "gemini"]
"""An API that agents speak: Anthropic's Messages, OpenAI's Responses and chat completions, Gemini's contents."""
Kind = Literal["text", "call", "result", "reasoning", "media", "other"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that was said. `role` is who speaks: `user`, `assistant`, `system`, `tool` for every result, `other`
    for what only one protocol knows.

    `text` of a call is its name and its arguments as sorted JSON. `call` of a result is the number, from 1, of the call
    that it answers, so that ids may differ; 0 where there is none.
    """

    role: str
    kind: Kind
    text: str
    call: int = 0

    def __str__(self) -> str:
        said = self.text if len(self.text) < 70 else f"{self.text[:50]}… ({len(self.text)} characters)"
        return f"{self.role} {self.kind}{f' of call {self.call}' if self.call else ''} {said!r}"


Units = tuple[Unit, ...]


class _Calls:
    """The calls of a conversation so far, by id; a result without an id answers the first open call of its name."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str, str]] = []
        self._ids: dict[str, int] = {}
        self._number = 0

    def call(self, name: str, arguments: Any, id: str = "") -> Unit:
        self._number += 1
        self._open.append((self._number, id, name))
        if id:
            self._ids[id] = self._number
        return Unit("assistant", "call", f"{name} {_canonical(arguments)}")

    def result(self, text: str, id: str = "", name: str = "") -> Unit:
        number = self._ids.get(id, 0) if id else next((n for n, _, called in self._open if called == name), 0)
        self._open = [one for one in self._open if one[0] != number]
        return Unit("tool", "result", text, number)


def _canonical(arguments: Any) -> str:
    """A call's arguments, whether given as an object or as its JSON text, in one way."""
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return str(arguments)
    return json.dumps(given, sort_keys=True, ensure_ascii=False)


def shown(messages: Sequence[Message]) -> Units:
    """A context of the workbench's as units."""
    return tuple(_shown(messages))


def _shown(messages: Sequence[Message]) -> Iterator[Unit]:
    calls = _Calls()
    for message in messages:
        speaker = "user" if message.role == "tool" else message.role
        for block in message.blocks:
            match block:
                case Text():
                    yield Unit(speaker, "text", block.text)
                case Thinking():
                    yield Unit("assistant", "reasoning", block.text)
                case ToolUse():
                    yield calls.call(block.name, block.input, block.id)
                case ToolResult():
                    yield calls.result(block.text, block.call_id)
                case Media():
                    yield Unit(speaker, "media", block.media_type)
                case _:
                    yield Unit("other", "other", block.type)


def of_request(protocol: Protocol, body: Mapping[str, Any]) -> Units:
    """What a request says, but for its system prompt and tools."""
    return tuple(_READERS[protocol](body))


def _anthropic(body: Mapping[str, Any]) -> Iterator[Unit]:
    """From the newest `compaction` block on: the API reads nothing before it."""
    calls, messages = _Calls(), body.get("messages") or ()
    newest = max((at for at, message in enumerate(messages) if _compaction(message)), default=0)
    for message in messages[newest:]:
        role, content = str(message["role"]), message["content"]
        for block in _blocks(content):
            match block.get("type"):
                case "text":
                    yield Unit(role, "text", block["text"])
                case "compaction":
                    yield Unit(role, "text", block["content"])
                case "thinking":
                    yield Unit(role, "reasoning", block["thinking"])
                case "tool_use":
                    yield calls.call(block["name"], block["input"], block["id"])
                case "tool_result":
                    yield calls.result(_parts(block.get("content")), block["tool_use_id"])
                case "image" | "document":
                    yield Unit(role, "media", str((block.get("source") or {}).get("media_type", "")))
                case kind:
                    yield Unit("other", "other", str(kind))


def _compaction(message: Mapping[str, Any]) -> bool:
    return any(block["type"] == "compaction" for block in message["content"] if isinstance(block, dict))


def _responses(body: Mapping[str, Any]) -> Iterator[Unit]:
    """A developer's message is a system message under a newer name."""
    calls, given = _Calls(), body.get("input") or ()
    items: Sequence[Any] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    for item in items:
        match item.get("type", "message"):
            case "message":
                role = "system" if item["role"] == "developer" else str(item["role"])
                for part in _blocks(item["content"]):
                    if "text" in part:
                        yield Unit(role, "text", part["text"])
                    else:
                        yield Unit(role, "media", str(part.get("type")))
            case "reasoning":
                yield Unit("assistant", "reasoning", "\n".join(part["text"] for part in item.get("summary") or ()))
            case "function_call":
                yield calls.call(item["name"], item["arguments"], item["call_id"])
            case "custom_tool_call":
                yield calls.call(item["name"], item["input"], item["call_id"])
            case "function_call_output" | "custom_tool_call_output":
                yield calls.result(_parts(item["output"]), item["call_id"])
            case kind:
                yield Unit("other", "other", str(kind))


def _chat(body: Mapping[str, Any]) -> Iterator[Unit]:
    """System messages before the first other one are the system prompt."""
    calls, begun = _Calls(), False
    for message in body.get("messages") or ():
        role = "system" if message["role"] == "developer" else str(message["role"])
        begun = begun or role != "system"
        if not begun:
            continue
        if role == "tool":
            yield calls.result(_parts(message.get("content")), str(message.get("tool_call_id") or ""))
            continue
        if reasoning := message.get("reasoning_content") or message.get("reasoning"):
            yield Unit(role, "reasoning", str(reasoning))
        for part in _blocks(message.get("content") or []):
            yield Unit(role, "text", part["text"]) if "text" in part else Unit(role, "media", str(part.get("type")))
        for call in message.get("tool_calls") or ():
            yield calls.call(call["function"]["name"], call["function"]["arguments"], str(call.get("id") or ""))


def _gemini(body: Mapping[str, Any]) -> Iterator[Unit]:
    calls = _Calls()
    for content in body.get("contents") or ():
        role = "assistant" if content.get("role") == "model" else "user"
        for part in content.get("parts") or ():
            if part.get("thought"):
                yield Unit(role, "reasoning", part.get("text", ""))
            elif "text" in part:
                yield Unit(role, "text", part["text"])
            elif call := part.get("functionCall"):
                yield calls.call(call["name"], call.get("args") or {}, str(call.get("id") or ""))
            elif answer := part.get("functionResponse"):
                yield calls.result(_response(answer.get("response")), str(answer.get("id") or ""), answer["name"])
            else:
                yield Unit(role, "media", next(iter(part), ""))


_READERS: dict[Protocol, Callable[[Mapping[str, Any]], Iterator[Unit]]] = {
    "anthropic": _anthropic,
    "responses": _responses,
    "chat": _chat,
    "gemini": _gemini,
}


def _blocks(content: Any) -> Sequence[Any]:
    """A message's content as parts, which it is unless it is one text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _parts(content: Any) -> str:
    """A result's content as one text: a string, or parts of which other than texts are named by their type."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part["text"] if "text" in part else f"[{part.get('type')}]" for part in content)


def _response(response: Any) -> str:
    """What a function answered: its output or error where it is nothing else, or the whole as sorted JSON."""
    if isinstance(response, dict) and len(response) == 1 and isinstance(only := next(iter(response.values())), str):
        return only
    return json.dumps(response, sort_keys=True, ensure_ascii=False)
