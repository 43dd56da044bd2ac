"""Write a pi session that `pi --session` opens: a new file of version 3, one chain of entries.

A new summary is an ordinary user message: pi would wrap the summary of a `compaction` entry (`append.py`) in its own
text. Only a recorded compaction that opens the context is copied as such an entry, with its system message. The usage
of the last response is set to zero, because pi takes it for the size of the context; a mark records that for this
program's reader. Context edits are not copied: an edited message is written with the content that was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, takewhile
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso, utc_datetime
from workbench.formats.agent_texts import kind_of
from workbench.formats.format import FILE, Written
from workbench.formats.kit.blocks import as_object, named, texts_of
from workbench.formats.kit.document import render
from workbench.formats.kit.folder import agent_home, folder_of, recorded_file_name, written_at
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads, object_of
from workbench.formats.kit.line_writer import ChainWriter, tail_of
from workbench.formats.kit.marks import MARK, STALE_USAGE
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.loss import Loss, LossKind, loss_of
from workbench.formats.pi import ID
from workbench.session import Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse

NO_USAGE = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), b"0")

_ZERO_USAGE = {
    **dict.fromkeys(NO_USAGE, 0),
    "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0),
}

_SETTINGS = ("model_change", "thinking_level_change", "session_info")
"""Types of settings; the newest entry of each type applies."""

_APIS = (
    ("claude", "anthropic-messages", "anthropic"),
    ("gemini", "google-generative-ai", "google"),
    ("", "openai-responses", "openai"),
)


class Writer(ChainWriter):
    """Writer of a chain of entries. `names` are tool names by call id. `unbilled` is the id of the response whose usage
    is set to zero, "" for none. `whole` is the record of the compaction that opens the context with all messages that
    pi sends for it, -1 for none."""

    def __init__(self, session: Session, messages: Sequence[Message], *, own: bool) -> None:
        super().__init__(session, own=own)
        self.names = {call.id: call.name for message in (*session.messages, *messages) for call in message.calls}
        self.unbilled = last_response(messages)
        self.whole = -1

    def make_id(self) -> str:
        return uuid4().hex[:8]

    def results_next(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages with results directly after their calls: otherwise pi would answer the call itself, and
        the API would reject the result. System messages stay: pi sends them after the result."""
        ordered: list[Message] = []
        delayed: list[Message] = []
        waiting: set[str] = set()
        for index, message in enumerate(messages):
            if message.role == "assistant":
                ordered += delayed
                delayed, waiting = [], {call.id for call in message.calls} & _answered(messages, index)
            waiting -= {result.call_id for result in message.results}
            if waiting and message.role == "user":
                delayed.append(message)
                continue
            ordered.append(message)
            if delayed and not waiting:
                self.losses.append(Loss(LossKind.RESULTS_MOVED))
                ordered += delayed
                delayed = []
        return [*ordered, *delayed]

    def others(self, tail: Sequence[Message]) -> tuple[list[int], list[int]]:
        """Return the newest settings before the tail, and the entries within it that are not sent messages: settings,
        labels, failed responses, unknown types. Entries of abandoned branches are left out."""
        session = self.session
        messages = {message.source[0]: number for number, message in enumerate(session.messages) if message.source}
        branch, context = set(session.branch), {message.id for message in session.context()}
        first = tail[0].source[0] if tail else len(session.records)
        last = tail[-1].source[0] if tail else len(session.records)
        settings: dict[str, int] = {}
        others: list[int] = []
        for record in range(len(session.records)):
            number = messages.get(record)
            if number is not None:
                if session.messages[number].id in context and record > last:
                    break
                if record > first and number in branch and session.messages[number].id not in context:
                    value = loads(session.records[record])
                    others += [record] if _is_unsent(value) else []
                continue
            value = object_of(session.records[record])
            if value is None:
                self.losses += [Loss(LossKind.DAMAGED_RECORDS)] if record >= first else []
            elif record < first:
                settings |= {value["type"]: record} if value.get("type") in _SETTINGS else {}
            elif value.get("type") not in ("session", "compaction", "context_edit"):
                others.append(record)
        return sorted(settings.values()), others

    def keep(self, message: Message, record: int) -> None:
        if record == self.whole:
            # Its kept messages now follow it. Its summary is copied together with its system message.
            if message.kind == "summary":
                self.copy(self.whole, {"firstKeptEntryId": b'""'})
            return
        if record != message.source[0]:
            return
        raw: bytes = self.session.records[record]
        value = loads(raw)
        if value.get("type") == "compaction":
            self.make(message, value.get("systemMessage"))
            return
        changes: dict[str, bytes] = {}
        body = field_of(raw, "message")
        if body is not None and isinstance(value.get("message"), dict):
            if value["message"].get("role") == "hookMessage":
                changes["message"] = replace_fields(body, {"role": b'"custom"'})
            usage = field_of(body, "usage")
            if message.id == self.unbilled and usage is not None and usage.startswith(b"{"):
                changes["message"] = replace_fields(body, {"usage": replace_fields(usage, NO_USAGE)})
                changes[STALE_USAGE] = b"true"
        self.copy(record, changes)

    def make(self, message: Message, recorded: Any = None) -> None:
        """Render a message: an entry for each tool result, and one for the rest. A system message of the session's own
        is rendered as `recorded`, if not None: with its sections and tools."""
        stamp = round(utc_datetime(message.time).timestamp() * 1000)
        if self.own and message.is_own_system:
            plain = {"role": "system", "content": message.text}
            self._entry(message, {**(recorded if isinstance(recorded, dict) else plain), "timestamp": stamp})
            return
        for result in message.results:
            self._entry(message, {**self._result(result), "timestamp": stamp})
        content = [part for block in message.blocks if (part := self._part(message, block)) is not None]
        if not content:
            if not message.results:
                self.losses.append(Loss(LossKind.EMPTY_MESSAGES))
            return
        if message.role == "assistant":
            body: dict[str, Any] = {"role": "assistant", "content": content, **_origin(self.session, message)}
            calls = any(part["type"] == "toolCall" for part in content)
            body |= {"usage": _ZERO_USAGE, "stopReason": "toolUse" if calls else "stop"}
        else:
            body = {"role": "user", "content": content}
        self._entry(message, {**body, "timestamp": stamp})

    def _entry(self, message: Message, body: dict[str, Any]) -> None:
        id = self.new_id()
        entry = {"type": "message", "id": id, "parentId": self.parent, "timestamp": iso(message.time), "message": body}
        if body["role"] == "user":
            words = [part.get("text") for part in body["content"] if part["type"] == "text"]
            texts = [Text(word) for word in words if isinstance(word, str)]
            plain = len(texts) == len(body["content"])
            kind = kind_of("user", texts) if plain else "normal"
        else:
            kind = "normal"
        if body["role"] != "toolResult" and kind != message.kind:
            entry[MARK] = message.kind
        self.link(render(entry), id)

    def _result(self, result: ToolResult) -> dict[str, Any]:
        texts = texts_of(result, self.losses)
        return {
            "role": "toolResult",
            "toolCallId": result.call_id,
            "toolName": self.names.get(result.call_id, "unknown"),
            "content": [{"type": "text", "text": text} for text in texts],
            "isError": result.is_error,
        }

    def _part(self, message: Message, block: object) -> dict[str, Any] | None:
        match block:
            case Text(text) if text:
                if message.role == "system":
                    text = text if message.kind == "summary" else as_user_text(replace(message, blocks=(block,)))
                return {"type": "text", "text": text}
            case ToolUse(id, name, arguments) if message.role == "assistant":
                return {
                    "type": "toolCall",
                    "id": id,
                    "name": name,
                    "arguments": as_object(arguments),
                }
            case Thinking(text, signature) if self.own and message.role == "assistant":
                return {"type": "thinking", "thinking": text, **({"thinkingSignature": signature} if signature else {})}
            case Thinking():
                self.losses.append(loss_of(block))
            case Media():
                return {"type": "text", "text": named(block, self.losses)}
            case Opaque(_, raw) if self.own and isinstance(raw, dict) and isinstance(raw.get("type"), str):
                return raw
            case Opaque():
                self.losses.append(loss_of(block))
            case _:
                pass
        return None


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a new session; the loaded one if nothing changed. Never raises."""
    own = session.format == ID
    if own and list(messages) == list(session.context()):
        return addressed(session, session.records.data, session.id, [Loss(LossKind.UNCHANGED)])
    messages, losses = [message for message in messages if message.kind != "boundary"], list[Loss]()
    if not own:
        messages, losses = adopted(session, messages, "pi", "anthropic-messages")
    writer, id = Writer(session, messages, own=own), str(uuid4())
    writer.losses += losses
    messages = writer.results_next(messages)
    writer.lines.append(header(session, id, own=own))
    tail = tail_of(messages) if own else len(messages)
    settings, others = writer.others(messages[tail:]) if own else ([], [])
    for record in settings:
        writer.copy(record)
    writer.whole = _opening_compaction(session, messages) if own else -1
    writer.write_messages(messages, tail, others)
    return addressed(session, writer.data, id, writer.losses)


def _answered(messages: Sequence[Message], index: int) -> set[str]:
    """Return the ids of the calls that are answered between an assistant message and the next one."""
    following = takewhile(lambda message: message.role != "assistant", islice(messages, index + 1, None))
    return {result.call_id for message in following for result in message.results}


def _opening_compaction(session: Session, messages: Sequence[Message]) -> int:
    """Return the record of the compaction that opens the context with all messages pi sends for it; -1 for none."""
    record = next(iter(messages[0].source), -1) if messages else -1
    value = object_of(session.records[record]) if record >= 0 else None
    if value is None or value.get("type") != "compaction":
        return -1
    sent = [message for message in session.messages if message.source[:1] == (record,) and message.blocks]
    return record if list(messages[: len(sent)]) == sent else -1


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    stamp = iso(written_at(session, id).timestamp()).replace(":", "-").replace(".", "-")
    name = recorded_file_name(session, id) or f"{stamp}_{id}.jsonl"
    folder = folder_of(session).lstrip("/\\")
    for mark in "/\\:":
        folder = folder.replace(mark, "-")
    home = f"{agent_home('PI_CODING_AGENT_DIR', otherwise='~/.pi/agent')}/sessions/--{folder}--/{name}"
    return Written(data, name, id, home, folder_of(session), (("pi", "--session", FILE),), losses=losses)


def header(session: Session, id: str, *, own: bool) -> bytes:
    changes = {"id": render(id), "version": b"3", "timestamp": render(iso())}
    if own:
        for raw in session.records:
            value = object_of(raw)
            if value is not None and value.get("type") == "session":
                return replace_fields(raw, changes)
    return render({"type": "session", "version": 3, "id": id, "timestamp": iso(), "cwd": folder_of(session)})


def _is_unsent(entry: dict[str, Any]) -> bool:
    """Return True for a message that is only displayed: a failed response, a command excluded from the context."""
    body = entry.get("message")
    if not isinstance(body, dict):
        return False
    return body.get("stopReason") in ("aborted", "error") or body.get("excludeFromContext") is True


def last_response(messages: Sequence[Message]) -> str:
    return next((m.id for m in reversed(messages) if m.role == "assistant" and m.source), "")


def _origin(session: Session, message: Message) -> dict[str, str]:
    """Return the API, provider and model to record in a new response."""
    model = message.model or session.model or "unknown"
    api, provider = next((api, provider) for name, api, provider in _APIS if name in model.lower())
    return {"api": api, "provider": provider, "model": model}
