"""Writing a Copilot CLI events file: a new session, one chain of events.

A recorded summary that opens the context is written as it was recorded, behind what the person typed before it: Copilot
CLI frames it with that. Any other summary becomes a message that is sent as it stands, and as no words of the person's.
With the last stretch of kept messages come the events between them, but for sub-agents'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_object, named, texts_of
from workbench.formats.kit.chain import Chain, in_file_order
from workbench.formats.kit.document import render
from workbench.formats.kit.folder import folder_of, moved
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.mark import MARK
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.tail import tail_of
from workbench.formats.loss import Loss, LossKind, loss_of
from workbench.session import Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse

_VERSION = "1.0.74"
"""The version of Copilot CLI for which these events are written; said where the session names none."""

_ENDED = (
    "session.start", "session.resume", "session.compaction_start", "session.compaction_complete", "session.truncation",
    "session.snapshot_rewind", "session.context_cleared", "session.shutdown", "session.usage_record",
)  # fmt: skip
"""Events about a context that is no more, its bills among them."""


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The messages as a new events file; the loaded one if nothing changed. Never raises."""
    own = session.format == "copilot"
    if own and list(messages) == list(session.context()):
        return addressed(session, session.records.data, session.id, [Loss(LossKind.UNCHANGED)])
    sheet = Chain(session, own, _new_id)
    messages = [message for message in messages if message.kind != "boundary"]
    if not own:
        messages, losses = adopted(session, messages, "Copilot CLI", "anthropic-messages")
        sheet.losses += losses
    id = str(uuid4())
    _start(sheet, id)
    first = messages[0] if messages else None
    if own and first is not None and first.kind == "summary" and first.source:
        _compaction(sheet, first)
        messages = messages[1:]
    messages = [message for run in _runs(messages) for message in run]
    # A summary is written anew, and so ends what stays as it was.
    behind = max((n for n, message in enumerate(messages, 1) if message.kind == "summary"), default=0)
    tail = behind + tail_of(messages[behind:]) if own else len(messages)
    others = _others(sheet, messages[tail:]) if own else []

    def is_kept(message: Message) -> bool:
        return own and bool(message.source) and message.kind != "summary"

    for index, record in in_file_order(messages, is_kept, tail, others):
        if index < 0:
            sheet.copy(record)
            continue
        message = messages[index]
        if record < 0:
            _made(sheet, message)
        elif record == message.source[0]:
            sheet.copy(record)
        else:
            continue
        if index < tail and message.role == "assistant":
            _started(sheet, message)
    return addressed(session, sheet.data, id, sheet.losses)


def _new_id() -> str:
    return str(uuid4())


