"""Compaction by the server itself: the head goes as messages, a `compaction` block comes back.

Two ways, both betas of the Messages API: on demand (`compaction={"type": "summarize"}`) and at a threshold
(`context_management` with the edit `compact_20260112`, set to its least threshold). The block is a summary that may be
signed or encrypted: it is shown as text where it has any, and sent back exactly as it came.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.compaction.outcome import Made, Outcome, Piece
from workbench.compaction.strategy import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.formats.anthropic_messages.signature import ID as ANTHROPIC
from workbench.session import Message, Opaque, Session, Text, Usage
from workbench.summarizers.connections import DEFAULT, connection_named
from workbench.summarizers.live_events import Ended, OnLiveEvent, Retrying, Sent, Used, Wrote, nobody
from workbench.summarizers.patience import Limits, limits_of, wait_or_give_up
from workbench.summarizers.protocols.messages import connect, server_of
from workbench.summarizers.summarizer import Summarizer
from workbench.summarizers.troubles import trouble_of
from workbench.summarizers.wire import wire_body

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

Way = Literal["on-demand", "threshold"]

ON_DEMAND_BETA = "compact-2026-09-04"
THRESHOLD_BETA = "compact-2026-01-12"
CLEAR_BETA = "context-management-2025-06-27"
BLOCK_BETAS = f"{ON_DEMAND_BETA},{THRESHOLD_BETA}"
"""What a request names that sends a compaction block back, whichever way it was made."""

LEAST_THRESHOLD = 50_000
"""Input tokens below which `compact_20260112` cannot be made to work; a smaller head comes back uncompacted."""

_NO_BLOCK = Opaque("compaction", None)

_SEALS = (("signature", "signed"), ("encrypted_content", "encrypted"))

UNREADABLE = "[The server's summary is encrypted: it can be sent back, but not read.]"


@dataclass(frozen=True, slots=True)
class ServerSummary(Summary):
    """A summary that the server made. `text` is what can be read of `block`, which is exactly what the server sent.

    An edited draft is an ordinary `Summary`: a signed block with another text would be refused.
    """

    block: Opaque = _NO_BLOCK

    @property
    def about_block(self) -> str:
        """What can be said of the block beside its text: `opaque (signed)`."""
        raw = self.block.raw if isinstance(self.block.raw, dict) else {}
        sealed = [word for field, word in _SEALS if raw.get(field)]
        return f"opaque ({' and '.join(sealed)}), sent back as it came" if sealed else "plain, sent back as it came"


def server_side(
    model: str,
    session: Session,
    *,
    way: Way = "on-demand",
    instructions: str = "",
    keep_tool_uses: int | None = None,
    on_event: OnLiveEvent | None = None,
    limits: Limits | None = None,
) -> Summarizer:
    """A summarizer that has the server compact the request's messages, with the session's system prompt and tools.

    `instructions` replace the server's own prompt on demand, and add to it at a threshold. `keep_tool_uses` (only at a
    threshold) first clears all but so many tool results (`clear_tool_uses_20250919`). An earlier summary is sent first,
    as the user's words. The answer is a `ServerSummary`; `with_blocks` puts its block into the outcome.
    """
    tell, patience = on_event or nobody, limits or limits_of(connection_named(DEFAULT))
    parameters, betas = _parameters(way, instructions, keep_tool_uses)

    async def summarize(request: SummaryRequest) -> Answer:
        key = await asyncio.to_thread(lambda: request.key)
        began = time.perf_counter()
        whole_s, usage = request.timeout_s or patience.whole_s, None
        try:
            conversation = await asyncio.to_thread(conversation_of, session, request)
            most = request.max_output_tokens or patience.max_output
            body = {"model": model, "max_tokens": most, **conversation, **parameters}
            async with asyncio.timeout(whole_s), await connect(whole_s + 5) as client:
                got = await posted(client, body, betas, key, tell, patience, began + whole_s)
            usage = None if isinstance(got, SummaryFailed) else _usage(got.get("usage"))
            answer = got if isinstance(got, SummaryFailed) else _answer(got, way, usage, time.perf_counter() - began)
        except TimeoutError:
            answer = SummaryFailed("timeout", f"no answer within {whole_s:g} s")
        except BadInput as refused:
            answer = SummaryFailed("error", str(refused))
        if isinstance(answer, Summary):
            tell(Wrote(key, answer.text))
        if usage:  # what is billed is told of an answer that is no use, too
            tell(Used(key, usage))
        how = "compaction" if isinstance(answer, Summary) else answer.kind
        tell(Ended(key, how, time.perf_counter() - began, usage))
        return answer

    return summarize


def _parameters(way: Way, instructions: str, keep_tool_uses: int | None) -> tuple[dict[str, Any], list[str]]:
    more = {"instructions": instructions} if instructions.strip() else {}
    if way == "on-demand":
        return {"compaction": {"type": "summarize", **more}}, [ON_DEMAND_BETA]
    trigger = {"type": "input_tokens", "value": LEAST_THRESHOLD}
    edits: list[dict[str, Any]] = [
        {"type": "compact_20260112", "trigger": trigger, "pause_after_compaction": True, **more}
    ]
    betas = [THRESHOLD_BETA]
    if keep_tool_uses is not None:
        edits.insert(0, clear_tool_uses(keep_tool_uses))
        betas.append(CLEAR_BETA)
    return {"context_management": {"edits": edits}}, betas


def clear_tool_uses(keep: int) -> dict[str, Any]:
    """The edit that clears all but the newest `keep` tool results, whatever the size of the context."""
    return {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "tool_uses", "value": keep + 1},
        "keep": {"type": "tool_uses", "value": keep},
    }


def conversation_of(session: Session, request: SummaryRequest) -> dict[str, Any]:
    """What is sent of a session: `system`, `tools` and the request's messages, an earlier summary before them.

    Raises BadInput when nothing of the messages can be sent.
    """
    body = wire_body(session, request.messages)
    if request.previous:
        earlier = f"<earlier_summary>\n{request.previous}\n</earlier_summary>"
        body["messages"] = [{"role": "user", "content": earlier}, *body["messages"]]
    return body


async def posted(
    client: AsyncAnthropic,
    body: Mapping[str, Any],
    betas: Iterable[str],
    key: str,
    tell: OnLiveEvent,
    limits: Limits,
    deadline: float,
) -> dict[str, Any] | SummaryFailed:
    """The server's answer as decoded JSON, nothing of it interpreted by the client. Retries as `limits` say."""
    tries = 0
    while True:
        tries += 1
        tell(Sent(key, str(body["model"]), tries, sum(len(str(turn["content"])) for turn in body["messages"])))
        try:
            # The client's own models would drop or reorder what they do not know; a signed block must not change.
            got = await client.post(
                "/v1/messages",
                cast_to=object,
                body=dict(body),
                options={"headers": {"anthropic-beta": ",".join(betas)}, "params": {"beta": "true"}},
            )
        except Exception as error:
            # Whatever the client raises is a failure of this call; cancelling is no Exception and passes.
            trouble = trouble_of(error, server_of(client))
        else:
            return got if isinstance(got, dict) else SummaryFailed("error", "the server's answer is no JSON object")
        wait = wait_or_give_up(trouble, tries, limits, deadline)
        if isinstance(wait, SummaryFailed):
            return wait
        tell(Retrying(key, tries, wait, trouble.sentence))
        await asyncio.sleep(wait)


