"""OpenAI's Responses, through the official client. Requests have `store: false`, unless the server refuses the
field."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.client_errors import CallFailure, Server, stream_failure
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
from workbench.summarizers.wire import WirePrompt, responses_prompt
from workbench.tokens import find_model

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
_THINKING_EVENTS = frozenset(["response.reasoning_summary_text.delta", "response.reasoning_text.delta"])


def _body(
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


async def _stream(client: AsyncOpenAI, body: dict[str, Any], server: Server) -> AsyncIterator[StreamPart]:
    async with await client.responses.create(**body, stream=True) as stream:
        kind = stream.response.headers.get("content-type", "")
        check_content_type(kind, server)
        if "json" in kind and "stream" not in kind:  # a gateway that does not stream
            for one in _complete_answer(await stream.response.aread(), server):
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
                for one in _end_parts(event.response, event.response.usage, refusal, server):
                    yield one


def _end_parts(response: Any, billed: object, refusal: str, server: Server) -> list[StreamPart]:
    """Return the parts that end a response: its usage and stop reason."""
    if response.status == "failed" or response.error:
        error = response.error
        raise AttemptFailed(
            stream_failure(str(getattr(error, "code", "")), str(getattr(error, "message", "it failed")), server)
        )
    found: list[StreamPart] = []
    if billed:
        found.append(read_usage(partial(usage_of_response, billed)))
    if refusal:
        return [*found, AnswerEnd("refusal", f": {refusal}")]
    if response.status == "incomplete":
        reason = str(getattr(response.incomplete_details, "reason", None) or "incomplete")
        return [*found, AnswerEnd(_REASONS.get(reason, reason))]
    calls = any(item.type == "function_call" for item in response.output or ())
    return [*found, AnswerEnd("tool_use" if calls else "end_turn")]


def usage_of_response(billed: object) -> Usage:
    return usage_of(billed, "input_tokens", "output_tokens", "input_tokens_details")


def _complete_answer(data: bytes, server: Server) -> list[StreamPart]:
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
        *_end_parts(complete, document.get("usage"), refusal, server),
    ]


RESPONSES = ApiProtocol(open_client, server_of, responses_prompt, _body, _stream, frozenset(["temperature", "store"]))
