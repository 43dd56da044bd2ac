"""Write Gemini CLI sessions that `gemini --resume` opens.

A new session is a metadata line and one message per line. A document becomes lines, too: Gemini CLI would convert it on
resume, and send each result several times from the second resume on. `append` keeps the history and adds a
`$set.messages` that replaces it, as Gemini CLI does. The token counts of the last response are set to zero, because
Gemini CLI takes them for the size of the context; a mark shows this program's reader that they are stale.
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
    call_records,
    is_environment,
    is_ignored,
    is_sent,
    request_parts,
    response_record,
    with_mark,
    with_own_result,
    without_repeated_results,
)
from workbench.formats.kit.blocks import texts_of
from workbench.formats.kit.document import elements, render
from workbench.formats.kit.folder import agent_home, folder_of, read_agent_file, written_at
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads, object_of
from workbench.formats.kit.line_writer import tail_of
from workbench.formats.kit.marks import STALE_USAGE
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.values import dict_of, word_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.session import Message, Session, Text, ToolResult

_BOM = b"\xef\xbb\xbf"

_NO_TOKENS = b'{"input":0,"output":0,"cached":0,"thoughts":0,"tool":0,"total":0}'

_REQUEST = "Request: "

_NOT_MESSAGES = ("id", "sessionId")
"""Records with one of these keys are not copied: `id` is in messages that are replaced, `sessionId` in metadata, which
line 1 repeats. Nor are records with a key that begins with `$`, which change the history."""


class _Writer:
    """Builds the records of the new history. `raws`: loaded records by number. `from_document`: they come from a
    document."""

    def __init__(self, session: Session, messages: Sequence[Message], *, own: bool) -> None:
        self.session, self.own, self.from_document = session, own, own and not len(session.records)
        self.raws: Sequence[bytes] = session.records if own else ()
        if self.from_document:
            self.raws = _with_ids(elements(session.records.data, "messages"))
        self.pieces: list[int | bytes] = []
        self.losses: Losses = []
        messages = [message for message in messages if message.kind != "boundary"]
        if not own:
            messages, self.losses = adopted(session, messages, "Gemini CLI", "gemini")
            messages = [_with_single_texts(message, self.losses) for message in messages]
        self.names = {call.id: call.name for message in (*session.messages, *messages) for call in message.calls}
        self._write_messages(messages)
        if not self.pieces:
            self.losses.append(Loss(LossKind.NO_MESSAGE))
        self._reset_last_count()

    @property
    def records(self) -> list[bytes]:
        return [self.raws[piece] if isinstance(piece, int) else piece for piece in self.pieces]

    def first_line(self, id: str) -> bytes:
        return (
            _metadata_of_document(self.session, id) if self.from_document else _metadata(self.session, id, own=self.own)
        )

    def _write_messages(self, messages: Sequence[Message]) -> None:
        """Write the messages; records that are never sent keep their places among the last kept ones."""
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
            has_results = after is not None and message.role == "assistant" and self._can_share_record(message, after)
            if self.own and message.source and message.role != "tool":
                self._copy_record(message, after if has_results else None, parts[message.source[0]])
            elif self.own and message.source and len(parts[message.source[0]]) == 1:
                self.pieces.append(_without_repeated_parts(self.raws[message.source[0]]) or message.source[0])
            elif message.role == "assistant":
                self._write_response(message, after if has_results else None)
            else:
                self._write_request(message)
            at += 1 + has_results
        self.pieces += unsent

    def _unsent(self, tail: Sequence[Message], parts: Mapping[int, list[Message]]) -> list[int]:
        """Return the numbers of records that are never sent, from the first message of `tail` up to the first sent
        message after its last."""
        if not tail:
            return []
        first, last = tail[0].source[0], tail[-1].source[-1]
        unsent: list[int] = []
        for source in range(first, len(self.raws)):
            value = object_of(self.raws[source])
            if value is None:
                self.losses.append(Loss(LossKind.DAMAGED_RECORDS))
            elif source not in parts:
                if value.keys().isdisjoint(_NOT_MESSAGES) and not any(key.startswith("$") for key in value):
                    unsent.append(source)
            elif not is_sent(value):
                unsent.append(source)
            elif source > last:
                break
        return unsent

    def _can_share_record(self, response: Message, results: Message) -> bool:
        """Return True for results that fit into the record of the response before them: they were in it, or answer its
        calls in order."""
        if self.own and response.source and response.source == results.source:
            return True
        if results.role != "tool" or not all(isinstance(block, ToolResult) for block in results.blocks):
            return False
        order = iter([call.id for call in response.calls])
        return all(result.call_id in order for result in results.results)

    def _copy_record(self, message: Message, results: Message | None, recorded: list[Message]) -> None:
        source = message.source[0]
        own = next((part for part in recorded if part.role == "tool"), None)
        raw = self.raws[source]
        if own == results:
            self.pieces.append(_with_own_results(raw) or source)
            return
        calls = call_records(message, results, self.losses)
        for call, old in zip(calls, loads(raw).get("toolCalls") or [], strict=False):
            if isinstance(old, dict) and old.get("id") == call["id"]:
                call.update({key: value for key, value in old.items() if key not in ("result", "resultDisplay")})
        self.pieces.append(replace_fields(raw, {"toolCalls": render(calls)}))

    def _write_response(self, message: Message, results: Message | None) -> None:
        record = {"id": str(uuid4()), "timestamp": iso(message.time), "type": "gemini"}
        record |= response_record(message, self.losses, own=self.own)
        if message.calls:
            record["toolCalls"] = call_records(message, results, self.losses)  # type: ignore[assignment]
        record["model"] = message.model or self.session.model or "gemini-2.5-pro"
        if record["content"] or message.calls:
            self.pieces.append(render(with_mark(record, message.kind)))

    def _write_request(self, message: Message) -> None:
        if message.role == "system":
            text = message.text if message.kind == "summary" else as_user_text(message)
            message = replace(message, role="user", blocks=(Text(text),))
        parts = request_parts(message, self.names, self.losses, own=self.own)
        if not parts:
            self.losses.append(Loss(LossKind.EMPTY_MESSAGES))
            return
        record = {"id": str(uuid4()), "timestamp": iso(message.time), "type": "user", "content": parts}
        opens = is_environment(record) and not self.pieces
        if "text" in parts[0] and is_ignored(parts[0]["text"]) and not opens:
            self.losses.append(Loss(LossKind.REQUESTS_PREFIXED, 1, ("Gemini CLI",), _REQUEST))
            parts[0] = {"text": _REQUEST + parts[0]["text"]}
        self.pieces.append(render(record if message.role == "tool" else with_mark(record, message.kind)))

    def _reset_last_count(self) -> None:
        for at in range(len(self.pieces) - 1, -1, -1):
            piece = self.pieces[at]
            raw = self.raws[piece] if isinstance(piece, int) else piece
            value = loads(raw)
            if value.get("type") == "gemini" and isinstance(value.get("tokens"), dict):
                self.pieces[at] = replace_fields(raw, {"tokens": _NO_TOKENS, STALE_USAGE: b"true"})
                return


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages as a new session; return the loaded one if nothing changed. Never raises."""
    own = session.format == "gemini"
    if own and len(session.records) and list(messages) == list(session.context()):
        losses = [Loss(LossKind.UNCHANGED), Loss(LossKind.DELETED_WHEN_OLD)]
        return addressed(session, session.records.data, session.id, losses)
    writer, id = _Writer(session, messages, own=own), str(uuid4())
    return addressed(session, _join_lines([writer.first_line(id), *writer.records]), id, writer.losses)