def _runs(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Kept results of one response in the order in which they came: the loader orders them by their calls."""
    for role, run in groupby(messages, key=lambda message: message.role):
        found = list(run)
        kept = role == "tool" and all(message.source for message in found)
        yield sorted(found, key=lambda message: message.source) if kept else found


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    home = f"{moved('COPILOT_HOME', otherwise='~/.copilot')}/session-state/{id}/events.jsonl"
    return Written(data, "events.jsonl", id, home, folder_of(session), (("copilot", "--resume", id),), losses=losses)


def _start(sheet: Chain, id: str) -> None:
    """The session.start event, and the newest system prompt, which the file repeats whenever it changes."""
    session = sheet.session
    prompt: int | None = None
    for record in range(len(session.records) if sheet.own else 0):
        raw: bytes = session.records[record]
        head = raw[:60]
        if b'"session.start"' not in head and b'"system.message"' not in head:
            continue
        value = object_of(raw)
        if value is None or not isinstance(value.get("data"), dict):
            continue
        if value.get("type") == "session.start" and not sheet.lines:
            data = field_of(raw, "data") or b"{}"
            changes = {"sessionId": render(id), "startTime": render(iso())}
            sheet.copy(record, {"data": replace_fields(data, changes)})
        elif value.get("type") == "system.message" and not value.get("agentId"):
            prompt = record
    if not sheet.lines:
        about = {"sessionId": id, "version": 1, "producer": "copilot-agent", "copilotVersion": _VERSION}
        about |= {"startTime": iso(), "context": {"cwd": folder_of(session)}}
        _event(sheet, "session.start", about, None)
    if prompt is not None:
        sheet.copy(prompt)


def _compaction(sheet: Chain, summary: Message) -> None:
    """The recorded compaction of a kept summary, and before it the messages of the person's that its frame quotes."""
    finished, *quoted = summary.source
    for record in quoted:
        sheet.copy(record)
    _event(sheet, "session.compaction_start", {}, summary.time)
    sheet.copy(finished)


def _others(sheet: Chain, tail: Sequence[Message]) -> list[int]:
    """The events between the messages of the tail, and after them up to the next message that was dropped."""
    if not tail:
        return []
    session = sheet.session
    used = {record for message in session.messages for record in message.source}
    sent = {record for epoch in session.epochs for n in epoch.members for record in session.messages[n].source}
    found: list[int] = []
    for record in range(tail[0].source[0], len(session.records)):
        if record in sent and record > tail[-1].source[0]:
            break
        value = None if record in sent else object_of(session.records[record])
        if value is None or not isinstance(data := value.get("data"), dict):
            sheet.losses += [] if record in sent else [Loss(LossKind.DAMAGED_RECORDS)]
        elif value.get("agentId") or data.get("parentToolCallId"):
            sheet.losses.append(Loss(LossKind.SUBAGENT_EVENTS))
        elif record not in used and value.get("type") not in (*_ENDED, "system.message", "user.message"):
            found.append(record)
    return found


def _event(sheet: Chain, kind: str, data: dict[str, Any], time: float | None) -> None:
    id = sheet.new_id()
    event = {"type": kind, "data": data, "id": id, "timestamp": iso(time), "parentId": sheet.parent}
    sheet.link(render(event), id)


def _started(sheet: Chain, message: Message) -> None:
    """The events by which Copilot CLI shows calls, where they are not copied."""
    for call in message.calls:
        about = {"toolCallId": call.id, "toolName": call.name, "arguments": _arguments(call)}
        _event(sheet, "tool.execution_start", about, message.time)


def _arguments(call: ToolUse) -> Any:
    return as_object(call.input)


def _made(sheet: Chain, message: Message) -> None:
    for result in message.results:
        _event(sheet, "tool.execution_complete", _result(sheet, result), message.time)
    texts = [text for block in message.blocks if (text := _said(sheet, message, block))]
    if message.role == "assistant":
        requests = [
            {"toolCallId": call.id, "name": call.name, "arguments": _arguments(call), "type": "function"}
            for call in message.calls
        ]
        data: dict[str, Any] = {"messageId": str(uuid4()), "content": "\n".join(texts), "toolRequests": requests}
        data |= {"model": model} if (model := message.model or sheet.session.model) else {}
        for block in message.blocks if sheet.own else ():
            if isinstance(block, Thinking):
                data |= {"reasoningText": block.text, "reasoningOpaque": block.signature}
        data |= {MARK: message.kind} if message.kind != "normal" else {}
        if texts or requests:
            _event(sheet, "assistant.message", data, message.time)
    elif texts:
        data = {"content": _on_lines(texts), "attachments": []}
        data |= {"source": "system"} if message.kind != "normal" else {}
        data |= {MARK: message.kind} if message.kind == "summary" else {}
        _event(sheet, "user.message", data, message.time)
    elif not message.results:
        sheet.losses.append(Loss(LossKind.EMPTY_MESSAGES))


def _on_lines(texts: Sequence[str]) -> str:
    """Texts one below the other; one that ends its line needs no other."""
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts[:-1]) + texts[-1]


def _said(sheet: Chain, message: Message, block: object) -> str:
    match block:
        case Text(text) if message.role == "system" and message.kind != "summary":
            return as_user_text(replace(message, blocks=(block,))) if text else ""
        case Text(text):
            return text
        case Media():
            return named(block, sheet.losses)
        case Thinking() if not sheet.own:
            sheet.losses.append(loss_of(block))
        case Opaque():
            sheet.losses.append(loss_of(block))
        case _:
            pass
    return ""


def _result(sheet: Chain, result: ToolResult) -> dict[str, Any]:
    texts = texts_of(result, sheet.losses)
    said: dict[str, Any] = {"content": "\n".join(texts)}
    if len(texts) > 1:
        said["contents"] = [{"type": "text", "text": text} for text in texts]
    data: dict[str, Any] = {"toolCallId": result.call_id, "success": not result.is_error, "result": said}
    return {**data, "error": {"message": said["content"]}} if result.is_error else data
