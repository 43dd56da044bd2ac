"""Write Inspect logs: the log with one sample and other messages in it.

Only `messages` changes. Scores, events and output still describe the earlier run, which a mark in the sample's
`metadata` records. The kind of a message goes into its `metadata`. Texts are written as parts: where Inspect joins
turns it merges plain texts, but not parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.agent_texts import kind_of
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_object, texts_of, writable
from workbench.formats.kit.document import Item, ToItems, elements, new_name, pieces, render, splice
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.marks import MARK, STALE_USAGE
from workbench.formats.kit.settle import settled
from workbench.formats.loss import Losses
from workbench.session import Block, Message, Opaque, Role, Session, Text, Thinking, ToolResult, ToolUse

_ID = "inspect"
_NOT_RESUMABLE = "an Inspect log is a record: its viewer shows it, no agent resumes it"


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the messages of the loaded log's sample; from another format, write a new log of one sample."""
    name = new_name(session.path)
    losses: Losses = []
    if session.format == _ID:
        data, id = session.records.data, session.id
        if list(messages) == list(session.context()):
            return Written(data, name, id, by_hand=_NOT_RESUMABLE)
        names = {call.id: call.name for message in session.messages for call in message.calls}
        new_pieces = pieces(session.messages, messages, _renderer(names, own=True), losses)
    else:
        settled_messages, more = settled(messages, None)
        losses.extend(more)
        if session.system:
            settled_messages.insert(0, Message("system", "system", (Text(session.system),)))
        id = session.id or str(uuid4())
        data = render(_log(session, id))
        new_pieces = pieces((), settled_messages, _renderer({}, own=False), losses)
    sample = splice(elements(data, "samples")[0], "messages", new_pieces)
    if session.format == _ID:
        metadata = field_of(sample, "metadata") or b""
        marked_metadata = replace_fields(metadata if metadata.startswith(b"{") else b"{}", {STALE_USAGE: b"true"})
        sample = replace_fields(sample, {"metadata": marked_metadata})
    return Written(splice(data, "samples", [sample]), name, id, by_hand=_NOT_RESUMABLE, losses=losses)


def _log(session: Session, id: str) -> Item:
    """Return the smallest log that Inspect's loader accepts."""
    run = {"run_id": id, "created": iso(), "task": session.title or "session", "task_id": id, "dataset": {}}
    sample = {"id": 1, "epoch": 1, "input": session.title or "", "target": "", "messages": [], "uuid": id}
    return {
        "version": 2,
        "status": "success",
        "eval": run | {"model": session.model or "none", "config": {}},
        "plan": {},
        "stats": {},
        "samples": [sample],
    }


def _renderer(names: dict[str, str], *, own: bool) -> ToItems:
    def render_message(message: Message, losses: Losses) -> list[Item]:
        names.update((call.id, call.name) for call in message.calls)
        items = [_result(result, names, losses) for result in message.results]
        rest = tuple(block for block in message.blocks if not isinstance(block, ToolResult))
        item = _item(message, rest, losses, own)
        return [*items, item] if item["content"] or "tool_calls" in item else items

    return render_message


def _result(result: ToolResult, names: dict[str, str], losses: Losses) -> Item:
    texts = texts_of(result, losses)
    item: Item = {"role": "tool", "tool_call_id": result.call_id, "content": [_text(text) for text in texts]}
    item |= {"function": names[result.call_id]} if result.call_id in names else {}
    return item | ({"error": {"type": "unknown", "message": result.text}} if result.is_error else {})


def _text(text: str) -> Item:
    return {"type": "text", "text": text}


def _item(message: Message, blocks: tuple[Block, ...], losses: Losses, own: bool) -> Item:
    role: Role = "user" if message.role == "tool" else message.role
    parts: list[Item] = []
    calls: list[Item] = []

    def keeps(block: Thinking | Opaque) -> bool:
        if isinstance(block, Thinking):
            return own or bool(block.text)
        return own and isinstance(block.raw, dict) and block.type != "tool_call"

    for block in writable(blocks, losses, keeps):
        match block:
            case Text(text):
                parts.append(_text(text))
            case Thinking(text, signature) if own and signature:
                summary = {"summary": text} if text else {}
                parts.append({"type": "reasoning", "reasoning": signature, **summary, "redacted": True})
            case Thinking(text):
                parts.append({"type": "reasoning", "reasoning": text, "redacted": False})
            case ToolUse(id, name, input):
                arguments = as_object(input)
                calls.append({"id": id, "function": name, "arguments": arguments})
            case Opaque(_, raw):
                parts.append(raw)
    item: Item = {"role": role, "content": parts}
    if message.kind != kind_of(role, tuple(Text(p["text"]) if "text" in p else Thinking("") for p in parts)):
        item["metadata"] = {MARK: message.kind}
    return item | ({"tool_calls": calls} if calls and role == "assistant" else {})
