"""Requests of each protocol for the server's own compaction, and their answers.

Messages: a `compaction` block, on demand (`compaction={"type": "summarize"}`) or at a threshold (`context_management`
with the edit `compact_20260112`, set to its minimum threshold); both are betas. Responses: `responses.compact`, whose
output is the user messages and one item that only the server can read; all of it starts the new context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.formats.anthropic_messages import ID as ANTHROPIC
from workbench.formats.openai_responses import ID as RESPONSES
from workbench.session import Opaque, Session, Usage
from workbench.summarizers.connections import Connection
from workbench.summarizers.protocols.usage import token_figure
from workbench.summarizers.wire import messages_fields, responses_fields

ServerMode = Literal["on-demand", "threshold"]
Fields = dict[str, Any]

ON_DEMAND_BETA = "compact-2026-09-04"
THRESHOLD_BETA = "compact-2026-01-12"
CLEAR_BETA = "context-management-2025-06-27"
BLOCK_BETAS = f"{ON_DEMAND_BETA},{THRESHOLD_BETA}"
"""Betas of a request that sends back a compaction block of either mode."""

LEAST_THRESHOLD = 50_000
"""Minimum threshold of `compact_20260112`, in input tokens; a smaller head comes back uncompacted."""

UNREADABLE = "[The server's summary is encrypted: it can be sent back, but not read.]"

_SEALS = (("signature", "signed"), ("encrypted_content", "encrypted"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSummary(Summary):
    """A summary made by the server. `text` is the readable part of `block`, which holds exactly what the server sent: a
    block of the Messages API, or the items of a compacted response.

    An edited draft is an ordinary `Summary`: a signed block with other text would be refused.
    """

    block: Opaque

    @property
    def format_id(self) -> str:
        """Id of the only format that accepts the block."""
        return RESPONSES if isinstance(self.block.raw, list) else ANTHROPIC

    @property
    def block_note(self) -> str:
        """Description of the block apart from its text: `opaque (signed)`."""
        raw = self.block.raw
        blocks = raw if isinstance(raw, list) else [raw]
        sealed = [word for field, word in _SEALS if any(isinstance(one, dict) and one.get(field) for one in blocks)]
        return f"opaque ({' and '.join(sealed)}), sent back unchanged" if sealed else "plain, sent back unchanged"

    @property
    def is_readable(self) -> bool:
        return not self.text.endswith(UNREADABLE)


def compaction_block(raw: Any) -> Opaque:
    """Return what a server sent as a block of a message."""
    return Opaque("compaction", raw)


@dataclass(frozen=True)
class CompactionEndpoint:
    """Request for the server's own compaction: path, conversation fields, further fields and options, and the functions
    that read answer and usage. `limit_field` limits the answer in tokens, "" for none."""

    path: str
    conversation: Callable[[Session, SummaryRequest], Fields]
    read_answer: Callable[[Fields, Usage | None, float], Answer]
    usage: Callable[[object], Usage | None]
    fields: Mapping[str, Any]
    options: Mapping[str, Any]
    limit_field: str = ""

    def body(self, session: Session, request: SummaryRequest, model: str, most: int) -> Fields:
        """Return the body. Raises BadInput if none of the messages can be sent."""
        limit = {self.limit_field: most} if self.limit_field else {}
        return {"model": model, **limit, **self.conversation(session, request), **self.fields}


def endpoint_of(
    connection: Connection, mode: ServerMode, instructions: str = "", keep_tool_uses: int | None = None
) -> CompactionEndpoint:
    """Return the endpoint of a connection. Raises BadInput for a protocol without such compaction."""
    if connection.protocol == "messages":
        fields, betas = _parameters(mode, instructions, keep_tool_uses)
        options = {"headers": {"anthropic-beta": ",".join(betas)}, "params": {"beta": "true"}}
        read = _read_block if mode == "on-demand" else _read_block_over_threshold
        return CompactionEndpoint(
            "/v1/messages", conversation_fields, read, messages_usage, fields, options, "max_tokens"
        )
    if connection.protocol == "responses" and mode == "on-demand":
        return CompactionEndpoint("/responses/compact", _conversation_items, _read_items, responses_usage, {}, {})
    feature = "compaction on the server" if connection.protocol == "chat" else "compaction at a threshold"
    raise BadInput(f"{connection.name} uses a protocol without {feature}; name another connection or summarizer.")


# --- the Messages API -------------------------------------------------------------------------------------------------


def _parameters(mode: ServerMode, instructions: str, keep_tool_uses: int | None) -> tuple[Fields, list[str]]:
    extra = {"instructions": instructions} if instructions.strip() else {}
    if mode == "on-demand":
        return {"compaction": {"type": "summarize", **extra}}, [ON_DEMAND_BETA]
    trigger = {"type": "input_tokens", "value": LEAST_THRESHOLD}
    edits: list[Fields] = [{"type": "compact_20260112", "trigger": trigger, "pause_after_compaction": True, **extra}]
    betas = [THRESHOLD_BETA]
    if keep_tool_uses is not None:
        edits.insert(0, clear_tool_uses(keep_tool_uses))
        betas.append(CLEAR_BETA)
    return {"context_management": {"edits": edits}}, betas


def clear_tool_uses(keep: int) -> Fields:
    """Return the edit that clears all but the newest `keep` tool results, whatever the size of the context."""
    return {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "tool_uses", "value": keep + 1},
        "keep": {"type": "tool_uses", "value": keep},
    }


def conversation_fields(session: Session, request: SummaryRequest) -> Fields:
    """Return the `system`, `tools` and messages to send, with an earlier summary first.

    Raises BadInput if none of the messages can be sent.
    """
    body = messages_fields(session, request.messages)
    return {**body, "messages": [*_earlier_summary(request), *body["messages"]]}


def _earlier_summary(request: SummaryRequest) -> list[Fields]:
    if not request.previous:
        return []
    return [{"role": "user", "content": f"<earlier_summary>\n{request.previous}\n</earlier_summary>"}]


def _read_block(response: Fields, usage: Usage | None, seconds: float, hint: str = "") -> Answer:
    content = response.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    block = next((block for block in blocks if block.get("type") == "compaction"), None)
    stop = response.get("stop_reason")
    if stop == "refusal":
        return SummaryFailed("refused", "the model refused to summarize")
    if block is None and stop == "max_tokens":
        return SummaryFailed("truncated", "the answer reached the limit of output tokens before it held a summary")
    if block is None:
        return SummaryFailed("error", f"the server did not compact (stop reason {stop}){hint}")
    text = block.get("content")
    if not isinstance(text, str) or not text.strip():
        if not block.get("encrypted_content"):
            return SummaryFailed("empty", "the server could not make a summary: its compaction block has no content")
        text = UNREADABLE
    return ServerSummary(text, str(response.get("model") or ""), usage, seconds, block=compaction_block(block))


def _read_block_over_threshold(response: Fields, usage: Usage | None, seconds: float) -> Answer:
    return _read_block(response, usage, seconds, f"; it needs at least {grouped(LEAST_THRESHOLD)} tokens of head")


def messages_usage(billed: object) -> Usage | None:
    """Return the recorded usage, including the compaction itself, which is listed among the iterations and not in the
    totals. None if missing. Raises ImpossibleUsage."""
    if not isinstance(billed, dict):
        return None
    iterations = billed.get("iterations")
    several = iterations if isinstance(iterations, list) else []
    extra = [entry for entry in several if isinstance(entry, dict) and entry.get("type") == "compaction"]

    def total(name: str) -> int:
        return sum(token_figure(entry, name) or 0 for entry in (billed, *extra))

    return _usage_or_none(
        Usage(
            total("input_tokens"),
            total("output_tokens"),
            total("cache_read_input_tokens"),
            total("cache_creation_input_tokens"),
        )
    )


# --- the Responses API ------------------------------------------------------------------------------------------------


def _conversation_items(session: Session, request: SummaryRequest) -> Fields:
    """Return the conversation as items, without tools, which the endpoint does not accept."""
    fields = responses_fields(session, request.messages)
    fields.pop("tools", None)
    return {**fields, "input": [*_earlier_summary(request), *fields["input"]]}


def _read_items(response: Fields, usage: Usage | None, seconds: float) -> Answer:
    output = response.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    sealed = next((item for item in items if item.get("type") in ("compaction", "compaction_summary")), None)
    if sealed is None:
        return SummaryFailed("error", "the server did not compact: its answer has no compaction item")
    if not sealed.get("encrypted_content"):
        return SummaryFailed("empty", "the server could not make a summary: its compaction item has no content")
    texts = [text for item in items for text in _texts(item.get("content"))]
    return ServerSummary(
        "\n\n".join([*texts, UNREADABLE]),
        str(response.get("model") or ""),
        usage,
        seconds,
        block=compaction_block(output),
    )


def _texts(content: object) -> Sequence[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def responses_usage(billed: object) -> Usage | None:
    """Return the recorded usage of a compacted response, None if missing. Raises ImpossibleUsage."""
    if not isinstance(billed, dict):
        return None
    details = billed.get("input_tokens_details")
    cached = token_figure(details, "cached_tokens") or 0
    sent = token_figure(billed, "input_tokens") or 0
    return _usage_or_none(Usage(max(0, sent - cached), token_figure(billed, "output_tokens") or 0, cache_read=cached))


def _usage_or_none(usage: Usage) -> Usage | None:
    return usage if usage.context or usage.output else None
