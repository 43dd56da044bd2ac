"""OpenAI's protocols: Chat Completions, which most model servers have, and Responses. The official client is an
optional dependency, imported when used. Requests of Responses have `store: false`, unless the server refuses the field.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import BadInput
from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.client_errors import CallFailure, Server, stream_failure
from workbench.summarizers.connections import Connection, headers_in, key_of, secrets_in
from workbench.summarizers.protocols.client import NO_KEY, json_document, server_info, start_client
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
from workbench.summarizers.protocols.usage import field_of, token_figure
from workbench.summarizers.wire import WirePrompt, chat_prompt, responses_prompt
from workbench.tokens import find_model

if TYPE_CHECKING:
    from openai import AsyncOpenAI


_HEADERS = "OPENAI_CUSTOM_HEADERS"
_OWN_HEADERS = ("OpenAI-Organization", "OpenAI-Project")


async def open_client(connection: Connection, timeout_s: float) -> AsyncOpenAI:
    """Open a client without retries and redirects, for use as a context. `timeout_s`: longest wait for the next byte.
    Opened in a thread, because the import takes seconds. Raises BadInput without the package or a key."""
    return await asyncio.to_thread(_open, connection, timeout_s)


def _open(connection: Connection, timeout_s: float) -> AsyncOpenAI:
    key = key_of(connection) or NO_KEY
    try:
        import openai
    except ImportError:
        raise BadInput(
            f"{connection.name} speaks OpenAI's protocol, which needs a package; pip install "
            "'compaction-workbench[openai]'."
        ) from None
    client: AsyncOpenAI = start_client(
        openai, "AsyncOpenAI", connection, key, (*_OWN_HEADERS, *headers_in(_HEADERS)), (key,), timeout_s
    )
    return client


def server_of(client: AsyncOpenAI, connection: Connection) -> Server:
    """Return the client's server, with all secrets that it could echo."""
    return server_info(client, connection, (client.api_key, *secrets_in(headers_in(_HEADERS))), adds_v1=False)


def usage_of(usage: object, input_field: str, output_field: str, details: str) -> Usage:
    """Convert the client's usage. `input_field` and `output_field` name its fields for tokens in and out, `details` the
    field for cached input tokens. Output includes thinking. Raises ImpossibleUsage."""
    cached = token_figure(field_of(usage, details), "cached_tokens") or 0
    return Usage(
        input=max(0, (token_figure(usage, input_field) or 0) - cached),
        output=token_figure(usage, output_field) or 0,
        cache_read=cached,
    )


_CHAT_REASONS: Mapping[str, str] = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
_THINKING_FIELDS = ("reasoning_content", "reasoning")
"""Fields for thinking: vLLM, llama.cpp and DeepSeek; Ollama and OpenRouter."""


def _chat_body(
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


async def _chat_stream(client: AsyncOpenAI, body: dict[str, Any], server: Server) -> AsyncIterator[StreamPart]:
    async with await client.chat.completions.create(**body, stream=True) as stream:
        kind = stream.response.headers.get("content-type", "")
        check_content_type(kind, server)
        if "json" in kind and "stream" not in kind:  # a gateway that does not stream
            for one in _complete_chat_answer(await stream.response.aread(), server):
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
                for one in _chat_message_parts(choice.delta, choice.finish_reason):
                    yield one


def _complete_chat_answer(data: bytes, server: Server) -> list[StreamPart]:
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
        *_chat_message_parts(choice.message, choice.finish_reason or "stop"),
    ]


def usage_of_chat(usage: object) -> Usage:
    return usage_of(usage, "prompt_tokens", "completion_tokens", "prompt_tokens_details")


def _chat_message_parts(part: Any, reason: str | None) -> list[StreamPart]:
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
        found.append(AnswerEnd(_CHAT_REASONS.get(reason, reason)))
    return found


CHAT = ApiProtocol(
    open_client,
    server_of,
    chat_prompt,
    _chat_body,
    _chat_stream,
    frozenset(["temperature", "max_tokens", "stream_options"]),
)


_RESPONSE_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
_THINKING_EVENTS = frozenset(["response.reasoning_summary_text.delta", "response.reasoning_text.delta"])


def _responses_body(
    request: SummaryRequest, model: str, prompt: WirePrompt, most: int, left_out: Collection[str] = ()
) -> dict[str, Any]:
    info = find_model(model)
    body: dict[str, Any] = {
        "model": model,
        **prompt.fields,
        "input": list(prompt.messages),
        "max_output_tokens": min(most, info.max_output) if info and info.max_output else most,
    }
    if "store" not in left_out:
        body["store"] = False
    if request.temperature is not None and "temperature" not in left_out:
        body["temperature"] = request.temperature
    return body


async def _responses_stream(client: AsyncOpenAI, body: dict[str, Any], server: Server) -> AsyncIterator[StreamPart]:
    async with await client.responses.create(**body, stream=True) as stream:
        kind = stream.response.headers.get("content-type", "")
        check_content_type(kind, server)
        if "json" in kind and "stream" not in kind:  # a gateway that does not stream
            for one in _complete_response(await stream.response.aread(), server):
                yield one
            return
        refusal = ""
        async for event in stream:
            if event.type == "response.output_text.delta":
                yield TextDelta(event.delta)
            elif event.type in _THINKING_EVENTS:
                yield ThinkingDelta(str(getattr(event, "delta", "")))
            elif event.type == "response.refusal.delta":
                refusal += event.delta
            elif event.type == "response.created":
                yield AnsweringModel(str(event.response.model))
            elif event.type == "error":
                raise AttemptFailed(stream_failure(event.code or "", event.message, server))
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                for one in _response_end_parts(event.response, event.response.usage, refusal, server):
                    yield one


def _response_end_parts(response: Any, usage: object, refusal: str, server: Server) -> list[StreamPart]:
    """Return the parts that end a response: its usage and stop reason."""
    if response.status == "failed" or response.error:
        error = response.error
        raise AttemptFailed(
            stream_failure(str(getattr(error, "code", "")), str(getattr(error, "message", "it failed")), server)
        )
    found: list[StreamPart] = []
    if usage:
        found.append(read_usage(partial(usage_of_response, usage)))
    if refusal:
        return [*found, AnswerEnd("refusal", f": {refusal}")]
    if response.status == "incomplete":
        reason = str(getattr(response.incomplete_details, "reason", None) or "incomplete")
        return [*found, AnswerEnd(_RESPONSE_REASONS.get(reason, reason))]
    calls = any(item.type == "function_call" for item in response.output or ())
    return [*found, AnswerEnd("tool_use" if calls else "end_turn")]


def usage_of_response(usage: object) -> Usage:
    return usage_of(usage, "input_tokens", "output_tokens", "input_tokens_details")


def _complete_response(data: bytes, server: Server) -> list[StreamPart]:
    """Return the parts of an answer that was not streamed."""
    from openai.types.responses import Response

    document = json_document(data)
    if not isinstance(document.get("output"), list):
        why = f"{server.address} answers with JSON that is no response; check {server.address_source}"
        raise AttemptFailed(CallFailure("error", why))
    complete = Response.construct(**document)
    parts = [part for item in complete.output if item.type == "message" for part in item.content]
    refusal = "".join(part.refusal for part in parts if part.type == "refusal")
    return [
        AnsweringModel(str(complete.model)),
        TextDelta(complete.output_text),
        *_response_end_parts(complete, document.get("usage"), refusal, server),
    ]


RESPONSES = ApiProtocol(
    open_client, server_of, responses_prompt, _responses_body, _responses_stream, frozenset(["temperature", "store"])
)
