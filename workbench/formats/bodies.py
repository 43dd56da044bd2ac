"""Requests and responses of the conversation APIs, wherever they were recorded: network captures, batch files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.anthropic_messages.read import Reader as AnthropicReader
from workbench.formats.anthropic_messages.read import apply_edits
from workbench.formats.format import no_progress
from workbench.formats.gemini.parts import NOWHERE, messages_of
from workbench.formats.kit.blocks import compacted, from_anthropic, is_compaction
from workbench.formats.kit.chat import dialect, tools_of
from workbench.formats.kit.document import render
from workbench.formats.kit.google_parts import Calls
from workbench.formats.kit.usage import anthropic_usage, openai_usage, usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, list_of, word_of
from workbench.formats.openai_chat.read import Reader as ChatReader
from workbench.formats.openai_responses.read import Reader as ResponsesReader
from workbench.formats.roles import Api
from workbench.session import LoadWarning, Message, Session, Text, Tool

_NOWHERE = Path()


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request: its messages, beginning with the system prompt, its tools, and the model it names.

    `source` of a message has the indexes of its items in the request; `items` is the number of all items.
    """

    api: Api
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    model: str | None
    items: int
    warnings: tuple[LoadWarning, ...] = ()


def request_in(body: Any, answer: Any = None) -> ApiRequest | None:
    """Return the request in a body; None for an unknown API.

    `answer` is the response, which may say what part of the request the model did not see.
    """
    body = dict_of(body)
    inner = dict_of(body.get("request")) if "contents" in dict_of(body.get("request")) else body
    try:
        if isinstance(inner.get("contents"), list):
            messages, tools, items = _gemini_request(inner)
            return ApiRequest("gemini", messages, tools, word_of(body.get("model")), items)
        if "messages" not in body and isinstance(body.get("input"), str | list) and word_of(body.get("model")):
            return _from_session("openai-responses", ResponsesReader.read(_NOWHERE, render(body), no_progress))
        match dialect(body)[0]:
            case "anthropic":
                request = _from_session("anthropic-messages", AnthropicReader.read(_NOWHERE, render(body), no_progress))
                return replace(request, messages=apply_edits(request.messages, body, answer))
            case "openai":
                return _from_session("openai-chat", ChatReader.read(_NOWHERE, render(body), no_progress))
    except BadInput:
        pass
    return None


def _gemini_request(body: dict[str, Any]) -> tuple[tuple[Message, ...], tuple[Tool, ...], int]:
    """Return a request's messages, beginning with its system instruction, its tools, and the number of its contents."""
    instruction = body.get("systemInstruction", body.get("system_instruction"))
    parts = list_of(dict_of(instruction).get("parts")) or ([instruction] if instruction else [])
    system = "\n\n".join(text for part in parts if (text := word_of(dict_of(part).get("text"))))
    messages: list[Message] = [Message("system", "system", (Text(system),))] if system else []
    calls, contents = Calls(), list_of(body.get("contents"))
    for number, content in enumerate(map(dict_of, contents)):
        messages += _gemini_content(content, f"m{number}", calls)
    declared = [
        one for tool in map(dict_of, list_of(body.get("tools"))) for one in list_of(tool.get("functionDeclarations"))
    ]
    return tuple(messages), tools_of(declared), len(contents)


def _gemini_content(content: dict[str, Any], id: str, calls: Calls) -> list[Message]:
    type = "gemini" if content.get("role") == "model" else "user"
    return messages_of({"type": type, "content": list_of(content.get("parts"))}, id, NOWHERE, calls)


def _from_session(api: Api, session: Session) -> ApiRequest:
    prompt = (Message("system", "system", (Text(session.system),)),) if session.system else ()
    messages = with_user_text((*prompt, *session.context()))
    return ApiRequest(api, messages, session.tools, session.model, len(session.messages), session.warnings)


def response_in(response: Any, items: int = 0) -> Message | None:
    """Return the response as a message with usage and model; None if there is none.

    Calls without an id get the one that they have in the next request, derived from the number of `items` of the
    request.
    """
    body = dict_of(response)
    body = dict_of(body["response"]) if "candidates" in dict_of(body.get("response")) else body
    for known, read in _ANSWERS.items():
        if known in body and (found := read(body, f"m{items}")) is not None:
            model = word_of(body.get("model")) or word_of(body.get("modelVersion"))
            return replace(found, role="assistant", model=model, source=())
    return None


def summary_in(response: Any) -> tuple[Message, dict[str, Any]] | None:
    """Return the summary that the Messages API made before it answered, with its usage, and the response without it."""
    body = dict_of(response)
    content = list_of(body.get("content"))
    block = next((block for block in content if is_compaction(block)), None)
    if block is None:
        return None
    iterations = [dict_of(one) for one in list_of(dict_of(body.get("usage")).get("iterations"))]
    usage = next((anthropic_usage(one) for one in iterations if one.get("type") == "compaction"), None)
    rest = {**body, "content": [other for other in content if other is not block]}
    return Message("summary", "assistant", (compacted(block),), "summary", usage=usage), rest


def _of_anthropic(body: dict[str, Any], id: str) -> Message | None:
    if body.get("type") != "message":
        return None
    blocks = from_anthropic(body["content"])
    return Message(id, "assistant", blocks, kind_of("assistant", blocks), usage=anthropic_usage(body.get("usage")))


def _of_chat(body: dict[str, Any], id: str) -> Message | None:
    message = next((one.get("message") for one in list_of(body["choices"]) if isinstance(one, dict)), None)
    if not isinstance(message, dict):
        return None
    read = ChatReader.read(_NOWHERE, render({"messages": [message]}), no_progress).messages[0]
    return replace(read, id=id, usage=openai_usage(body.get("usage")))


def _of_responses(body: dict[str, Any], id: str) -> Message | None:
    if not isinstance(body["output"], list):
        return None
    read = ResponsesReader.read(_NOWHERE, render({**body, "object": "response"}), no_progress)
    blocks = tuple(block for message in read.messages for block in message.blocks)
    return replace(read.messages[-1], id=id, blocks=blocks) if read.messages else None


def _of_gemini(body: dict[str, Any], id: str) -> Message | None:
    """Return the first candidate with its usage; None without content."""
    content = dict_of(dict_of(next(iter(list_of(body["candidates"])), None)).get("content"))
    found = _gemini_content({**content, "role": "model"}, id, Calls())
    usage = dict_of(body.get("usageMetadata"))
    prompt, cached = count_of(usage.get("promptTokenCount")), count_of(usage.get("cachedContentTokenCount"))
    output = count_of(usage.get("candidatesTokenCount")) + count_of(usage.get("thoughtsTokenCount"))
    return replace(found[-1], usage=usage_of_prompt(prompt, output, cached)) if found else None


_ANSWERS: dict[str, Callable[[dict[str, Any], str], Message | None]] = {
    "content": _of_anthropic,
    "choices": _of_chat,
    "output": _of_responses,
    "candidates": _of_gemini,
}
"""Readers of the APIs' responses, by the key that identifies them."""
