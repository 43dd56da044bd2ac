"""Summaries by a live model over the Messages API, streamed, through the official client.

What is sent is the request's text as one user message, and nothing else: the preview shows it exactly; or, of a request
that is a conversation, the session's messages as an export would write them. The session is never touched; an answer
that is no summary (empty, cut off, refused, inflated) is a `SummaryFailed` of its own kind, so that the strategy falls
back and the screen can say why.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.compaction.strategy import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.session import Session, Usage
from workbench.summarizers.anthropic_errors import Server, Trouble, trouble_of
from workbench.summarizers.connection import connect, server_of
from workbench.summarizers.live_events import Adapted, Ended, OnLiveEvent, Retrying, Sent, Shrunk, Used, Wrote, nobody
from workbench.summarizers.patience import Limits, wait_or_give_up
from workbench.summarizers.summarizer import Summarizer
from workbench.summarizers.wire import Sending, sending
from workbench.tokens import find_model

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SAMPLING_VERSION = "2023-06-01"
"""The newest version of the API that takes a temperature; later ones refuse it. Asked for only to send one."""


def live(
    model: str, *, on_event: OnLiveEvent | None = None, limits: Limits | None = None, session: Session | None = None
) -> Summarizer:
    """A summarizer that asks `model`. Cancelling it closes the connection.

    `session` is what its conversations and the tools that it offers are from. Events are told on the event loop, text
    as it arrives.
    """
    tell = on_event or nobody
    patience = limits or Limits()

    async def summarize(request: SummaryRequest) -> Answer:
        # Rendering and hashing megabytes, and the client's import, would freeze a screen.
        key = await asyncio.to_thread(lambda: request.key)
        began = time.perf_counter()
        call = _Call(request, key, model, tell, patience, began + request.timeout_s)
        try:
            whole = await asyncio.to_thread(sending, request, session)
            async with asyncio.timeout(request.timeout_s), await connect(request.timeout_s + 5) as client:
                answer = await call.answer(client, whole)
        except TimeoutError:
            answer = SummaryFailed("timeout", f"no whole answer within {request.timeout_s:g} s")
        except BadInput as refused:
            answer = SummaryFailed("error", str(refused))
        how = call.heard.stop_reason or "end_turn" if isinstance(answer, Summary) else answer.kind
        tell(Ended(key, how, time.perf_counter() - began, call.heard.usage))
        return answer

    return summarize


@dataclass(slots=True)
class Heard:
    """An answer as far as it has come."""

    parts: list[str] = field(default_factory=list)
    usage: Usage | None = None
    stop_reason: str = ""
    why: str = ""
    model: str = ""

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass(slots=True)
class _Call:
    """One request on its way to an answer, over as many attempts as it takes."""

    request: SummaryRequest
    key: str
    model: str
    tell: OnLiveEvent
    limits: Limits
    deadline: float
    heard: Heard = field(default_factory=Heard)
    left_out: set[str] = field(default_factory=set)

    async def answer(self, client: AsyncAnthropic, prompt: Sending) -> Answer:
        tries = attempt = shrinks = 0
        began = time.perf_counter()
        while True:
            attempt += 1
            tries += 1
            self.tell(Sent(self.key, self.model, attempt, prompt.chars))
            trouble = await self._attempt(client, prompt)
            if trouble is None:
                return judged(self.request, self.heard, time.perf_counter() - began)
            if trouble.remedy == "adapt" and trouble.field not in self.left_out:
                self.left_out.add(trouble.field)
                tries = 0
                self.tell(Adapted(self.key, trouble.field, trouble.sentence))
            elif trouble.remedy == "shrink":
                smaller = prompt.smaller(trouble.room) if shrinks < self.limits.shrinks else None
                if smaller is None:
                    tried = f"; cutting it {shrinks} times did not help" if shrinks else ""
                    return SummaryFailed("overflow", trouble.sentence + tried)
                shrinks += 1
                self.tell(Shrunk(self.key, shrinks, prompt.chars, smaller.chars, trouble.sentence, smaller.cut))
                prompt, tries = smaller, 0
            else:
                wait = wait_or_give_up(trouble, tries, self.limits, self.deadline)
                if isinstance(wait, SummaryFailed):
                    return wait
                self.tell(Retrying(self.key, attempt, wait, trouble.sentence))
                await asyncio.sleep(wait)

    async def _attempt(self, client: AsyncAnthropic, prompt: Sending) -> Trouble | None:
        """Send `prompt` and hear the answer to its end; what went wrong, None if nothing did."""
        self.heard = Heard()
        limits = self.limits
        try:
            async with asyncio.timeout(limits.first_token_s) as clock:
                return await self._listen(client, prompt, clock)
        except TimeoutError:
            if self.heard.parts:
                return Trouble("timeout", f"the answer stalled for {limits.stall_s:g} s")
            return Trouble("timeout", f"no first token within {limits.first_token_s:g} s")
        except BadInput:
            raise
        except Exception as error:
            # Whatever the client raises is a failure of this call; cancelling is no Exception and passes.
            return trouble_of(error, server_of(client))

    async def _listen(self, client: AsyncAnthropic, prompt: Sending, clock: asyncio.Timeout) -> Trouble | None:
        loop = asyncio.get_running_loop()
        async with await client.messages.create(**self._body(prompt), stream=True) as stream:
            kind = stream.response.headers.get("content-type", "")
            if "json" in kind:  # a gateway that does not stream
                return self._whole(await stream.response.aread(), server_of(client))
            if "html" in kind:
                page = (
                    f"{server_of(client).address} answers with a web page and not as a model; check ANTHROPIC_BASE_URL"
                )
                return Trouble("error", page)
            async for event in stream:
                if event.type == "message_start":
                    self.heard.model = str(event.message.model)
                    self._used(event.message.usage, final=False)
                elif event.type == "message_stop":  # some bridges give no reason
                    self.heard.stop_reason = self.heard.stop_reason or "end_turn"
                elif event.type == "content_block_delta":
                    clock.reschedule(loop.time() + self.limits.stall_s)
                    if event.delta.type == "text_delta":
                        self.heard.parts.append(event.delta.text)
                        self.tell(Wrote(self.key, event.delta.text))
                elif event.type == "message_delta":
                    self.heard.stop_reason = event.delta.stop_reason or self.heard.stop_reason
                    self.heard.why = _refusal(getattr(event.delta, "stop_details", None))
                    self._used(event.usage, final=bool(event.delta.stop_reason))
        if not self.heard.stop_reason:
            return Trouble("error", "the connection failed (the answer broke off before its end)", "retry")
        return None

    def _whole(self, body: bytes, server: Server) -> Trouble | None:
        """An answer that came in one piece."""
        from anthropic.types import Message

        try:
            message = Message.model_validate_json(body)
        except ValueError:
            return Trouble("error", f"{server.address} answers with JSON that is no message; check ANTHROPIC_BASE_URL")
        text = "".join(block.text for block in message.content if block.type == "text")
        self.heard.parts.append(text)
        self.tell(Wrote(self.key, text))
        self.heard.model, self.heard.stop_reason = str(message.model), message.stop_reason or "end_turn"
        self._used(message.usage, final=True)
        return None

    def _used(self, usage: object, *, final: bool) -> None:
        """Zeros are of a server that does not count: what it billed is unknown."""
        found = usage_of(usage, self.heard.usage, final=final)
        if found.input or found.output or found.cache_read or found.cache_write:
            self.heard.usage = found
            self.tell(Used(self.key, found))

    def _body(self, prompt: Sending) -> dict[str, Any]:
        body = body_of(self.request, self.model, prompt, self.left_out)
        if "temperature" in body:  # the client's own calls know none any more
            body["extra_body"] = {"temperature": body.pop("temperature")}
            body["extra_headers"] = {"anthropic-version": SAMPLING_VERSION}
        return body


def body_of(request: SummaryRequest, model: str, prompt: Sending, left_out: Collection[str] = ()) -> dict[str, Any]:
    """What is sent for a request, but for whether it is streamed. `left_out` are the fields that a model refused."""
    info = find_model(model)
    most = info.max_output if info and info.max_output else request.max_output_tokens
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": min(request.max_output_tokens, most),
        **prompt.fields,
        "messages": list(prompt.messages),
    }
    if "thinking" not in left_out:
        body["thinking"] = {"type": "disabled"}
    if request.temperature is not None and "temperature" not in left_out:
        body["temperature"] = request.temperature
    return body


def judged(request: SummaryRequest, heard: Heard, seconds: float) -> Answer:
    """The summary, or why the answer is none."""
    text = heard.text.strip()
    match heard.stop_reason:
        case "refusal":
            return SummaryFailed("refused", f"the model refused{heard.why}")
        case "max_tokens":
            return SummaryFailed(
                "truncated", f"the answer reached the limit of output tokens at {grouped(len(text))} characters"
            )
        case "model_context_window_exceeded":
            return SummaryFailed(
                "truncated", f"the model's context window was full at {grouped(len(text))} characters of answer"
            )
        case "tool_use":
            return SummaryFailed("error", "the model called a tool instead of writing a summary")
    if not text:
        return SummaryFailed("empty", f"the answer has no text (stop reason {heard.stop_reason})")
    given = request.chars + len(request.previous) if request.chars else len(request.text)
    if len(text) > given:
        return SummaryFailed(
            "inflated", f"the answer has {grouped(len(text))} characters, more than the {grouped(given)} it stands for"
        )
    return Summary(text, model=heard.model, usage=heard.usage, seconds=seconds)


def usage_of(billed: object, before: Usage | None = None, *, final: bool = True) -> Usage:
    """The client's usage as ours. Figures are cumulative; one that is missing is as it was `before`."""

    def figure(name: str, old: int) -> int:
        value = getattr(billed, name, None)
        return value if isinstance(value, int) else old

    old = before or Usage()
    return Usage(
        input=figure("input_tokens", old.input),
        output=figure("output_tokens", old.output),
        cache_read=figure("cache_read_input_tokens", old.cache_read),
        cache_write=figure("cache_creation_input_tokens", old.cache_write),
        output_final=final,
    )


def _refusal(details: object) -> str:
    category = getattr(details, "category", None)
    explanation = getattr(details, "explanation", None)
    return (f" ({category})" if category else "") + (f": {explanation}" if explanation else "")
