"""Requests that Claude Code (2.1.3xx) records in `api-request` lines, each as a difference from an earlier one.

A request lists its messages by hash: the first `keep` hashes of the request `base`, then `tail`. Each is the hash of a
message's JSON with sorted keys; `api-request-blob` lines hold the user messages. Assistant messages have no blob: they
are the answers in the session's lines, each of which names its request (`requestRef`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.formats.claude_code.agents import COMPACT
from workbench.formats.format import RecordedRequest
from workbench.formats.kit.blocks import from_anthropic
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.request_checks import last_text
from workbench.session import Message, Role, Session

_MARKS = (b'"api-request', b'"requestRef"')


@dataclass(slots=True)
class _RecordedRequests:
    """Recorded requests. `bodies`: message bodies by hash; `hashes`: message hashes by request id; `by_hashes`: id of
    the first request with these messages; `answers`: answer by request id."""

    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    hashes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    by_hashes: dict[tuple[str, ...], str] = field(default_factory=dict)
    answers: dict[str, Message] = field(default_factory=dict)


def requests(session: Session) -> Iterator[RecordedRequest]:
    """Yield the complete requests of the session that have an answer, in file order."""
    recorded = _RecordedRequests()
    holder = {record: message for message in session.messages for record in message.source}
    with session.records.held():
        for index in range(len(session.records)):
            raw = session.records[index]
            value = object_of(raw) if any(mark in raw for mark in _MARKS) else None
            if value is not None:
                _add_line(recorded, value, holder.get(index))
    for id, hashes in recorded.hashes.items():
        answer = recorded.answers.get(id)
        messages = [_message(recorded, hashes[:at], hash) for at, hash in enumerate(hashes)] if answer else []
        if answer is not None and all(message is not None for message in messages):
            yield RecordedRequest(answer.id, tuple(message for message in messages if message is not None))


def request_texts(session: Session) -> Iterator[str]:
    """Yield the last user text of each recorded request; in the file of a summary call, that of this call alone."""
    if session.facts.agent.startswith(COMPACT):
        last_request = max((n for n, one in enumerate(session.messages) if one.role == "user"), default=-1)
        yield last_text(session.messages[: last_request + 1])
    else:
        yield from (last_text(one.messages) for one in requests(session))


def _add_line(recorded: _RecordedRequests, value: Mapping[str, Any], message: Message | None) -> None:
    match value.get("type"):
        case "api-request-blob":
            recorded.bodies[text_of(value.get("hash"))] = dict_of(value.get("message"))
        case "api-request":
            repeated = recorded.hashes.get(text_of(value.get("base")), ())[: count_of(value.get("keep"))]
            id, tail = text_of(value.get("id")), (text_of(hash) for hash in list_of(value.get("tail")))
            recorded.hashes[id] = (*repeated, *tail)
            recorded.by_hashes.setdefault(recorded.hashes[id], id)
        case "assistant" if message is not None:
            recorded.answers.setdefault(text_of(value.get("requestRef")), message)


def _message(recorded: _RecordedRequests, before: tuple[str, ...], hash: str) -> Message | None:
    """Return the message of a hash that follows the messages `before`; None if the file does not contain it."""
    if (body := recorded.bodies.get(hash)) is None:
        return recorded.answers.get(recorded.by_hashes.get(before, ""))
    blocks = from_anthropic(body.get("content"))
    role: Role = "assistant" if body.get("role") == "assistant" else "user"
    return Message(hash, role, blocks)
