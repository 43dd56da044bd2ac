"""Convert between goose's message content and our blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.formats.kit.blocks import as_object, as_text, in_result, named, writable
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.loss import Losses
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from workbench.session.images import media_of

INVALID = "invalid_call"
"""Name for a malformed call of the model: goose records only the error."""

_DISPLAY_ONLY = ("systemNotification", "toolConfirmationRequest", "actionRequired", "conversationCompacted")
"""Content types that goose displays but never sends."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """Storage of a loaded session: `form` (document, lines or database), and its `session_fields`, with the keys of an
    export."""

    form: str
    session_fields: Mapping[str, Any]


def is_sent(content: Any) -> bool:
    """True for content of which any part is sent to the model."""
    return any(
        isinstance(item, dict) and item.get("type") not in _DISPLAY_ONLY and _is_for_model(item)
        for item in list_of(content)
    )


def blocks_of(content: Any) -> tuple[Block, ...]:
    """Return the blocks of a message: those that are sent, or all if none is."""
    items = list_of(content)
    sent = [
        item
        for item in items
        if not isinstance(item, dict) or (item.get("type") not in _DISPLAY_ONLY and _is_for_model(item))
    ]
    return tuple(_block(item) for item in sent or items)


def _is_for_model(item: Mapping[str, Any]) -> bool:
    """False for content whose audience is the user alone."""
    notes = item.get("annotations")
    audience = notes.get("audience") if isinstance(notes, dict) else None
    return not isinstance(audience, list) or not audience or "assistant" in audience


def _block(item: Any) -> Block:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "text" and isinstance(item.get("text"), str):
        return Text(item["text"])
    if kind == "image":
        return media_of(as_text(item.get("mimeType") or "image"), as_text(item.get("data", "")))
    if kind == "thinking" and isinstance(item.get("thinking"), str):
        signature = item.get("signature")
        return Thinking(item["thinking"], text_of(signature))
    if kind in ("toolRequest", "frontendToolRequest") and isinstance(item.get("id"), str):
        return _call(item["id"], item.get("toolCall"))
    if kind == "toolResponse" and isinstance(item.get("id"), str):
        return _result(item["id"], item.get("toolResult"))
    return Opaque(kind if isinstance(kind, str) else type(item).__name__, item)


def _call(id: str, call: Any) -> ToolUse:
    value = call.get("value") if isinstance(call, dict) else None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        error = call.get("error", call) if isinstance(call, dict) else call
        return ToolUse(id, INVALID, as_text(error))
    arguments = value.get("arguments")
    return ToolUse(
        id, value["name"], arguments if isinstance(arguments, dict) else {} if arguments is None else as_text(arguments)
    )


def _result(id: str, result: Any) -> ToolResult:
    """Return a result. Its value is a list of contents, or (newer) an object with one and `isError`."""
    value = result.get("value") if isinstance(result, dict) else result
    if isinstance(result, dict) and result.get("status") == "error":
        return ToolResult(id, (Text(as_text(result.get("error", ""))),), is_error=True)
    failed = isinstance(value, dict) and value.get("isError") is True
    items = value.get("content") if isinstance(value, dict) else value
    parts: list[Text | Media] = []
    for item in items if isinstance(items, list) else [] if items is None else [items]:
        if isinstance(item, dict) and not _is_for_model(item):
            continue
        block = _block(item)
        parts.append(in_result(block, item))
    return ToolResult(id, tuple(parts), failed)


def render_content(message: Message, losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """Render the content of a new message. `own`: unknown blocks come from this format."""
    content: list[dict[str, Any]] = []

    def keeps(block: Thinking | Opaque) -> bool:
        return own and (isinstance(block, Thinking) or isinstance(dict_of(block.raw).get("type"), str))

    for block in writable(message.blocks, losses, keeps):
        match block:
            case Text(text):
                content.append({"type": "text", "text": text})
            case ToolUse(id, name, input):
                content.append({"type": "toolRequest", "id": id, "toolCall": _render_call(name, input)})
            case ToolResult(id, parts, failed):
                value = {"content": [_render_part(part, losses) for part in parts], "isError": failed}
                result = {"status": "success", "value": value}
                content.append({"type": "toolResponse", "id": id, "toolResult": result})
            case Thinking(text, signature):
                content.append({"type": "thinking", "thinking": text, "signature": signature})
            case Opaque(_, raw):
                content.append(raw)
    return content


def _render_call(name: str, input: dict[str, Any] | str) -> dict[str, Any]:
    if name == INVALID and isinstance(input, str):
        return {"status": "error", "error": input}
    arguments = as_object(input)
    return {"status": "success", "value": {"name": name, "arguments": arguments}}


def _render_part(part: Text | Media, losses: Losses) -> dict[str, Any]:
    return {"type": "text", "text": named(part, losses) if isinstance(part, Media) else part.text}
