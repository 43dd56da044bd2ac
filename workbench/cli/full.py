"""`--full`: every message of a context, and the requests as sent, as JSON for programs.

Secrets are masked later, when the document is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.cli.output import plain
from workbench.compaction.context import Context
from workbench.compaction.outcome import KeptSpan, Outcome
from workbench.compaction.summary_request import MessagesBody, SummaryRequest
from workbench.session import Block, Media, Message, Session, Text, Thinking, Tool, ToolResult, ToolUse
from workbench.tokens.sizes import Basis, visible_chars

Fields = dict[str, Any]


def of_context(session: Session, context: Context) -> Fields:
    """Return system prompt and tools, and each message with its size."""
    return {
        "system": session.system,
        "tools": [_tool(tool) for tool in session.tools],
        "message_list": [_sized(context, index) for index in range(len(context.messages))],
    }


def of_outcome(context: Context, outcome: Outcome, requests: Sequence[SummaryRequest]) -> Fields:
    """Return every message with its fate, the new context with the messages that each of its messages replaces, and the
    requests. Messages are numbered from 1; `split` is the first message of the tail, None without a tail."""
    fates = [outcome.fate_at(index) for index in range(len(context.messages))]
    has_tail = outcome.split < len(context.messages)
    return {
        "split": outcome.split + 1 if has_tail else None,
        "split_message": context.messages[outcome.split].id if has_tail else None,
        "message_list": [
            {**_sized(context, index), "fate": fate.fate.value, "sent_to_summarizer": fate.saw}
            for index, fate in enumerate(fates)
        ],
        "result_list": _result(context, outcome),
        "requests": [_request(request) for request in requests],
    }


def _result(context: Context, outcome: Outcome) -> list[Fields]:
    found: list[Fields] = []
    for piece in outcome.pieces:
        if isinstance(piece, KeptSpan):
            for index in range(piece.start, piece.stop):
                kept = _sized(context, index)
                found.append({**kept, "number": len(found) + 1, "replaces": [[index + 1, index + 1]]})
        else:
            size = context.layout.measured(piece.message)
            spans = [[span.start + 1, span.stop] for span in piece.replaces]
            found.append({**_message(piece.message, len(found) + 1, size.tokens, size.basis), "replaces": spans})
    return found


def _sized(context: Context, index: int) -> Fields:
    sizes = context.layout.sizes
    return _message(context.messages[index], index + 1, sizes.tokens[index], sizes.basis_of(index))


def _message(message: Message, number: int, tokens: int, basis: Basis) -> Fields:
    sized = {"chars": visible_chars(message), "tokens": tokens, "basis": plain(basis)}
    return {"number": number, **_message_fields(message), **sized}


def _message_fields(message: Message) -> Fields:
    about = {"id": message.id, "role": message.role, "kind": message.kind, "time": message.time, "model": message.model}
    return {**about, "blocks": list(map(_block, message.blocks))}


def _block(block: Block) -> Fields:
    match block:
        case Text(text, injected):
            return {"type": "text", "text": text, "injected": injected}
        case Thinking(text):
            return {"type": "thinking", "text": text}
        case ToolUse(id, name, given):
            return {"type": "call", "id": id, "name": name, "input": given}
        case ToolResult():
            parts = [_block(part) for part in block.content]
            return {"type": "result", "call_id": block.call_id, "is_error": block.is_error, "content": parts}
        case Media(media_type, size):
            return {"type": "media", "media_type": media_type, "bytes": size}
        case _:
            return {"type": "unknown", "name": block.type, "raw": block.raw}


def _tool(tool: Tool) -> Fields:
    return {"name": tool.name, "schema": tool.schema}


def _request(request: SummaryRequest) -> Fields:
    """Return the request as sent: only `text`, or `system`, `tools` and `messages` with `text` as the last user
    message."""
    body = request.body
    about: Fields = {"purpose": request.purpose, "exact": request.exact, "sources": request.sources}
    if not isinstance(body, MessagesBody):
        tools = [_tool(tool) for tool in request.tools]
        return {**about, "shape": "text", "system": "", "tools": tools, "messages": [], "text": request.shown}
    return {
        **about,
        "shape": body.shape,
        "system": body.system,
        "tools": [_tool(tool) for tool in body.tools],
        "messages": [_message_fields(message) for message in body.messages],
        "text": body.last,
    }
