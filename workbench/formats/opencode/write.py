"""Write a session for `opencode import`.

The import skips known ids, so session, messages and parts get new, rising ones. Kept records change only in ids and
links. If the context changed, the tokens of the newest answer become 0: opencode takes them as the context size, and
would compact at once. A mark in a part of that answer informs this program's reader. A summary that opens the context
becomes the request and the answer of a compaction.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from workbench.formats.format import FILE, Written
from workbench.formats.kit.blocks import as_object, named, texts_of
from workbench.formats.kit.document import elements, render
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.settle import ORPHAN, adopted, as_user_text
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.formats.opencode import ID
from workbench.formats.opencode.parts import Part, is_among, text_part, tool_blocks, with_kind, with_output
from workbench.formats.opencode.records import NewRecords
from workbench.session import Block, Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse


class _Writer:
    """Writer of messages as records. `originals` are the messages of each loaded record or group of records, `cleared`
    the last cleared form of each message by its id."""

    def __init__(self, session: Session, messages: Sequence[Message]) -> None:
        self.native = session.format == ID
        self.originals: dict[tuple[int, ...], list[Message]] = {}
        self.cleared: dict[str, Message] = {}
        self.losses: Losses = []
        messages, stale = [one for one in messages if one.kind != "boundary" and (one.blocks or one.source)], -1
        if self.native:
            for message in session.messages:
                self.originals.setdefault(message.source, []).append(message)
                if not message.source:
                    self.cleared[message.id.partition("~")[0]] = message
            if messages != [m for m in session.context() if m.blocks]:
                answers = (m for m in reversed(messages) if m.role == "assistant" and m.source)
                stale = next((m.source[0] for m in answers), -1)
        else:
            messages, self.losses = adopted(session, messages, "opencode", "anthropic-messages")
        self.records = NewRecords(session, messages, stale, self.losses)
        self._add_all(messages)

    def _add_all(self, messages: Sequence[Message]) -> None:
        at = 0
        while at < len(messages):
            message = messages[at]
            originals = self.originals.get(message.source, []) if self.native and message.source else []
            current = list(messages[at : at + len(originals)])
            now = [self.cleared.get(each.id, each) for each in originals]
            if originals and current in (originals, now) and (at == 0 or len(message.source) == 1):
                for record in message.source:
                    parts = elements(self.records.loaded[record], "parts") if current != now else None
                    self.records.copy(record, message, parts and [with_output(part) for part in parts])
                at += len(originals)
            elif message.role == "assistant":
                results = at + 1
                while results < len(messages) and messages[results].role == "tool":
                    results += 1
                self._answer(message, messages[at + 1 : results])
                at = results
            else:
                if at == 0 and message.kind == "summary" and message.role != "tool":
                    self._compaction(message)
                else:
                    self._request(message)
                at += 1

    def _compaction(self, summary: Message) -> None:
        """Write opencode's own form of a compaction: a request with only a compaction part, and an answer flagged as
        its summary."""
        self.records.add_user([{"type": "compaction", "auto": False}], summary)
        answer = render(text_part(self._joined(summary)))
        self.records.add_assistant([answer], summary, summary=True, mode="compaction", agent="compaction")

    def _request(self, message: Message) -> None:
        """Write a message other than an answer as a user record of text parts."""
        if message.role == "system":
            parts = [text_part(as_user_text(message), synthetic=True)]
        else:
            parts = [
                text_part(text, **({} if message.kind == "normal" else {"synthetic": True}))
                for block in message.blocks
                if (text := self._plain(block))
            ]
        if message.kind == "summary" and parts:
            parts[0] = with_kind(parts[0], "summary")
        if parts:
            self.records.add_user(parts, message)

    def _plain(self, block: Block) -> str:
        match block:
            case Text(text):
                return text
            case ToolResult():
                self.losses.append(Loss(LossKind.ORPHAN_RESULTS))
                return f"{ORPHAN}\n{block.text}"
            case Media():
                return named(block, self.losses)
            case Thinking() | Opaque():
                self.losses.append(loss_of(block))
        return ""

    def _joined(self, message: Message) -> str:
        return "\n\n".join(filter(None, (self._plain(block) for block in message.blocks)))

    def _answer(self, message: Message, replies: Sequence[Message]) -> None:
        """Write an assistant record with the results of its calls, followed by other contents of the tool messages."""
        waiting: dict[str, list[tuple[ToolResult, Message]]] = {}
        for reply in replies:
            for result in reply.results:
                waiting.setdefault(result.call_id, []).append((result, reply))
        if self.native and len(message.source) == 1 and len(self.originals[message.source]) <= 2:
            record = message.source[0]
            self.records.copy(
                record, message, [self._updated(raw, waiting) for raw in elements(self.records.loaded[record], "parts")]
            )
        else:
            parts = [part for block in message.blocks if (part := self._part(block, waiting, message))]
            if parts:
                self.records.add_assistant(parts, message)
        rest = [result for pairs in waiting.values() for result, _ in pairs]
        others = [block for reply in replies for block in reply.blocks if not isinstance(block, ToolResult)]
        if rest or others:
            self._request(Message(f"{message.id}:rest", "user", (*rest, *others), "meta", time=message.time))

    def _updated(self, raw: bytes, waiting: dict[str, list[tuple[ToolResult, Message]]]) -> bytes:
        """Return a kept part; a tool's state is replaced if its result is no longer the recorded one."""
        part = loads(raw)
        pair = tool_blocks(part)
        if pair is None:
            return raw
        result = _next(waiting, pair[0].id)
        if result is not None and result[0] == pair[1]:
            return raw
        state = self._state(pair[0], result, None, part["state"])
        return replace_fields(raw, {"state": render(state)})

    def _part(
        self, block: Block, waiting: dict[str, list[tuple[ToolResult, Message]]], message: Message
    ) -> bytes | None:
        """Return a part for one block of an answer, without ids."""
        match block:
            case Text(text):
                part = text_part(text)
                return render(part if message.kind == "normal" else with_kind(part, message.kind)) if text else None
            case ToolUse(id):
                found = _next(waiting, id)
                if found and self.native and (raw := self._recorded_part(block, found[0], message)):
                    return raw
                state = self._state(block, found, message.time, {})
                return render({"type": "tool", "callID": id, "tool": block.name, "state": state})
            case Opaque(_, raw_part) if self.native and isinstance(raw_part, dict):
                return render(raw_part)
            case Thinking():
                self.losses.append(loss_of(block))
                return None
        text = self._plain(block)
        return render(text_part(text)) if text else None

    def _recorded_part(self, call: ToolUse, result: ToolResult, message: Message) -> bytes | None:
        """Return the loaded part of the answer with exactly this call and result; None if there is none."""
        for record in message.source:
            for raw in elements(self.records.loaded[record], "parts"):
                if tool_blocks(loads(raw)) == (call, result):
                    return raw
        return None

    def _state(self, call: ToolUse, found: tuple[ToolResult, Message] | None, called: float | None, old: Part) -> Part:
        """Return a tool's state for a result that opencode did not record itself. `called` is the time of the call in
        seconds, `old` the recorded state, if there is one."""
        arguments = as_object(call.input)
        at = round((time.time() if called is None else called) * 1000)
        result, answer = found or (None, None)
        answered = at if answer is None or answer.time is None else round(answer.time * 1000)
        span = old.get("time") if isinstance(old.get("time"), dict) else None
        start, end = (span or {}).get("start", at), (span or {}).get("end", answered)
        if result is None:
            self.losses.append(Loss(LossKind.INTERRUPTED_CALLS))
            return {"status": "running", "input": arguments, "time": {"start": start}}
        attachments = [item for item in old.get("attachments") or () if is_among(item, result)]
        content = tuple(part for part in result.content if isinstance(part, Text) or not attachments)
        texts = texts_of(replace(result, content=content), self.losses)
        output = "\n".join(texts)
        if result.is_error:
            return {"status": "error", "input": arguments, "error": output, "time": {"start": start, "end": end}}
        return {
            "status": "completed",
            "input": arguments,
            "output": output,
            "title": old.get("title") or call.name,
            "metadata": old.get("metadata") or {},
            "time": {"start": start, "end": end},
            **({"attachments": attachments} if attachments else {}),
        }


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a new session. Never raises; content that could not be written is in `losses`."""
    writer = _Writer(session, messages)
    return addressed(session, writer.records.document(), writer.records.id, writer.losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    commands = (("opencode", "import", FILE), ("opencode", "--session", id))
    return Written(data, f"{id}.json", id, folder=folder_of(session), commands=commands, losses=losses)


def _next(waiting: dict[str, list[tuple[ToolResult, Message]]], id: str) -> tuple[ToolResult, Message] | None:
    """Return the next waiting result for the call `id`, and remove it."""
    pairs = waiting.get(id)
    return pairs.pop(0) if pairs else None