def _answer(got: Mapping[str, Any], way: Way, usage: Usage | None, seconds: float) -> Answer:
    content = got.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    block = next((block for block in blocks if block.get("type") == "compaction"), None)
    stop = got.get("stop_reason")
    if stop == "refusal":
        return SummaryFailed("refused", "the model refused to summarize")
    if block is None and stop == "max_tokens":
        return SummaryFailed("truncated", "the answer reached the limit of output tokens before it held a summary")
    if block is None:
        least = f"; it needs at least {grouped(LEAST_THRESHOLD)} tokens of head" if way == "threshold" else ""
        return SummaryFailed("error", f"the server did not compact (stop reason {stop}){least}")
    text = block.get("content")
    if not isinstance(text, str) or not text.strip():
        if not block.get("encrypted_content"):
            return SummaryFailed("empty", "the server could not make a summary: its compaction block has no content")
        text = UNREADABLE
    model = got.get("model")
    return ServerSummary(text, str(model or ""), usage, seconds, block=Opaque("compaction", block))


def _usage(billed: object) -> Usage | None:
    """All that was billed: the compaction itself is listed among the iterations, outside the totals. None where nothing
    is said to be."""
    if not isinstance(billed, dict):
        return None
    extra = [entry for entry in billed.get("iterations") or () if entry.get("type") == "compaction"]

    def total(name: str) -> int:
        return sum(int(entry.get(name) or 0) for entry in (billed, *extra))

    found = Usage(
        total("input_tokens"),
        total("output_tokens"),
        total("cache_read_input_tokens"),
        total("cache_creation_input_tokens"),
    )
    return found if found.context or found.output else None


def with_blocks(outcome: Outcome, answers: Iterable[Answer]) -> Outcome:
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
        if isinstance(piece, Made) and block is not None:
            sealed.append(Made(replace(piece.message, role="assistant", blocks=(block,)), piece.stands_for))
        else:
            rest.append(piece)
    return replace(outcome, pieces=(*sealed, *rest)) if len(sealed) == 1 else outcome


def _block_in(piece: Piece, blocks: Sequence[tuple[str, Opaque]]) -> Opaque | None:
    if not isinstance(piece, Made) or piece.message.kind != "summary":
        return None
    return next(
        (
            block
            for text, block in blocks
            if any(isinstance(part, Text) and text in part.text for part in piece.message.blocks)
        ),
        None,
    )


def can_be_read(answers: Iterable[Answer]) -> bool:
    """Whether every summary has words; one that is encrypted has none to look at."""
    return not any(isinstance(answer, ServerSummary) and answer.text == UNREADABLE for answer in answers)


def messages_for(outcome: Outcome, answers: Sequence[Answer], format_id: str) -> tuple[Message, ...]:
    """An outcome's messages as a format can carry them: the server's block to the Messages API, its text to others.

    Raises BadInput where the block has no text and the format is another one: the summary would be lost.
    """
    if format_id == ANTHROPIC:
        return with_blocks(outcome, answers).messages
    if not can_be_read(answers):
        raise BadInput(
            f"The server's summary is encrypted, and {format_id} has no place for its block; "
            f"write it as {ANTHROPIC} instead."
        )
    return outcome.messages
