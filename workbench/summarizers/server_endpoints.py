"""How each protocol asks a server for its own compaction, and what comes back.

Messages: a `compaction` block, on demand (`compaction={"type": "summarize"}`) or at a threshold (`context_management`
with the edit `compact_20260112`, set to its least threshold); betas both. Responses: `responses.compact`, whose output
is the user's messages and one item that only the server can read; all of it is the new beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.formats.anthropic_messages.signature import ID as ANTHROPIC
from workbench.formats.openai_responses.signature import ID as RESPONSES
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
"""What a request names that sends a compaction block back, whichever way it was made."""

LEAST_THRESHOLD = 50_000
"""Input tokens below which `compact_20260112` cannot be made to work; a smaller head comes back uncompacted."""

UNREADABLE = "[The server's summary is encrypted: it can be sent back, but not read.]"

_SEALS = (("signature", "signed"), ("encrypted_content", "encrypted"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSummary(Summary):
    """A summary that the server made. `text` is what can be read of `block`, which holds exactly what the server sent:
    a block of the Messages API, or the list of items of a compacted response.

    An edited draft is an ordinary `Summary`: a signed block with another text would be refused.
    """

    block: Opaque

    @property
    def goes_into(self) -> str:
        """The one format that takes the block."""
        return RESPONSES if isinstance(self.block.raw, list) else ANTHROPIC

    @property
    def about_block(self) -> str:
        """What can be said of the block beside its text: `opaque (signed)`."""
        raw = self.block.raw
        blocks = raw if isinstance(raw, list) else [raw]
        sealed = [word for field, word in _SEALS if any(isinstance(one, dict) and one.get(field) for one in blocks)]
        return f"opaque ({' and '.join(sealed)}), sent back unchanged" if sealed else "plain, sent back unchanged"

    @property
    def can_be_read(self) -> bool:
        return not self.text.endswith(UNREADABLE)


def compaction_block(raw: Any) -> Opaque:
    """What a server sent, as a block of a message."""
    return Opaque("compaction", raw)


@dataclass(frozen=True)
class CompactionEndpoint:
    """A request for the server's own compaction: where it goes, with which fields and options beside the conversation;
    and how its answer and its bill are read. `most` names the field that bounds the answer, "" for none."""

    path: str
    conversation: Callable[[Session, SummaryRequest], Fields]
    said: Callable[[Fields, Usage | None, float], Answer]
    usage: Callable[[object], Usage | None]
    fields: Mapping[str, Any]
    options: Mapping[str, Any]
    most: str = ""

    def body(self, session: Session, request: SummaryRequest, model: str, most: int) -> Fields:
        """All that is sent. Raises BadInput when nothing of the messages can be."""
        limit = {self.most: most} if self.most else {}
        return {"model": model, **limit, **self.conversation(session, request), **self.fields}


def endpoint_of(
    whom: Connection, way: ServerMode, instructions: str = "", keep_tool_uses: int | None = None
) -> CompactionEndpoint:
    """Raises BadInput for a protocol that knows no such compaction."""
    if whom.protocol == "messages":
        fields, betas = _parameters(way, instructions, keep_tool_uses)
        options = {"headers": {"anthropic-beta": ",".join(betas)}, "params": {"beta": "true"}}
        read = _read_block if way == "on-demand" else _read_block_over_threshold
        return CompactionEndpoint(
            "/v1/messages", conversation_fields, read, messages_usage, fields, options, "max_tokens"
        )
    if whom.protocol == "responses" and way == "on-demand":
        return CompactionEndpoint("/responses/compact", _conversation_items, _read_items, responses_usage, {}, {})
    asked = "compaction on the server" if whom.protocol == "chat" else "compaction at a threshold"
    raise BadInput(f"{whom.name} uses a protocol without {asked}; name another connection or summarizer.")


# --- the Messages API -------------------------------------------------------------------------------------------------


def _parameters(way: ServerMode, instructions: str, keep_tool_uses: int | None) -> tuple[Fields, list[str]]:
    more = {"instructions": instructions} if instructions.strip() else {}
    if way == "on-demand":
        return {"compaction": {"type": "summarize", **more}}, [ON_DEMAND_BETA]
    trigger = {"type": "input_tokens", "value": LEAST_THRESHOLD}
    edits: list[Fields] = [{"type": "compact_20260112", "trigger": trigger, "pause_after_compaction": True, **more}]
    betas = [THRESHOLD_BETA]
    if keep_tool_uses is not None:
        edits.insert(0, clear_tool_uses(keep_tool_uses))
        betas.append(CLEAR_BETA)
    return {"context_management": {"edits": edits}}, betas


def clear_tool_uses(keep: int) -> Fields:
    """The edit that clears all but the newest `keep` tool results, whatever the size of the context."""
    return {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "tool_uses", "value": keep + 1},
        "keep": {"type": "tool_uses", "value": keep},
    }


def conversation_fields(session: Session, request: SummaryRequest) -> Fields:
    """What is sent of a session: `system`, `tools` and the request's messages, an earlier summary before them.

    Raises BadInput when nothing of the messages can be sent.
    """
    body = messages_fields(session, request.messages)
    return {**body, "messages": [*_earlier(request), *body["messages"]]}


def _earlier(request: SummaryRequest) -> list[Fields]:
    if not request.previous:
        return []
    return [{"role": "user", "content": f"<earlier_summary>\n{request.previous}\n</earlier_summary>"}]


def _read_block(got: Fields, usage: Usage | None, seconds: float, least: str = "") -> Answer:
    content = got.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    block = next((block for block in blocks if block.get("type") == "compaction"), None)
    stop = got.get("stop_reason")
    if stop == "refusal":
        return SummaryFailed("refused", "the model refused to summarize")
    if block is None and stop == "max_tokens":
        return SummaryFailed("truncated", "the answer reached the limit of output tokens before it held a summary")
    if block is None:
        return SummaryFailed("error", f"the server did not compact (stop reason {stop}){least}")
    text = block.get("content")
    if not isinstance(text, str) or not text.strip():
        if not block.get("encrypted_content"):
            return SummaryFailed("empty", "the server could not make a summary: its compaction block has no content")
        text = UNREADABLE
    return ServerSummary(text, str(got.get("model") or ""), usage, seconds, block=compaction_block(block))


def _read_block_over_threshold(got: Fields, usage: Usage | None, seconds: float) -> Answer:
    return _read_block(got, usage, seconds, f"; it needs at least {grouped(LEAST_THRESHOLD)} tokens of head")


def messages_usage(billed: object) -> Usage | None:
    """All that was billed: the compaction itself is listed among the iterations, outside the totals. None where nothing
    is said to be. Raises ImpossibleUsage."""
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
    """The same as items. It takes no tools."""
    fields = responses_fields(session, request.messages)
    fields.pop("tools", None)
    return {**fields, "input": [*_earlier(request), *fields["input"]]}


def _read_items(got: Fields, usage: Usage | None, seconds: float) -> Answer:
    output = got.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    sealed = next((item for item in items if item.get("type") in ("compaction", "compaction_summary")), None)
    if sealed is None:
        return SummaryFailed("error", "the server did not compact: its answer has no compaction item")
    if not sealed.get("encrypted_content"):
        return SummaryFailed("empty", "the server could not make a summary: its compaction item has no content")
    said = [text for item in items for text in _texts(item.get("content"))]
    return ServerSummary(
        "\n\n".join([*said, UNREADABLE]), str(got.get("model") or ""), usage, seconds, block=compaction_block(output)
    )


def _texts(content: object) -> Sequence[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def responses_usage(billed: object) -> Usage | None:
    """The same of a compacted response."""
    if not isinstance(billed, dict):
        return None
    details = billed.get("input_tokens_details")
    cached = token_figure(details, "cached_tokens") or 0
    sent = token_figure(billed, "input_tokens") or 0
    return _usage_or_none(Usage(max(0, sent - cached), token_figure(billed, "output_tokens") or 0, cache_read=cached))


def _usage_or_none(usage: Usage) -> Usage | None:
    return usage if usage.context or usage.output else None
