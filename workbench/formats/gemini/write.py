"""Writing a Gemini CLI session that `gemini --resume` opens.

A new session is a metadata line and one message per line. A document becomes so too: Gemini CLI turns one into lines
by itself when it resumes it, and then sends each result several times from the second time on. The other way, Gemini
CLI's own, keeps the history and puts a `$set.messages` behind it, which replaces it. The counts of the last response
are set to nothing, as Gemini CLI takes them for the size of the context; a note beside them says so to this program's
reader.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.base.values import json_value
from workbench.formats.format import Written
from workbench.formats.gemini.parts import (
    answered_once,
    call_records,
    ignored,
    is_environment,
    is_sent,
    request_parts,
    response_record,
    with_mark,
    with_own_result,
)
from workbench.formats.kit.blocks import texts_of
from workbench.formats.kit.document import elements, render
from workbench.formats.kit.folder import agent_home, folder_of, read_agent_file, written_at
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads, object_of
from workbench.formats.kit.mark import SPENT
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.tail import tail_of
from workbench.formats.kit.values import dict_of, word_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.session import Message, Session, Text, ToolResult

_BOM = b"\xef\xbb\xbf"

_NO_TOKENS = b'{"input":0,"output":0,"cached":0,"thoughts":0,"tool":0,"total":0}'

_REQUEST = "Request: "

_NOT_MESSAGES = ("id", "sessionId")
"""Keys of records that are no message of the present history, and whose meaning is gone or in line 1; so are those of
which a key begins with `$`: they say what was done to the history."""


class _Writer:
    """The records of the new history. `raws` are the loaded ones by number, `whole`: they are those of a document."""

    def __init__(self, session: Session, messages: Sequence[Message], *, own: bool) -> None:
        self.session, self.own, self.whole = session, own, own and not len(session.records)
        self.raws: Sequence[bytes] = session.records if own else ()
        if self.whole:
            self.raws = _named(elements(session.records.data, "messages"))
        self.pieces: list[int | bytes] = []
        self.losses: Losses = []
        messages = [message for message in messages if message.kind != "boundary"]
        if not own:
            messages, self.losses = adopted(session, messages, "Gemini CLI", "gemini")
            messages = [_in_one_text(message, self.losses) for message in messages]
        self.names = {call.id: call.name for message in (*session.messages, *messages) for call in message.calls}
        self._fill(messages)
        if not self.pieces:
            self.losses.append(Loss(LossKind.NO_MESSAGE))
        self._reset_last_count()

    @property
    def records(self) -> list[bytes]:
        return [self.raws[piece] if isinstance(piece, int) else piece for piece in self.pieces]

    def first_line(self, id: str) -> bytes:
        return _metadata_of_document(self.session, id) if self.whole else _metadata(self.session, id, own=self.own)

    def _fill(self, messages: Sequence[Message]) -> None:
        """The records of the messages, with those that are never sent where they stood among the last kept ones."""
        parts: dict[int, list[Message]] = {}
        for message in self.session.messages if self.own else ():
            for source in message.source:
                parts.setdefault(source, []).append(message)
        tail = tail_of(messages) if self.own else len(messages)
        unsent = self._unsent(messages[tail:], parts)
        at = 0
        while at < len(messages):
            message = messages[at]
            after = messages[at + 1] if at + 1 < len(messages) else None
            while at >= tail and unsent and message.source and unsent[0] < message.source[0]:
                self.pieces.append(unsent.pop(0))
            takes = after is not None and message.role == "assistant" and self._belong(message, after)
            if self.own and message.source and message.role != "tool":
                self._kept(message, after if takes else None, parts[message.source[0]])
            elif self.own and message.source and len(parts[message.source[0]]) == 1:
                self.pieces.append(_said_once(self.raws[message.source[0]]) or message.source[0])
            elif message.role == "assistant":
                self._response(message, after if takes else None)
            else:
                self._request(message)
            at += 1 + takes
        self.pieces += unsent

    def _unsent(self, tail: Sequence[Message], parts: Mapping[int, list[Message]]) -> list[int]:
        """Notices and the like between the kept messages, and after them up to the next message that was dropped."""
        if not tail:
            return []
        first, last = tail[0].source[0], tail[-1].source[-1]
        found: list[int] = []
        for source in range(first, len(self.raws)):
            value = object_of(self.raws[source])
            if value is None:
                self.losses.append(Loss(LossKind.DAMAGED_RECORDS))
            elif source not in parts:
                if value.keys().isdisjoint(_NOT_MESSAGES) and not any(key.startswith("$") for key in value):
                    found.append(source)
            elif not is_sent(value):
                found.append(source)
            elif source > last:
                break
        return found

    def _belong(self, response: Message, results: Message) -> bool:
        """True where results can stand in the record of the response before them: they did, or answer its calls in
        turn."""
        if self.own and response.source and response.source == results.source:
            return True
        if results.role != "tool" or not all(isinstance(block, ToolResult) for block in results.blocks):
            return False
        order = iter([call.id for call in response.calls])
        return all(result.call_id in order for result in results.results)

    def _kept(self, message: Message, results: Message | None, recorded: list[Message]) -> None:
        source = message.source[0]
        own = next((part for part in recorded if part.role == "tool"), None)
        raw = self.raws[source]
        if own == results:
            self.pieces.append(_answered_once(raw) or source)
            return
        calls = call_records(message, results, self.losses)
        for call, old in zip(calls, loads(raw).get("toolCalls") or [], strict=False):
            if isinstance(old, dict) and old.get("id") == call["id"]:
                call.update({key: value for key, value in old.items() if key not in ("result", "resultDisplay")})
        self.pieces.append(replace_fields(raw, {"toolCalls": render(calls)}))

    def _response(self, message: Message, results: Message | None) -> None:
        record = {"id": str(uuid4()), "timestamp": iso(message.time), "type": "gemini"}
        record |= response_record(message, self.losses, own=self.own)
        if message.calls:
            record["toolCalls"] = call_records(message, results, self.losses)  # type: ignore[assignment]
        record["model"] = message.model or self.session.model or "gemini-2.5-pro"
        if record["content"] or message.calls:
            self.pieces.append(render(with_mark(record, message.kind)))

    def _request(self, message: Message) -> None:
        if message.role == "system":
            text = message.text if message.kind == "summary" else as_user_text(message)
            message = replace(message, role="user", blocks=(Text(text),))
        parts = request_parts(message, self.names, self.losses, own=self.own)
        if not parts:
            self.losses.append(Loss(LossKind.EMPTY_MESSAGES))
            return
        record = {"id": str(uuid4()), "timestamp": iso(message.time), "type": "user", "content": parts}
        opens = is_environment(record) and not self.pieces
        if "text" in parts[0] and ignored(parts[0]["text"]) and not opens:
            self.losses.append(Loss(LossKind.REQUESTS_PREFIXED, 1, ("Gemini CLI",), _REQUEST))
            parts[0] = {"text": _REQUEST + parts[0]["text"]}
        self.pieces.append(render(record if message.role == "tool" else with_mark(record, message.kind)))

    def _reset_last_count(self) -> None:
        for at in range(len(self.pieces) - 1, -1, -1):
            piece = self.pieces[at]
            raw = self.raws[piece] if isinstance(piece, int) else piece
            value = loads(raw)
            if value.get("type") == "gemini" and isinstance(value.get("tokens"), dict):
                self.pieces[at] = replace_fields(raw, {"tokens": _NO_TOKENS, SPENT: b"true"})
                return


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The messages as a new session; the loaded one if nothing changed. Never raises."""
    own = session.format == "gemini"
    if own and len(session.records) and list(messages) == list(session.context()):
        losses = [Loss(LossKind.UNCHANGED), Loss(LossKind.DELETED_WHEN_OLD)]
        return addressed(session, session.records.data, session.id, losses)
    writer, id = _Writer(session, messages, own=own), str(uuid4())
    return addressed(session, _as_lines([writer.first_line(id), *writer.records]), id, writer.losses)


