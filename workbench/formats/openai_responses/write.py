"""Write OpenAI Responses bodies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from workbench.formats.agent_texts import kind_of
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_object, content_of, holds_compaction, writable
from workbench.formats.kit.chat import definitions_for
from workbench.formats.kit.document import Item, new_name, parse, pieces, render, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.settle import settled
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.openai_responses import ID
from workbench.formats.openai_responses.kinds import id_of, with_kinds_in_metadata
from workbench.formats.openai_responses.read import COMPACTIONS
from workbench.session.message import Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Session


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the items of the loaded document; from another format, write a new request body."""
    name = new_name(session.path)
    losses: Losses = []
    if session.format != ID:
        settled_messages, role_losses = settled(messages, "openai-responses")
        losses.extend(role_losses)
        found, metadata = with_kinds_in_metadata(
            pieces((), settled_messages, partial(_rendered, own=False), losses), {}
        )
        items = [json.loads(piece) for piece in found if isinstance(piece, bytes)]
        tools = [
            {"type": "function", "name": name, "description": description, "parameters": schema, "strict": False}
            for name, description, schema in definitions_for(session.tools, settled_messages)
        ]
        body = {"model": session.model or "", **({"instructions": session.system} if session.system else {})}
        body |= {"input": items} | ({"tools": tools} if tools else {}) | ({"metadata": metadata} if metadata else {})
        return Written(render(body), name, losses=losses)
    data = session.records.data
    id = session.id
    if list(messages) == list(session.context()):
        return Written(data, name, id)
    found = pieces(session.messages, messages, partial(_rendered, own=True), losses)
    body = dict_of(parse(session.path or Path(), data)[0])
    key = "input" if "input" in body else "output" if "output" in body else None
    if key:
        found, metadata = with_kinds_in_metadata(found, body)
        data = data if metadata is None else replace_fields(data, {"metadata": render(metadata)})
    if key and isinstance(body[key], str):
        first = render({"role": "user", "content": body[key]})
        parts = [piece if isinstance(piece, bytes) else first for piece in found]
        return Written(replace_fields(data, {key: b"[" + b",".join(parts) + b"]"}), name, id, losses=losses)
    return Written(splice(data, key, found), name, id, losses=losses)


def _rendered(message: Message, losses: Losses, *, own: bool) -> list[Item]:
    """Return the items of one message: its results, reasoning, text and calls.

    `own`: reasoning and unknown blocks come from this format, and may be written back.
    """
    items: list[Item] = []
    texts: list[str] = []
    others: list[Item] = []

    def keeps(block: Thinking | Opaque) -> bool:
        if isinstance(block, Thinking):
            return own and bool(block.signature)
        if own and isinstance(block.raw, dict) and (block.type in COMPACTIONS or block.type.endswith("call")):
            return True
        return isinstance(block.raw, list) and holds_compaction(block.raw)  # the server's own compaction

    for block in writable(message.blocks, losses, keeps):
        match block:
            case ToolResult(call_id):
                if block.is_error:
                    losses.append(Loss(LossKind.ERROR_MARKS, details=("the Responses API",)))
                output = content_of(block, losses, "input_text")
                items.append({"type": "function_call_output", "call_id": call_id, "output": output})
            case Thinking(text, signature):
                summary = [{"type": "summary_text", "text": text}] if text else []
                items.append({"type": "reasoning", "summary": summary, "encrypted_content": signature})
            case Text(text):
                texts.append(text)
            case ToolUse(id, name, input) if message.role == "assistant":
                arguments = input if own and isinstance(input, str) else render(as_object(input)).decode()
                others.append({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
            case Opaque(_, raw):
                others += raw if isinstance(raw, list) else [raw]
    return [*items, *_text_items(message, texts), *others]


def _text_items(message: Message, texts: list[str]) -> list[Item]:
    if not texts:
        return []
    role: Role = "user" if message.role == "tool" else message.role
    plain: Item = {"role": role, "content": texts[0]}
    shown = kind_of(role, tuple(map(Text, texts)))
    if len(texts) == 1 and shown == message.kind:
        return [plain]
    part: Item = {"type": "output_text", "annotations": []} if role == "assistant" else {"type": "input_text"}
    item: Item = {"type": "message", "role": role, "content": [part | {"text": text} for text in texts]}
    if role == "assistant" or shown != message.kind:
        item["id"] = id_of(message)
    if role == "assistant":
        item["status"] = "completed"
    return [item]
