"""Summaries by a live model, streamed: one loop of attempts, whatever protocol its server speaks.

What is sent is the request's text as one user message, and nothing else: the preview shows it exactly; or, of a request
that is a conversation, the session's messages as an export would write them. The session is never touched; an answer
that is no summary (empty, cut off, refused, inflated) is a `SummaryFailed` of its own kind, so that the strategy falls
back and the screen can say why.
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
from workbench.summarizers.protocols import protocol as parts
from workbench.summarizers.protocols.chat import CHAT
from workbench.summarizers.protocols.messages import MESSAGES
from workbench.summarizers.protocols.protocol import (
    AnswerEnd,
    AnsweringModel,
    ApiProtocol,
    AttemptFailed,
    StreamPart,
    TextDelta,
    ThinkingDelta,
    UsageSoFar,
)
from workbench.summarizers.protocols.responses import RESPONSES
from workbench.summarizers.spend_limit import UNLIMITED, Spending
from workbench.summarizers.summarizer import Summarizer
from workbench.summarizers.time_limits import time_limit
from workbench.summarizers.wire import WirePrompt

MAX_ANSWER_CHARS = 4_000_000
"""Characters of an answer and of the thoughts before it; the longest of today's models have half a million."""

SPARE_PIECES = 10_000
"""Pieces of an answer beside two for each token that was asked for: servers send one for each, or fewer."""

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
    """A summarizer that asks `model` over `connection`, by default Anthropic's. Cancelling it closes the connection.
    What could cost more than `spending` allows is not sent.

    `session` is what its conversations and the tools that it offers are from. Events are told on the event loop, text
    as it arrives. `limits` are the connection's own where none are given. Raises BadInput for broken settings.
    """
    whom = connection or connection_named(DEFAULT)
    tell, patience = on_event or ignore_event, limits or limits_of(whom)
    spoken = PROTOCOLS[whom.protocol]

    async def summarize(request: SummaryRequest) -> Answer:
        # Rendering and hashing megabytes, and the client's import, would freeze a screen.
        key = await asyncio.to_thread(lambda: request.key)
        began = time.perf_counter()
        whole_s = request.timeout_s or patience.whole_s
        most = request.max_output_tokens or patience.max_output
        call = _LiveCall(request, key, model, spoken, tell, patience, most, spending)
        try:
            call.dollars = await asyncio.to_thread(spending.most, request, model, whom, most)
            whole = await asyncio.to_thread(spoken.sending, request, session)
            async with time_limit(whole_s) as clock, await spoken.connect(whom, whole_s + 5) as client:
                answer = await call.answer(client, spoken.server_of(client, whom), whole, clock)
        except TimeoutError:
            answer = SummaryFailed("timeout", f"no complete answer within {whole_s:g} s")
        except BadInput as refused:
            answer = SummaryFailed("error", str(refused))
        how = call.heard.stop_reason or "end_turn" if isinstance(answer, Summary) else answer.kind
        tell(CallEnded(key, how, time.perf_counter() - began, call.heard.usage))
        return answer

    return summarize


async def check_key(connection: Connection) -> None:
    """Raises BadInput where there is no key or no client for it: the person's to mend, before any strategy falls back
    from it. Nothing is sent."""
    async with await PROTOCOLS[connection.protocol].connect(connection, 5.0):
        return


