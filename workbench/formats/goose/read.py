"""Read goose sessions: exports, lines and databases."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.base.values import json_value
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.format import Part, Progress
from workbench.formats.glance import SessionGlance
from workbench.formats.goose import ID
from workbench.formats.goose.content import StoredSession, blocks_of, is_sent
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.database import LISTED, SQLITE, connect_for_listing, connect_to_bytes, rows
from workbench.formats.kit.document import parse, render
from workbench.formats.kit.jsonl import is_padding, objects_of, records_of
from workbench.formats.kit.marks import marked
from workbench.formats.kit.names import first_words, shortened
from workbench.formats.kit.several import newest, sessions_of
from workbench.formats.kit.usage import RecordedWindow
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of, word_of
from workbench.session import ApiError
from workbench.session.message import Kind, Message, Role, Text, ToolResult
from workbench.session.session import Compaction, Epoch, LoadWarning, Records, Session, SessionFacts

_TABLES = frozenset(["sessions", "messages"])
_FIRST = "SELECT content_json FROM messages m WHERE m.session_id = s.id AND m.role = 'user' ORDER BY m.rowid LIMIT 1"
_BYTES = "SELECT SUM(LENGTH(content_json)) FROM messages m WHERE m.session_id = s.id"
_LIST = (
    f"SELECT s.*, ({_FIRST}) AS _first, ({_BYTES}) AS _bytes FROM sessions s ORDER BY updated_at DESC LIMIT {LISTED}"
)


def _sessions_in_database(path: Path, data: bytes) -> tuple[Part, ...]:
    """List sessions with messages, newest first. Raises BadInput for a database that is not goose's."""
    with connect_to_bytes(path, data, _TABLES, "goose") as database:
        return sessions_of(database, "sessions", "messages", "updated_at", titles=("name", "description"))


