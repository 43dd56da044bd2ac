"""Kept messages of pydantic-ai, and new ones in the JSON that its adapter reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.formats.kit.blocks import as_object
from workbench.formats.kit.document import Item
from workbench.formats.kit.document import pieces as pieces_of
from workbench.formats.loss import Losses
from workbench.session import Block, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse


def pieces(session: Session, items: Sequence[Item], messages: Sequence[Message]) -> list[int | bytes]:
    """Indexes of the items that stay whole, and the JSON of new ones. A request of which only a part stays, or stays
    in fewer words, keeps its other fields: its instructions go to the model."""
    names = {call.id: call.name for message in session.messages for call in message.calls}
    before = {message.id: items[message.source[0]] for message in session.messages if message.source}

    def rendered(message: Message, losses: Losses) -> list[Item]:
        answers = message.role == "assistant"
        parts = [part for block in message.blocks for part in _parts(block, message, names)]
        fields = {name: value for name, value in before.get(message.id, {}).items() if name in _LASTING}
        return [{**fields, "kind": "response" if answers else "request", "parts": parts}] if parts else []

    return pieces_of(session.messages, messages, rendered, [])


_LASTING = ("instructions", "timestamp", "run_id", "conversation_id", "model_name", "metadata")


def _parts(block: Block, message: Message, names: Mapping[str, str]) -> Iterator[Item]:
    said = {"assistant": "text", "system": "system-prompt"}.get(message.role, "user-prompt")
    match block:
        case Text(text) if text:
            yield {"part_kind": said, "content": text}
        case Thinking(text, signature):
            yield {"part_kind": "thinking", "content": text, "signature": signature or None}
        case ToolUse(id, name, given):
            yield {"part_kind": "tool-call", "tool_name": name, "args": as_object(given), "tool_call_id": id}
        case ToolResult(of, _, is_error):
            outcome: dict[str, Any] = {"outcome": "failed"} if is_error else {}
            part = {"part_kind": "tool-return", "tool_name": names.get(of, ""), "tool_call_id": of}
            yield {**part, "content": block.text, **outcome}
        case Opaque(_, raw) if isinstance(raw, dict):
            yield raw
