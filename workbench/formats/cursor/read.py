"""Read Cursor databases and agent transcripts."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.base.values import json_value
from workbench.formats.agent_texts import with_user_text
from workbench.formats.cursor import ID
from workbench.formats.format import Part, Progress
from workbench.formats.kit.blocks import arguments_of, as_text, from_anthropic
from workbench.formats.kit.database import SQLITE, connect_to_bytes, rows
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.names import unique_id
from workbench.formats.kit.several import newest
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    LoadWarning,
    Message,
    Opaque,
    Records,
    Role,
    Session,
    SessionFacts,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

_USER = 1
"""Type of a user's bubble; the agent's are 2."""


_TABLES = frozenset(["cursorDiskKV"])

_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a transcript, or a database's newest conversation. Raises BadInput when there is no message."""
    if not data.startswith(SQLITE):
        return _transcript(path, data, progress)
    return newest(path, sessions_in(path, data), "conversation", lambda id: read_part(path, data, id, progress))


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The conversations of a database, the newest first; none for a transcript, which has only one. Raises BadInput."""
    return composers_in(path, data) if data.startswith(SQLITE) else ()


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one conversation of a database. Raises BadInput when there is none of this id, or no message in it."""
    if not data.startswith(SQLITE):
        return read(path, data, progress)
    progress(0, len(data))
    conversation, bubbles = composer(path, data, part_id)
    reader = Reader()
    for bubble in bubbles:
        reader.add_bubble(bubble)
    if not reader.messages:
        raise BadInput(f"{path}: the conversation {part_id!r} has no messages left; choose another.")
    epochs = reader.epochs(conversation)
    window = count_of(conversation.get("contextTokenLimit")) or None
    return Session(
        ID,
        path,
        with_user_text(reader.messages),
        Records(b""),
        branch=range(len(reader.messages) - len(epochs) + 1),
        epochs=(*epochs[:-1], replace(epochs[-1], window=window)),
        id=part_id,
        title=text_of(conversation.get("name")),
        model=text_of(dict_of(conversation.get("modelConfig")).get("modelName")) or None,
        facts=SessionFacts(tokens_now=count_of(conversation.get("contextTokensUsed")) or None),
    )


@dataclass(slots=True)
class Reader:
    """Reader of one conversation: its messages read so far.

    place: index of the first message of each bubble. summaries: recorded summaries with the index of the message before
      which each was written.
    """

    messages: list[Message] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    place: dict[str, int] = field(default_factory=dict)
    summaries: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    def add(self, id: str, role: Role, blocks: Sequence[Block], time: float | None) -> None:
        self.messages.append(Message(unique_id(id, self.ids), role, tuple(blocks), time=time))

    def add_bubble(self, bubble: dict[str, Any]) -> None:
        """Add a bubble. A response has several bubbles: thoughts, a text, each call with its result."""
        id, time = text_of(bubble.get("bubbleId")), seconds_of(bubble.get("createdAt"))
        self.place[id] = len(self.messages)
        if summary := _summary(bubble.get("conversationSummary") or bubble.get("cachedConversationSummary")):
            self.summaries.append((len(self.messages), summary))
        text = text_of(bubble.get("text"))
        if bubble.get("type") == _USER:
            if text:
                self.add(id, "user", [Text(text)], time)
            return
        thinking = dict_of(bubble.get("thinking"))
        blocks: list[Block] = []
        if thinking.get("text"):
            blocks.append(Thinking(text_of(thinking.get("text")), text_of(thinking.get("signature"))))
        if text:
            blocks.append(Text(text))
        call = dict_of(bubble.get("toolFormerData"))
        call_id = text_of(call.get("toolCallId")) or id
        if call.get("name"):
            blocks.append(
                ToolUse(call_id, text_of(call.get("name")), arguments_of(call.get("rawArgs") or call.get("params")))
            )
        last = self.messages[-1] if self.messages else None
        if blocks and last is not None and last.role == "assistant":
            self.place[id] = len(self.messages) - 1
            self.messages[-1] = replace(last, blocks=(*last.blocks, *blocks))
        elif blocks:
            self.add(id, "assistant", blocks, time)
        if call.get("name") and (call.get("result") or call.get("error")):
            output = call.get("result") or call.get("error")
            failed = not call.get("result") or call.get("status") == "error"
            self.add(f"{id}:result", "tool", [ToolResult(call_id, (Text(as_text(output)),), failed)], time)

    def epochs(self, conversation: dict[str, Any]) -> list[Epoch]:
        """Return the epochs between the summaries. A summary precedes the messages after its last bubble."""
        latest = dict_of(conversation.get("latestConversationSummary"))
        summaries = list(self.summaries)
        if not summaries and (summary := _summary(latest)):
            after = self.place.get(text_of(latest.get("lastBubbleId")), len(self.messages) - 1)
            summaries = [(after + 1, summary)]
        total = len(self.messages)
        epochs: list[Epoch] = []
        head: list[int] = []
        start = 0
        for written_before, summary in summaries:
            id = unique_id(f"summary-{len(epochs) + 1}", self.ids)
            self.messages.append(Message(id, "user", (Text(text_of(summary.get("summary"))),), "summary"))
            first = self.place.get(text_of(summary.get("clientShouldStartSendingFromInclusiveBubbleId")))
            if first is None:
                last = self.place.get(text_of(summary.get("truncationLastBubbleIdInclusive")), written_before - 1)
                first = self.after_results(last, total)
            members = array("q", [*head, *range(start, written_before)])
            kept_ids = tuple(self.messages[number].id for number in range(first, written_before))
            epochs.append(Epoch(len(epochs) + 1, members, Compaction(summary=id, kept_ids=kept_ids)))
            head, start = [len(self.messages) - 1], first
        return [*epochs, Epoch(len(epochs) + 1, array("q", [*head, *range(start, total)]))]

    def after_results(self, last: int, total: int) -> int:
        """Return the index of the first message after `last` and its results."""
        first = last + 1
        while first < total and self.messages[first].role == "tool":
            first += 1
        return first


