"""Write a Claude Code session that `claude --resume` opens.

The new file is one plain chain: a boundary if there is a summary, then every message in context order (also those that
an older boundary preserved), each line's parent the line before. Kept lines change only in `sessionId` and
`parentUuid`. The usage of the newest call becomes 0: Claude Code takes the last usage as the context size, and would
compact at once. A key of this program (`kit/marks.py`) marks usage up to there as stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.claude_code import ID
from workbench.formats.claude_code.attachments import SNAPSHOT
from workbench.formats.claude_code.lines import NOTIFICATION, LoadedFile
from workbench.formats.claude_code.project import project_name
from workbench.formats.format import Written
from workbench.formats.kit.blocks import to_anthropic
from workbench.formats.kit.document import render
from workbench.formats.kit.folder import agent_home, folder_of
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads, object_of
from workbench.formats.kit.line_writer import LineWriter, tail_of, usage_reset
from workbench.formats.kit.marks import STALE_USAGE
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, LossKind, loss_of
from workbench.formats.roles import GAP
from workbench.session import Block, Message, Opaque, Session, SessionFacts, Text, Thinking

_VERSION = "2.1.0"
"""Claude Code version that the lines are written for; used if the session names none."""


UNKNOWN_MODEL = "unknown"
"""Model of an answer without a recorded model; Claude Code would not send a `<synthetic>` answer."""

_NO_USAGE = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}

_NO_USAGE_FIELDS = dict.fromkeys(_NO_USAGE, b"0")

_PRESERVED_KEYS = ("preservedMessages", "preservedSegment")
"""Boundary keys that preserve earlier lines. In a new file these lines follow the summary like all others."""

_LASTING_MARKS = (SNAPSHOT.encode(), b"content-replacement")
"""Marks of records that stay valid for all later lines."""

_NO_SESSION = "Claude Code cannot open a printed or exported file; cwb compact FILE -o NEW writes a session"

_SIGNED = ("claude-code", "anthropic-messages")


class _Writer(LineWriter):
    """Writer of a session file. `common`: keys of every line; `unbilled`: ids of the answers whose usage is reset."""

    def __init__(self, session: Session, id: str, *, own: bool) -> None:
        super().__init__(session, own=own)
        self.id = id
        self.common = _common_keys(session, id)
        self.parent: str | None = None
        self.uuids: set[str] = set()
        self.unbilled: frozenset[str] = frozenset()

    def is_copied(self, message: Message) -> bool:
        return super().is_copied(message) and not _has_complete_text_in_request(self.session, message)

    def keep(self, message: Message, record: int) -> None:
        self.copy(record, unbilled=message.id in self.unbilled)

    def others(self, first: int) -> list[int]:
        """Return the records from `first` on that are copied but are no messages: progress, snapshots, queue, unknown
        types. The newest earlier system prompt and earlier replacements of too large results are included."""
        records = self.session.records
        used = bytearray(len(records))
        for message in self.session.messages:
            for record in message.source:
                used[record] = 1
        found: list[int] = []
        prompt: int | None = None
        for index in range(len(records)):
            if used[index] or (index < first and not any(mark in records[index] for mark in _LASTING_MARKS)):
                continue
            value = object_of(records[index])
            type = value.get("type") if value is not None else None
            if value is None:
                self.losses.append(Loss(LossKind.DAMAGED_RECORDS))
            elif value.get("isSidechain") is True or type in ("user", "assistant"):
                continue
            elif isinstance(type, str) and type.startswith("api-request"):
                self.losses.append(Loss(LossKind.REQUEST_RECORDS))
            elif index >= first or type == "content-replacement":
                found.append(index)
            elif dict_of(value.get("attachment")).get("type") == SNAPSHOT:
                prompt = index
        newer = any(dict_of(loads(records[index]).get("attachment")).get("type") == SNAPSHOT for index in found)
        return found if prompt is None or newer else sorted([prompt, *found])

    def boundary(self, summary: Message, first: int) -> None:
        """Write the boundary that ends the loader's walk: the recorded one of a kept summary, else a new one."""
        session = self.session
        if self.own and summary.source:
            bounds = (m.source[0] for m in session.messages if m.kind == "boundary" and m.source[0] < summary.source[0])
            recorded = [record for record in bounds if loads(session.records[record]).get("compactMetadata")]
            if recorded:
                self.copy(recorded[-1])
                return
        metadata: dict[str, Any] = {"trigger": "manual"}
        usage = next((m.usage for m in reversed(session.context()) if m.usage is not None), None)
        if usage is not None:
            metadata["preTokens"] = usage.context + usage.output
        self._append(
            {
                "parentUuid": None,
                "logicalParentUuid": _uuid_before(session, first) if self.own else None,
                **self.common,
                "type": "system",
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "isMeta": False,
                "timestamp": iso(),
                "uuid": str(uuid4()),
                "level": "info",
                "compactMetadata": metadata,
            },
        )

    def copy(self, record: int, *, unbilled: bool = False) -> None:
        """Copy a record; change only its links and ids, and its usage if `unbilled`."""
        raw: bytes = self.session.records[record]
        value = loads(raw)
        id = f'"{self.id}"'.encode()
        changes = {key: id for key in ("sessionId", "session_id") if key in value}
        if "uuid" in value or value.get("type") in ("user", "assistant", "system", "attachment", "progress"):
            changes["sessionId"] = id
            changes["parentUuid"] = render(self.parent)
            uuid = value.get("uuid")
            if not isinstance(uuid, str) or not uuid or uuid in self.uuids:
                uuid = str(uuid4())
                changes["uuid"] = render(uuid)
            self.uuids.add(uuid)
            self.parent = uuid
            if value.get("isSidechain") is True:  # a sub-agent's file becomes a session
                changes["isSidechain"] = b"false"
        metadata = value.get("compactMetadata")
        if isinstance(metadata, dict) and any(key in metadata for key in _PRESERVED_KEYS):
            changes["compactMetadata"] = render({key: metadata[key] for key in metadata if key not in _PRESERVED_KEYS})
        if unbilled:
            changes |= usage_reset(raw, _NO_USAGE_FIELDS) | {STALE_USAGE: b"true"}
        self.lines.append(replace_fields(raw, changes))

    def make(self, message: Message) -> None:
        """Render a message without a recorded line: one line, or one line per block of an assistant message."""
        if message.role == "system" and message.kind != "summary":
            self.line("user", {"role": "user", "content": as_user_text(message)}, message.time, isMeta=True)
            return
        content = [block for block in (self._render_block(block) for block in message.blocks) if block is not None]
        if not content:
            self.losses.append(Loss(LossKind.EMPTY_MESSAGES))
            return
        if message.role == "assistant":
            self._render_response(
                message, content, **({STALE_USAGE: True} if self.own and message.id in self.unbilled else {})
            )
            return
        flags: dict[str, Any] = {}
        if message.kind == "summary":
            flags = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        elif message.kind == "meta":
            flags = {"isMeta": True}
        text = content[0].get("text") if len(content) == 1 and content[0]["type"] == "text" else None
        body = {"role": "user", "content": text if isinstance(text, str) else content}
        self.line("user", body, message.time, **flags)

    def _render_response(self, message: Message, content: list[dict[str, Any]], **flags: Any) -> None:
        api_id = f"msg_{uuid4().hex[:24]}"
        flags |= {"isCompactSummary": True} if message.kind == "summary" else {}
        calls = any(block["type"] == "tool_use" for block in content)
        for number, block in enumerate(content):
            body = {
                "model": message.model or self.session.model or UNKNOWN_MODEL,
                "id": api_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": None if number < len(content) - 1 else "tool_use" if calls else "end_turn",
                "stop_sequence": None,
                "usage": _NO_USAGE,
            }
            self.line("assistant", body, message.time, **flags)

    def _render_block(self, block: Block) -> dict[str, Any] | None:
        """Render a block; None for one that the API would reject."""
        match block:
            case Text(text):
                return {"type": "text", "text": text} if text.strip() else None
            case Thinking(_, signature) if not (signature and self.session.format in _SIGNED):
                self.losses.append(loss_of(block))
                return None
            case Opaque("attachment", raw):
                text = f"<system-reminder>\n{render(raw).decode()}\n</system-reminder>"
                self.losses.append(Loss(LossKind.BLOCKS_AS_TEXT, inserted=text))
                return {"type": "text", "text": text}
            case Opaque(_, raw) if not (self.session.format in _SIGNED and isinstance(raw, dict) and "type" in raw):
                self.losses.append(loss_of(block))
                return None
        return to_anthropic(block, self.losses)

    def line(self, type: str, body: dict[str, Any], time: float | None, **flags: Any) -> None:
        self._append(
            {
                "parentUuid": self.parent,
                **self.common,
                "type": type,
                "message": body,
                **flags,
                "uuid": str(uuid4()),
                "timestamp": iso(time),
            },
        )

    def _append(self, value: dict[str, Any]) -> None:
        self.lines.append(render(value))
        self.parent = value["uuid"]
        self.uuids.add(value["uuid"])


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a new session. Never raises; `losses` counts what the format cannot carry."""
    own = session.facts.own
    native = isinstance(own, LoadedFile) and not own.rewritten
    messages, losses = [message for message in messages if message.kind != "boundary"], list[Loss]()
    if not native:
        messages, losses = adopted(session, messages, "Claude Code", "anthropic-messages")
    id = str(uuid4())
    writer = _Writer(session, id, own=native)
    writer.losses += losses
    tail = tail_of(messages) if native else len(messages)
    first = messages[tail].source[0] if tail < len(messages) else len(session.records)
    summary = next((message for message in messages if message.kind == "summary"), None)
    if summary is not None:
        writer.boundary(summary, first)
    if messages and messages[0].role == "assistant":
        writer.losses.append(Loss(LossKind.USER_INSERTED, 1, ("a session cannot start with an answer",), GAP))
        writer.line("user", {"role": "user", "content": GAP}, None, isMeta=True)
    writer.unbilled = _last_calls(messages)
    writer.write_messages(messages, tail, writer.others(first) if native else [])
    return addressed(session, writer.data, id, writer.losses)


def _has_complete_text_in_request(session: Session, message: Message) -> bool:
    """Return True for a task's notification whose complete text is only in a recorded request, which is not copied."""
    if message.kind != "meta" or NOTIFICATION not in message.text or message.text.startswith(NOTIFICATION):
        return False
    lines = (dict_of(loads(session.records[record]).get("message")) for record in message.source)
    return any(str(line.get("content")).startswith(NOTIFICATION) for line in lines)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    """Add file name, location and resume command to the data of a session (`Codec.addressed`)."""
    if id == session.id and isinstance(session.facts.own, LoadedFile) and session.facts.own.rewritten:
        return Written(data, f"{id}.jsonl", id, by_hand=_NO_SESSION, losses=losses)
    folder, config = folder_of(session), agent_home("CLAUDE_CONFIG_DIR", otherwise="~/.claude")
    home = f"{config}/projects/{project_name(folder)}/{id}.jsonl"
    return Written(data, f"{id}.jsonl", id, home, folder, (("claude", "--resume", id),), losses=losses)


def _common_keys(session: Session, id: str) -> dict[str, Any]:
    own = session.facts if session.format == ID else SessionFacts()
    common: dict[str, Any] = {
        "isSidechain": False,
        "userType": "external",
        "cwd": folder_of(session),
        "sessionId": id,
        "version": own.version or _VERSION,
        "gitBranch": own.git_branch,
    }
    if isinstance(own.own, LoadedFile) and own.own.slug:
        common["slug"] = own.own.slug
    return common


def _last_calls(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the newest model answer and of synthetic answers after it."""
    ids: list[str] = []
    for message in reversed(messages):
        if message.role == "assistant":
            ids.append(message.id)
            if message.kind != "meta":
                break
    return frozenset(ids)


def _uuid_before(session: Session, first: int) -> str | None:
    last = max((m.source[-1] for m in session.messages if m.source and m.source[-1] < first), default=None)
    uuid = loads(session.records[last]).get("uuid") if last is not None else None
    return uuid if isinstance(uuid, str) else None