def append(session: Session, messages: Sequence[Message]) -> Written:
    """The loaded history as JSONL under a new id, and behind it the `$set.messages` that replaces it. Never raises."""
    if session.format != "gemini":
        return write(session, messages)
    writer, id = _Writer(session, messages, own=True), str(uuid4())
    raws = writer.raws if writer.whole else _loaded_lines(session)
    kept = [_renamed(raw, id) for raw in raws if isinstance(object_of(raw), dict)]
    if len(kept) < len(raws):
        writer.losses.append(Loss(LossKind.DAMAGED_RECORDS))
    if not writer.whole:
        kept = kept[1:] if kept and "id" not in (object_of(kept[0]) or {}) else kept
    record = b'{"$set":{"messages":[%s],"lastUpdated":%s}}' % (b",".join(writer.records), render(iso()))
    return addressed(session, _as_lines([writer.first_line(id), *kept, record]), id, writer.losses)


def _renamed(raw: bytes, id: str) -> bytes:
    """A record; one that sets the session's id, as each resume writes it, sets the new one."""
    changes = dict_of((object_of(raw) or {}).get("$set"))
    return render({"$set": {**changes, "sessionId": id}}) if "sessionId" in changes else raw


def _as_lines(records: Sequence[bytes]) -> bytes:
    """Each record on a line of its own; what broke one stood between its tokens."""
    return b"".join(record.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n" for record in records)


def _loaded_lines(session: Session) -> list[bytes]:
    """The loaded lines, without the records that lie inside of one."""
    lines: list[bytes] = []
    end = -1
    for index, start in enumerate(session.records.starts):
        if start >= end:
            lines.append(session.records[index])
            end = session.records.stops[index]
    return lines


def _metadata_of_document(session: Session, id: str) -> bytes:
    """Line 1 for a document that becomes JSONL: all it says beside its messages."""
    about = object_of(session.records.data.removeprefix(_BOM))
    about = {key: value for key, value in about.items() if key != "messages"} if isinstance(about, dict) else {}
    return render({**about, "sessionId": id, "lastUpdated": iso()})


def _named(raws: Sequence[bytes]) -> list[bytes]:
    """The messages of a document with the ids that they are read by: a line without one is no message, and one with
    that of another takes its place."""
    names: set[str] = set()
    named: list[bytes] = []
    for number, raw in enumerate(raws, 1):
        value = object_of(raw)
        if isinstance(value, dict):
            id = value.get("id")
            name = id if isinstance(id, str) and id not in names else f"message-{number}"
            names.add(name)
            raw = raw if name == id else replace_fields(raw, {"id": render(name)})
        named.append(raw)
    return named


def _in_one_text(message: Message, losses: Losses) -> Message:
    """Another tool's results with one text each: a second one would be a part that is sent as the person's."""
    blocks = (
        replace(block, content=(Text("\n".join(texts_of(block, losses))),)) if isinstance(block, ToolResult) else block
        for block in message.blocks
    )
    return replace(message, blocks=tuple(blocks))


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    name = f"session-{written_at(session, id):%Y-%m-%dT%H-%M}-{id[:8]}.jsonl"
    folder, project = _project(session)
    if not folder:
        losses = [*losses, Loss(LossKind.UNKNOWN_FOLDER)]
    home = f"{_home()}/.gemini/tmp/{project}/chats/{name}"
    return Written(data, name, id, home, folder, (("gemini", "--resume", id),), losses=losses)


def _project(session: Session) -> tuple[str, str]:
    """The folder of the session, "" where none of the known ones has the recorded hash, and what Gemini CLI calls it.

    It keeps the names in `projects.json`; a folder that goes by its hash, as all did before, it takes over under the
    new name when it is started there.
    """
    names = dict_of(dict_of(json_value(read_agent_file(f"{_home()}/.gemini/projects.json"))).get("projects"))
    folder, recorded = folder_of(session), session.facts.project if session.format == "gemini" else ""
    if recorded:
        folder = next((known for known in (folder, *names) if _hash(known) == recorded), "")
    return folder, word_of(names.get(folder)) or recorded or _hash(folder)


def _home() -> str:
    """What Gemini CLI takes for the person's home."""
    return agent_home("GEMINI_CLI_HOME", otherwise="~")


def _hash(folder: str) -> str:
    return hashlib.sha256(folder.encode(errors="replace")).hexdigest()


def _metadata(session: Session, id: str, *, own: bool) -> bytes:
    """Line 1: the loaded one with what was set since, or a new one. The loader demands sessionId and projectHash."""
    now = iso()
    if own:
        first: bytes = session.records[0]
        about = object_of(first)
        if isinstance(about, dict) and "projectHash" in about and "messages" not in about and "id" not in about:
            changes: dict[str, Any] = {}
            for raw in session.records:
                value = object_of(raw) if raw.startswith(b'{"$set"') else None
                if isinstance(value, dict) and isinstance(value.get("$set"), dict):
                    changes |= value["$set"]
            changes |= {"sessionId": id, "lastUpdated": now}
            changes.pop("messages", None)
            return replace_fields(first, {key: render(value) for key, value in changes.items()})
    project = session.facts.project if own else ""
    project = project or _hash(folder_of(session))
    return render({"sessionId": id, "projectHash": project, "startTime": now, "lastUpdated": now, "kind": "main"})


def _answered_once(raw: bytes) -> bytes | None:
    """A record with each call's own result alone, None where it is so.

    Gemini CLI puts the responses of a whole turn beside each call when it resumes, and would send all of them.
    """
    calls = loads(raw).get("toolCalls")
    healed = [with_own_result(call) for call in calls] if isinstance(calls, list) else calls
    return None if healed == calls else replace_fields(raw, {"toolCalls": render(healed)})


def _said_once(raw: bytes) -> bytes | None:
    """A record of results with each of them once, None where it is so."""
    content = loads(raw).get("content")
    healed = answered_once(content) if isinstance(content, list) else content
    return None if healed == content else replace_fields(raw, {"content": render(healed)})
