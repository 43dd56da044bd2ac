"""Write LangChain messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.formats.agent_texts import kind_of
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_object, content_of, to_anthropic
from workbench.formats.kit.document import Item, ToItems, elements, new_name, parse, pieces, splice, with_unread
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.marks import MARK, STALE_USAGE, in_document
from workbench.formats.kit.settle import as_user_message, has_content, settled, system_prompt
from workbench.formats.langchain import FORMS, ID, form_of, items_of, place_of
from workbench.formats.langchain.read import SUMMARY
from workbench.formats.loss import Losses, loss_of
from workbench.session.message import Block, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from workbench.session.session import Session

_NAMES: dict[Role, tuple[str, str]] = {
    "user": ("human", "HumanMessage"),
    "assistant": ("ai", "AIMessage"),
    "system": ("system", "SystemMessage"),
    "tool": ("tool", "ToolMessage"),
}


_BILLS = (b'"usage_metadata"', b'"token_usage"', b'"usage"')
_STALE_MARK = in_document(STALE_USAGE, *((*form, "additional_kwargs") for form in FORMS))
_FORMS = ("constructor", "type and data", "flat")


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the messages of the loaded list; from another format, write a list of constructors."""
    name = new_name(session.path)
    losses: Losses = []
    if session.format != ID:
        prompt, rest = system_prompt(session, messages)
        settled_messages, role_losses = settled(rest, "anthropic-messages")
        losses.extend(role_losses)
        if prompt:
            settled_messages.insert(0, Message("system", "system", (Text(prompt),)))
        found = pieces((), settled_messages, _renderer(own=False, form="constructor"), losses)
        return Written(splice(b"[]", None, found), name, losses=losses)
    data = session.records.data
    if list(messages) == list(session.context()):
        return Written(data, name)
    document, _ = parse(session.path or Path(), data)
    forms = {form_of(item) for item in items_of(document) or ()}
    form = next((form for form in _FORMS if form in forms), "constructor")
    # Chat models may accept only one system message, in front.
    accepted = [
        message if message.source or message.role != "system" else as_user_message(message) for message in messages
    ]
    found = pieces(session.messages, accepted, _renderer(own=True, form=form), losses)
    found = _with_stale_mark(_elements(data, place_of(document) or ()), with_unread(found, session.facts.unread))
    return Written(_spliced(data, place_of(document) or (), found), name, losses=losses)


def _with_stale_mark(raws: Sequence[bytes], found: list[int | bytes]) -> list[int | bytes]:
    """Mark the newest kept usage as stale: it and earlier ones count another context."""
    billed = (
        n for n, at in reversed([*enumerate(found)]) if isinstance(at, int) and any(k in raws[at] for k in _BILLS)
    )
    if (newest := next(billed, None)) is not None and isinstance(at := found[newest], int):
        found[newest] = _STALE_MARK.put(raws[at], b"true") or at
    return found


def _elements(data: bytes, place: tuple[str, ...]) -> list[bytes]:
    """Return the messages of the list at `place`."""
    for key in place:
        data = field_of(data, key) or b"[]"
    return elements(data, None)


def _spliced(data: bytes, place: tuple[str, ...], found: list[int | bytes]) -> bytes:
    """Return the document with these pieces as the list at `place`."""
    if len(place) < 2:
        return splice(data, place[0] if place else None, found)
    inner = field_of(data, place[0]) or b"{}"
    return replace_fields(data, {place[0]: _spliced(inner, place[1:], found)})


def _renderer(*, own: bool, form: str) -> ToItems:
    def rendered(message: Message, losses: Losses) -> list[Item]:
        items: list[tuple[Role, Item]] = [("tool", _result(result, losses)) for result in message.results]
        others = [block for block in message.blocks if not isinstance(block, ToolResult)]
        if others or not items:
            role: Role = "user" if message.role == "tool" else message.role
            fields = _message_fields(message, role, others, losses, own)
            items += [(role, fields)] if own or has_content(replace(message, blocks=tuple(others))) else []
        return [_in_form(role, fields, form) for role, fields in items]

    return rendered


def _in_form(role: Role, fields: Item, form: str) -> Item:
    short, long = _NAMES[role]
    if form == "flat":
        return fields | {"type": short}
    if form == "type and data":
        return {"type": short, "data": fields | {"type": short}}
    where = ["langchain", "schema", "messages", long]
    return {"lc": 1, "type": "constructor", "id": where, "kwargs": fields | {"type": short}}


def _result(result: ToolResult, losses: Losses) -> Item:
    status = "error" if result.is_error else "success"
    return {"content": content_of(result, losses), "tool_call_id": result.call_id, "status": status}


def _message_fields(message: Message, role: Role, blocks: Sequence[Block], losses: Losses, own: bool) -> Item:
    content: list[Any] = []
    calls: list[ToolUse] = []
    for place, block in enumerate(blocks):
        if isinstance(block, ToolUse):
            calls.append(block)
            if not all(isinstance(later, ToolUse) for later in blocks[place:]):
                content.append(to_anthropic(block, losses))
        elif isinstance(block, Thinking) and not own:
            losses.append(loss_of(block))
        elif isinstance(block, Thinking) and not block.signature:
            content.append({"type": "reasoning", "reasoning": block.text})
        elif isinstance(block, Opaque) and not (own and isinstance(block.raw, dict)):
            losses.append(loss_of(block))
        elif not isinstance(block, Text) or block.text:
            content.append(to_anthropic(block, losses))
    plain = [part["text"] for part in content if part.get("type") == "text" and isinstance(part.get("text"), str)]
    fields: Item = {"content": "".join(plain) if len(content) <= 1 and len(plain) == len(content) else content}
    extra: Item = {}
    if message.kind == "summary" and role == "user":
        extra = dict(SUMMARY)
    elif message.kind != kind_of(role, tuple(blocks)):
        extra = {MARK: message.kind}
    fields |= {"additional_kwargs": extra, "response_metadata": {}}
    if role == "assistant":
        bad = [call for call in calls if own and not isinstance(call.input, dict)]
        fields["tool_calls"] = [
            {"name": c.name, "args": as_object(c.input), "id": c.id, "type": "tool_call"} for c in calls if c not in bad
        ]
        fields["invalid_tool_calls"] = [
            {"name": c.name, "args": c.input, "id": c.id, "error": None, "type": "invalid_tool_call"} for c in bad
        ]
    return fields