@dataclass(slots=True)
class ReceivedAnswer:
    """An answer as far as it has come."""

    parts: list[str] = field(default_factory=list)
    usage: Usage | None = None
    misbilled: bool = False
    stop_reason: str = ""
    why: str = ""
    model: str = ""
    thoughts: list[str] = field(default_factory=list)
    chars: int = 0
    """Characters of both."""

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass(slots=True)
class _LiveCall:
    """One request on its way to an answer, over as many attempts as it takes."""

    request: SummaryRequest
    key: str
    model: str
    spoken: ApiProtocol
    tell: OnLiveEvent
    limits: CallLimits
    most: int
    spending: Spending
    dollars: float | None = 0.0
    """What an attempt with the whole prompt can cost."""
    heard: ReceivedAnswer = field(default_factory=ReceivedAnswer)
    left_out: set[str] = field(default_factory=set)

    async def answer(self, client: Any, server: Server, prompt: WirePrompt, clock: asyncio.Timeout) -> Answer:
        tries = attempt = shrinks = 0
        began, whole = time.perf_counter(), max(1, prompt.chars)
        while True:
            attempt += 1
            tries += 1
            dollars = None if self.dollars is None else self.dollars * prompt.chars / whole
            async with self.spending.purse.held(dollars, self.model) as bill:
                self.tell(PromptSent(self.key, self.model, attempt, prompt.chars))
                trouble = await self._attempt(client, server, prompt)
                bill.paid = self._paid(bill.paid, trouble)
            if trouble is None:
                return answer_from(self.request, self.heard, time.perf_counter() - began)
            if trouble.remedy == "adapt" and trouble.field in self.spoken.optional - self.left_out:
                self.left_out.add(trouble.field)
                tries = 0
                self.tell(FieldDropped(self.key, trouble.field, trouble.sentence))
            elif trouble.remedy == "shrink":
                smaller = prompt.smaller(trouble.room) if shrinks < self.limits.shrinks else None
                if smaller is None:
                    tried = f"; cutting it {shrinks} times did not help" if shrinks else ""
                    return SummaryFailed("overflow", trouble.sentence + tried)
                shrinks += 1
                self.tell(
                    PromptShortened(self.key, shrinks, prompt.chars, smaller.chars, trouble.sentence, smaller.cut)
                )
                prompt, tries = smaller, 0
            else:
                wait = next_wait(trouble, tries, self.limits, clock)
                if isinstance(wait, SummaryFailed):
                    return wait
                self.tell(RetryScheduled(self.key, attempt, wait, trouble.sentence))
                await asyncio.sleep(wait)

    async def _attempt(self, client: Any, server: Server, prompt: WirePrompt) -> CallFailure | None:
        """Send `prompt` and hear the answer to its end; what went wrong, None if nothing did."""
        self.heard = ReceivedAnswer()
        limits = self.limits
        begun = False
        body = self.spoken.body(self.request, self.model, prompt, self.most, self.left_out)
        loop = asyncio.get_running_loop()
        try:
            async with (
                asyncio.timeout(limits.first_token_s) as clock,
                aclosing(self.spoken.heard(client, body, server)) as coming,  # type: ignore[type-var]
            ):
                async for came in coming:
                    if isinstance(came, TextDelta | ThinkingDelta):
                        begun = True
                        self._count(came.text, server)
                        clock.reschedule(loop.time() + limits.stall_s)
                    self._take(came)
        except TimeoutError:
            if begun:
                return CallFailure("timeout", f"the answer stalled for {limits.stall_s:g} s", broke=True)
            return CallFailure("timeout", f"no first token within {limits.first_token_s:g} s", broke=True)
        except BadInput:
            raise
        except AttemptFailed as failed:
            return failed.trouble
        except Exception as error:
            # Whatever the client raises is a failure of this call; cancelling is no Exception and passes.
            return classify_error(error, server)
        if not self.heard.stop_reason:
            return CallFailure(
                "error", "the connection failed (the answer broke off before its end)", "retry", broke=True
            )
        return None

    def _count(self, text: object, server: Server) -> None:
        """Raises Failed where the answer is longer than any model writes, comes in more pieces than tokens were asked
        for, or is no text."""
        if not isinstance(text, str):
            why = f"{server.address} answers with invalid text; check {server.address_from}"
            raise AttemptFailed(CallFailure("error", why, broke=True))
        heard, most = self.heard, SPARE_PIECES + 2 * self.most
        heard.chars += len(text)
        much = ""
        if heard.chars > MAX_ANSWER_CHARS:
            much = f"{grouped(MAX_ANSWER_CHARS)} characters"
        elif len(heard.parts) + len(heard.thoughts) >= most:
            much = f"{grouped(most)} pieces where {grouped(self.most)} tokens were asked for"
        if much:
            why = f"the answer has more than {much}; stopped reading"
            raise AttemptFailed(CallFailure("inflated", why, broke=True))

    def _paid(self, most: float, trouble: CallFailure | None) -> float:
        written = "".join([*self.heard.thoughts, *self.heard.parts])
        refused = trouble is not None and not trouble.broke and not written
        return self.spending.paid(most, self.heard.usage, written, self.model, refused=refused)

    def _take(self, came: StreamPart) -> None:
        heard = self.heard
        match came:
            case TextDelta(text):
                heard.parts.append(text)
                self.tell(TextReceived(self.key, text))
            case ThinkingDelta(text):
                heard.thoughts.append(text)
                self.tell(ThinkingReceived(self.key, text))
            case AnsweringModel(model):
                heard.model = model
            case AnswerEnd(reason, why):
                heard.stop_reason, heard.why = reason, why or heard.why
            case parts.BadUsage(why):
                if not heard.misbilled:
                    self.tell(UsageRejected(self.key, why))
                heard.usage, heard.misbilled = None, True
            case UsageSoFar(usage):
                # Zeros are of a server that does not count: what it billed is unknown.
                counted = usage.input or usage.output or usage.cache_read or usage.cache_write
                if counted and not heard.misbilled:
                    heard.usage = usage
                    self.tell(UsageReported(self.key, usage))


def answer_from(request: SummaryRequest, heard: ReceivedAnswer, seconds: float) -> Answer:
    """The summary, or why the answer is none."""
    text = valid_unicode(heard.text).strip()  # a model may write half of a character, which no export would give back
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
            "inflated", f"the answer has {grouped(len(text))} characters, more than the {grouped(given)} it summarizes"
        )
    return Summary(text, model=heard.model, usage=heard.usage, seconds=seconds)
