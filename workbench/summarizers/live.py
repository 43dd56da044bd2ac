"""Live summarizer: streams a summary from a model, in one loop of attempts for all protocols.

The request's text is sent as one user message, exactly as the preview shows it. If the request is a conversation, the
session's messages are sent in the form of an export. The session is never changed. An answer that is no summary (empty,
cut off, refused, inflated) becomes a `SummaryFailed` of its own kind, so that the strategy can fall back and the screen
can say why.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.text import valid_unicode
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.session import Session, Usage
from workbench.summarizers.call_limits import CallLimits, limits_of, next_wait
from workbench.summarizers.client_errors import CallFailure, Server, classify_error
from workbench.summarizers.connections import DEFAULT, Connection, connection_named
from workbench.summarizers.live_events import (
    CallEnded,
    FieldDropped,
    OnLiveEvent,
    PromptSent,
    PromptShortened,
    RetryScheduled,
    TextReceived,
    ThinkingReceived,
    UsageRejected,
    UsageReported,
    ignore_event,
)
from workbench.summarizers.protocols.messages import MESSAGES
from workbench.summarizers.protocols.openai import CHAT, RESPONSES
from workbench.summarizers.protocols.protocol import (
    AnswerEnd,
    AnsweringModel,
    ApiProtocol,
    AttemptFailed,
    BadUsage,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    UsageSoFar,
)
from workbench.summarizers.spend_limit import UNLIMITED, Spending
from workbench.summarizers.summarizer import Summarizer
from workbench.summarizers.time_limits import time_limit
from workbench.summarizers.wire import WirePrompt

MAX_ANSWER_CHARS = 4_000_000
"""Maximum length of an answer and its thinking, in characters; the longest of current models have half a million."""

SPARE_PIECES = 10_000
"""Pieces allowed in addition to two per requested token; servers send at most one per token."""

PROTOCOLS = {"messages": MESSAGES, "chat": CHAT, "responses": RESPONSES}


def live_summarizer(
    model: str,
    connection: Connection | None = None,
    *,
    on_event: OnLiveEvent | None = None,
    limits: CallLimits | None = None,
    session: Session | None = None,
    spending: Spending = UNLIMITED,
) -> Summarizer:
    """Return a summarizer that asks `model` over `connection`, by default Anthropic's. Cancelling it closes the
    connection. A request that could exceed `spending` is not sent.

    `session` provides the messages of conversations and the offered tools. Events are reported on the event loop, text
    as it arrives. `limits` default to the connection's. Raises BadInput for broken settings.
    """
    server_connection = connection or connection_named(DEFAULT)
    report, patience = on_event or ignore_event, limits or limits_of(server_connection)
    protocol = PROTOCOLS[server_connection.protocol]

    async def summarize(request: SummaryRequest) -> Answer:
        # Rendering and hashing megabytes, and importing the client, would freeze a screen.
        key = await asyncio.to_thread(lambda: request.key)
        began = time.perf_counter()
        whole_s = request.timeout_s or patience.whole_s
        most = request.max_output_tokens or patience.max_output
        call = _LiveCall(request, key, model, protocol, report, patience, most, spending)
        try:
            call.dollars = await asyncio.to_thread(spending.max_cost, request, model, server_connection, most)
            whole = await asyncio.to_thread(protocol.prompt_of, request, session)
            async with time_limit(whole_s) as clock, await protocol.connect(server_connection, whole_s + 5) as client:
                answer = await call.answer(client, protocol.server_of(client, server_connection), whole, clock)
        except TimeoutError:
            answer = SummaryFailed("timeout", f"no complete answer within {whole_s:g} s")
        except BadInput as refused:
            answer = SummaryFailed("error", str(refused))
        how = call.received.stop_reason or "end_turn" if isinstance(answer, Summary) else answer.kind
        report(CallEnded(key, how, time.perf_counter() - began, call.received.usage))
        return answer

    return summarize


async def check_key(connection: Connection) -> None:
    """Raise BadInput if the key or the client is missing, which the user must fix before a strategy falls back. Sends
    nothing."""
    async with await PROTOCOLS[connection.protocol].connect(connection, 5.0):
        return


@dataclass(slots=True)
class ReceivedAnswer:
    """The received part of an answer."""

    text_parts: list[str] = field(default_factory=list)
    usage: Usage | None = None
    usage_rejected: bool = False
    stop_reason: str = ""
    why: str = ""
    model: str = ""
    thoughts: list[str] = field(default_factory=list)
    chars: int = 0
    """Characters of text and thinking."""

    @property
    def text(self) -> str:
        return "".join(self.text_parts)


@dataclass(slots=True)
class _LiveCall:
    """One request with its attempts."""

    request: SummaryRequest
    key: str
    model: str
    protocol: ApiProtocol
    report: OnLiveEvent
    limits: CallLimits
    most: int
    spending: Spending
    dollars: float | None = 0.0
    """Maximum cost of one attempt with the complete prompt, in dollars; None if unknown."""
    received: ReceivedAnswer = field(default_factory=ReceivedAnswer)
    left_out: set[str] = field(default_factory=set)

    async def answer(self, client: Any, server: Server, prompt: WirePrompt, clock: asyncio.Timeout) -> Answer:
        tries = attempt = shrinks = 0
        began, whole = time.perf_counter(), max(1, prompt.chars)
        while True:
            attempt += 1
            tries += 1
            dollars = None if self.dollars is None else self.dollars * prompt.chars / whole
            async with self.spending.spend_limit.reserve(dollars, self.model) as bill:
                self.report(PromptSent(self.key, self.model, attempt, prompt.chars))
                trouble = await self._attempt(client, server, prompt)
                bill.dollars = self._attempt_cost(bill.dollars, trouble)
            if trouble is None:
                return answer_from(self.request, self.received, time.perf_counter() - began)
            if trouble.remedy == "adapt" and trouble.field in self.protocol.optional_fields - self.left_out:
                self.left_out.add(trouble.field)
                tries = 0
                self.report(FieldDropped(self.key, trouble.field, trouble.sentence))
            elif trouble.remedy == "shrink":
                smaller = prompt.shortened(trouble.room) if shrinks < self.limits.shrinks else None
                if smaller is None:
                    tried = f"; cutting it {shrinks} times did not help" if shrinks else ""
                    return SummaryFailed("overflow", trouble.sentence + tried)
                shrinks += 1
                self.report(
                    PromptShortened(self.key, shrinks, prompt.chars, smaller.chars, trouble.sentence, smaller.cut)
                )
                prompt, tries = smaller, 0
            else:
                wait = next_wait(trouble, tries, self.limits, clock)
                if isinstance(wait, SummaryFailed):
                    return wait
                self.report(RetryScheduled(self.key, attempt, wait, trouble.sentence))
                await asyncio.sleep(wait)

    async def _attempt(self, client: Any, server: Server, prompt: WirePrompt) -> CallFailure | None:
        """Send `prompt` and receive the answer; return the failure, or None."""
        self.received = ReceivedAnswer()
        limits = self.limits
        has_begun = False
        body = self.protocol.body(self.request, self.model, prompt, self.most, self.left_out)
        loop = asyncio.get_running_loop()
        try:
            async with (
                asyncio.timeout(limits.first_token_s) as clock,
                aclosing(self.protocol.stream(client, body, server)) as stream,  # type: ignore[type-var]
            ):
                async for part in stream:
                    if isinstance(part, TextDelta | ThinkingDelta):
                        has_begun = True
                        self._check_received(part.text, server)
                        clock.reschedule(loop.time() + limits.stall_s)
                    self._receive(part)
        except TimeoutError:
            if has_begun:
                return CallFailure("timeout", f"the answer stalled for {limits.stall_s:g} s", may_be_billed=True)
            return CallFailure("timeout", f"no first token within {limits.first_token_s:g} s", may_be_billed=True)
        except BadInput:
            raise
        except AttemptFailed as failed:
            return failed.trouble
        except Exception as error:
            # Any client error is a failure of this call; a cancel is not an Exception and passes.
            return classify_error(error, server)
        if not self.received.stop_reason:
            return CallFailure(
                "error", "the connection failed (the answer broke off before its end)", "retry", may_be_billed=True
            )
        return None

    def _check_received(self, text: object, server: Server) -> None:
        """Count received text. Raises AttemptFailed if the answer is longer than any model writes, has more pieces than
        requested tokens allow, or is not text."""
        if not isinstance(text, str):
            why = f"{server.address} answers with invalid text; check {server.address_source}"
            raise AttemptFailed(CallFailure("error", why, may_be_billed=True))
        received, most = self.received, SPARE_PIECES + 2 * self.most
        received.chars += len(text)
        much = ""
        if received.chars > MAX_ANSWER_CHARS:
            much = f"{grouped(MAX_ANSWER_CHARS)} characters"
        elif len(received.text_parts) + len(received.thoughts) >= most:
            much = f"{grouped(most)} pieces where {grouped(self.most)} tokens were asked for"
        if much:
            why = f"the answer has more than {much}; stopped reading"
            raise AttemptFailed(CallFailure("inflated", why, may_be_billed=True))

    def _attempt_cost(self, most: float, trouble: CallFailure | None) -> float:
        written = "".join([*self.received.thoughts, *self.received.text_parts])
        refused = trouble is not None and not trouble.may_be_billed and not written
        return self.spending.attempt_cost(most, self.received.usage, written, self.model, refused=refused)

    def _receive(self, part: StreamPart) -> None:
        received = self.received
        match part:
            case TextDelta(text):
                received.text_parts.append(text)
                self.report(TextReceived(self.key, text))
            case ThinkingDelta(text):
                received.thoughts.append(text)
                self.report(ThinkingReceived(self.key, text))
            case AnsweringModel(model):
                received.model = model
            case AnswerEnd(reason, why):
                received.stop_reason, received.why = reason, why or received.why
            case BadUsage(why):
                if not received.usage_rejected:
                    self.report(UsageRejected(self.key, why))
                received.usage, received.usage_rejected = None, True
            case UsageSoFar(usage):
                # Zeros come from a server that does not count: usage is unknown.
                counted = usage.input or usage.output or usage.cache_read or usage.cache_write
                if counted and not received.usage_rejected:
                    received.usage = usage
                    self.report(UsageReported(self.key, usage))


def answer_from(request: SummaryRequest, received: ReceivedAnswer, seconds: float) -> Answer:
    """Return the summary, or the failure that the received answer amounts to."""
    text = valid_unicode(received.text).strip()  # a model may write half of a surrogate pair, which cannot be exported
    match received.stop_reason:
        case "refusal":
            return SummaryFailed("refused", f"the model refused{received.why}")
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
        return SummaryFailed("empty", f"the answer has no text (stop reason {received.stop_reason})")
    head_chars = request.chars + len(request.previous) if request.chars else len(request.text)
    if len(text) > head_chars:
        return SummaryFailed(
            "inflated",
            f"the answer has {grouped(len(text))} characters, more than the {grouped(head_chars)} it summarizes",
        )
    return Summary(text, model=received.model, usage=received.usage, seconds=seconds)
