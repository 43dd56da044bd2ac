"""Anthropic's Messages API, through the official client.

Without more the client finds its key itself: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, or its own configuration;
ANTHROPIC_BASE_URL leads it to another server that speaks the same API.
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
from workbench.summarizers.connections import (
    BUILT_IN,
    DEFAULT,
    Connection,
    headers_in,
    key_of,
    no_key,
    secrets_in,
)
from workbench.summarizers.protocols.cache_marks import goes_on, marked
from workbench.summarizers.protocols.came import (
    Billed,
    By,
    Came,
    Failed,
    Spoken,
    Stopped,
    Thought,
    Words,
    billed_by,
    check_kind,
)
from workbench.summarizers.protocols.client import NO_KEY, document_of, server_at, started
from workbench.summarizers.protocols.usage import figure
from workbench.summarizers.troubles import Server, Trouble
from workbench.summarizers.wire import Sending, sending
from workbench.tokens import find_model

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SAMPLING_VERSION = "2023-06-01"
"""The newest version of the API that takes a temperature; later ones refuse it. Asked for only to send one."""

_KEYS, _HEADERS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "ANTHROPIC_CUSTOM_HEADERS"


async def opened(connection: Connection, timeout_s: float) -> AsyncAnthropic:
    """A client that neither retries nor waits longer than `timeout_s` seconds for any byte; use it as a context.

    Opened in a thread: the import takes seconds and reads certificates. Raises BadInput without credentials.
    """
    return await asyncio.to_thread(_open, connection, timeout_s)


def _open(connection: Connection, timeout_s: float) -> AsyncAnthropic:
    import anthropic

    usual = connection.own and not connection.keyring
    usual = usual and connection.key_env == BUILT_IN[DEFAULT]["key_env"]
    key = None if usual else key_of(connection) or NO_KEY
    client: AsyncAnthropic = started(
        anthropic, "AsyncAnthropic", connection, key, headers_in(_HEADERS), _in_environment(), timeout_s
    )
    if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
        raise BadInput(no_key(connection))
    return client


def server_of(client: AsyncAnthropic, connection: Connection) -> Server:
    """Whom it talks to, and every secret that it could send and the server could echo."""
    return server_at(client, connection, (client.api_key, client.auth_token, *_in_environment()), adds_v1=True)


def _in_environment() -> tuple[str, ...]:
    """Keys, and the values of headers that the user has the client send, where they are long enough to be secrets."""
    keys = (os.environ.get(name, "") for name in _KEYS)
    return (*filter(None, keys), *secrets_in(headers_in(_HEADERS)))


def body_of(
    request: SummaryRequest, model: str, prompt: Sending, most: int, left_out: Collection[str] = ()
) -> dict[str, Any]:
    """What is sent for a request, but for whether it is streamed: an answer of at most `most` tokens. `left_out` are
    the fields that a model refused."""
    info = find_model(model)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": min(most, info.max_output) if info and info.max_output else most,
        **prompt.fields,
        "messages": list(prompt.messages),
    }
    if goes_on(request) and "cache_control" not in left_out:
        body |= marked(body)
    if "thinking" not in left_out:
        body["thinking"] = {"type": "disabled"}
    if request.temperature is not None and "temperature" not in left_out:
        body["temperature"] = request.temperature
    return body


async def _heard(client: AsyncAnthropic, body: dict[str, Any], server: Server) -> AsyncIterator[Came]:
    if "temperature" in body:  # the client's own calls know none any more
        body = {**body, "extra_body": {"temperature": body["temperature"]}}
        body["extra_headers"] = {"anthropic-version": SAMPLING_VERSION}
        del body["temperature"]
    billed: Usage | None = None
    async with await client.messages.create(**body, stream=True) as stream:
        kind = stream.response.headers.get("content-type", "")
        check_kind(kind, server)
        if "json" in kind:  # a gateway that does not stream
            for one in _whole(await stream.response.aread(), server):
                yield one
            return
        reason = ""
        async for event in stream:
            if event.type == "message_start":
                yield By(str(event.message.model))
                told = billed_by(partial(usage_of, event.message.usage, billed, final=False))
                billed = told.usage if isinstance(told, Billed) else billed
                yield told
            elif event.type == "message_stop":  # some bridges give no reason
                yield Stopped(reason or "end_turn")
            elif event.type == "content_block_delta":
                if event.delta.type == "text_delta":
                    yield Words(event.delta.text)
                elif event.delta.type == "thinking_delta":
                    yield Thought(event.delta.thinking)
            elif event.type == "message_delta":
                told = billed_by(partial(usage_of, event.usage, billed, final=bool(event.delta.stop_reason)))
                billed = told.usage if isinstance(told, Billed) else billed
                yield told
                if event.delta.stop_reason:
                    reason = event.delta.stop_reason
                    yield Stopped(reason, _refusal(getattr(event.delta, "stop_details", None)))


def _whole(body: bytes, server: Server) -> list[Came]:
    """An answer that came in one piece."""
    from anthropic.types import Message

    document = document_of(body)
    if not isinstance(document.get("content"), list):
        why = f"{server.address} answers with JSON that is no message; check {server.address_from}"
        raise Failed(Trouble("error", why))
    message = Message.construct(**document)
    text = "".join(block.text for block in message.content if block.type == "text")
    return [
        By(str(message.model)),
        Words(text),
        billed_by(partial(usage_of, document.get("usage"))),
        Stopped(message.stop_reason or "end_turn"),
    ]


def usage_of(billed: object, before: Usage | None = None, *, final: bool = True) -> Usage:
    """The client's usage as ours. Figures are cumulative; one that is missing is as it was `before`. Raises
    ImpossibleUsage."""

    def now(name: str, old: int) -> int:
        value = figure(billed, name)
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


MESSAGES = Spoken(opened, server_of, sending, body_of, _heard, frozenset(["temperature", "thinking", "cache_control"]))
