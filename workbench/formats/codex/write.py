"""Write a Codex rollout that `codex resume` opens.

`write` makes a session_meta line with a new id and one line per item, which Codex reads as the complete context.
`append`, like Codex itself, keeps the loaded rollout and adds a `compacted` record with a list of items. The list
cannot separate consecutive responses, so from the first such pair on the items follow as plain lines. The last run of
kept messages keeps the event lines that show it on the screen. Token records lose their counts: Codex takes the last
one as the size of the context and would compact again at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from workbench.base.figures import grouped
from workbench.base.stamps import iso
from workbench.formats.codex.items import ItemGroup, group_of, render_items
from workbench.formats.format import Written
from workbench.formats.kit.document import render
from workbench.formats.kit.folder import agent_home, folder_of, recorded_file_name, written_at
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads, object_of
from workbench.formats.kit.line_writer import LineWriter, tail_of
from workbench.formats.kit.settle import adopted
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.session import Message, Opaque, Session, Text

_VERSION = "0.142.5"
"""Codex version that the lines are written for; used if the session names none."""

_MAX_RESULT_BYTES = 48_000
"""Maximum bytes of a tool result that Codex 0.169 sends (known models). It cuts longer ones in the middle, except in a
`compacted` record."""

_DROPPED_EVENTS = ("thread_rolled_back", "context_compacted")

_REWRITABLE_OUTPUT = ("function_call", "custom_tool_call", "local_shell_call")
"""Call types whose output can be rewritten alone; for others the call is rewritten as well."""


_NO_TOKENS = {"type": "token_count", "info": None, "rate_limits": None}


class _Writer(LineWriter):
    """Writer of a rollout. `group`: the group that a next item would continue. `others`: kind and line of the kept
    records that are no messages, by record index. `new_results`: call ids of results without records. `shown`: a
    user_message event is written."""

    def __init__(self, session: Session, messages: Sequence[Message], *, own: bool) -> None:
        super().__init__(session, own=own)
        results = (result for message in messages if not message.source for result in message.results)
        self.new_results = frozenset(result.call_id for result in results) if own else frozenset[str]()
        self.call_types = _call_types(session) if own else {}
        self.others: dict[int, tuple[str, bytes]] = {}
        self.group: ItemGroup = ""
        self.shown = False

    def loaded_lines(self) -> list[bytes]:
        """Return the loaded lines without those that Codex would skip. Records within another's line are part of it."""
        lines: list[bytes] = []
        end = -1
        records = self.session.records
        for index, start in enumerate(records.starts):
            if start < end:
                continue
            end = records.stops[index]
            raw: bytes = records[index]
            value = object_of(raw)
            if (
                isinstance(value, dict)
                and isinstance(value.get("type"), str)
                and isinstance(value.get("payload"), dict)
            ):
                lines.append(raw.replace(b"\n", b" "))
            else:
                self.losses.append(Loss(LossKind.DAMAGED_RECORDS))
        return lines

    def find_others(self, tail: Sequence[Message]) -> None:
        """Collect the other records between the messages of the tail, and after them up to the next message."""
        records = self.session.records
        used = {record for message in self.session.messages for record in message.source}
        first, last = tail[0].source[0], tail[-1].source[-1]
        end = min((record for record in used if record > last), default=len(records))
        rolled_back = False
        for index in range(first, end):
            if index in used:
                continue
            raw: bytes = records[index]
            value = object_of(raw)
            if value is None:
                self.losses.append(Loss(LossKind.DAMAGED_RECORDS))
                continue
            kind, payload = value.get("type"), value.get("payload")
            if not isinstance(payload, dict) or kind in ("session_meta", "compacted"):
                continue
            if kind == "response_item" and group_of(payload):
                continue
            label = str(payload.get("type")) if kind == "event_msg" else str(kind)
            rolled_back = rolled_back or label == "thread_rolled_back"
            if label == "token_count":
                raw = _uncounted(raw)
            if label not in _DROPPED_EVENTS:
                self.others[index] = label, raw
        # Events of rolled-back turns cannot be distinguished from the others.
        if rolled_back:
            lasting = ("turn_context", "token_count")
            self.others = {index: other for index, other in self.others.items() if other[0] in lasting}

    def copy(self, record: int) -> None:
        kind, line = self.others[record]
        self.lines.append(line)
        if kind in ("turn_context", "token_count"):
            self.group = ""
        elif kind == "user_message":
            self.shown = True

    def keep(self, message: Message, record: int) -> None:
        """Copy an item; an item inside a compaction or of Codex before 0.32 gets a line of its own."""
        raw: bytes = self.session.records[record]
        value, starts = loads(raw), record == message.source[0]
        if value.get("type") in ("compacted", "inter_agent_communication"):
            if value["type"] == "compacted":
                self.make(message)
            else:
                self._separate("request", starts=True)
                self.lines.append(raw)
            return
        bare = not isinstance(value.get("payload"), dict)
        item = value if bare else value["payload"]
        id = item.get("call_id")
        if isinstance(id, str) and id in self.new_results and item["type"] not in _REWRITABLE_OUTPUT:
            calls = tuple(call for call in message.calls if call.id == id)
            self._items(Message("", "assistant", calls), starts=starts)
            return
        if isinstance(id, str) and item["type"].endswith("_call"):
            self.call_types[id] = item["type"]
        self._separate(group_of(item), starts=starts)
        stamp = render(iso(message.time))
        self.lines.append(b'{"timestamp":%s,"type":"response_item","payload":%s}' % (stamp, raw) if bare else raw)

    def make(self, message: Message) -> None:
        if self._items(message, starts=True):
            self.show(message)
        elif message.blocks:
            self.losses.append(Loss(LossKind.EMPTY_MESSAGES))

    def _items(self, message: Message, *, starts: bool) -> bool:
        items = render_items(message, self.call_types, self.losses, own=self.own)
        for item in items:
            self._separate(group_of(item), starts=starts)
            self.line("response_item", item, message.time)
            starts = False
        return bool(items)

    def _separate(self, group: ItemGroup, *, starts: bool) -> None:
        """Write a token count before an item that starts a message but would otherwise continue the one before."""
        if starts and group != "request" and group == self.group:
            self.line("event_msg", _NO_TOKENS, None)
        self.group = group

    def show(self, message: Message) -> None:
        """Write the event line by which Codex shows a message on the screen."""
        text = "\n".join(block.text for block in message.blocks if isinstance(block, Text))
        if message.kind != "normal" or not text or any(isinstance(block, Opaque) for block in message.blocks):
            return
        if message.role == "user":
            self.line("event_msg", _user_event(text), message.time)
            self.shown = True
        elif message.role == "assistant":
            self.line("event_msg", {"type": "agent_message", "message": text}, message.time)

    def line(self, kind: str, payload: dict[str, Any], time: float | None) -> None:
        self.lines.append(render({"timestamp": iso(time), "type": kind, "payload": payload}))


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a new rollout; return the loaded one if nothing changed. Never raises."""
    own = session.format == "codex"
    if own and list(messages) == list(session.context()):
        return addressed(session, session.records.data, session.id, [Loss(LossKind.UNCHANGED)])
    messages, losses = [message for message in messages if message.kind != "boundary"], list[Loss]()
    if not own:
        messages, losses = adopted(session, messages, "Codex", "openai-responses")
    writer = _Writer(session, messages, own=own)
    writer.losses += losses
    now, id = datetime.now(UTC), str(uuid4())
    writer.lines.append(_meta_line(session, id, now.timestamp(), own=own))
    tail = tail_of(messages) if own else len(messages)
    if tail < len(messages):
        writer.find_others(messages[tail:])
    turn = _last_turn(session) if own else None
    if turn is not None and not any(kind == "turn_context" for kind, _ in writer.others.values()):
        writer.lines.append(turn)
    writer.write_messages(messages, tail, writer.others)
    if not writer.shown:
        opening = next((message for message in messages if message.role == "user" and message.text), None)
        writer.line("event_msg", _user_event(opening.text if opening else "(empty)"), None)
    return addressed(session, writer.data, id, [*writer.losses, *_cut_results(writer.lines)])


def append(session: Session, messages: Sequence[Message]) -> Written:
    """Write the loaded rollout under a new id, followed by a `compacted` record with the messages. Never raises."""
    if session.format != "codex":
        return write(session, messages)
    now, id = datetime.now(UTC), str(uuid4())
    writer = _Writer(session, messages, own=True)
    lines = writer.loaded_lines()
    if not lines or loads(lines[0]).get("type") != "session_meta":
        return write(session, messages)  # written before 0.32: its lines cannot be combined with a compaction
    messages = [message for message in messages if message.kind != "boundary"]
    writer.write_messages(messages, 0, ())
    values = [(line, loads(line)) for line in writer.lines]
    item_lines = [pair for pair in values if not _is_shown(pair[1])]
    separated = next(
        (n for n, (_, value) in enumerate(item_lines) if value["type"] != "response_item"), len(item_lines)
    )
    items = b",".join(field_of(line, "payload") or b"null" for line, _ in item_lines[:separated])
    record = b'{"timestamp":%s,"type":"compacted","payload":{"message":"","replacement_history":[%s]}}'
    turn = _last_turn(session)
    new = [
        _meta_line(session, id, now.timestamp(), own=True),
        *lines[1:],
        record % (render(iso()), items),
        *([turn] if turn else []),
        *_empty_token_count(lines),
        render({"timestamp": iso(), "type": "event_msg", "payload": {"type": "context_compacted"}}),
        *(line for line, _ in item_lines[separated:]),
    ]
    if not any(_is_shown(loads(line)) for line in lines):
        opening = next((message.text for message in messages if message.role == "user" and message.text), "(empty)")
        new.append(render({"timestamp": iso(), "type": "event_msg", "payload": _user_event(opening)}))
    losses = [*writer.losses, *_cut_results(line for line, _ in item_lines[separated:])]
    return addressed(session, b"".join(line + b"\n" for line in new), id, losses)


def _cut_results(lines: Iterable[bytes]) -> Losses:
    """Return the loss for results that Codex will cut."""
    items = (dict_of(loads(line).get("payload")) for line in lines if len(line) > _MAX_RESULT_BYTES)
    count = sum(_size(item.get("output")) > _MAX_RESULT_BYTES for item in items)
    return [Loss(LossKind.LONG_RESULTS, count, (grouped(_MAX_RESULT_BYTES),))] if count else []


def _size(output: Any) -> int:
    """Return the bytes of a result's texts; `output` is a text or a list of parts."""
    texts = [output] if isinstance(output, str) else [dict_of(part).get("text") for part in list_of(output)]
    return sum(len(text.encode(errors="replace")) for text in texts if isinstance(text, str))


