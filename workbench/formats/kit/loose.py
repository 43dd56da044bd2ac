"""A message in whatever form a trace holds it: OpenAI's, Anthropic's, LangChain's, Gemini's, or that of OpenTelemetry's
conventions. Traces of one tool hold several of them, for each library writes what it sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.formats.kit.blocks import arguments_of, from_anthropic, in_result, kind_of
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
    """The value that a text is as JSON; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return loads_text(value)
    except ValueError:
        return value


def messages_of(value: Any, role: Role = "user") -> tuple[Message, ...]:
    """The messages of a request or an answer; a bare text is one of `role`. Nothing where there is none."""
    value = decoded(value)
    if isinstance(value, Mapping) and not _is_message(value):
        inner = next((value[key] for key in ("messages", "contents") if isinstance(value.get(key), list)), None)
        system = _system(value.get("system", value.get("instructions")))
        return (*system, *messages_of(inner)) if inner is not None else ()
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]  # LangChain asks for several completions at once
    items = value if isinstance(value, list) else [value] if value not in (None, "") else []
    return tuple(message for item in items if (message := message_of(item, role)) is not None)


def _system(value: Any) -> tuple[Message, ...]:
    blocks = tuple(_parts(decoded(value)))
    return (Message("system", "system", blocks),) if blocks else ()


def _is_message(item: Mapping[str, Any]) -> bool:
    return not item.keys().isdisjoint(("role", "parts", "lc", "content", "kwargs", "tool_calls"))


def message_of(item: Any, role: Role = "user") -> Message | None:
    """One message; a bare text is of `role`. None for what is none."""
    item = decoded(item)
    if isinstance(item, str):
        return Message("", role, (Text(item),), kind_of(role, (Text(item),))) if item else None
    if not isinstance(item, Mapping) or not _is_message(item):
        return None
    given = item
    named = text_of(item.get("role")) or text_of(item.get("type"))
    if "lc" in item or "kwargs" in item:
        given = dict_of(item.get("kwargs"))
        ids = list_of(item.get("id"))
        named = text_of(given.get("type")) or (text_of(ids[-1]) if ids else "")
    elif isinstance(item.get("data"), Mapping):
        given = dict_of(item["data"])
    said = _ROLES.get(named.lower().removesuffix("chunk").removesuffix("message"), role)
    if said == "tool" and word_of(given.get("tool_call_id")):
        content = tuple(_result_parts(given.get("content")))
        return Message("", "tool", (ToolResult(given["tool_call_id"], content, given.get("status") == "error"),))
    blocks = (*_thoughts(given), *_parts(given.get("parts", given.get("content"))), *_calls(given))
    if any(isinstance(block, ToolResult) for block in blocks):
        said = "tool"
    once = tuple(_once(blocks))
    return Message("", said, once, kind_of(said, once))


def _once(blocks: Iterable[Block]) -> Iterable[Block]:
    """The blocks with each call once: LangChain tells it among the content and beside it."""
    calls: set[str] = set()
    for block in blocks:
        if not (isinstance(block, ToolUse) and block.id in calls):
            yield block
        if isinstance(block, ToolUse) and block.id:
            calls.add(block.id)


def _thoughts(given: Mapping[str, Any]) -> Iterable[Block]:
    if thought := word_of(given.get("reasoning_content")) or word_of(given.get("reasoning")):
        yield Thinking(thought)


def _calls(given: Mapping[str, Any]) -> Iterable[Block]:
    several = given.get("tool_calls") or dict_of(given.get("additional_kwargs")).get("tool_calls")
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
    given = dict_of(part)
    given = dict_of(given.get("message_content")) or given
    kind = text_of(given.get("type"))
    words = next((given[key] for key in ("content", "text") if isinstance(given.get(key), str)), None)
    if words is not None and kind in ("", "text", "input_text", "output_text"):
        return Text(words)
    if kind in ("reasoning", "thinking") and (words is not None or word_of(given.get("thinking"))):
        return Thinking(words if words is not None else given["thinking"], text_of(given.get("signature")))
    if kind == "tool_call" or "functionCall" in given:
        call = dict_of(given.get("functionCall")) or given
        return ToolUse(
            text_of(call.get("id")) or text_of(call.get("name")),
            text_of(call.get("name")),
            arguments_of(call.get("arguments", call.get("args"))),
        )
    if kind == "tool_call_response" or "functionResponse" in given:
        came = dict_of(given.get("functionResponse")) or given
        answer = came.get("response", came.get("result"))
        return ToolResult(text_of(came.get("id")) or text_of(came.get("name")), tuple(_result_parts(answer)))
    if kind in ("image_url", "image", "blob", "uri", "file", "input_image"):
        return media_of(text_of(given.get("mime_type")) or "image", text_of(given.get("content")))
    return from_anthropic([part])[0] if isinstance(part, dict) else Opaque(type(part).__name__, part)


def _result_parts(content: Any) -> Iterable[Text | Media]:
    for part in content if isinstance(content, list) else [content] if content not in (None, "") else []:
        block = _part(part)
        yield in_result(block, part)
