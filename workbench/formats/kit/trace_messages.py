"""Messages in any form that traces contain: OpenAI's, Anthropic's, LangChain's, Gemini's, or OpenTelemetry's.

Traces of one agent mix these forms, because each library records the requests it sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from workbench.formats.agent_texts import kind_of
from workbench.formats.kit.blocks import arguments_of, from_anthropic, in_result
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import dict_of, list_of, text_of, word_of
from workbench.session import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.images import media_of

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}


def decoded(value: Any) -> Any:
    """Return the JSON value in a text; any other value unchanged."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return loads_text(value)
    except ValueError:
        return value


def messages_of(value: Any, role: Role = "user") -> tuple[Message, ...]:
    """Return the messages of a request or response; a bare text becomes one of `role`. Empty if there are none."""
    value = decoded(value)
    if isinstance(value, Mapping) and not _is_message(value):
        inner = next(
            (value[key] for key in ("messages", "contents", "input") if isinstance(value.get(key), list)), None
        )
        system = _system(value.get("system", value.get("instructions")))
        return (*system, *messages_of(inner)) if inner is not None else ()
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]  # LangChain records a list of prompts
    items = value if isinstance(value, list) else [value] if value not in (None, "") else []
    return tuple(_bind_results(_join_items(items, role)))


def answer_of(value: Any) -> Message | None:
    """Return the response as one message, whichever items recorded it; None without a response."""
    value = decoded(value)
    body = dict_of(value)
    if choices := list_of(body.get("choices")):
        value = dict_of(choices[0]).get("message")
    elif isinstance(body.get("output"), list) and _is_item(next(iter(body["output"]), None)):
        value = body["output"]  # a response of the Responses API
    if isinstance(value, list) and value and not _is_item(value[0]):
        value = value[0]
    return next(iter(messages_of(value, "assistant")), None)


_ITEMS = ("function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output")
"""Types of Responses API items other than messages."""


def _is_item(item: Any) -> bool:
    """Return True for an item that is only a part of a message: one of the Responses API, or a call of the AI SDK."""
    fields = dict_of(decoded(item))
    return (
        fields.get("type") in _ITEMS or "toolCallId" in fields or (fields.get("type") == "message" and "id" in fields)
    )


def _join_items(items: Iterable[Any], role: Role) -> Iterable[tuple[Message, str]]:
    """Return the messages with their recorded roles; consecutive items of one response become one message."""
    messages: list[tuple[Message, str]] = []
    grows = False
    for item in items:
        message = message_of(item, role)
        if message is None:
            continue
        joins = _is_item(item) and message.role == "assistant"
        if joins and grows:
            before, named = messages[-1]
            messages[-1] = replace(before, blocks=(*before.blocks, *message.blocks)), named
        else:
            messages.append((message, text_of(dict_of(decoded(item)).get("role"))))
        grows = joins
    return messages


def _bind_results(messages: Iterable[tuple[Message, str]]) -> Iterator[Message]:
    """Bind results to calls where only the role identifies a result: `tool`, or the name of the tool (LangGraph's
    JavaScript library). The oldest open call is used."""
    waiting: list[ToolUse] = []
    for message, named in messages:
        answered = {result.call_id for result in message.results}
        waiting = [call for call in waiting if call.id not in answered]
        call = next((call for call in waiting if named in ("tool", call.name)), None)
        if call is not None and call.id and not message.results and not message.calls:
            content = tuple(block for block in message.blocks if isinstance(block, Text | Media))
            yield Message("", "tool", (ToolResult(call.id, content),))
            waiting.remove(call)
            continue
        waiting += message.calls
        yield replace(message, role="assistant") if message.role == "tool" and message.calls else message


def _system(value: Any) -> tuple[Message, ...]:
    blocks = tuple(_parts(decoded(value)))
    return (Message("system", "system", blocks),) if blocks else ()


def _is_message(item: Mapping[str, Any]) -> bool:
    keys = ("role", "parts", "lc", "content", "kwargs", "tool_calls")
    return not item.keys().isdisjoint(keys) or "content" in dict_of(item.get("data"))  # LangChain's stored form


def message_of(item: Any, role: Role = "user") -> Message | None:
    """Return one message; a bare text has the role `role`. None for any other value."""
    item = decoded(item)
    if isinstance(item, str):
        return Message("", role, (Text(item),), kind_of(role, (Text(item),))) if item else None
    if not isinstance(item, Mapping) or not (_is_message(item) or _is_item(item)):
        return None
    if "role" not in item and _is_item(item):
        return _of_item(item)
    fields = item
    role_name = text_of(item.get("role")) or text_of(item.get("type"))
    if "lc" in item or "kwargs" in item:
        fields = dict_of(item.get("kwargs"))
        ids = list_of(item.get("id"))
        role_name = text_of(fields.get("type")) or (text_of(ids[-1]) if ids else "")
    elif isinstance(item.get("data"), Mapping):
        fields = dict_of(item["data"])
    speaker = _ROLES.get(role_name.lower().removesuffix("chunk").removesuffix("message"), role)
    if speaker == "tool" and word_of(fields.get("tool_call_id")):
        content = tuple(_result_parts(fields.get("content")))
        return Message("", "tool", (ToolResult(fields["tool_call_id"], content, fields.get("status") == "error"),))
    blocks = (*_reasoning(fields), *_parts(fields.get("parts", fields.get("content"))), *_calls(fields))
    if any(isinstance(block, ToolResult) for block in blocks):
        speaker = "tool"
    once = tuple(_without_repeated_calls(blocks))
    return Message("", speaker, once, kind_of(speaker, once))


