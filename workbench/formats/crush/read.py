"""Read Crush databases."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.base.values import json_value
from workbench.formats.agent_texts import with_user_text
from workbench.formats.crush import ID
from workbench.formats.format import Part, Progress
from workbench.formats.glance import SessionGlance
from workbench.formats.kit.api_errors import api_error
from workbench.formats.kit.blocks import arguments_of, as_text
from workbench.formats.kit.database import LISTED, connect_for_listing, connect_to_bytes, rows
from workbench.formats.kit.document import render
from workbench.formats.kit.names import first_words, unique_id
from workbench.formats.kit.several import newest, sessions_of
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of
from workbench.session import (
    ApiError,
    Block,
    Compaction,
    Epoch,
    LoadWarning,
    Message,
    Opaque,
    Records,
    Session,
    SessionFacts,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from workbench.session.images import media_of

_TABLES = frozenset(["sessions", "messages"])
_MODEL = "SELECT model FROM messages m WHERE m.session_id = s.id AND m.role = 'assistant' ORDER BY m.rowid DESC LIMIT 1"
_BYTES = "SELECT SUM(LENGTH(parts)) FROM messages m WHERE m.session_id = s.id"
_LIST = (
    f"SELECT s.*, ({_MODEL}) AS _model, ({_BYTES}) AS _bytes FROM sessions s ORDER BY updated_at DESC LIMIT {LISTED}"
)


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """List sessions with messages, newest first, those of sub-agents last. Raises BadInput."""
    with connect_to_bytes(path, data, _TABLES, "Crush") as database:
        return sessions_of(database, "sessions", "messages", "updated_at", "parent_session_id")


def _session_rows(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a session's row and those of its messages in order. Raises BadInput for an unknown or empty session."""
    with connect_to_bytes(path, data, _TABLES, "Crush") as database:
        sessions = rows(database, "SELECT * FROM sessions WHERE id = ?", id)
        messages = rows(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid", id)
    if not sessions or not messages:
        raise BadInput(f"{path} has no session {id!r} with a message; choose a listed one.")
    return sessions[0], messages


def list_sessions(path: Path) -> list[SessionGlance]:
    """List sessions with messages, newest first, without those of sub-agents. Raises BadInput."""
    with connect_for_listing(path) as database:
        sessions = rows(database, _LIST)
        return [_glance(path, row) for row in sessions if row["_bytes"] and not row.get("parent_session_id")]


def _glance(path: Path, row: Mapping[str, Any]) -> SessionGlance:
    project = path.absolute().parent
    return SessionGlance(
        path,
        count_of(row["_bytes"]),
        seconds_of(row.get("updated_at")) or path.stat().st_mtime,
        ID,
        "Crush",
        title=text_of(row.get("title")),
        folder=str(project.parent) if project.name == ".crush" else "",
        model=text_of(row.get("_model")),
        part=text_of(row["id"]),
        tokens=count_of(row.get("prompt_tokens")) + count_of(row.get("completion_tokens")) or None,
    )


_INTERRUPTED = (
    "tool call was interrupted and did not produce a result, you may retry this call if the result is still needed"
)
_FILES_INTRO = (
    "\n<system_info>The files below have been attached by the user, consider them in your response</system_info>\n"
)
_FAILED = ("error", "canceled")
"""Finish reasons of a summary that was never used."""


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the newest session. Raises BadInput when there is none with a message."""
    return newest(path, sessions_in(path, data), "session", lambda id: read_part(path, data, id, progress))


def read_part(path: Path, data: bytes, id: str, progress: Progress) -> Session:
    """Read one session. Raises BadInput when there is no such session, or no message in it."""
    progress(0, len(data))
    session_row, message_rows = _session_rows(path, data, id)
    progress(len(data), len(data))
    warnings: list[LoadWarning] = []
    parts = [_parts(row, warnings) for row in message_rows]
    ids: dict[str, int] = {}
    messages = [
        _message(row, parts[number], unique_id(text_of(row.get("id")) or f"m{number + 1}", ids), number)
        for number, row in enumerate(message_rows)
    ]
    errors = tuple(_errors(messages, parts))
    summaries = _summary_rows(session_row, message_rows, parts)
    for number in summaries:
        messages[number] = replace(messages[number], role="user", kind="summary")
    epochs = _epochs(messages, summaries)
    project = path.absolute().parent
    tokens = count_of(session_row.get("prompt_tokens")) + count_of(session_row.get("completion_tokens"))
    shown = with_user_text(messages)
    return Session(
        ID,
        path,
        shown,
        _records(message_rows, parts),
        epochs=epochs,
        id=id,
        title=text_of(session_row.get("title")) or first_words(shown),
        model=next((message.model for message in reversed(messages) if message.model), None),
        cwd=str(project.parent) if project.name == ".crush" else None,
        warnings=tuple(warnings),
        facts=SessionFacts(
            api_errors=errors,
            tokens_now=tokens or None,
            cost=dollars_of(session_row.get("cost")),
        ),
    )


def _errors(messages: Sequence[Message], parts: Sequence[list[dict[str, Any]]]) -> Iterator[ApiError]:
    """Yield the API errors in finished answers."""
    for message, own in zip(messages, parts, strict=True):
        for part in own:
            if part["type"] == "finish" and part.get("reason") == "error":
                yield api_error(message.id, {key: value for key, value in part.items() if key != "type"}, message.time)


def _parts(row: Mapping[str, Any], warnings: list[LoadWarning]) -> list[dict[str, Any]]:
    """Return the data of a message's parts, each with its type."""
    value = json_value(row.get("parts"))
    if not isinstance(value, list):
        warnings.append(LoadWarning(f"the parts of message {row.get('id')} are not a JSON list; shown as empty"))
    wrapped = [part for part in list_of(value) if isinstance(part, dict)]
    return [{**dict_of(part.get("data")), "type": text_of(part.get("type"))} for part in wrapped]


def _records(message_rows: Sequence[Mapping[str, Any]], parts: Sequence[list[dict[str, Any]]]) -> Records:
    """Return each message's row with its parts as a line of JSON."""
    lines = [
        render({**{key: value for key, value in row.items() if not isinstance(value, bytes)}, "parts": own}) + b"\n"
        for row, own in zip(message_rows, parts, strict=True)
    ]
    records, at = Records(b"".join(lines)), 0
    for number, line in enumerate(lines):
        records.add(at, at + len(line) - 1, number + 1)
        at += len(line)
    return records


def _message(row: Mapping[str, Any], parts: list[dict[str, Any]], id: str, number: int) -> Message:
    time, source, role = seconds_of(row.get("created_at")), (number,), row.get("role")
    if role == "tool":
        results = tuple(_result(part) for part in parts if part["type"] == "tool_result")
        return Message(id, "tool", results, time=time, source=source)
    if role == "assistant":
        model = text_of(row.get("model")) or None
        return Message(id, "assistant", tuple(_assistant_blocks(parts)), time=time, model=model, source=source)
    blocks = tuple(_user_blocks(parts))
    return Message(id, "user", blocks, "meta" if is_injected(blocks) else "normal", time, source=source)


def _user_blocks(parts: list[dict[str, Any]]) -> Iterator[Block]:
    """Yield the blocks of a user message: text, attached files, commands run with `!`, and images."""
    for part in parts:
        if part["type"] == "text" and (text := text_of(part.get("text")).strip()):
            yield Text(text, injected=part.get("hidden") is True)
            break
    files = [part for part in parts if part["type"] == "binary"]
    texts = [part for part in files if text_of(part.get("MIMEType")).startswith("text/")]
    if texts:
        yield Text(_FILES_INTRO + "".join(map(_file, texts)), injected=True)
    for part in parts:
        if part["type"] == "shell_command":
            yield Text(_shell_text(part), injected=True)
    for part in files:
        if part not in texts:
            yield media_of(text_of(part.get("MIMEType")) or "file", text_of(part.get("Data")))


def _file(part: Mapping[str, Any]) -> str:
    path, data = text_of(part.get("Path")), _decode_base64(text_of(part.get("Data")))
    return f"<file path='{path}'>\n\n{data}\n</file>\n" if path else f"<file>\n\n{data}\n</file>\n"


def _decode_base64(data: str) -> str:
    try:
        return b64decode(data).decode(errors="replace")
    except ValueError:
        return data


def _shell_text(part: Mapping[str, Any]) -> str:
    command, output, code = (as_text(part.get(key, "")) for key in ("command", "output", "exit_code"))
    return f"$ {command}\n{output}\n(exit code {code})"


def _assistant_blocks(parts: list[dict[str, Any]]) -> Iterator[Block]:
    for part in parts:
        kind = part["type"]
        if kind == "text" and (text := text_of(part.get("text")).strip()):
            yield Text(text)
        elif kind == "reasoning" and (thought := text_of(part.get("thinking"))):
            yield Thinking(thought, text_of(part.get("signature")) or text_of(part.get("thought_signature")))
        elif kind == "tool_call":
            input = arguments_of(part.get("input"))
            yield ToolUse(text_of(part.get("id")), text_of(part.get("name")), input)
        elif kind not in ("finish", "text", "reasoning"):
            yield Opaque(kind, part)


def _result(part: Mapping[str, Any]) -> ToolResult:
    id, text, data = text_of(part.get("tool_call_id")), as_text(part.get("content") or ""), text_of(part.get("data"))
    failed = part.get("is_error") is True
    if data and not failed:
        return ToolResult(id, (media_of(text_of(part.get("mime_type")) or "file", data),))
    return ToolResult(id, (Text(text),) if text else (), failed)


def _summary_rows(
    session_row: Mapping[str, Any], message_rows: Sequence[Mapping[str, Any]], parts: Sequence[list[dict[str, Any]]]
) -> list[int]:
    """Return the row numbers of summaries that replaced the messages before them."""
    current = next(
        (n for n, row in enumerate(message_rows) if row.get("id") == session_row.get("summary_message_id")), None
    )
    if current is None:
        return []
    flagged = [
        n for n, row in enumerate(message_rows[:current]) if row.get("is_summary_message") and not _has_failed(parts[n])
    ]
    return [*flagged, current]


def _has_failed(parts: list[dict[str, Any]]) -> bool:
    return any(part["type"] == "finish" and part.get("reason") in _FAILED for part in parts)


def _epochs(messages: list[Message], cuts: Sequence[int]) -> tuple[Epoch, ...]:
    """Return the epochs between the summaries; appends messages that answer interrupted calls to `messages`."""
    epochs: list[Epoch] = []
    starts, written = [0, *cuts], len(messages)
    for start, stop in zip(starts, [*cuts, written], strict=True):
        ended_by = Compaction(summary=messages[stop].id, time=messages[stop].time) if stop < written else None
        members = _sent(messages, range(start, stop))
        if members or epochs or ended_by is None:
            epochs.append(Epoch(len(epochs) + 1, members, ended_by))
    return tuple(epochs)


def _sent(messages: list[Message], span: range) -> list[int]:
    """Return the members of an epoch: messages with content, without results whose calls are not in it."""
    call_ids = {call.id for number in span for call in messages[number].calls}
    answered = {result.call_id for number in span for result in messages[number].results}
    members: list[int] = []
    for number in span:
        message = messages[number]
        if message.role == "tool" and message.blocks:
            matched = tuple(result for result in message.results if result.call_id in call_ids)
            if matched and len(matched) < len(message.blocks):
                messages.append(replace(message, id=f"{message.id}~matched", blocks=matched, source=()))
                members.append(len(messages) - 1)
            elif matched:
                members.append(number)
        elif message.blocks:
            members.append(number)
        open_calls = [call for call in message.calls if call.id not in answered]
        if open_calls and number + 1 < span.stop:
            results = tuple(ToolResult(call.id, (Text(_INTERRUPTED),), is_error=True) for call in open_calls)
            messages.append(Message(f"{message.id}~interrupted", "tool", results, time=message.time))
            members.append(len(messages) - 1)
    return members
