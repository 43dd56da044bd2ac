"""Write Anthropic Messages bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from workbench.formats.anthropic_messages import ID
from workbench.formats.anthropic_messages.read import parts_of
from workbench.formats.format import Written
from workbench.formats.kit.blocks import is_compaction, to_anthropic
from workbench.formats.kit.chat import definitions_for
from workbench.formats.kit.document import elements, new_name, render, splice
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.settle import as_user_text, is_from_the_server, settled, system_prompt
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.formats.roles import GAP
from workbench.session import Message, Opaque, Session, Text, Thinking

MAX_TOKENS = 8192
"""Output tokens that a new body allows; the API requires the field."""


_SIGNED = frozenset(["anthropic-messages", "claude-code"])
"""Formats whose thinking and unknown blocks come from the Messages API, which accepts them again."""


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Return the loaded body with its messages replaced. A session of another format gets a new body: the fields that
    the API requires, and the system prompt and tools that the session has."""
    losses: Losses = []
    if session.format == ID:
        data = _replace_messages(session, messages, losses)
        return Written(data, new_name(session.path), losses=tuple(losses))
    system, rest = system_prompt(session, messages)
    settled_messages, losses = settled(rest, "anthropic-messages")
    turns = _turns(settled_messages, losses, signed=session.format in _SIGNED)
    tools = [
        {"name": name, "description": description, "input_schema": schema}
        for name, description, schema in definitions_for(session.tools, settled_messages)
    ]
    body: dict[str, Any] = {"model": session.model or "", "max_tokens": MAX_TOKENS}
    body |= {"system": system} if system else {}
    body |= {"tools": tools} if tools else {}
    body["messages"] = _insert_user_first(turns, losses)
    return Written(render(body), new_name(session.path), losses=tuple(losses))


def _replace_messages(session: Session, messages: Sequence[Message], losses: Losses) -> bytes:
    data = session.records.data
    if list(messages) == list(session.context()):
        return data
    key = None if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[") else "messages"
    raws = elements(data, key)
    ids: dict[tuple[int, ...], list[str]] = {}
    for message in session.messages:
        ids.setdefault(message.source, []).append(message.id)
    pieces: list[int | bytes] = []
    for source, run in groupby(messages, key=lambda message: message.source):
        group = list(run)
        if not source:
            turns = _turns((message for message in group if message.kind != "boundary"), losses, signed=True)
            pieces += map(render, turns if pieces else _insert_user_first(turns, losses))
            continue
        item = loads(raws[source[0]])
        parts = parts_of(dict_of(item).get("content"))
        kept_parts = [parts[ids[source].index(message.id)] for message in group]
        if not pieces and source != (0,) and group[0].role == "assistant" and not _is_compaction_part(kept_parts[0]):
            pieces += map(render, _insert_user_first([], losses))
        if len(kept_parts) == len(parts) and not (pieces and any(map(_is_compaction_part, kept_parts))):
            pieces.append(source[0])
        elif content := _join_parts(kept_parts, losses, is_first=not pieces):
            pieces.append(render(item | {"content": content}))
    return splice(data, key, pieces)


def _join_parts(parts: Sequence[Any], losses: Losses, *, is_first: bool) -> list[Any]:
    """Join parts of an element's content. A compaction block becomes text unless it is the first block of the first
    message (`is_first`): the API would ignore everything before it. One without text becomes a loss.
    """
    content: list[Any] = []
    for part in parts:
        if not _is_compaction_part(part) or (is_first and not content):
            content += part
        elif isinstance(part[0].get("content"), str):
            content.append({"type": "text", "text": part[0]["content"]})
            losses.append(Loss(LossKind.SUMMARIES_AS_TEXT))
        else:
            losses.append(Loss(LossKind.UNKNOWN_BLOCKS))
    return content


def _is_compaction_part(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and is_compaction(part[0])


def _turns(messages: Iterable[Message], losses: Losses, *, signed: bool) -> list[dict[str, Any]]:
    """Return API messages in alternating roles; tool results come first in their message. Blocks that cannot be sent
    become losses.

    `signed`: thinking and unknown blocks come from the Messages API.
    """
    turns: list[dict[str, Any]] = []
    for message in messages:
        content: list[dict[str, Any]] = []
        if message.role == "system":
            content = [to_anthropic(Text(as_user_text(message)), losses)] if message.text.strip() else []
        else:
            for block in message.blocks:
                if isinstance(block, Thinking | Opaque) and not _is_own(block, signed or is_from_the_server(message)):
                    losses.append(loss_of(block))
                elif not isinstance(block, Text) or block.text.strip():
                    content.append(to_anthropic(block, losses))
        role = "assistant" if message.role == "assistant" else "user"
        if content and turns and turns[-1]["role"] == role:
            turns[-1]["content"] += content
        elif content:
            turns.append({"role": role, "content": content})
    for turn in turns:
        if turn["role"] == "user":
            turn["content"].sort(key=lambda block: block.get("type") != "tool_result")
    return turns


def _is_own(block: Thinking | Opaque, signed: bool) -> bool:
    """True when the API produced the block itself; it rejects any other in a request."""
    return signed and (bool(block.signature) if isinstance(block, Thinking) else isinstance(block.raw, dict))


def _insert_user_first(turns: list[dict[str, Any]], losses: Losses) -> list[dict[str, Any]]:
    """Insert a user message before a leading assistant turn, which the API refuses. Without turns, return only the
    user message.

    An assistant turn that begins with a compaction block may come first: the API would ignore anything before it.
    """
    if turns and (turns[0]["role"] == "user" or turns[0]["content"][0].get("type") == "compaction"):
        return turns
    losses.append(Loss(LossKind.USER_INSERTED, 1, ("the API requires one at the start",), GAP))
    return [{"role": "user", "content": GAP}, *turns]
