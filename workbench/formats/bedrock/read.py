"""Read Bedrock Converse bodies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_summary_answers, with_user_text
from workbench.formats.bedrock import ID, body_of
from workbench.formats.kit.blocks import in_result, input_of
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.session.images import media_of
from workbench.session.message import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import Session, Tool

Item = dict[str, Any]


class Reader(Document):
    """Reader of a body, which is one epoch. Message ids are `m1`, `m2`, … by position."""

    format = ID
    needs = "has no list of messages; open a body of Bedrock's Converse or its message list"

    def session(self) -> Session:
        log, request = self.body, body_of(self.document)
        body = dict_of(request)
        items = self.items(request if isinstance(request, list) else body.get("messages"))
        messages = [self._message(n, item) for n, item in enumerate(items)]
        messages += self._answer(len(items), dict_of(dict_of(log.get("output")).get("outputBodyJson")), log)
        return self._session(
            with_user_text(with_summary_answers(messages)),
            id=word_of(log.get("requestId")) or "",
            model=word_of(body.get("modelId")) or word_of(log.get("modelId")),
            system="\n\n".join(_texts(body.get("system"))),
            tools=tuple(_tools(dict_of(body.get("toolConfig")).get("tools"))),
        )

    def _answer(self, place: int, response: Item, log: Item) -> Iterator[Message]:
        item = dict_of(response.get("output")).get("message")
        if isinstance(item, dict):
            usage, time = _usage(response.get("usage")), seconds_of(log.get("timestamp"))
            model = word_of(log.get("modelId"))
            yield replace(self._message(place, item), time=time, usage=usage, model=model, source=())

    def _message(self, index: int, item: Any) -> Message:
        message = dict_of(item)
        if not message:
            return self.not_an_object(index, item)
        role: Role = "assistant" if message.get("role") == "assistant" else "user"
        content = message.get("content")
        raws = [{"text": content}] if isinstance(content, str) else list_of(content)
        blocks = tuple(block for raw in raws if (block := _block(raw)) is not None)
        if any(isinstance(block, ToolResult) for block in blocks):
            role = "tool"
        return Message(f"m{index + 1}", role, blocks, kind_of(role, blocks), source=(index,))


def _usage(recorded: Any) -> Usage | None:
    usage = dict_of(recorded)
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    fresh, output, read, written = (count_of(usage.get(name)) for name in names)
    return Usage(fresh, output, read, written) if fresh + read + written else None


def _block(raw: Any) -> Block | None:
    """Return a block by its only key; None for a cache point, which is no content."""
    name, value = next(iter(dict_of(raw).items()), ("", None))
    body = dict_of(value)
    if name == "text" and isinstance(value, str):
        return Text(value)
    if name == "toolUse":
        return ToolUse(text_of(body.get("toolUseId")), text_of(body.get("name")), input_of(body.get("input")))
    if name == "toolResult":
        content = tuple(map(_result_part, list_of(body.get("content"))))
        return ToolResult(text_of(body.get("toolUseId")), content, body.get("status") == "error")
    if name == "reasoningContent":
        reasoning = dict_of(body.get("reasoningText"))
        signature = word_of(reasoning.get("signature")) or text_of(body.get("redactedContent"))
        return Thinking(text_of(reasoning.get("text")), signature)
    if name in ("image", "document", "video", "audio"):
        return _media(name, body)
    if name == "guardContent" and isinstance(dict_of(body.get("text")).get("text"), str):
        return Text(body["text"]["text"])
    if name == "citationsContent":
        return Text("\n".join(_texts(body.get("content"))))
    return None if name == "cachePoint" else Opaque(name, raw)


def _result_part(raw: Any) -> Text | Media:
    if "json" in dict_of(raw):
        return Text(json.dumps(raw["json"], ensure_ascii=False, separators=(",", ":"), default=str))
    block = _block(raw)
    return in_result(block, raw)


def _media(name: str, body: Item) -> Media:
    """Return media, whose data is base64 in the body or lies in a bucket."""
    source = dict_of(body.get("source"))
    format = text_of(body.get("format"))
    kind = "application" if name == "document" else name
    return media_of(f"{kind}/{format}" if format else name, text_of(source.get("bytes")))


def _texts(parts: Any) -> list[str]:
    return [part["text"] for part in map(dict_of, list_of(parts)) if isinstance(part.get("text"), str)]


def _tools(definitions: Any) -> Iterator[Tool]:
    """Yield tool definitions with the keys of the Messages API, so that an export finds their schema."""
    for tool in map(dict_of, list_of(definitions)):
        spec = dict_of(tool.get("toolSpec"))
        if name := word_of(spec.get("name")):
            schema = dict_of(dict_of(spec.get("inputSchema")).get("json"))
            definition = {"name": name, "description": text_of(spec.get("description")), "input_schema": schema}
            yield Tool(name, json.dumps(definition, ensure_ascii=False, separators=(",", ":")))