def _call_types(session: Session) -> dict[str, str]:
    """Return the item types of loaded calls whose arguments are text; the text may be JSON that did not decode."""
    found: dict[str, str] = {}
    for message in session.messages:
        if any(isinstance(call.input, str) for call in message.calls):
            for record in message.source:
                value = dict_of(object_of(session.records[record]))
                item = dict_of(value.get("payload", value))
                if isinstance(item.get("call_id"), str):
                    found[item["call_id"]] = str(item.get("type"))
    return found


def _is_shown(value: dict[str, Any]) -> bool:
    return value.get("type") == "event_msg" and value["payload"].get("type") in ("user_message", "agent_message")


def _empty_token_count(lines: Sequence[bytes]) -> list[bytes]:
    """Return a token count line with the recorded totals and an empty context: Codex compacts by the newest count."""
    for line in reversed(lines):
        if b'"token_count"' not in line[:300]:
            continue
        info = loads(line)["payload"].get("info")
        if isinstance(info, dict) and "total_token_usage" in info:
            last = info.get("last_token_usage")
            info = info | {"last_token_usage": dict.fromkeys(dict_of(last), 0)}
            payload = {"type": "token_count", "info": info, "rate_limits": None}
            return [render({"timestamp": iso(), "type": "event_msg", "payload": payload})]
    return []


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    """Add file name, location and resume command to the data of a rollout (`Codec.addressed`)."""
    name = recorded_file_name(session, id)
    if not name.startswith("rollout-"):
        name = f"rollout-{written_at(session, id):%Y-%m-%dT%H-%M-%S}-{id}.jsonl"
    day = name.removeprefix("rollout-")[:10].replace("-", "/")
    home = f"{agent_home('CODEX_HOME', otherwise='~/.codex')}/sessions/{day}/{name}"
    return Written(data, name, id, home, folder_of(session), (("codex", "resume", id),), losses=losses)


