"""Compaction by the server itself: the head goes as messages, and what comes back is shown as text where it has any,
and sent back exactly as it came. How each protocol asks for it: `server_forms`."""

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
    way: ServerMode = "on-demand",
    instructions: str = "",
    keep_tool_uses: int | None = None,
    on_event: OnLiveEvent | None = None,
    limits: CallLimits | None = None,
    spending: Spending = UNLIMITED,
) -> Summarizer:
    """A summarizer that has the server compact the request's messages, with the session's system prompt and tools; by
    default Anthropic's.

    `instructions` replace the server's own prompt on demand, and add to it at a threshold. `keep_tool_uses` (only at a
    threshold) first clears all but so many tool results (`clear_tool_uses_20250919`). An earlier summary is sent first,
    as the user's words. The answer is a `ServerSummary`; `with_blocks` puts its block into the outcome. Raises BadInput
    for a connection whose protocol knows no such compaction. What could cost more than `spending` allows is not sent.
    """
    whom = connection or connection_named(DEFAULT)
    tell, patience = on_event or ignore_event, limits or limits_of(whom)
    form, spoken = endpoint_of(whom, way, instructions, keep_tool_uses), PROTOCOLS[whom.protocol]

    async def summarize(request: SummaryRequest) -> Answer:
        key = await asyncio.to_thread(lambda: request.key)
        began = time.perf_counter()
        whole_s, usage = request.timeout_s or patience.whole_s, None
        answer: Answer
        try:
            most = request.max_output_tokens or patience.max_output
            body = await asyncio.to_thread(form.body, session, request, model, most)
            dollars = await asyncio.to_thread(spending.most, request, model, whom, most)
            async with time_limit(whole_s) as clock, await spoken.connect(whom, whole_s + 5) as client:
                call = _ServerCall(
                    client, spoken.server_of(client, whom), form, body, key, tell, patience, spending, dollars
                )
                got, usage = await call.answer(clock)
            answer = got if isinstance(got, SummaryFailed) else form.said(got, usage, time.perf_counter() - began)
        except TimeoutError:
            answer = SummaryFailed("timeout", f"no answer within {whole_s:g} s")
        except BadInput as refused:
            answer = SummaryFailed("error", str(refused))
        if isinstance(answer, Summary):
            tell(TextReceived(key, answer.text))
        if usage:  # what is billed is told of an answer that is no use, too
            tell(UsageReported(key, usage))
        how = "compaction" if isinstance(answer, Summary) else answer.kind
        tell(CallEnded(key, how, time.perf_counter() - began, usage))
        return answer

    return summarize


class _ServerCall(Struct, frozen=True):
    """One request on its way to an answer; `dollars` is what an attempt can cost."""

    client: Any
    server: Server
    form: CompactionEndpoint
    body: dict[str, Any]
    key: str
    tell: OnLiveEvent
    limits: CallLimits
    spending: Spending
    dollars: float | None

    async def answer(self, clock: asyncio.Timeout) -> tuple[dict[str, Any] | SummaryFailed, Usage | None]:
        """The server's answer as decoded JSON, nothing of it interpreted by the client, and its usage, None where that
        is not told or cannot be. Retries as `limits` say."""
        tries, model = 0, str(self.body["model"])
        turns = self.body.get("messages") or self.body.get("input") or ()
        chars = sum(len(str(turn.get("content", turn))) for turn in turns)
        while True:
            tries += 1
            async with self.spending.purse.held(self.dollars, model) as bill:
                self.tell(PromptSent(self.key, model, tries, chars))
                got = await self._posted()
                refused = isinstance(got, CallFailure) and not got.broke
                usage = self._usage(got) if isinstance(got, dict) else None
                bill.paid = self.spending.paid(bill.paid, usage, "", model, refused=refused)
            if not isinstance(got, CallFailure):
                no_object = SummaryFailed("error", "the server's answer is not a JSON object")
                return (got, usage) if isinstance(got, dict) else (no_object, None)
            wait = next_wait(got, tries, self.limits, clock)
            if isinstance(wait, SummaryFailed):
                return wait, None
            self.tell(RetryScheduled(self.key, tries, wait, got.sentence))
            await asyncio.sleep(wait)

    def _usage(self, got: dict[str, Any]) -> Usage | None:
        try:
            return self.form.usage(got.get("usage"))
        except ImpossibleUsage as impossible:
            self.tell(UsageRejected(self.key, str(impossible)))
            return None

    async def _posted(self) -> object | CallFailure:
        try:
            # The client's own models would drop or reorder what they do not know; a signed block must not change.
            got: object = await self.client.post(
                self.form.path, cast_to=object, body=self.body, options=dict(self.form.options)
            )
        except Exception as error:
            # Whatever the client raises is a failure of this call; cancelling is no Exception and passes.
            return classify_error(error, self.server)
        return got


def with_server_block(outcome: Outcome, answers: Iterable[Answer]) -> Outcome:
    """The outcome with the server's summary as its untouched block instead of text.

    The summary message becomes an assistant's with nothing but the block and stands before all but the session's own
    system messages, for so the API wants it back: it would not read what came before. Of several such summaries only
    the last would be read, so those stay text.
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
    """Whether every summary has words; one that is encrypted has none to look at."""
    return all(answer.can_be_read for answer in answers if isinstance(answer, ServerSummary))


def messages_for(outcome: Outcome, answers: Sequence[Answer], format_id: str) -> tuple[Message, ...]:
    """An outcome's messages as a format can carry them: the server's block to its own API, its text to others.

    Raises BadInput where the block has no text and the format is another one: the summary would be lost.
    """
    homes = {answer.goes_into for answer in answers if isinstance(answer, ServerSummary)}
    if homes <= {format_id}:
        return with_server_block(outcome, answers).messages
    if not are_readable(answers):
        raise BadInput(
            f"The server's summary is encrypted, and {format_id} cannot store its block; "
            f"write it as {' or '.join(sorted(homes))} instead."
        )
    return outcome.messages
