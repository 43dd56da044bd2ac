"""Anthropic's Messages API, through the official client.

By default the client finds its key itself: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, or its own configuration.
ANTHROPIC_BASE_URL names another server with the same API.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import BadInput
from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.client_errors import CallFailure, Server
from workbench.summarizers.connections import (
    BUILT_IN,
    DEFAULT,
    Connection,
    headers_in,
    key_of,
    missing_key,
    secrets_in,
)
from workbench.summarizers.protocols.cache_marks import continues_conversation, with_cache_marks
from workbench.summarizers.protocols.client import NO_KEY, json_document, server_info, start_client
from workbench.summarizers.protocols.protocol import (
    AnswerEnd,
    AnsweringModel,
    ApiProtocol,
    AttemptFailed,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    UsageSoFar,
    check_content_type,
    read_usage,
)
from workbench.summarizers.protocols.usage import token_figure
from workbench.summarizers.wire import WirePrompt, messages_prompt
from workbench.tokens import find_model

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SAMPLING_VERSION = "2023-06-01"
"""Newest version of the API that accepts a temperature; named only in requests that have one."""

_KEYS, _HEADERS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "ANTHROPIC_CUSTOM_HEADERS"


async def open_client(connection: Connection, timeout_s: float) -> AsyncAnthropic:
    """Open a client without retries; use it as an asynchronous context manager. `timeout_s`: seconds to wait for each
    byte.

    It is opened in a thread, because the import takes seconds and reads certificates. Raises BadInput without
    credentials.
    """
    return await asyncio.to_thread(_open, connection, timeout_s)


def _open(connection: Connection, timeout_s: float) -> AsyncAnthropic:
    import anthropic

    client_finds_key = connection.own and not connection.keyring
    client_finds_key = client_finds_key and connection.key_env == BUILT_IN[DEFAULT]["key_env"]
    key = None if client_finds_key else key_of(connection) or NO_KEY
    client: AsyncAnthropic = start_client(
        anthropic, "AsyncAnthropic", connection, key, headers_in(_HEADERS), _environment_secrets(), timeout_s
    )
    if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
        raise BadInput(missing_key(connection))
    return client


def server_of(client: AsyncAnthropic, connection: Connection) -> Server:
    """Return the client's server, with all secrets that it could echo."""
    return server_info(client, connection, (client.api_key, client.auth_token, *_environment_secrets()), adds_v1=True)


def _environment_secrets() -> tuple[str, ...]:
    """Return keys in the environment, and the values of custom headers that are long enough to be secrets."""
    keys = (os.environ.get(name, "") for name in _KEYS)
    return (*filter(None, keys), *secrets_in(headers_in(_HEADERS)))


def messages_body(
    request: SummaryRequest, model: str, prompt: WirePrompt, most: int, left_out: Collection[str] = ()
) -> dict[str, Any]:
    """Return the body of a request without `stream`, for an answer of at most `most` tokens. Fields in `left_out`,
    which the model refused, are omitted."""
    info = find_model(model)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": min(most, info.max_output) if info and info.max_output else most,
        **prompt.fields,
        "messages": list(prompt.messages),
    }
    if continues_conversation(request) and "cache_control" not in left_out:
        body |= with_cache_marks(body)
    if "thinking" not in left_out:
        body["thinking"] = {"type": "disabled"}
    if request.temperature is not None and "temperature" not in left_out:
        body["temperature"] = request.temperature
    return body


async def _stream(client: AsyncAnthropic, body: dict[str, Any], server: Server) -> AsyncIterator[StreamPart]:
    if "temperature" in body:  # no longer a parameter of the client
        body = {**body, "extra_body": {"temperature": body["temperature"]}}
        body["extra_headers"] = {"anthropic-version": SAMPLING_VERSION}
        del body["temperature"]
    billed: Usage | None = None
    async with await client.messages.create(**body, stream=True) as stream:
        kind = stream.response.headers.get("content-type", "")
        check_content_type(kind, server)
        if "json" in kind:  # a gateway that does not stream
            for one in _complete_answer(await stream.response.aread(), server):
                yield one
            return
        reason = ""
        async for event in stream:
            if event.type == "message_start":
                yield AnsweringModel(str(event.message.model))
                part = read_usage(partial(usage_of, event.message.usage, billed, final=False))
                billed = part.usage if isinstance(part, UsageSoFar) else billed
                yield part
            elif event.type == "message_stop":  # some gateways send no stop reason
                yield AnswerEnd(reason or "end_turn")
            elif event.type == "content_block_delta":
                if event.delta.type == "text_delta":
                    yield TextDelta(event.delta.text)
                elif event.delta.type == "thinking_delta":
                    yield ThinkingDelta(event.delta.thinking)
            elif event.type == "message_delta":
                part = read_usage(partial(usage_of, event.usage, billed, final=bool(event.delta.stop_reason)))
                billed = part.usage if isinstance(part, UsageSoFar) else billed
                yield part
                if event.delta.stop_reason:
                    reason = event.delta.stop_reason
                    yield AnswerEnd(reason, _refusal(getattr(event.delta, "stop_details", None)))


def _complete_answer(body: bytes, server: Server) -> list[StreamPart]:
    """Return the parts of an answer that was not streamed."""
    from anthropic.types import Message

    document = json_document(body)
    if not isinstance(document.get("content"), list):
        why = f"{server.address} answers with JSON that is no message; check {server.address_source}"
        raise AttemptFailed(CallFailure("error", why))
    message = Message.construct(**document)
    text = "".join(block.text for block in message.content if block.type == "text")
    return [
        AnsweringModel(str(message.model)),
        TextDelta(text),
        read_usage(partial(usage_of, document.get("usage"))),
        AnswerEnd(message.stop_reason or "end_turn"),
    ]


def usage_of(billed: object, before: Usage | None = None, *, final: bool = True) -> Usage:
    """Convert the client's usage. Figures are cumulative; a missing one keeps its value `before`. Raises
    ImpossibleUsage."""

    def now(name: str, old: int) -> int:
        value = token_figure(billed, name)
        return old if value is None else value

    old = before or Usage()
    return Usage(
        input=now("input_tokens", old.input),
        output=now("output_tokens", old.output),
        cache_read=now("cache_read_input_tokens", old.cache_read),
        cache_write=now("cache_creation_input_tokens", old.cache_write),
        output_final=final,
    )


def _refusal(details: object) -> str:
    category = getattr(details, "category", None)
    explanation = getattr(details, "explanation", None)
    return (f" ({category})" if category else "") + (f": {explanation}" if explanation else "")


MESSAGES = ApiProtocol(
    open_client,
    server_of,
    messages_prompt,
    messages_body,
    _stream,
    frozenset(["temperature", "thinking", "cache_control"]),
)
