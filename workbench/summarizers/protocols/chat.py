"""OpenAI's Chat Completions, as most servers of models speak them, through the official client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Usage
from workbench.summarizers.protocols.came import (
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
from workbench.summarizers.protocols.client import document_of
from workbench.summarizers.protocols.openai_client import opened, server_of, usage_of
from workbench.summarizers.troubles import Server, Trouble
from workbench.summarizers.wire import Sending, sending_chat
from workbench.tokens import find_model

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_REASONS: Mapping[str, str] = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
_THOUGHTS = ("reasoning_content", "reasoning")
"""Where servers put what a model thinks: vLLM, llama.cpp and DeepSeek; Ollama and OpenRouter."""


def _body(
    request: SummaryRequest, model: str, prompt: Sending, most: int, left_out: Collection[str] = ()
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


async def _heard(client: AsyncOpenAI, body: dict[str, Any], server: Server) -> AsyncIterator[Came]:
    async with await client.chat.completions.create(**body, stream=True) as stream:
        kind = stream.response.headers.get("content-type", "")
        check_kind(kind, server)
        if "json" in kind and "stream" not in kind:  # a gateway that does not stream
            for one in _whole(await stream.response.aread(), server):
                yield one
            return
        named = False
        async for chunk in stream:
            if chunk.model and not named:
                named = True
                yield By(chunk.model)
            if chunk.usage:
                yield billed_by(partial(usage_of_chat, chunk.usage))
            for choice in chunk.choices or ():
                for one in _said(choice.delta, choice.finish_reason):
                    yield one


def _whole(data: bytes, server: Server) -> list[Came]:
    """An answer that came in one piece."""
    from openai.types.chat import ChatCompletion

    document = document_of(data)
    if not isinstance(document.get("choices"), list) or not document["choices"]:
        why = f"{server.address} answers with JSON that is no chat completion; check {server.address_from}"
        raise Failed(Trouble("error", why))
    got = ChatCompletion.construct(**document)
    choice = got.choices[0]
    return [
        By(str(got.model)),
        billed_by(partial(usage_of_chat, document.get("usage"))),
        *_said(choice.message, choice.finish_reason or "stop"),
    ]


def usage_of_chat(billed: object) -> Usage:
    return usage_of(billed, "prompt_tokens", "completion_tokens", "prompt_tokens_details")


def _said(part: Any, reason: str | None) -> list[Came]:
    """What a chunk's delta, or a whole message, holds."""
    found: list[Came] = []
    for field in _THOUGHTS:
        thought = getattr(part, field, None)
        if isinstance(thought, str) and thought:
            found.append(Thought(thought))
            break
    if getattr(part, "content", None):
        found.append(Words(part.content))
    refusal = getattr(part, "refusal", None)
    if refusal:
        found.append(Stopped("refusal", f": {refusal}"))
    elif reason:
        found.append(Stopped(_REASONS.get(reason, reason)))
    return found


CHAT = Spoken(
    opened, server_of, sending_chat, _body, _heard, frozenset(["temperature", "max_tokens", "stream_options"])
)