def append(session: Session, messages: Sequence[Message]) -> Written:
    """Write the loaded history as JSONL under a new id, then a `$set.messages` that replaces it. Never raises."""
    if session.format != "gemini":
        return write(session, messages)
    writer, id = _Writer(session, messages, own=True), str(uuid4())
    raws = writer.raws if writer.from_document else _loaded_lines(session)
    lines = [_with_session_id(raw, id) for raw in raws if isinstance(object_of(raw), dict)]
    if len(lines) < len(raws):
        writer.losses.append(Loss(LossKind.DAMAGED_RECORDS))
    if not writer.from_document:
        lines = lines[1:] if lines and "id" not in (object_of(lines[0]) or {}) else lines
    record = b'{"$set":{"messages":[%s],"lastUpdated":%s}}' % (b",".join(writer.records), render(iso()))
    return addressed(session, _join_lines([writer.first_line(id), *lines, record]), id, writer.losses)


def _with_session_id(raw: bytes, id: str) -> bytes:
    """Return a record; one that sets the session's id, as each resume writes, sets the new id."""
    changes = dict_of((object_of(raw) or {}).get("$set"))
    return render({"$set": {**changes, "sessionId": id}}) if "sessionId" in changes else raw


def _join_lines(records: Sequence[bytes]) -> bytes:
    """Join records, one per line; line breaks inside a record can only be between its tokens."""
    return b"".join(record.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n" for record in records)


def _loaded_lines(session: Session) -> list[bytes]:
    """Return the loaded lines, without records nested inside one."""
    lines: list[bytes] = []
    end = -1
    for index, start in enumerate(session.records.starts):
        if start >= end:
            lines.append(session.records[index])
            end = session.records.stops[index]
    return lines


def _metadata_of_document(session: Session, id: str) -> bytes:
    """Return line 1 for a document that becomes JSONL: everything but its messages."""
    metadata = object_of(session.records.data.removeprefix(_BOM))
    metadata = (
        {key: value for key, value in metadata.items() if key != "messages"} if isinstance(metadata, dict) else {}
    )
    return render({**metadata, "sessionId": id, "lastUpdated": iso()})


def _with_ids(raws: Sequence[bytes]) -> list[bytes]:
    """Give the messages of a document unique ids: in JSONL, a record without an id is no message, and one with a used
    id replaces the earlier message."""
    used: set[str] = set()
    records: list[bytes] = []
    for number, raw in enumerate(raws, 1):
        value = object_of(raw)
        if isinstance(value, dict):
            id = value.get("id")
            new_id = id if isinstance(id, str) and id not in used else f"message-{number}"
            used.add(new_id)
            raw = raw if new_id == id else replace_fields(raw, {"id": render(new_id)})
        records.append(raw)
    return records


def _with_single_texts(message: Message, losses: Losses) -> Message:
    """Join the texts of each result from another agent: a second text would be sent as the user's."""
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
    """Return the session's folder, "" if no known one has the recorded hash, and Gemini CLI's name for it.

    Names are in `projects.json`. Older versions used the hash; Gemini CLI renames such a folder when it starts there.
    """
    names = dict_of(dict_of(json_value(read_agent_file(f"{_home()}/.gemini/projects.json"))).get("projects"))
    folder, recorded = folder_of(session), session.facts.project if session.format == "gemini" else ""
    if recorded:
        folder = next((candidate for candidate in (folder, *names) if _project_hash(candidate) == recorded), "")
    return folder, word_of(names.get(folder)) or recorded or _project_hash(folder)


def _home() -> str:
    """Return the folder that Gemini CLI uses as the user's home."""
    return agent_home("GEMINI_CLI_HOME", otherwise="~")


def _project_hash(folder: str) -> str:
    return hashlib.sha256(folder.encode(errors="replace")).hexdigest()


def _metadata(session: Session, id: str, *, own: bool) -> bytes:
    """Return line 1: the loaded one with later changes, or a new one. The loader requires sessionId and projectHash."""
    now = iso()
    if own:
        first: bytes = session.records[0]
        header = object_of(first)
        if isinstance(header, dict) and "projectHash" in header and "messages" not in header and "id" not in header:
            changes: dict[str, Any] = {}
            for raw in session.records:
                value = object_of(raw) if raw.startswith(b'{"$set"') else None
                if isinstance(value, dict) and isinstance(value.get("$set"), dict):
                    changes |= value["$set"]
            changes |= {"sessionId": id, "lastUpdated": now}
            changes.pop("messages", None)
            return replace_fields(first, {key: render(value) for key, value in changes.items()})
    project = session.facts.project if own else ""
    project = project or _project_hash(folder_of(session))
    return render({"sessionId": id, "projectHash": project, "startTime": now, "lastUpdated": now, "kind": "main"})


def _with_own_results(raw: bytes) -> bytes | None:
    """Return a record in which each call has only its own result, None if nothing changes.

    When it resumes, Gemini CLI stores the responses of the entire turn with each call, and would send all of them.
    """
    calls = loads(raw).get("toolCalls")
    healed = [with_own_result(call) for call in calls] if isinstance(calls, list) else calls
    return None if healed == calls else replace_fields(raw, {"toolCalls": render(healed)})


def _without_repeated_parts(raw: bytes) -> bytes | None:
    """Return a record of results without repetitions, None if nothing changes."""
    content = loads(raw).get("content")
    healed = without_repeated_results(content) if isinstance(content, list) else content
    return None if healed == content else replace_fields(raw, {"content": render(healed)})
