"""OpenAI's Chat Completions, the protocol of most model servers, through the official client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.client_errors import CallFailure, Server
from workbench.summarizers.protocols.client import json_document
from workbench.summarizers.protocols.openai_client import open_client, server_of, usage_of
from workbench.summarizers.protocols.protocol import (
    AnswerEnd,
    AnsweringModel,
    ApiProtocol,
    AttemptFailed,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    check_content_type,
    read_usage,
)
from workbench.summarizers.wire import WirePrompt, chat_prompt
from workbench.tokens import find_model

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_REASONS: Mapping[str, str] = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
_THINKING_FIELDS = ("reasoning_content", "reasoning")
"""Fields for thinking: vLLM, llama.cpp and DeepSeek; Ollama and OpenRouter."""


def _body(
    request: SummaryRequest, model: str, prompt: WirePrompt, most: int, left_out: Collection[str] = ()
) -> dict[str, Any]:
    info = find_model(model)
    limit = "max_completion_tokens" if "max_tokens" in left_out else "max_tokens"
    body: dict[str, Any] = {
        "model": model,
        **prompt.fields,
        "messages": [*prompt.lead, *prompt.messages],
        limit: min(most, info.max_output) if info and info.max_output else most,
    }
    if "stream_options" not in left_out:
        body["stream_options"] = {"include_usage": True}
    if request.temperature is not None and "temperature" not in left_out:
        body["temperature"] = request.temperature
    return body


async def _stream(client: AsyncOpenAI, body: dict[str, Any], server: Server) -> AsyncIterator[StreamPart]:
    async with await client.chat.completions.create(**body, stream=True) as stream:
        kind = stream.response.headers.get("content-type", "")
        check_content_type(kind, server)
        if "json" in kind and "stream" not in kind:  # a gateway that does not stream
            for one in _complete_answer(await stream.response.aread(), server):
                yield one
            return
        named = False
        async for chunk in stream:
            if chunk.model and not named:
                named = True
                yield AnsweringModel(chunk.model)
            if chunk.usage:
                yield read_usage(partial(usage_of_chat, chunk.usage))
            for choice in chunk.choices or ():
                for one in _message_parts(choice.delta, choice.finish_reason):
                    yield one


def _complete_answer(data: bytes, server: Server) -> list[StreamPart]:
    """Return the parts of an answer that was not streamed."""
    from openai.types.chat import ChatCompletion

    document = json_document(data)
    if not isinstance(document.get("choices"), list) or not document["choices"]:
        why = f"{server.address} answers with JSON that is no chat completion; check {server.address_source}"
        raise AttemptFailed(CallFailure("error", why))
    completion = ChatCompletion.construct(**document)
    choice = completion.choices[0]
    return [
        AnsweringModel(str(completion.model)),
        read_usage(partial(usage_of_chat, document.get("usage"))),
        *_message_parts(choice.message, choice.finish_reason or "stop"),
    ]


def usage_of_chat(billed: object) -> Usage:
    return usage_of(billed, "prompt_tokens", "completion_tokens", "prompt_tokens_details")


def _message_parts(part: Any, reason: str | None) -> list[StreamPart]:
    """Return the parts of a chunk's delta, or of a complete message."""
    found: list[StreamPart] = []
    for field in _THINKING_FIELDS:
        thought = getattr(part, field, None)
        if isinstance(thought, str) and thought:
            found.append(ThinkingDelta(thought))
            break
    if getattr(part, "content", None):
        found.append(TextDelta(part.content))
    refusal = getattr(part, "refusal", None)
    if refusal:
        found.append(AnswerEnd("refusal", f": {refusal}"))
    elif reason:
        found.append(AnswerEnd(_REASONS.get(reason, reason)))
    return found


CHAT = ApiProtocol(
    open_client, server_of, chat_prompt, _body, _stream, frozenset(["temperature", "max_tokens", "stream_options"])
)
