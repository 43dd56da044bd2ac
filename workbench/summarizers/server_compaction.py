"""Compaction by the server: it receives the head as messages and returns a block, which is sent back unchanged. The
block's text, if it has any, is shown. `server_endpoints` has the requests of each protocol."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.compaction.outcome import NewMessage, Outcome, Piece
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.session import Message, Opaque, Session, Text, Usage
from workbench.summarizers.call_limits import CallLimits, limits_of, next_wait
from workbench.summarizers.client_errors import CallFailure, Server, classify_error
from workbench.summarizers.connections import DEFAULT, Connection, connection_named
from workbench.summarizers.live import PROTOCOLS
from workbench.summarizers.live_events import (
    CallEnded,
    OnLiveEvent,
    PromptSent,
    RetryScheduled,
    TextReceived,
    UsageRejected,
    UsageReported,
    ignore_event,
)
from workbench.summarizers.protocols.usage import ImpossibleUsage
from workbench.summarizers.server_endpoints import CompactionEndpoint, ServerMode, ServerSummary, endpoint_of
from workbench.summarizers.spend_limit import UNLIMITED, Spending
from workbench.summarizers.summarizer import Summarizer
from workbench.summarizers.time_limits import time_limit


def server_summarizer(
    model: str,
    session: Session,
    connection: Connection | None = None,
    *,
    mode: ServerMode = "on-demand",
    instructions: str = "",
    keep_tool_uses: int | None = None,
    on_event: OnLiveEvent | None = None,
    limits: CallLimits | None = None,
    spending: Spending = UNLIMITED,
) -> Summarizer:
    """Return a summarizer that lets the server compact the request's messages with the session's system prompt and
    tools; by default Anthropic's server.

    `instructions` replace the server's prompt on demand, and add to it at a threshold. `keep_tool_uses` (only at a
    threshold) first clears all but that many tool results (`clear_tool_uses_20250919`). An earlier summary is sent
    first, as a user message. The answer is a `ServerSummary`; `with_server_block` puts its block into the outcome.
    Raises BadInput for a protocol without such compaction. A request that could exceed `spending` is not sent.
    """
    server_connection = connection or connection_named(DEFAULT)
    report, patience = on_event or ignore_event, limits or limits_of(server_connection)
    endpoint, protocol = (
        endpoint_of(server_connection, mode, instructions, keep_tool_uses),
        PROTOCOLS[server_connection.protocol],
    )

    async def summarize(request: SummaryRequest) -> Answer:
        key = await asyncio.to_thread(lambda: request.key)
        began = time.perf_counter()
        whole_s, usage = request.timeout_s or patience.whole_s, None
        answer: Answer
        try:
            most = request.max_output_tokens or patience.max_output
            body = await asyncio.to_thread(endpoint.body, session, request, model, most)
            dollars = await asyncio.to_thread(spending.max_cost, request, model, server_connection, most)
            async with time_limit(whole_s) as clock, await protocol.connect(server_connection, whole_s + 5) as client:
                call = _ServerCall(
                    client,
                    protocol.server_of(client, server_connection),
                    endpoint,
                    body,
                    key,
                    report,
                    patience,
                    spending,
                    dollars,
                )
                response, usage = await call.answer(clock)
            answer = (
                response
                if isinstance(response, SummaryFailed)
                else endpoint.read_answer(response, usage, time.perf_counter() - began)
            )
        except TimeoutError:
            answer = SummaryFailed("timeout", f"no answer within {whole_s:g} s")
        except BadInput as refused:
            answer = SummaryFailed("error", str(refused))
        if isinstance(answer, Summary):
            report(TextReceived(key, answer.text))
        if usage:  # usage is reported for unusable answers, too
            report(UsageReported(key, usage))
        how = "compaction" if isinstance(answer, Summary) else answer.kind
        report(CallEnded(key, how, time.perf_counter() - began, usage))
        return answer

    return summarize


class _ServerCall(Struct, frozen=True):
    """One request with its attempts; `dollars` is the maximum cost of an attempt."""

    client: Any
    server: Server
    endpoint: CompactionEndpoint
    body: dict[str, Any]
    key: str
    report: OnLiveEvent
    limits: CallLimits
    spending: Spending
    dollars: float | None

    async def answer(self, clock: asyncio.Timeout) -> tuple[dict[str, Any] | SummaryFailed, Usage | None]:
        """Return the server's answer as decoded JSON, not interpreted by the client, and its usage (None if missing or
        impossible). Retries according to `limits`."""
        tries, model = 0, str(self.body["model"])
        turns = self.body.get("messages") or self.body.get("input") or ()
        chars = sum(len(str(turn.get("content", turn))) for turn in turns)
        while True:
            tries += 1
            async with self.spending.spend_limit.reserve(self.dollars, model) as cost:
                self.report(PromptSent(self.key, model, tries, chars))
                response = await self._posted()
                refused = isinstance(response, CallFailure) and not response.may_be_billed
                usage = self._usage(response) if isinstance(response, dict) else None
                cost.dollars = self.spending.attempt_cost(cost.dollars, usage, "", model, refused=refused)
            if not isinstance(response, CallFailure):
                no_object = SummaryFailed("error", "the server's answer is not a JSON object")
                return (response, usage) if isinstance(response, dict) else (no_object, None)
            wait = next_wait(response, tries, self.limits, clock)
            if isinstance(wait, SummaryFailed):
                return wait, None
            self.report(RetryScheduled(self.key, tries, wait, response.sentence))
            await asyncio.sleep(wait)

    def _usage(self, response: dict[str, Any]) -> Usage | None:
        try:
            return self.endpoint.usage(response.get("usage"))
        except ImpossibleUsage as impossible:
            self.report(UsageRejected(self.key, str(impossible)))
            return None

    async def _posted(self) -> object | CallFailure:
        try:
            # The client's own models would drop or reorder unknown fields; a signed block must not change.
            response: object = await self.client.post(
                self.endpoint.path, cast_to=object, body=self.body, options=dict(self.endpoint.options)
            )
        except Exception as error:
            # Any client error is a failure of this call; a cancel is not an Exception and passes.
            return classify_error(error, self.server)
        return response


def with_server_block(outcome: Outcome, answers: Iterable[Answer]) -> Outcome:
    """Return the outcome with the server's summary as its unchanged block instead of text.

    The summary message becomes an assistant message with only the block, before everything but the session's system
    messages: the API ignores what comes before the block. With several such summaries only the last would be read, so
    they stay text.
    """
    blocks = [(answer.text, answer.block) for answer in answers if isinstance(answer, ServerSummary)]
    sealed: list[Piece] = []
    rest: list[Piece] = []
    for piece in outcome.pieces:
        block = _block_in(piece, blocks)
        if isinstance(piece, NewMessage) and block is not None:
            sealed.append(NewMessage(replace(piece.message, role="assistant", blocks=(block,)), piece.replaces))
        else:
            rest.append(piece)
    return replace(outcome, pieces=(*sealed, *rest)) if len(sealed) == 1 else outcome


def _block_in(piece: Piece, blocks: Sequence[tuple[str, Opaque]]) -> Opaque | None:
    if not isinstance(piece, NewMessage) or piece.message.kind != "summary":
        return None
    return next(
        (
            block
            for text, block in blocks
            if any(isinstance(part, Text) and text in part.text for part in piece.message.blocks)
        ),
        None,
    )


def are_readable(answers: Iterable[Answer]) -> bool:
    """Return whether every summary is readable; an encrypted one is not."""
    return all(answer.is_readable for answer in answers if isinstance(answer, ServerSummary))


def messages_for(outcome: Outcome, answers: Sequence[Answer], format_id: str) -> tuple[Message, ...]:
    """Return an outcome's messages for a format: the server's block for its own API, its text for others.

    Raises BadInput if the block is unreadable and the format is another one, because the summary would be lost.
    """
    homes = {answer.format_id for answer in answers if isinstance(answer, ServerSummary)}
    if homes <= {format_id}:
        return with_server_block(outcome, answers).messages
    if not are_readable(answers):
        raise BadInput(
            f"The server's summary is encrypted, and {format_id} cannot store its block; "
            f"write it as {' or '.join(sorted(homes))} instead."
        )
    return outcome.messages
