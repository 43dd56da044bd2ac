"""Write OpenAI Chat bodies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_object, content_of, writable
from workbench.formats.kit.chat import definitions_for
from workbench.formats.kit.document import new_name, pieces, render, splice
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.settle import settled
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.openai_chat import ID
from workbench.formats.openai_chat.read import SUMMARY_NAME
from workbench.session.message import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Session

_BOM = b"\xef\xbb\xbf"


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the messages of the loaded document; from another format, write a new body."""
    if session.format == ID:
        return _spliced(session, messages)
    settled_messages, losses = settled(messages, "openai-chat")
    items: list[dict[str, Any]] = [{"role": "system", "content": session.system}] if session.system else []
    for message in settled_messages:
        items += rendered(message, losses, own=False)
    tools = [
        {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
        for name, description, schema in definitions_for(session.tools, settled_messages)
    ]
    body = {"model": session.model or "", **({"tools": tools} if tools else {}), "messages": items}
    return Written(render(body), new_name(session.path), losses=losses)


def _spliced(session: Session, messages: Sequence[Message]) -> Written:
    data = session.records.data
    if list(messages) == list(session.context()):
        return Written(data, new_name(session.path))
    losses: Losses = []
    found = pieces(session.messages, messages, partial(rendered, own=True), losses)
    key = None if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[") else "messages"
    return Written(_without_answer(splice(data, key, found)), new_name(session.path), losses=losses)


def _without_answer(data: bytes) -> bytes:
    """Remove the response of a LiteLLM log: it answered other messages, and is among the messages if kept."""
    bom = _BOM if data.startswith(_BOM) else b""
    body = data.removeprefix(_BOM)
    response = field_of(body, "response") if body.lstrip().startswith(b"{") else None
    if response is None or not response.startswith(b"{") or field_of(response, "choices") is None:
        return data
    return bom + replace_fields(body, {"response": replace_fields(response, {"choices": b"[]"})})


def rendered(message: Message, losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """Return the API messages of one message: one for each tool result, and one for the rest.

    `own`: unknown blocks come from this format, and may be written back.
    """
    items = [_result(result, losses) for result in message.results]
    parts: list[dict[str, Any]] = []

    def keeps(block: Thinking | Opaque) -> bool:
        return own and isinstance(block, Opaque) and isinstance(block.raw, dict)

    for block in writable(message.blocks, losses, keeps):
        if isinstance(block, Text):
            parts.append({"type": "text", "text": block.text})
        elif isinstance(block, Opaque):
            parts.append(block.raw)
    calls = [_call(call, own) for call in message.calls] if message.role == "assistant" else []
    if parts or calls:
        role = "user" if message.role == "tool" else message.role
        text = parts[0].get("text") if len(parts) == 1 and parts[0].get("type") == "text" else None
        content = text if isinstance(text, str) else parts or None
        item = {"role": role, "content": content}
        item |= {"name": SUMMARY_NAME} if message.kind == "summary" else {}
        items.append(item | ({"tool_calls": calls} if calls else {}))
    return items


def _result(result: ToolResult, losses: Losses) -> dict[str, Any]:
    if result.is_error:
        losses.append(Loss(LossKind.ERROR_MARKS, details=("the Chat API",)))
    return {"role": "tool", "tool_call_id": result.call_id, "content": content_of(result, losses)}


def _call(call: ToolUse, own: bool) -> dict[str, Any]:
    arguments = call.input if own and isinstance(call.input, str) else render(as_object(call.input)).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