def _session_rows(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a session's row and those of its messages in order. Raises BadInput for an unknown session."""
    with connect_to_bytes(path, data, _TABLES, "goose") as database:
        sessions = rows(database, "SELECT * FROM sessions WHERE id = ?", id)
        messages = rows(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY timestamp, rowid", id)
    if not sessions:
        raise BadInput(f"{path} has no session {id!r}; choose a listed one.")
    return sessions[0], messages


def list_sessions(path: Path) -> list[SessionGlance]:
    """List sessions with messages and their metadata, newest first. Raises BadInput."""
    with connect_for_listing(path) as database:
        return [_glance(path, row) for row in rows(database, _LIST) if row["_bytes"]]


def _glance(path: Path, row: Mapping[str, Any]) -> SessionGlance:
    model = dict_of(json_value(row.get("model_config_json")))
    texts = [part.get("text") for part in list_of(json_value(row.get("_first"))) if isinstance(part, dict)]
    return SessionGlance(
        path,
        count_of(row["_bytes"]),
        seconds_of(row.get("updated_at")) or path.stat().st_mtime,
        ID,
        "goose",
        title=text_of(row.get("name") or row.get("description")),
        request=shortened(next((text for text in texts if isinstance(text, str)), "")),
        folder=text_of(row.get("working_dir")),
        model=text_of(model.get("model_name")),
        part=text_of(row["id"]),
        tokens=count_of(row.get("total_tokens")) or None,
        window=count_of(model.get("context_limit")) or None,
    )


_TAGS = ("info-msg",)
"""Tags that goose adds to the user's text, with the date, the folder and notes of extensions."""

_ERROR = re.compile(r"Ran into this error: (.+?)\.?\s*Please (?:retry|start)", re.DOTALL)
"""Message in which goose reports an API error."""

_CONTINUES = "Your context was compacted"
"""Beginning of the answer to a summary, for any reason of a compaction."""


@dataclass(slots=True)
class Reader:
    """Reader of one session: its messages read so far. `session_fields` have the keys of an export."""

    records: Records
    form: str
    session_fields: dict[str, Any] = field(default_factory=dict)
    values: list[dict[str, Any]] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    warnings: list[LoadWarning] = field(default_factory=list)

    def add_message(self, value: Any, index: int, line: int | None) -> None:
        if isinstance(value, dict) and value.get("role") in ("user", "assistant"):
            self.values.append(value)
            self.sources.append(index)
        else:
            where = "" if line else f"entry {index + 1} "
            self.warnings.append(LoadWarning(f"{where}is neither a user nor an assistant message; not shown", line))

    def session(self, path: Path) -> Session:
        if not self.values:
            raise BadInput(f"{path} is a goose session without messages; open another file.")
        values, session_fields = self.values, self.session_fields
        summaries = {number for number in range(len(values)) if _is_summary(values, number)}
        messages: list[Message] = []
        ids: set[str] = set()
        for number, value in enumerate(values):
            recorded_id = value.get("id")
            id = (
                recorded_id
                if isinstance(recorded_id, str) and recorded_id and recorded_id not in ids
                else f"message-{number + 1}"
            )
            ids.add(id)
            kind: Kind | None = "summary" if number in summaries or number - 1 in summaries else None
            messages.append(_message(value, id, self.sources[number], marked(value) or kind))
        everything = range(len(messages))
        name, cwd = session_fields.get("name") or session_fields.get("description"), session_fields.get("working_dir")
        session_id = session_fields.get("id") or (path.stem if self.form == "lines" else "")
        tokens = session_fields.get("total_tokens")
        shown = with_user_text(messages, _TAGS)
        return Session(
            format=ID,
            path=path,
            messages=shown,
            epochs=_epochs(values, messages, [n for n in everything if messages[n].kind == "summary"], self.window()),
            records=self.records,
            id=text_of(session_id),
            title=name if isinstance(name, str) and name else first_words(shown),
            model=word_of(self.model_config().get("model_name")),
            cwd=cwd if isinstance(cwd, str) and cwd else None,
            tools=tools_of(session_fields.get("tools")),
            warnings=tuple(self.warnings),
            facts=SessionFacts(
                api_errors=tuple(_errors(messages)),
                tokens_now=tokens if type(tokens) is int else None,
                cost=dollars_of(session_fields.get("accumulated_cost")),
                own=StoredSession(self.form, session_fields),
            ),
        )

    def window(self) -> int | None:
        window = RecordedWindow()
        window.read(self.model_config().get("context_limit"), None, self.warnings)
        return window.tokens

    def model_config(self) -> dict[str, Any]:
        """Return the model's configuration: an object in an export, JSON text in a database's row."""
        config = self.session_fields.get("model_config") or self.session_fields.get("model_config_json")
        return dict_of(json_value(config) if isinstance(config, str) else config)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session, the newest one of a database. Raises BadInput without a message."""
    if not data.startswith(SQLITE):
        return _read_text(path, data, progress).session(path)
    return newest(path, sessions_in(path, data), "session", lambda id: read_part(path, data, id, progress))


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the sessions of a database, newest first; none for an export, which is one session. Raises BadInput."""
    return _sessions_in_database(path, data) if data.startswith(SQLITE) else ()


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one session of a database. Raises BadInput when there is no such session, or no message in it."""
    if not data.startswith(SQLITE):
        return read(path, data, progress)
    progress(0, len(data))
    session, messages = _session_rows(path, data, part_id)
    lines: list[bytes] = []
    warnings: list[LoadWarning] = []
    for number, message in enumerate(messages):
        lines.append(_record(f"msg_{part_id}_{number}", message, warnings))
    joined = b"\n".join(lines)
    reader = Reader(Records(joined), "database", dict(session), warnings=warnings)
    for record in records_of(joined):
        reader.add_message(record.value, reader.records.add(record.start, record.stop, record.line), record.line)
    progress(len(data), len(data))
    return reader.session(path)


def _record(id: str, row: Mapping[str, Any], warnings: list[LoadWarning]) -> bytes:
    """Return a message's row as the JSON of an export, its content byte for byte."""
    content, metadata = row.get("content_json"), row.get("metadata_json")
    fields = {"id": render(id), "role": render(row.get("role")), "created": render(row.get("created_timestamp"))}
    for key, raw, otherwise in (
        ("content", content, b"[]"),
        ("metadata", metadata, b'{"userVisible":true,"agentVisible":true}'),
    ):
        text = raw.encode(errors="replace") if isinstance(raw, str) else raw if isinstance(raw, bytes) else b""
        value = json_value(text)
        if value is None and text:
            warnings.append(LoadWarning(f"the {key} of message {id} is not JSON; shown as empty"))
        fields[key] = text.replace(b"\n", b" ") if value is not None else otherwise
    return b"{" + b",".join(b'"%s":%s' % (key.encode(), raw) for key, raw in fields.items()) + b"}"


def _read_text(path: Path, data: bytes, progress: Progress) -> Reader:
    first = next((record for record in records_of(data) if not is_padding(record)), None)
    lines = first is not None and isinstance(first.value, dict) and "conversation" not in first.value
    reader = Reader(Records(data), "lines" if lines else "document")
    progress(0, len(data))
    if not lines:
        document, reader.warnings = parse(path, data)
        items = document.get("conversation") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise BadInput(f"{path}: has no conversation; open a session that goose exported as JSON.")
        reader.session_fields = {key: value for key, value in document.items() if key != "conversation"}
        for index, item in enumerate(items):
            reader.add_message(item, index, None)
    else:
        objects = objects_of(records_of(data), len(data), reader.records, reader.warnings, progress)
        for value, index, line in objects:
            if not (reader.values or reader.session_fields) and "role" not in value:
                reader.session_fields = value
            else:
                reader.add_message(value, index, line)
    progress(len(data), len(data))
    return reader


def _visibility(value: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return (visible to the user, visible to the agent)."""
    metadata = dict_of(value.get("metadata"))
    return metadata.get("userVisible") is not False, metadata.get("agentVisible") is not False


def _errors(messages: Sequence[Message]) -> Iterator[ApiError]:
    """Yield the API errors that goose reports in messages of its own."""
    for message in messages:
        if message.role == "assistant" and (match := _ERROR.match(message.text)):
            yield ApiError(message.id, match[1], message.time)


def _is_summary(values: Sequence[Mapping[str, Any]], number: int) -> bool:
    """True for a summary: it and its answer are hidden from the user, and the answer says that goose compacted."""
    if (
        number + 1 >= len(values)
        or values[number].get("role") != "user"
        or values[number + 1].get("role") != "assistant"
    ):
        return False
    if _visibility(values[number])[0] or _visibility(values[number + 1])[0]:
        return False
    answer = next((block.text for block in blocks_of(values[number + 1].get("content")) if isinstance(block, Text)), "")
    return answer.startswith(_CONTINUES)


def _message(value: Mapping[str, Any], id: str, source: int, kind: Kind | None) -> Message:
    blocks = blocks_of(value.get("content"))
    role: Role = "assistant" if value.get("role") == "assistant" else "user"
    if role == "user" and any(isinstance(block, ToolResult) for block in blocks):
        role = "tool"
    return Message(id, role, blocks, kind or kind_of(role, blocks), seconds_of(value.get("created")), source=(source,))


def _epochs(
    values: Sequence[Mapping[str, Any]], messages: Sequence[Message], summaries: Sequence[int], window: int | None
) -> tuple[Epoch, ...]:
    """Return the epochs: one before each summary that hid messages, and the messages visible now. All have the
    session's `window` in tokens, as its model is recorded once."""
    sent = [is_sent(value.get("content")) for value in values]
    now = [number for number, value in enumerate(values) if sent[number] and _visibility(value)[1]]
    cuts = [
        number
        for number in summaries
        if messages[number].role == "user" and any(not _visibility(value)[1] for value in values[:number])
    ]
    epochs: list[Epoch] = []
    start = 0
    for cut in cuts:
        members = [number for number in range(start, cut) if sent[number]]
        if members:
            end = Compaction(summary=messages[cut].id, time=messages[cut].time)
            epochs.append(Epoch(len(epochs) + 1, array("q", members), end, window=window))
        start = cut
    return (*epochs, Epoch(len(epochs) + 1, array("q", now), window=window))
