"""Records of a new session for `opencode import`: new ids, links and times, everything else as it was.

Records rise in id and time, because opencode orders by both.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Any

from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.names import first_words
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.opencode import ID
from workbench.formats.opencode.parts import Part, mark_stale_usage, text_part
from workbench.session import Message, Session

_VERSION = "1.4.3"
"""opencode version whose import accepts these records; used if the session names none."""


_NO_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}

_REMOVED = "[The conversation before this point was removed.]"

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class _Ids:
    """Generator of opencode's ids: six bytes of milliseconds and a counter, then fourteen random characters."""

    def __init__(self) -> None:
        self._now = (time.time_ns() // 1_000_000 - 3_600_000) * 0x1000  # an hour ago: ids may run ahead
        self._suffix = "".join(secrets.choice(_BASE62) for _ in range(14))

    def rising(self, prefix: str) -> str:
        self._now += 1
        return f"{prefix}_{self._now & 0xFFFFFFFFFFFF:012x}{self._suffix}"

    def falling(self, prefix: str) -> str:
        return f"{prefix}_{~self._now & 0xFFFFFFFFFFFF:012x}{self._suffix}"


class NewRecords:
    """Records of the new session so far. `loaded` are the records of the file, none for a session of another format.
    `stale` is the index of the loaded record whose tokens are stale, -1 for none. `losses` grows while records are
    added."""

    def __init__(self, session: Session, messages: Sequence[Message], stale: int, losses: Losses) -> None:
        self.session, self.stale, self.losses = session, stale, losses
        self.is_native = session.format == ID
        self.ids = _Ids()
        self.id = self.ids.falling("ses")
        self.loaded: Sequence[bytes] = elements(session.records.data, "messages") if self.is_native else ()
        self.times = _times(messages)
        self.renamed: dict[str, str] = {}
        """New message ids by old ones."""
        self.user = ""
        """Id of the last user record."""
        self.written: list[bytes] = []

    def copy(self, record: int, message: Message, parts: Sequence[bytes] | None = None) -> None:
        """Copy a record. Only these change: ids and links, the tokens of the newest answer, and a creation time later
        than that of a following message.

        `parts`, if not None, replaces the record's own.
        """
        raw = self.loaded[record]
        value = loads(raw)
        info = value.get("info") if isinstance(value, dict) else None
        if not isinstance(info, dict):
            self.losses.append(Loss(LossKind.DAMAGED_RECORDS))
            return
        id = self.ids.rising("msg")
        changes = {"id": render(id), "sessionID": render(self.id)}
        if info.get("role") == "assistant":
            changes["parentID"] = render(self._parent(info))
            if record == self.stale and isinstance(info.get("tokens"), dict):
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
            if record == self.stale:
                own = mark_stale_usage(own)
            fields["parts"] = splice(field_of(raw, "parts") or b"[]", None, [self._own_part(part, id) for part in own])
        self.written.append(replace_fields(raw, fields))

    def _parent(self, info: Part) -> str:
        """Return the id of an answer's user record: its own if kept, else the last one before it, else a new one."""
        if new := self.renamed.get(as_text(info.get("parentID"))):
            return new
        if not self.user:
            self.losses.append(
                Loss(LossKind.USER_INSERTED, 1, ("every assistant message belongs to a user message",), _REMOVED)
            )
            self.add_user([text_part(_REMOVED, synthetic=True)], None)
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

    def add_user(self, parts: Sequence[Part], message: Message | None) -> None:
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

    def add_assistant(self, parts: Sequence[bytes], message: Message, **flags: Any) -> None:
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
        is_stale = self.stale in message.source
        self._append(info, mark_stale_usage(parts) if is_stale else parts)

    def _append(self, info: Part, parts: Sequence[bytes]) -> None:
        own = b",".join(self._own_part(part, info["id"]) for part in parts)
        self.written.append(b'{"info":' + render(info) + b',"parts":[' + own + b"]}")

    def _created(self, message: Message | None) -> int:
        if message is not None and message.id in self.times:
            return self.times[message.id]
        known = [loads(raw)["info"]["time"]["created"] for raw in self.written[-1:]]
        return int(known[0] if known else min(self.times.values(), default=time.time_ns() // 1_000_000))

    def _provider(self) -> str:
        """Return the provider that the session names last, for new records."""
        for raw in reversed(self.loaded):
            record = loads(raw)
            info = record.get("info") if isinstance(record, dict) else None
            model = info.get("model") if isinstance(info, dict) else None
            for place in (info, model):
                if isinstance(place, dict) and isinstance(place.get("providerID"), str):
                    return str(place["providerID"])
        return "unknown"

    def document(self) -> bytes:
        if self.is_native:
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
        return b'{"info":' + render(info) + b',"messages":[' + b",".join(self.written) + b"]}"

    def _loaded_document(self) -> bytes:
        """Return the loaded document with the new records and id; share link and undo state are removed."""
        data = splice(self.session.records.data, "messages", self.written).removeprefix(b"\xef\xbb\xbf")
        raw = field_of(data, "info") or b"{}"
        info = loads(raw)
        if not isinstance(info, dict):
            return replace_fields(data, {"info": render({"id": self.id})})
        if removed := {"revert", "share"} & info.keys():
            raw = render({key: value for key, value in info.items() if key not in removed})
            self.losses.append(Loss(LossKind.UNDO_OR_SHARE))
        return replace_fields(data, {"info": replace_fields(raw, {"id": render(self.id)})})


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