def _meta_line(session: Session, id: str, now: float, *, own: bool) -> bytes:
    """Return the session_meta line: the loaded one with a new id and time, or a new one. A new one names no model
    provider, so that Codex uses the user's: it refuses to resume a session that names another one."""
    stamp = render(iso(now))
    raw: bytes = session.records[0] if own and len(session.records) else b""
    try:
        payload = (field_of(raw, "payload") if raw else None) or b"null"
        loaded = loads(payload)
        if isinstance(loaded, dict) and loads(raw).get("type") == "session_meta":
            changes = {"id": render(id), "timestamp": stamp}
            changes |= {"session_id": render(id)} if "session_id" in loaded else {}
            changes |= {"history_mode": b'"legacy"'} if loaded.get("history_mode", "legacy") != "legacy" else {}
            return replace_fields(raw, {"timestamp": stamp, "payload": replace_fields(payload, changes)})
    except (ValueError, AttributeError):
        pass
    meta: dict[str, Any] = {"id": id, "timestamp": iso(now), "cwd": folder_of(session), "originator": "codex_cli_rs"}
    version = (session.facts.version if own else "") or _VERSION
    meta |= {"cli_version": version, "source": "cli"}
    if own and session.system:
        meta["base_instructions"] = {"text": session.system}
    return render({"timestamp": iso(now), "type": "session_meta", "payload": meta})


def _uncounted(raw: bytes) -> bytes:
    try:
        payload = field_of(raw, "payload") or b"{}"
        return replace_fields(raw, {"payload": replace_fields(payload, {"info": b"null"})})
    except ValueError:
        return render({"timestamp": iso(), "type": "event_msg", "payload": _NO_TOKENS})


def _last_turn(session: Session) -> bytes | None:
    """Return the newest turn_context line, from which the loader reads model and folder; None if there is none."""
    for index in range(len(session.records) - 1, -1, -1):
        raw: bytes = session.records[index]
        if b'"turn_context"' in raw[:200]:
            try:
                if loads(raw).get("type") == "turn_context":
                    return raw
            except (ValueError, AttributeError):
                continue
    return None


def _user_event(text: str) -> dict[str, Any]:
    return {"type": "user_message", "message": text, "images": [], "local_images": [], "text_elements": []}
