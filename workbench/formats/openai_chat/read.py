"""Read OpenAI Chat bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.kit.blocks import arguments_of, as_text, from_anthropic, in_result
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.usage import RecordedWindow, openai_usage
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.openai_chat import ID
from workbench.session.images import media_of, media_of_url
from workbench.session.message import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Epoch, Session

_ROLES: dict[Any, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
SUMMARY_NAME = "summary"


class Reader(Document):
    """Reader of a body, which is one epoch. Ids are `m1`, `m2`, … by position in the list."""

    format = ID
    needs = "has no list of messages; open an OpenAI Chat request body or its message list"

    def session(self) -> Session:
        items = self.items(self.body.get("messages") if self.body else self.document)
        sent = [self._message(index, item) for index, item in enumerate(items)]
        messages = with_user_text((*sent, *self._answer(len(items))))
        window = RecordedWindow()
        window.read(self.body.get("context_window"), None, self.warnings)  # of a LiteLLM log
        return self._session(
            messages,
            "",
            epochs=(Epoch(1, range(len(messages)), window=window.tokens),),
            model=_model(self.body),
            tools=tools_of(self.body.get("tools")),
        )

    def _message(self, index: int, item: Any) -> Message:
        id, source = f"m{index + 1}", (index,)
        if not isinstance(item, dict):
            return self.not_an_object(index, item)
        named = item.get("role")
        role = _ROLES.get(named) if isinstance(named, str) else None
        if role is None:
            self.warn(f"message {index + 1} has the role {as_text(named)[:40]}; read as user")
            role = "user"
        if not isinstance(item.get("content"), str | list | None):
            self.warn(f"message {index + 1} has content of an unknown shape")
        if role == "tool":
            call_id = item.get("tool_call_id", item.get("name"))
            if not isinstance(call_id, str):
                self.warn(f"message {index + 1} is a tool message without a call id")
                call_id = ""
            return Message(id, "tool", (ToolResult(call_id, _result_parts(item.get("content"))),), source=source)
        blocks = (*_reasoning(item), *_parts(item.get("content")), *self._calls(index, item))
        kind = "summary" if item.get("name") == SUMMARY_NAME else kind_of(role, blocks)
        return Message(id, role, blocks, kind, source=source)

    def _calls(self, index: int, item: dict[str, Any]) -> Iterable[Block]:
        calls = item.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            self.warn(f"message {index + 1} has tool_calls that are not a list")
            yield Opaque("tool_calls", calls)
        for call in list_of(calls):
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                yield ToolUse(as_text(call.get("id", "")), function["name"], arguments_of(function.get("arguments")))
            else:
                yield Opaque("tool_call", call)
        old = item.get("function_call")
        if isinstance(old, dict) and isinstance(old.get("name"), str):
            yield ToolUse(old["name"], old["name"], arguments_of(old.get("arguments")))

    def _answer(self, place: int) -> Iterator[Message]:
        """Yield the response of a LiteLLM log, with its usage; it is no element of the message list."""
        response = dict_of(self.body.get("response"))
        choices = list_of(response.get("choices"))
        item = dict_of(dict_of(choices[0]).get("message")) if choices else {}
        if item:
            cost = self.body.get("cost", self.body.get("response_cost"))
            usage = openai_usage(response.get("usage"), cost)
            yield replace(self._message(place, {"role": "assistant"} | item), usage=usage, source=())


def _model(body: dict[str, Any]) -> str | None:
    """Return the body's model; a LiteLLM log has it in the response."""
    response = body.get("response")
    for place in (body, dict_of(response)):
        if isinstance(place.get("model"), str):
            return str(place["model"])
    return None


def _reasoning(item: dict[str, Any]) -> Iterable[Block]:
    """Yield reasoning that compatible servers return next to the content, and a refusal of OpenAI's."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(item.get(key), str) and item[key]:
            yield Thinking(item[key])
            break
    if isinstance(item.get("refusal"), str) and item["refusal"]:
        yield Opaque("refusal", {"type": "refusal", "refusal": item["refusal"]})


def _parts(content: Any) -> tuple[Block, ...]:
    if isinstance(content, list):
        return tuple(_part(part) for part in content)
    return from_anthropic(content)


def _part(part: Any) -> Block:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or not isinstance(inner := part.get(kind), dict):
        return from_anthropic([part])[0]
    if kind == "image_url":
        return media_of_url(text_of(inner.get("url")), "image")
    if kind == "input_audio":
        return media_of(f"audio/{inner.get('format', '*')}", as_text(inner.get("data", "")))
    if kind == "file":
        return media_of("file", as_text(inner.get("file_data", "")))
    return Opaque(kind, part)


def _result_parts(content: Any) -> tuple[Text | Media, ...]:
    parts = zip(_parts(content), content if isinstance(content, list) else [content], strict=False)
    return tuple(in_result(block, raw) for block, raw in parts)
