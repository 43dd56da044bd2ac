"""Write Copilot CLI events as a new session: one chain of events.

A recorded summary that opens the context is copied with the user messages before it, which Copilot CLI quotes in its
frame. Any other summary becomes a system message that is sent unchanged. The last run of kept messages is copied with
the events between them, except sub-agents'.
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
from workbench.formats.kit.document import render
from workbench.formats.kit.folder import agent_home, folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.line_writer import ChainWriter, tail_of
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.loss import Loss, LossKind, loss_of
from workbench.session import Media, Message, Opaque, Session, Text, Thinking, ToolResult

_VERSION = "1.0.74"
"""Version of Copilot CLI that a new session names."""

_OLD_CONTEXT = (
    "session.start", "session.resume", "session.compaction_start", "session.compaction_complete", "session.truncation",
    "session.snapshot_rewind", "session.context_cleared", "session.shutdown", "session.usage_record",
)  # fmt: skip
"""Events about the loaded context, which the new session does not have: usage, compactions, rewinds."""


class _Writer(ChainWriter):
    def make_id(self) -> str:
        return str(uuid4())

    def is_copied(self, message: Message) -> bool:
        return super().is_copied(message) and message.kind != "summary"

    def keep(self, message: Message, record: int) -> None:
        if record == message.source[0]:
            self.copy(record)

    def start(self, id: str) -> None:
        """Write the session.start event and the newest system prompt, which the file repeats whenever it changes."""
        session = self.session
        prompt: int | None = None
        for record in range(len(session.records) if self.own else 0):
            raw: bytes = session.records[record]
            head = raw[:60]
            if b'"session.start"' not in head and b'"system.message"' not in head:
                continue
            value = object_of(raw)
            if value is None or not isinstance(value.get("data"), dict):
                continue
            if value.get("type") == "session.start" and not self.lines:
                copied_data = field_of(raw, "data") or b"{}"
                changes = {"sessionId": render(id), "startTime": render(iso())}
                self.copy(record, {"data": replace_fields(copied_data, changes)})
            elif value.get("type") == "system.message" and not value.get("agentId"):
                prompt = record
        if not self.lines:
            data = {"sessionId": id, "version": 1, "producer": "copilot-agent", "copilotVersion": _VERSION}
            data |= {"startTime": iso(), "context": {"cwd": folder_of(session)}}
            self._event("session.start", data, None)
        if prompt is not None:
            self.copy(prompt)

    def compaction(self, summary: Message) -> None:
        """Copy the compaction of a recorded summary, after the user's messages that its frame quotes."""
        finished, *quoted = summary.source
        for record in quoted:
            self.copy(record)
        self._event("session.compaction_start", {}, summary.time)
        self.copy(finished)

    def others(self, tail: Sequence[Message]) -> list[int]:
        """Return the events between the messages of the tail, and after it up to the next dropped message."""
        if not tail:
            return []
        session = self.session
        used = {record for message in session.messages for record in message.source}
        sent = {record for epoch in session.epochs for n in epoch.members for record in session.messages[n].source}
        records: list[int] = []
        for record in range(tail[0].source[0], len(session.records)):
            if record in sent and record > tail[-1].source[0]:
                break
            value = None if record in sent else object_of(session.records[record])
            if value is None or not isinstance(data := value.get("data"), dict):
                self.losses += [] if record in sent else [Loss(LossKind.DAMAGED_RECORDS)]
            elif value.get("agentId") or data.get("parentToolCallId"):
                self.losses.append(Loss(LossKind.SUBAGENT_EVENTS))
            elif record not in used and value.get("type") not in (*_OLD_CONTEXT, "system.message", "user.message"):
                records.append(record)
        return records

    def _event(self, kind: str, data: dict[str, Any], time: float | None) -> None:
        id = self.new_id()
        event = {"type": kind, "data": data, "id": id, "timestamp": iso(time), "parentId": self.parent}
        self.link(render(event), id)

    def show(self, message: Message) -> None:
        """Write the events by which Copilot CLI displays calls."""
        for call in message.calls if message.role == "assistant" else ():
            data = {"toolCallId": call.id, "toolName": call.name, "arguments": as_object(call.input)}
            self._event("tool.execution_start", data, message.time)

    def make(self, message: Message) -> None:
        for result in message.results:
            self._event("tool.execution_complete", self._result(result), message.time)
        texts = [text for block in message.blocks if (text := self._text_of(message, block))]
        if message.role == "assistant":
            requests = [
                {"toolCallId": call.id, "name": call.name, "arguments": as_object(call.input), "type": "function"}
                for call in message.calls
            ]
            data: dict[str, Any] = {"messageId": str(uuid4()), "content": "\n".join(texts), "toolRequests": requests}
            data |= {"model": model} if (model := message.model or self.session.model) else {}
            for block in message.blocks if self.own else ():
                if isinstance(block, Thinking):
                    data |= {"reasoningText": block.text, "reasoningOpaque": block.signature}
            data |= {MARK: message.kind} if message.kind != "normal" else {}
            if texts or requests:
                self._event("assistant.message", data, message.time)
            self.show(message)
        elif texts:
            data = {"content": _join_lines(texts), "attachments": []}
            data |= {"source": "system"} if message.kind != "normal" else {}
            data |= {MARK: message.kind} if message.kind == "summary" else {}
            self._event("user.message", data, message.time)
        elif not message.results:
            self.losses.append(Loss(LossKind.EMPTY_MESSAGES))

    def _text_of(self, message: Message, block: object) -> str:
        match block:
            case Text(text) if message.role == "system" and message.kind != "summary":
                return as_user_text(replace(message, blocks=(block,))) if text else ""
            case Text(text):
                return text
            case Media():
                return named(block, self.losses)
            case Thinking() if not self.own:
                self.losses.append(loss_of(block))
            case Opaque():
                self.losses.append(loss_of(block))
            case _:
                pass
        return ""

    def _result(self, result: ToolResult) -> dict[str, Any]:
        texts = texts_of(result, self.losses)
        output: dict[str, Any] = {"content": "\n".join(texts)}
        if len(texts) > 1:
            output["contents"] = [{"type": "text", "text": text} for text in texts]
        data: dict[str, Any] = {"toolCallId": result.call_id, "success": not result.is_error, "result": output}
        return {**data, "error": {"message": output["content"]}} if result.is_error else data


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a new events file; return the loaded one if nothing changed. Never raises."""
    own = session.format == "copilot"
    if own and list(messages) == list(session.context()):
        return addressed(session, session.records.data, session.id, [Loss(LossKind.UNCHANGED)])
    writer, id = _Writer(session, own=own), str(uuid4())
    messages = [message for message in messages if message.kind != "boundary"]
    if not own:
        messages, writer.losses = adopted(session, messages, "Copilot CLI", "anthropic-messages")
    writer.start(id)
    first = messages[0] if messages else None
    if own and first is not None and first.kind == "summary" and first.source:
        writer.compaction(first)
        messages = messages[1:]
    messages = [message for run in _runs(messages) for message in run]
    # A summary is written again, so events before it are not copied.
    after_summary = max((n for n, message in enumerate(messages, 1) if message.kind == "summary"), default=0)
    tail = after_summary + tail_of(messages[after_summary:]) if own else len(messages)
    writer.write_messages(messages, tail, writer.others(messages[tail:]) if own else [])
    return addressed(session, writer.data, id, writer.losses)


def _runs(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Yield runs of one role. Kept results have the file's order, because Copilot CLI orders them by their calls."""
    for role, run in groupby(messages, key=lambda message: message.role):
        run_messages = list(run)
        kept_results = role == "tool" and all(message.source for message in run_messages)
        yield sorted(run_messages, key=lambda message: message.source) if kept_results else run_messages


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    home = f"{agent_home('COPILOT_HOME', otherwise='~/.copilot')}/session-state/{id}/events.jsonl"
    return Written(data, "events.jsonl", id, home, folder_of(session), (("copilot", "--resume", id),), losses=losses)


def _join_lines(texts: Sequence[str]) -> str:
    """Join texts with line breaks where a text does not end with one."""
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts[:-1]) + texts[-1]