def _summary(recorded: Any) -> dict[str, Any]:
    """Return a summary with its position: an object or its JSON; {} without one. Older summaries are a bare text."""
    if isinstance(recorded, str):
        recorded = json_value(recorded) or {"summary": recorded}
    inner = dict_of(recorded).get("summary")
    return dict_of(inner) if isinstance(inner, dict) else dict_of(recorded) if text_of(inner) else {}


def _transcript(path: Path, data: bytes, progress: Progress) -> Session:
    records = Records(data)
    warnings = [LoadWarning("has no tool results and no usage: Cursor does not write them to an agent's transcript")]
    messages: list[Message] = []
    for value, index, _ in objects_of(records_of(data), len(data), records, warnings, progress):
        role: Role = "assistant" if value.get("role") == "assistant" else "user"
        blocks = tuple(_with_call_ids(from_anthropic(dict_of(value.get("message")).get("content")), index))
        if blocks:
            messages.append(Message(f"record-{index + 1}", role, blocks, source=(index,)))
    if not messages:
        raise BadInput(f"{path} is a transcript of Cursor without messages; open another file.")
    return Session(ID, path, with_user_text(messages), records, id=path.stem, warnings=tuple(warnings))


def _with_call_ids(blocks: Sequence[Block], index: int) -> Iterator[Block]:
    """Yield blocks with ids for the calls: a transcript has none."""
    for place, block in enumerate(blocks):
        raw = block.raw if isinstance(block, Opaque) and block.type == "tool_use" else None
        call = dict_of(raw)
        if call.get("name"):
            yield ToolUse(f"call-{index + 1}-{place + 1}", text_of(call.get("name")), dict_of(call.get("input")))
        else:
            yield block


def composers_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """List conversations with messages, newest first. Raises BadInput for a database that is not Cursor's."""
    with connect_to_bytes(path, data, _TABLES, "Cursor") as database:
        query = "SELECT key, value FROM cursorDiskKV WHERE key LIKE ?"
        composers = rows(database, query, f"{_COMPOSER}%")
    conversations = [(row["key"][len(_COMPOSER) :], dict_of(json_value(row["value"]))) for row in composers]
    parts = [
        (
            count_of(conversation.get("lastUpdatedAt")),
            Part(id, text_of(conversation.get("name")), len(_bubble_heads(conversation))),
        )
        for id, conversation in conversations
    ]
    return tuple(part for _, part in sorted(parts, key=lambda one: (-one[0], one[1].id)) if part.messages)


def composer(path: Path, data: bytes, id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a conversation and its bubbles in order, each with its `bubbleId`; missing bubbles are left out. Raises
    BadInput for an unknown conversation."""
    with connect_to_bytes(path, data, _TABLES, "Cursor") as database:
        conversation = _value(database, f"{_COMPOSER}{id}")
        if not conversation:
            raise BadInput(f"{path} has no conversation {id!r}; choose a listed one.")
        bubbles = []
        for head in _bubble_heads(conversation):
            name = text_of(head.get("bubbleId"))
            bubble = head if "text" in head else _value(database, f"{_BUBBLE}{id}:{name}")
            if bubble:
                bubbles.append({**bubble, "bubbleId": name})
    return conversation, bubbles


def _bubble_heads(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the heads of the bubbles; conversations before 2025 hold the bubbles themselves."""
    heads = list_of(conversation.get("fullConversationHeadersOnly")) or list_of(conversation.get("conversation"))
    return [head for head in heads if isinstance(head, dict)]


def _value(database: sqlite3.Connection, key: str) -> dict[str, Any]:
    row = database.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
    return dict_of(json_value(row[0])) if row else {}
