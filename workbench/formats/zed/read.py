"""Read Zed threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Part, Progress
from workbench.formats.glance import SessionGlance
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.compressed import ZSTD, unpack_zstd
from workbench.formats.kit.database import LISTED, SQLITE, connect_for_listing, connect_to_bytes, rows
from workbench.formats.kit.document import parse
from workbench.formats.kit.several import newest
from workbench.formats.kit.transcript import Transcript
from workbench.formats.kit.usage import anthropic_usage
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.zed import ID
from workbench.session import (
    Block,
    Compaction,
    Media,
    Message,
    Opaque,
    Records,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from workbench.session.images import media_of

_TABLES = frozenset(["threads"])


def _threads_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the threads with messages, newest first. Raises BadInput for any other database."""
    with connect_to_bytes(path, data, _TABLES, "Zed") as database:
        found = rows(database, "SELECT * FROM threads ORDER BY updated_at DESC, id DESC")
    parts = [Part(text_of(row.get("id")), text_of(row.get("summary")), _count(path, row)) for row in found]
    return tuple(part for part in parts if part.id and part.messages)


def _thread_bytes(path: Path, data: bytes, id: str) -> bytes:
    """Return a thread's document. Raises BadInput if there is no such thread, or its data are damaged."""
    with connect_to_bytes(path, data, _TABLES, "Zed") as database:
        found = rows(database, "SELECT * FROM threads WHERE id = ?", id)
    if not found:
        raise BadInput(f"{path} has no thread {id!r}; choose a listed one.")
    return _document(path, found[0])


def _count(path: Path, row: dict[str, Any]) -> int:
    try:
        return len(list_of(dict_of(parse(path, _document(path, row))[0]).get("messages")))
    except BadInput:
        return 0


def _document(path: Path, row: dict[str, Any]) -> bytes:
    data = row.get("data")
    raw = data if isinstance(data, bytes) else text_of(data).encode()
    return unpack_zstd(path, raw) if row.get("data_type") == "zstd" else raw


def list_sessions(path: Path) -> list[SessionGlance]:
    """Glance at the threads, newest first. Raises BadInput."""
    query = (
        f"SELECT id, summary, updated_at, LENGTH(data) AS _bytes FROM threads ORDER BY updated_at DESC LIMIT {LISTED}"
    )
    with connect_for_listing(path) as database:
        return [_thread_glance(path, row) for row in rows(database, query) if row["_bytes"]]


def _thread_glance(path: Path, row: dict[str, Any]) -> SessionGlance:
    time = seconds_of(row["updated_at"]) or path.stat().st_mtime
    title, part = text_of(row["summary"]), text_of(row["id"])
    return SessionGlance(path, count_of(row["_bytes"]), time, ID, "Zed", title=title, part=part)


_SUMMARY = "The previous conversation was compacted. Use this summary as context:\n\n{}"
"""Text in which a summary is sent."""

_RETAINED = 80_000
"""Bytes of the newest user messages that are sent before a summary; the oldest of them may be cut."""

_RESUME = "Continue where you left off"


