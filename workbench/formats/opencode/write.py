"""Write a session for `opencode import`.

The import skips known ids, so session, messages and parts get new, rising ones. Kept records change only in ids and
links. If the context changed, the tokens of the newest answer become 0: opencode takes them as the context size, and
would compact at once. A mark in a part of that answer informs this program's reader. A summary that opens the context
becomes the request and the answer of a compaction.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.formats.format import FILE, Written
from workbench.formats.kit.blocks import as_object, as_text, named, texts_of
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.names import first_words
from workbench.formats.kit.settle import ORPHAN, adopted, as_user_text
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.formats.opencode import ID
from workbench.formats.opencode.parts import (
    Part,
    is_among,
    mark_stale_usage,
    text_part,
    tool_blocks,
    with_kind,
    with_output,
)
from workbench.session import Block, Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse

_VERSION = "1.4.3"
"""opencode version whose import accepts these records; used if the session names none."""


_NO_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}

_REMOVED = "[The conversation before this point was removed.]"

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class _Ids:
    """Generator of opencode's ids: six bytes of milliseconds and a counter, then fourteen random characters."""

    def __init__(self) -> None:
        self._now = (time.time_ns() // 1_000_000 - 3_600_000) * 0x1000  # an hour ago, as a long session uses many
        self._chance = "".join(secrets.choice(_BASE62) for _ in range(14))

    def rising(self, prefix: str) -> str:
        self._now += 1
        return f"{prefix}_{self._now & 0xFFFFFFFFFFFF:012x}{self._chance}"

    def falling(self, prefix: str) -> str:
        return f"{prefix}_{~self._now & 0xFFFFFFFFFFFF:012x}{self._chance}"


class _Writer:
    """The new session while it is written. `renamed` maps old message ids to new ones, `user` is the last user record's
    id. `raws` are the loaded records, `whole` the messages of each, `cleared` the last cleared form of each message by
    its id. `unbilled` is the index of the record whose tokens are stale, -1 for none."""

    def __init__(self, session: Session, messages: Sequence[Message]) -> None:
        self.session, self.native, self.ids = session, session.format == ID, _Ids()
        self.id = self.ids.falling("ses")
        self.raws: list[bytes] = []
        self.whole: dict[tuple[int, ...], list[Message]] = {}
        self.cleared: dict[str, Message] = {}
        self.renamed: dict[str, str] = {}
        self.user = ""
        self.records: list[bytes] = []
        self.unbilled = -1
        self.losses: Losses = []
        messages = [one for one in messages if one.kind != "boundary" and (one.blocks or one.source)]
        if self.native:
            self.raws = elements(session.records.data, "messages")
            for message in session.messages:
                self.whole.setdefault(message.source, []).append(message)
                if not message.source:
                    self.cleared[message.id.partition("~")[0]] = message
            if messages != [m for m in session.context() if m.blocks]:
                answers = (m for m in reversed(messages) if m.role == "assistant" and m.source)
                self.unbilled = next((m.source[0] for m in answers), -1)
        else:
            messages, self.losses = adopted(session, messages, "opencode", "anthropic-messages")
        self.times = _times(messages)
        self._records(messages)

    def _records(self, messages: Sequence[Message]) -> None:
        at = 0
        while at < len(messages):
            message = messages[at]
            originals = self.whole.get(message.source, []) if self.native and message.source else []
            current = list(messages[at : at + len(originals)])
            now = [self.cleared.get(each.id, each) for each in originals]
            if originals and current in (originals, now) and (at == 0 or len(message.source) == 1):
                for record in message.source:
                    parts = (
                        None if current == now else [with_output(part) for part in elements(self.raws[record], "parts")]
                    )
                    self._copy_record(record, message, parts)
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

    def _copy_record(self, record: int, message: Message, parts: Sequence[bytes] | None = None) -> None:
        """Copy a record. Only ids and links change, the tokens of the newest answer, and a creation time later than
        that of a following message.

        `parts`, if not None, replaces the record's own.
        """
        raw = self.raws[record]
        value = loads(raw)
        info = value.get("info") if isinstance(value, dict) else None
        if not isinstance(info, dict):
            self.losses.append(Loss(LossKind.DAMAGED_RECORDS))
            return
        id = self.ids.rising("msg")
        changes = {"id": render(id), "sessionID": render(self.id)}
        if info.get("role") == "assistant":
            changes["parentID"] = render(self._parent(info))
            if record == self.unbilled and isinstance(info.get("tokens"), dict):
                changes["tokens"] = render(_NO_TOKENS)
            if info.get("summary") and message.kind != "summary":
                changes["summary"] = b"false"  # a failed compaction must not become valid by its new parent
        else:
            self.user = id
        self.renamed[as_text(info.get("id"))] = id
        created = self.times[message.id]
        if message.time is not None and created < round(message.time * 1000):
            old = field_of(field_of(raw, "info") or b"", "time") or b""
            changes["time"] = replace_fields(old if old.startswith(b"{") else b"{}", {"created": render(created)})
        fields = {"info": replace_fields(field_of(raw, "info") or b"{}", changes)}
        if isinstance(value.get("parts"), list):
            own = elements(raw, "parts") if parts is None else parts
            if record == self.unbilled:
                own = mark_stale_usage(own)
            fields["parts"] = splice(field_of(raw, "parts") or b"[]", None, [self._own_part(part, id) for part in own])
        self.records.append(replace_fields(raw, fields))

    def _parent(self, info: Part) -> str:
        """Return the id of an answer's user record: its own if kept, else the last one before it, else a new one."""
        if new := self.renamed.get(as_text(info.get("parentID"))):
            return new
        if not self.user:
            self.losses.append(
                Loss(LossKind.USER_INSERTED, 1, ("every assistant message belongs to a user message",), _REMOVED)
            )
            self._user_record([text_part(_REMOVED, synthetic=True)], None)
        return self.user

    def _own_part(self, raw: bytes, message_id: str) -> bytes:
        """Return a part with new ids; a value that is no object is unchanged."""
        if not raw.startswith(b"{"):
            return raw
        changes = {
            "id": render(self.ids.rising("prt")),
            "sessionID": render(self.id),
            "messageID": render(message_id),
        }
        tail = field_of(raw, "tail_start_id")
        if tail is not None and loads(raw).get("type") == "compaction":
            changes["tail_start_id"] = render(self.renamed.get(as_text(loads(tail)), message_id))
        return replace_fields(raw, changes)

    def _compaction(self, summary: Message) -> None:
        """Write opencode's own form of a compaction: a request with only a compaction part, and an answer flagged as
        its summary."""
        self._user_record([{"type": "compaction", "auto": False}], summary)
        text = self._joined(summary)
        self._assistant_record([render(text_part(text))], summary, summary=True, mode="compaction", agent="compaction")

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
            self._user_record(parts, message)

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
        if self.native and len(message.source) == 1 and len(self.whole[message.source]) <= 2:
            record = message.source[0]
            self._copy_record(
                record, message, [self._updated(raw, waiting) for raw in elements(self.raws[record], "parts")]
            )
        else:
            parts = [part for block in message.blocks if (part := self._part(block, waiting, message))]
            if parts:
                self._assistant_record(parts, message)
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
            for raw in elements(self.raws[record], "parts"):
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

    def _user_record(self, parts: Sequence[Part], message: Message | None) -> None:
        id = self.ids.rising("msg")
        self.user = id
        info = {
            "id": id,
            "sessionID": self.id,
            "role": "user",
            "time": {"created": self._created(message)},
            "agent": "build",
            "model": {"providerID": self._provider(), "modelID": self.session.model or "unknown"},
        }
        self._append(info, [render(part) for part in parts])

    def _assistant_record(self, parts: Sequence[bytes], message: Message, **flags: Any) -> None:
        parent = self._parent({})
        created = self._created(message)
        calls = any(b'"tool"' in part and loads(part).get("type") == "tool" for part in parts)
        info = {
            "id": self.ids.rising("msg"),
            "sessionID": self.id,
            "role": "assistant",
            "parentID": parent,
            "mode": "build",
            "agent": "build",
            **flags,
            "path": {"cwd": folder_of(self.session), "root": folder_of(self.session)},
            "cost": 0,
            "tokens": _NO_TOKENS,
            "modelID": message.model or self.session.model or "unknown",
            "providerID": self._provider(),
            "time": {"created": created, "completed": created},
            "finish": "tool-calls" if calls else "stop",
        }
        spent = self.unbilled in message.source
        self._append(info, mark_stale_usage(parts) if spent else parts)

    def _append(self, info: Part, parts: Sequence[bytes]) -> None:
        own = b",".join(self._own_part(part, info["id"]) for part in parts)
        self.records.append(b'{"info":' + render(info) + b',"parts":[' + own + b"]}")

    def _created(self, message: Message | None) -> int:
        if message is not None and message.id in self.times:
            return self.times[message.id]
        known = [loads(raw)["info"]["time"]["created"] for raw in self.records[-1:]]
        return int(known[0] if known else min(self.times.values(), default=time.time_ns() // 1_000_000))

    def _provider(self) -> str:
        """Return the provider that the session names last, for new records."""
        for raw in reversed(self.raws):
            record = loads(raw)
            info = record.get("info") if isinstance(record, dict) else None
            model = info.get("model") if isinstance(info, dict) else None
            for place in (info, model):
                if isinstance(place, dict) and isinstance(place.get("providerID"), str):
                    return str(place["providerID"])
        return "unknown"

    def document(self) -> bytes:
        if self.native:
            return self._loaded_document()
        now = max(self.times.values(), default=time.time_ns() // 1_000_000)
        info = {
            "id": self.id,
            "slug": "compacted",
            "projectID": "global",
            "directory": folder_of(self.session),
            "title": self.session.title or first_words(self.session.context()) or "Compacted session",
            "version": _VERSION,
            "time": {"created": min(self.times.values(), default=now), "updated": now},
        }
        return b'{"info":' + render(info) + b',"messages":[' + b",".join(self.records) + b"]}"

    def _loaded_document(self) -> bytes:
        """Return the loaded document with the new records and id; share link and undo state are removed."""
        data = splice(self.session.records.data, "messages", self.records).removeprefix(b"\xef\xbb\xbf")
        raw = field_of(data, "info") or b"{}"
        info = loads(raw)
        if not isinstance(info, dict):
            return replace_fields(data, {"info": render({"id": self.id})})
        if removed := {"revert", "share"} & info.keys():
            raw = render({key: value for key, value in info.items() if key not in removed})
            self.losses.append(Loss(LossKind.UNDO_OR_SHARE))
        return replace_fields(data, {"info": replace_fields(raw, {"id": render(self.id)})})


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a new session. Never raises; content that could not be written is in `losses`."""
    writer = _Writer(session, messages)
    return addressed(session, writer.document(), writer.id, writer.losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    commands = (("opencode", "import", FILE), ("opencode", "--session", id))
    return Written(data, f"{id}.json", id, folder=folder_of(session), commands=commands, losses=losses)


def _times(messages: Sequence[Message]) -> dict[str, int]:
    """Return creation times in milliseconds by message id: opencode orders by them, so they must not decrease.

    A message without a time, or with a time later than the next message's, takes the next message's.
    """
    known = [message.time for message in messages if message.time is not None]
    latest = round((max(known) if known else time.time()) * 1000)
    found: dict[str, int] = {}
    for message in reversed(messages):
        own = latest if message.time is None else round(message.time * 1000)
        latest = min(latest, own)
        found[message.id] = latest
    return found


def _next(waiting: dict[str, list[tuple[ToolResult, Message]]], id: str) -> tuple[ToolResult, Message] | None:
    """Return the next waiting result for the call `id`, and remove it."""
    pairs = waiting.get(id)
    return pairs.pop(0) if pairs else None