def _of_item(item: Mapping[str, Any]) -> Message | None:
    """Return the message of an item without a role: a tool call, a tool result or reasoning. None for any other
    item."""
    id = text_of(item.get("call_id")) or text_of(item.get("toolCallId"))
    if "output" in item and id:
        return Message("", "tool", (ToolResult(id, tuple(_result_parts(_result_value(item["output"])))),))
    if name := text_of(item.get("name")) or text_of(item.get("toolName")):
        arguments = item.get("arguments", item.get("input", item.get("args")))
        return Message("", "assistant", (ToolUse(id, name, arguments_of(arguments)),))
    texts = (text_of(dict_of(part).get("text")) for part in list_of(item.get("summary")))
    thought = "\n\n".join(filter(None, texts))
    return Message("", "assistant", (Thinking(thought),)) if thought else None


def _result_value(output: Any) -> Any:
    """Return the content of a tool result: the value in the AI SDK's `{type, value}`, any other output unchanged."""
    fields = dict_of(output)
    if fields.keys() != {"type", "value"}:
        return output
    value = fields["value"]
    return value if isinstance(value, str | list) else render(value).decode()


def _without_repeated_calls(blocks: Iterable[Block]) -> Iterable[Block]:
    """Yield the blocks without repeated calls: LangChain records a call both in the content and next to it."""
    calls: set[str] = set()
    for block in blocks:
        if not (isinstance(block, ToolUse) and block.id in calls):
            yield block
        if isinstance(block, ToolUse) and block.id:
            calls.add(block.id)


def _reasoning(fields: Mapping[str, Any]) -> Iterable[Block]:
    if thought := word_of(fields.get("reasoning_content")) or word_of(fields.get("reasoning")):
        yield Thinking(thought)


def _calls(fields: Mapping[str, Any]) -> Iterable[Block]:
    several = fields.get("tool_calls") or dict_of(fields.get("additional_kwargs")).get("tool_calls")
    for call in map(dict_of, list_of(several)):
        call = dict_of(call.get("tool_call")) or call
        function = dict_of(call.get("function")) or call
        arguments = function.get("arguments", function.get("args", function.get("input")))
        if name := word_of(function.get("name")):
            yield ToolUse(text_of(call.get("id")), name, arguments_of(arguments))


def _parts(content: Any) -> Iterable[Block]:
    content = decoded(content) if isinstance(content, str) and content[:2] in ("[{", '["') else content
    for part in content if isinstance(content, list) else [content] if content not in (None, "") else []:
        yield _part(part)


def _part(part: Any) -> Block:
    if isinstance(part, str):
        return Text(part)
    fields = dict_of(part)
    fields = dict_of(fields.get("message_content")) or fields
    kind = text_of(fields.get("type"))
    words = next((fields[key] for key in ("content", "text") if isinstance(fields.get(key), str)), None)
    if words is not None and kind in ("", "text", "input_text", "output_text"):
        return Text(words)
    if kind in ("reasoning", "thinking") and (words is not None or word_of(fields.get("thinking"))):
        return Thinking(words if words is not None else fields["thinking"], text_of(fields.get("signature")))
    if kind in ("tool-call", "tool-result"):  # the AI SDK's
        item = {**fields, "output": fields.get("output", fields.get("result"))} if kind == "tool-result" else fields
        if (message := _of_item(item)) is not None:
            return message.blocks[0]
    if kind == "function" and isinstance(fields.get("function"), Mapping):
        return next(iter(_calls({"tool_calls": [fields]})), Opaque(kind, part))
    if kind == "tool_call" or "functionCall" in fields:
        call = dict_of(fields.get("functionCall")) or fields
        return ToolUse(
            text_of(call.get("id")) or text_of(call.get("name")),
            text_of(call.get("name")),
            arguments_of(call.get("arguments", call.get("args"))),
        )
    if kind == "tool_call_response" or "functionResponse" in fields:
        response = dict_of(fields.get("functionResponse")) or fields
        answer = response.get("response", response.get("result"))
        return ToolResult(text_of(response.get("id")) or text_of(response.get("name")), tuple(_result_parts(answer)))
    if kind in ("image_url", "image", "blob", "uri", "file", "input_image"):
        return media_of(text_of(fields.get("mime_type")) or "image", text_of(fields.get("content")))
    return from_anthropic([part])[0] if isinstance(part, dict) else Opaque(type(part).__name__, part)


def _result_parts(content: Any) -> Iterable[Text | Media]:
    for part in content if isinstance(content, list) else [content] if content not in (None, "") else []:
        block = _part(part)
        yield in_result(block, part)
