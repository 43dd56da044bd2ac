"""Writing a session that `opencode import` takes.

The import skips ids it has already, so session, messages and parts get new ones that rise; of a kept record only ids
and links are changed, and on the newest answer the tokens: opencode takes those for the size of the context and would
compact a session with stale ones at once. A note in a part of that answer says so to this program's reader. A summary
that opens the context becomes a compaction's request and answer.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.formats.format import FILE, Written
from workbench.formats.kit.blocks import as_object, as_text, named, texts_of
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.titles import first_words
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.formats.opencode.parts import Part, as_spent, can_note, cleared_at, tool_blocks, uncleared, with_kind
from workbench.formats.opencode.signature import ID
from workbench.session import Block, Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse

_VERSION = "1.4.3"
"""The version of opencode whose import these records are written for; said where the session names none."""

_NO_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
_ORPHAN = "[Result of a tool call that is not part of this session]"
_REMOVED = "[The conversation before this point was removed.]"
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class _Ids:
    """opencode's ids: six bytes of milliseconds and a counter, then fourteen characters of chance."""

    def __init__(self) -> None:
        self._now = (time.time_ns() // 1_000_000 - 3_600_000) * 0x1000  # an hour ago: a long session takes some
        self._chance = "".join(secrets.choice(_BASE62) for _ in range(14))

    def rising(self, prefix: str) -> str:
        self._now += 1
        return f"{prefix}_{self._now & 0xFFFFFFFFFFFF:012x}{self._chance}"

    def falling(self, prefix: str) -> str:
        return f"{prefix}_{~self._now & 0xFFFFFFFFFFFF:012x}{self._chance}"


@dataclass(slots=True)
class _Sheet:
    """The new session as it grows. `renamed` maps old message ids to new ones, `user` is the last user record's id;
    `raws` are the loaded records, `whole` the messages that each gave, `cleared` those that stand for one of these now
    that opencode cleared its results."""

    session: Session
    native: bool
    ids: _Ids
    id: str
    raws: list[bytes] = field(default_factory=list)
    whole: dict[tuple[int, ...], list[Message]] = field(default_factory=dict)
    cleared: dict[str, Message] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    user: str = ""
    records: list[bytes] = field(default_factory=list)
    unbilled: int = -1
    losses: Losses = field(default_factory=list)


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The messages as a session of its own. Never raises; what could not be carried stands in `losses`."""
    native = session.format == ID
    ids = _Ids()
    sheet = _Sheet(session, native, ids, ids.falling("ses"))
    messages = [message for message in messages if message.kind != "boundary" and (message.blocks or message.source)]
    if native:
        sheet.raws = elements(session.records.data, "messages")
        for message in session.messages:
            sheet.whole.setdefault(message.source, []).append(message)
            if not message.source:
                sheet.cleared[message.id.partition("~")[0]] = message
        if messages != [m for m in session.context() if m.blocks]:
            answers = (m for m in reversed(messages) if m.role == "assistant" and m.source)
            sheet.unbilled = next((m.source[0] for m in answers), -1)
    else:
        messages, more = adopted(session, messages, "opencode", "anthropic-messages")
        sheet.losses.extend(more)
    sheet.times = _times(messages)
    _records(sheet, messages)
    return addressed(session, _document(sheet), sheet.id, sheet.losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    commands = (("opencode", "import", FILE), ("opencode", "--session", id))
    return Written(data, f"{id}.json", id, folder=folder_of(session), commands=commands, losses=losses)


def _times(messages: Sequence[Message]) -> dict[str, int]:
    """When each message was created, in milliseconds by id: opencode orders by it, so it must not fall.

    Kept messages rise already; a new one, and what a merge put out of order, takes the time of its neighbour.
    """
    known = [message.time for message in messages if message.time is not None]
    latest = round((max(known) if known else time.time()) * 1000)
    found: dict[str, int] = {}
    for message in reversed(messages):
        own = latest if message.time is None else round(message.time * 1000)
        latest = min(latest, own)
        found[message.id] = latest
    return found


def _records(sheet: _Sheet, messages: Sequence[Message]) -> None:
    at = 0
    while at < len(messages):
        message = messages[at]
        kept = sheet.whole.get(message.source, []) if sheet.native and message.source else []
        given = list(messages[at : at + len(kept)])
        now = [sheet.cleared.get(each.id, each) for each in kept]
        if kept and given in (kept, now) and (at == 0 or len(message.source) == 1):
            for record in message.source:
                parts = None if given == now else [_whole(part) for part in elements(sheet.raws[record], "parts")]
                _kept(sheet, record, message, parts)
            at += len(kept)
        elif message.role == "assistant":
            results = at + 1
            while results < len(messages) and messages[results].role == "tool":
                results += 1
            _answer(sheet, message, messages[at + 1 : results])
            at = results
        else:
            if at == 0 and message.kind == "summary" and message.role != "tool":
                _compaction(sheet, message)
            else:
                _request(sheet, message)
            at += 1


def _whole(raw: bytes) -> bytes:
    """A part with the output that opencode cleared later: what is kept as it was first sent is not cleared yet."""
    part = loads(raw)
    return replace_fields(raw, {"state": render(uncleared(part)["state"])}) if cleared_at(part) else raw


def _kept(sheet: _Sheet, record: int, message: Message, parts: Sequence[bytes] | None = None) -> None:
    """Copy a record, with only ids and links changed (and the tokens of the newest answer, and a time that falls).

    `parts` takes the place of the record's own where one of them was changed.
    """
    raw = sheet.raws[record]
    value = loads(raw)
    info = value.get("info") if isinstance(value, dict) else None
    if not isinstance(info, dict):
        sheet.losses.append(Loss(LossKind.DAMAGED_RECORDS))
        return
    id = sheet.ids.rising("msg")
    changes = {"id": render(id), "sessionID": render(sheet.id)}
    if info.get("role") == "assistant":
        changes["parentID"] = render(_parent(sheet, info))
        if record == sheet.unbilled and isinstance(info.get("tokens"), dict):
            changes["tokens"] = render(_NO_TOKENS)
        if info.get("summary") and message.kind != "summary":
            changes["summary"] = b"false"  # a compaction that failed must not become one by its new parent
    else:
        sheet.user = id
    sheet.renamed[as_text(info.get("id"))] = id
    created = sheet.times[message.id]
    if message.time is not None and created < round(message.time * 1000):
        old = field_of(field_of(raw, "info") or b"", "time") or b""
        changes["time"] = replace_fields(old if old.startswith(b"{") else b"{}", {"created": render(created)})
    fields = {"info": replace_fields(field_of(raw, "info") or b"{}", changes)}
    if isinstance(value.get("parts"), list):
        own = elements(raw, "parts") if parts is None else parts
        if record == sheet.unbilled:
            own = _spent(own)
        fields["parts"] = splice(field_of(raw, "parts") or b"[]", None, [_own_part(sheet, part, id) for part in own])
    sheet.records.append(replace_fields(raw, fields))


def _spent(parts: Sequence[bytes]) -> list[bytes]:
    """The parts of the newest answer, one of which losses that the usage up to here speaks of another context."""
    values = [loads(raw) for raw in parts]
    at = next((n for n, value in enumerate(values) if can_note(value)), -1)
    return [
        render(as_spent(value)) if n == at else raw for n, (value, raw) in enumerate(zip(values, parts, strict=True))
    ]


def _parent(sheet: _Sheet, info: Part) -> str:
    """The user record that an answer belongs to: its own where that is kept, else the last one before it."""
    if new := sheet.renamed.get(as_text(info.get("parentID"))):
        return new
    if not sheet.user:
        sheet.losses.append(
            Loss(LossKind.USER_INSERTED, 1, ("every assistant message belongs to a user message",), _REMOVED)
        )
        _user_record(sheet, [_text_part(_REMOVED, synthetic=True)], None)
    return sheet.user


def _own_part(sheet: _Sheet, raw: bytes, message_id: str) -> bytes:
    """A part under new ids; what is no object is left as it is."""
    if not raw.startswith(b"{"):
        return raw
    changes = {
        "id": render(sheet.ids.rising("prt")),
        "sessionID": render(sheet.id),
        "messageID": render(message_id),
    }
    tail = field_of(raw, "tail_start_id")
    if tail is not None and loads(raw).get("type") == "compaction":
        changes["tail_start_id"] = render(sheet.renamed.get(as_text(loads(tail)), message_id))
    return replace_fields(raw, changes)


def _compaction(sheet: _Sheet, summary: Message) -> None:
    """opencode's own idiom: a request with nothing but a compaction part, and an answer flagged as its summary."""
    _user_record(sheet, [{"type": "compaction", "auto": False}], summary)
    text = _joined(sheet, summary)
    _assistant_record(sheet, [render(_text_part(text))], summary, summary=True, mode="compaction", agent="compaction")


def _request(sheet: _Sheet, message: Message) -> None:
    """A message that is no answer, as a user's record of text parts."""
    if message.role == "system":
        parts = [_text_part(as_user_text(message), synthetic=True)]
    else:
        parts = [
            _text_part(text, **({} if message.kind == "normal" else {"synthetic": True}))
            for block in message.blocks
            if (text := _plain(sheet, block))
        ]
    if message.kind == "summary" and parts:
        parts[0] = with_kind(parts[0], "summary")
    if parts:
        _user_record(sheet, parts, message)


def _plain(sheet: _Sheet, block: Block) -> str:
    match block:
        case Text(text):
            return text
        case ToolResult():
            sheet.losses.append(Loss(LossKind.ORPHAN_RESULTS))
            return f"{_ORPHAN}\n{block.text}"
        case Media():
            return named(block, sheet.losses)
        case Thinking() | Opaque():
            sheet.losses.append(loss_of(block))
    return ""


def _joined(sheet: _Sheet, message: Message) -> str:
    return "\n\n".join(filter(None, (_plain(sheet, block) for block in message.blocks)))


def _answer(sheet: _Sheet, message: Message, replies: Sequence[Message]) -> None:
    """An assistant's record with the results of its calls; what else the tool messages hold follows it."""
    waiting: dict[str, list[tuple[ToolResult, Message]]] = {}
    for reply in replies:
        for result in reply.results:
            waiting.setdefault(result.call_id, []).append((result, reply))
    if sheet.native and len(message.source) == 1 and len(sheet.whole[message.source]) <= 2:
        record = message.source[0]
        _kept(sheet, record, message, [_updated(sheet, raw, waiting) for raw in elements(sheet.raws[record], "parts")])
    else:
        parts = [part for block in message.blocks if (part := _part(sheet, block, waiting, message))]
        if parts:
            _assistant_record(sheet, parts, message)
    rest = [result for pairs in waiting.values() for result, _ in pairs]
    others = [block for reply in replies for block in reply.blocks if not isinstance(block, ToolResult)]
    if rest or others:
        _request(sheet, Message(f"{message.id}:rest", "user", (*rest, *others), "meta", time=message.time))


def _updated(sheet: _Sheet, raw: bytes, waiting: dict[str, list[tuple[ToolResult, Message]]]) -> bytes:
    """A kept part; of a tool's the state is changed where the result is no longer the recorded one."""
    part = loads(raw)
    pair = tool_blocks(part)
    if pair is None:
        return raw
    result = _next(waiting, pair[0].id)
    if result is not None and result[0] == pair[1]:
        return raw
    state = _state(sheet, pair[0], result, None, part["state"])
    return replace_fields(raw, {"state": render(state)})


def _part(
    sheet: _Sheet, block: Block, waiting: dict[str, list[tuple[ToolResult, Message]]], message: Message
) -> bytes | None:
    """A part for one block of an answer, without ids."""
    match block:
        case Text(text):
            part = _text_part(text)
            return render(part if message.kind == "normal" else with_kind(part, message.kind)) if text else None
        case ToolUse(id):
            found = _next(waiting, id)
            if found and sheet.native and (raw := _recorded(sheet, block, found[0], message)):
                return raw
            state = _state(sheet, block, found, message.time, {})
            return render({"type": "tool", "callID": id, "tool": block.name, "state": state})
        case Opaque(_, raw_part) if sheet.native and isinstance(raw_part, dict):
            return render(raw_part)
        case Thinking():
            sheet.losses.append(loss_of(block))
            return None
    text = _plain(sheet, block)
    return render(_text_part(text)) if text else None


def _next(waiting: dict[str, list[tuple[ToolResult, Message]]], id: str) -> tuple[ToolResult, Message] | None:
    """The next result for the call `id`, taken out of what waits."""
    pairs = waiting.get(id)
    return pairs.pop(0) if pairs else None


def _recorded(sheet: _Sheet, call: ToolUse, result: ToolResult, message: Message) -> bytes | None:
    """The loaded part of the answer that holds just this call and result."""
    for record in message.source:
        for raw in elements(sheet.raws[record], "parts"):
            if tool_blocks(loads(raw)) == (call, result):
                return raw
    return None


def _state(
    sheet: _Sheet, call: ToolUse, found: tuple[ToolResult, Message] | None, called: float | None, old: Part
) -> Part:
    """A tool's state for a result that opencode did not record itself, with its message. `called` is the time of the
    call in seconds, `old` the recorded state, if there is one."""
    given = as_object(call.input)
    at = round((time.time() if called is None else called) * 1000)
    result, answer = found or (None, None)
    answered = at if answer is None or answer.time is None else round(answer.time * 1000)
    span = old.get("time") if isinstance(old.get("time"), dict) else None
    start, end = (span or {}).get("start", at), (span or {}).get("end", answered)
    if result is None:
        sheet.losses.append(Loss(LossKind.INTERRUPTED_CALLS))
        return {"status": "running", "input": given, "time": {"start": start}}
    attached = [item for item in old.get("attachments") or () if _is_among(item, result)]
    told = tuple(part for part in result.content if isinstance(part, Text) or not attached)
    texts = texts_of(replace(result, content=told), sheet.losses)
    said = "\n".join(texts)
    if result.is_error:
        return {"status": "error", "input": given, "error": said, "time": {"start": start, "end": end}}
    return {
        "status": "completed",
        "input": given,
        "output": said,
        "title": old.get("title") or call.name,
        "metadata": old.get("metadata") or {},
        "time": {"start": start, "end": end},
        **({"attachments": attached} if attached else {}),
    }


def _is_among(attachment: Any, result: ToolResult) -> bool:
    kinds = {part.media_type for part in result.content if isinstance(part, Media)}
    return isinstance(attachment, dict) and attachment.get("mime") in kinds


def _text_part(text: str, **flags: bool) -> Part:
    return {"type": "text", "text": text, **flags}


def _user_record(sheet: _Sheet, parts: Sequence[Part], message: Message | None) -> None:
    id = sheet.ids.rising("msg")
    sheet.user = id
    info = {
        "id": id,
        "sessionID": sheet.id,
        "role": "user",
        "time": {"created": _created(sheet, message)},
        "agent": "build",
        "model": {"providerID": _provider(sheet), "modelID": sheet.session.model or "unknown"},
    }
    _append(sheet, info, [render(part) for part in parts])


def _assistant_record(sheet: _Sheet, parts: Sequence[bytes], message: Message, **flags: Any) -> None:
    parent = _parent(sheet, {})
    created = _created(sheet, message)
    calls = any(b'"tool"' in part and loads(part).get("type") == "tool" for part in parts)
    info = {
        "id": sheet.ids.rising("msg"),
        "sessionID": sheet.id,
        "role": "assistant",
        "parentID": parent,
        "mode": "build",
        "agent": "build",
        **flags,
        "path": {"cwd": folder_of(sheet.session), "root": folder_of(sheet.session)},
        "cost": 0,
        "tokens": _NO_TOKENS,
        "modelID": message.model or sheet.session.model or "unknown",
        "providerID": _provider(sheet),
        "time": {"created": created, "completed": created},
        "finish": "tool-calls" if calls else "stop",
    }
    spent = sheet.unbilled in message.source
    _append(sheet, info, _spent(parts) if spent else parts)


def _append(sheet: _Sheet, info: Part, parts: Sequence[bytes]) -> None:
    own = b",".join(_own_part(sheet, part, info["id"]) for part in parts)
    sheet.records.append(b'{"info":' + render(info) + b',"parts":[' + own + b"]}")


def _created(sheet: _Sheet, message: Message | None) -> int:
    if message is not None and message.id in sheet.times:
        return sheet.times[message.id]
    known = [loads(raw)["info"]["time"]["created"] for raw in sheet.records[-1:]]
    return int(known[0] if known else min(sheet.times.values(), default=time.time_ns() // 1_000_000))


def _provider(sheet: _Sheet) -> str:
    """The provider that the session names last, for records of this program's own."""
    for raw in reversed(sheet.raws):
        record = loads(raw)
        info = record.get("info") if isinstance(record, dict) else None
        model = info.get("model") if isinstance(info, dict) else None
        for place in (info, model):
            if isinstance(place, dict) and isinstance(place.get("providerID"), str):
                return str(place["providerID"])
    return "unknown"


def _document(sheet: _Sheet) -> bytes:
    if sheet.native:
        return _relabelled(sheet)
    now = max(sheet.times.values(), default=time.time_ns() // 1_000_000)
    info = {
        "id": sheet.id,
        "slug": "compacted",
        "projectID": "global",
        "directory": folder_of(sheet.session),
        "title": sheet.session.title or first_words(sheet.session.context()) or "Compacted session",
        "version": _VERSION,
        "time": {"created": min(sheet.times.values(), default=now), "updated": now},
    }
    return b'{"info":' + render(info) + b',"messages":[' + b",".join(sheet.records) + b"]}"


def _relabelled(sheet: _Sheet) -> bytes:
    """The loaded document with the new records, under the new id; no longer shared, and with nothing undone."""
    data = splice(sheet.session.records.data, "messages", sheet.records).removeprefix(b"\xef\xbb\xbf")
    raw = field_of(data, "info") or b"{}"
    info = loads(raw)
    if not isinstance(info, dict):
        return replace_fields(data, {"info": render({"id": sheet.id})})
    if gone := {"revert", "share"} & info.keys():
        raw = render({key: value for key, value in info.items() if key not in gone})
        sheet.losses.append(Loss(LossKind.UNDO_OR_SHARE))
    return replace_fields(data, {"info": replace_fields(raw, {"id": render(sheet.id)})})