class Reader(Transcript):
    """Reader of a thread's entries. `request_id` is the id of the newest request, under which its usage is recorded."""

    empty = "a thread of Zed without messages; open another file"

    def __init__(self, path: Path, data: bytes, id: str) -> None:
        super().__init__(path, Records(data))
        value, self.warnings = parse(path, data)
        self.thread, self.id, self.request_id = dict_of(value), id, ""
        self.model = text_of(dict_of(self.thread.get("model")).get("model")) or None
        self.usage = dict_of(self.thread.get("request_token_usage"))

    def take(self, entry: Any, index: int, line: int) -> None:
        name, body = _named(entry)
        if name == "User":
            self._set_usage()
            self.request_id = text_of(body.get("id"))
            blocks = tuple(_of_user(part) for part in list_of(body.get("content")))
            if blocks:
                self._send(Message(self.request_id or f"entry-{index}", "user", blocks))
        elif name == "Agent":
            self._answer(body, index)
        elif name == "Compaction":
            self._set_usage()
            self.request_id = ""
            self._compaction(body, index)
        elif name == "Resume":
            self._send(Message(f"entry-{index}", "user", (Text(_RESUME, injected=True),), "meta"))
        else:
            self.warn(f"entry {line} is of unknown kind ({name}); left out")

    def finish(self) -> None:
        self._set_usage()
        self.end_epoch()

    def session(self) -> Session:
        self.messages[-1] = replace(self.messages[-1], time=seconds_of(self.thread.get("updated_at")))
        return self._session(
            ID,
            with_user_text(self.messages),
            id=self.id or self.path.stem,
            title=text_of(self.thread.get("title") or self.thread.get("summary")),
            model=self.model,
        )

    def _send(self, message: Message) -> None:
        self.sent.append(self.add(replace(message, id=self.unique_id(message.id))))

    def _answer(self, body: dict[str, Any], place: int) -> None:
        blocks = tuple(_of_agent(part) for part in list_of(body.get("content")))
        if blocks:
            self._send(Message(f"entry-{place}", "assistant", blocks, model=self.model))
        results = tuple(_result(id, dict_of(result)) for id, result in dict_of(body.get("tool_results")).items())
        if results:
            self._send(Message(f"entry-{place}:results", "tool", results))

    def _set_usage(self) -> None:
        """Set the usage of a request on its last response."""
        usage = anthropic_usage(self.usage.get(self.request_id))
        if usage is None:
            return
        for number in reversed(self.sent):
            if self.messages[number].role == "user":
                return
            if self.messages[number].role == "assistant":
                self.messages[number] = replace(self.messages[number], usage=usage)
                return

    def _compaction(self, body: dict[str, Any], place: int) -> None:
        summary, native = text_of(body.get("Summary")), dict_of(body.get("ProviderNative"))
        id = f"entry-{place}"
        if not summary:
            self.end_epoch(Compaction(summary=id))
            self.sent = []
            items = [dict_of(item) for item in list_of(native.get("items"))]
            blocks = tuple(Opaque(text_of(item.get("type")), item) for item in items)
            self._send(Message(id, "assistant", blocks or (Opaque("compaction", body),), "summary"))
            return
        own = [number for number in range(len(self.messages)) if _is_own(self.messages[number])]
        retained = _retained([self.messages[number] for number in own])
        retained_ids = tuple(self.messages[own[at]].id for at, text in retained if text is None)
        self.end_epoch(Compaction(summary=id, kept_ids=retained_ids))
        self.sent = []
        for at, text in retained:
            if text is None:
                self.sent.append(own[at])
            else:
                self._send(Message(f"{id}~cut", "user", (Text(text),)))
        self._send(Message(id, "user", (Text(_SUMMARY.format(summary)),), "summary"))


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a thread, or the newest one of a database. Raises BadInput if it has no message."""
    if not data.startswith(SQLITE):
        progress(0, len(data))
        return _session(path, unpack_zstd(path, data) if data.startswith(ZSTD) else data, "")
    return newest(path, sessions_in(path, data), "thread", lambda id: read_part(path, data, id, progress))


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the threads of a database, newest first; empty for a document, which is one. Raises BadInput."""
    return _threads_in(path, data) if data.startswith(SQLITE) else ()


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one thread of a database. Raises BadInput if there is no such thread, or it has no message."""
    if not data.startswith(SQLITE):
        return read(path, data, progress)
    progress(0, len(data))
    return _session(path, _thread_bytes(path, data, part_id), part_id)


def _session(path: Path, data: bytes, id: str) -> Session:
    reader = Reader(path, data, id)
    for place, entry in enumerate(list_of(reader.thread.get("messages"))):
        reader.take(entry, place, place + 1)
    return reader.done()


def _named(entry: Any) -> tuple[str, dict[str, Any]]:
    """Return name and content of an entry, which is a name alone, or an object with one name."""
    if isinstance(entry, str):
        return entry, {}
    for name, body in dict_of(entry).items():
        return name, dict_of(body) if not isinstance(body, str) else {"text": body}
    return "?", {}


def _of_user(part: Any) -> Block:
    """Return the block of a user part. Contents of mentions are sent, but are not the user's words."""
    name, body = _named(part)
    if name == "Text":
        return Text(text_of(body.get("text")))
    if name == "Mention":
        return Text(text_of(body.get("content")), injected=True)
    return _image(body) if name == "Image" else Opaque(name, part)


def _image(body: dict[str, Any]) -> Media:
    return media_of("image", text_of(body.get("source")))


def _of_agent(part: Any) -> Block:
    name, body = _named(part)
    if name == "Text":
        return Text(text_of(body.get("text")))
    if name == "Thinking":
        return Thinking(text_of(body.get("text")), text_of(body.get("signature")))
    if name == "RedactedThinking":
        return Thinking("", text_of(body.get("text")))
    if name == "ToolUse":
        input = body.get("input")
        arguments = input if isinstance(input, dict) else text_of(body.get("raw_input"))
        return ToolUse(text_of(body.get("id")), text_of(body.get("name")), arguments)
    return Opaque(name, part)


def _result(id: str, result: dict[str, Any]) -> ToolResult:
    content = result.get("content")
    parts = content if isinstance(content, list) else [content]
    return ToolResult(id, tuple(_of_result(part) for part in parts if part is not None), result.get("is_error") is True)


def _of_result(part: Any) -> Text | Media:
    if isinstance(part, str):
        return Text(part)
    name, body = _named(part)
    if name == "Text":
        return Text(text_of(body.get("text")))
    return _image(body) if name == "Image" else Text(as_text(part))


def _is_own(message: Message) -> bool:
    return message.starts_round and not message.id.endswith("~cut")


def _retained(own: Sequence[Message]) -> list[tuple[int, str | None]]:
    """Return the indexes of the user messages that are kept, oldest first, each with its text if it is cut, else
    None."""
    retained: list[tuple[int, str | None]] = []
    room = _RETAINED
    for at in range(len(own) - 1, -1, -1):
        text = "".join(_texts(own[at].blocks))
        size = len(text.encode())
        if size <= room:
            retained.append((at, None))
            room -= size
            continue
        if room:
            retained.append((at, text.encode()[:room].decode(errors="ignore")))
        break
    return retained[::-1]


def _texts(blocks: Iterable[Block]) -> Iterable[str]:
    return (block.text for block in blocks if isinstance(block, Text))
