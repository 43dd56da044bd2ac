"""Write ADK sessions: the loaded session with other events, or a new one.

A summary becomes an ordinary event, because a compaction event hides events by their time, and a compacted session may
keep messages of any time. The kind of a message goes into `custom_metadata`, which ADK reserves for applications.

`append` writes a compaction as ADK does: every event stays, and an event with `actions.compaction` hides a range of
time and follows the events that it hides. Hidden events that the context keeps are repeated as new events, timed
between the end of the range and the first event that is kept unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

from workbench.base.stamps import seconds_of
from workbench.formats.adk import ID, camel
from workbench.formats.adk.view import CALLS, AgentView, compaction_of, others_in, speaker_of
from workbench.formats.agent_texts import kind_of
from workbench.formats.format import FILE, Written
from workbench.formats.kit.blocks import as_object, named, texts_of
from workbench.formats.kit.document import Item, new_name, parse, pieces, render, splice, with_unread
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse

_AGENT = ("agent.py", "__init__.py", "root_agent.yaml")
"""Files that mark the folder of an agent."""
_STEP = 1e-6
"""Seconds between new events without a known time."""
_REPEATED_STEP = 0.001
"""Seconds between repeated events that no kept event follows."""
_BY_HAND = "resume with: adk run --resume THIS_FILE AGENT_FOLDER; an app loads it through its session service"
Key = Callable[[str], str]
"""Converts a snake_case key to the file's spelling."""


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the events of the loaded session; from another format, write a new session of the app `workbench`."""
    losses: Losses = []
    if session.format != ID:
        messages, more = adopted(session, messages, "ADK", "gemini")
        losses.extend([Loss(LossKind.AGENT_NAMED), *more])
        new_pieces = pieces((), messages, _renderer("agent", str, {}, frozenset(), own=False), losses)
        id = session.id or "session"
        body = {"id": id, "app_name": "workbench", "user_id": "user", "state": {}, "events": []}
        data = render(body | {"last_update_time": time.time()})
        return addressed(session, splice(data, "events", _assign_times(new_pieces, ())), id, losses)
    data = session.records.data
    view = view_of(session)
    if not view.chosen and list(messages) == list(session.context()):
        return addressed(session, data, session.id, ())
    body = dict_of(parse(session.path or Path(), data)[0])
    events = [dict_of(event) for event in body["events"]]
    visible = _with_others_as_user(
        view, [_as_plain_event(message, events, losses) for message in messages], events, losses
    )
    new_pieces = pieces(session.messages, visible, own_renderer(session, body, events), losses)
    new_pieces = _assign_times(with_unread(new_pieces, session.facts.unread), events)
    return addressed(session, splice(data, "events", new_pieces), session.id, losses)


def _assign_times(output: Sequence[int | bytes], events: Sequence[Item]) -> list[int | bytes]:
    """Give new events times between those of their neighbours: ADK's database orders events by time."""
    recorded_times = [_time(events[piece] if isinstance(piece, int) else loads(piece)) for piece in output]
    kept_times = (
        at if at and isinstance(piece, int) else inf
        for piece, at in zip(output[::-1], recorded_times[::-1], strict=True)
    )
    earliest = list(accumulate(kept_times, min))[::-1]  # of the kept events from each place on
    timed: list[int | bytes] = []
    before = 0.0
    for number, piece in enumerate(output):
        at = recorded_times[number]
        if isinstance(piece, bytes):
            at = at or before or next(filter(None, recorded_times[number:]), time.time())
            at = min(max(at, before + _STEP), earliest[number])
            piece = replace_fields(piece, {"timestamp": render(max(at, before))})
        at = max(at, before)
        timed.append(piece)
        before = at
    return timed


def _time(event: Any) -> float:
    """Return the time of an event in seconds since 1970, 0 without one."""
    return seconds_of(dict_of(event).get("timestamp")) or 0.0


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    """Add the resume command if the session is in its agent's folder, where `adk run --save_session` puts it."""
    name, agent = new_name(session.path), session.path.absolute().parent if session.path else None
    if session.format != ID or agent is None or not any((agent / mark).is_file() for mark in _AGENT):
        return Written(data, name, id, by_hand=_BY_HAND, losses=losses)
    command = ("adk", "run", "--resume", FILE, f"./{agent.name}")
    return Written(data, name, id, folder=str(agent.parent), commands=(command,), losses=losses)


def view_of(session: Session) -> AgentView:
    """Return the agent whose context a session of this format was read as."""
    own = session.facts.own
    return own if isinstance(own, AgentView) else AgentView("", frozenset(), chosen=False)


def _with_others_as_user(
    view: AgentView, messages: list[Message], events: Sequence[Item], losses: Losses
) -> list[Message]:
    """Return the messages. If another agent spoke last, those with other agents' texts are new messages, which are
    written as user text: ADK would send some as the last agent's own."""
    speakers = (
        speaker_of(events[message.source[0]]) if message.source else view.agent if message.role == "assistant" else ""
        for message in reversed(messages)
    )
    if next(filter(None, speakers), "") == view.agent:
        return messages
    others = others_in(events, view.agent)
    theirs = {message.id for message in messages if not others.isdisjoint(message.source)}
    losses.extend([Loss(LossKind.OTHER_AGENTS, len(theirs), (view.agent,))] if theirs else [])
    return [replace(message, source=()) if message.id in theirs else message for message in messages]


def own_renderer(session: Session, body: Item, events: Sequence[Item]) -> Callable[[Message, Losses], list[Item]]:
    """Return a function that renders a message as events in the loaded session's spelling, by its agent."""
    tools = {call.id: call.name for message in session.messages for call in message.calls}
    view = view_of(session)
    return _renderer(view.agent or "model", key_of(body, events), tools, view.nameless, own=True)


def key_of(body: Item, events: Sequence[Item]) -> Key:
    """Return the file's spelling of keys: camelCase or snake_case."""
    return camel if "appName" in body or any("invocationId" in event for event in events) else str


def _as_plain_event(message: Message, events: Sequence[Item], losses: Losses) -> Message:
    """Turn a compaction event into an ordinary event, which hides nothing."""
    if message.source and dict_of(events[message.source[0]].get("actions")).get("compaction"):
        losses.append(Loss(LossKind.SUMMARIES_AS_EVENTS, details=("ADK",)))
        return replace(message, source=())
    return message


def _renderer(
    agent: str, key: Key, tools: dict[str, str], nameless: frozenset[str], *, own: bool
) -> Callable[[Message, Losses], list[Item]]:
    names = dict(tools)

    def render_part(block: Block, losses: Losses) -> Item | None:
        part = _part(block, key, names, losses, own)
        if part and isinstance(block, ToolUse | ToolResult):
            holder = next(iter(part.values()))
            # A call and its result without ids are paired by name and order; an id in only one would break the pair.
            if holder["id"] in nameless:
                del holder["id"]
        return part

    def render_message(message: Message, losses: Losses) -> list[Item]:
        names.update((call.id, call.name) for call in message.calls)
        if message.role == "system":
            message = replace(message, role="user", blocks=(Text(as_user_text(message)),))
        results = [part for part in (render_part(block, losses) for block in message.results) if part]
        others = [b for b in message.blocks if not isinstance(b, ToolResult)]
        parts = [part for part in (render_part(block, losses) for block in others) if part]
        if parts and all(part.get("thought") for part in parts):  # ADK sends no event of thoughts alone
            losses.extend(Loss(LossKind.REASONING) for _ in parts)
            parts = []
        empty_text: Item = {"text": ""}
        items: list[Item] = []
        if results:
            items.append(_event(message, "user", agent, results, key, 0))
        if parts or not (results or message.blocks):
            role = "model" if message.role == "assistant" else "user"
            items.append(
                _event(message, role, agent if role == "model" else "user", parts or [empty_text], key, len(items))
            )
            shown = kind_of("assistant" if role == "model" else "user", message.blocks)
            metadata: Item = {MARK: message.kind} if message.kind != shown else {}
            unnamed = [call.id for call in message.calls if call.id in nameless]
            if metadata := metadata | ({CALLS: unnamed} if unnamed else {}):
                items[-1][key("custom_metadata")] = metadata
        return items

    return render_message


def _event(message: Message, role: str, author: str, parts: list[Item], key: Key, number: int) -> Item:
    id = f"{crc32(message.id.encode(errors='replace')):08x}{number}"
    return {
        "content": {"parts": parts, "role": role},
        key("invocation_id"): f"e-{id}",
        "author": author,
        "actions": {key("state_delta"): {}, key("artifact_delta"): {}},
        "id": id,
        "timestamp": message.time or 0.0,
    }


def _part(block: Block, key: Key, names: dict[str, str], losses: Losses, own: bool) -> Item | None:
    match block:
        case Text(text):
            return {"text": text} if text else None
        case Thinking(text, signature):
            if not (text or own):
                losses.append(loss_of(block))
            part: Item = {"text": text, "thought": True} if text or own else {}
            return part | ({key("thought_signature"): signature} if own and signature else {}) or None
        case ToolUse(id, name, input):
            args = as_object(input)
            return {key("function_call"): {"id": id, "args": args, "name": name}}
        case ToolResult(id):
            response = {"error" if block.is_error else "result": "\n".join(texts_of(block, losses))}
            return {key("function_response"): {"id": id, "name": names.get(id, "tool"), "response": response}}
        case Opaque(_, raw) if own and isinstance(raw, dict):
            return raw
        case Opaque():
            losses.append(loss_of(block))
            return None
        case _:
            return {"text": named(block, losses)}


def append(session: Session, messages: Sequence[Message]) -> Written:
    """Append a compaction event. Calls `write` if that is impossible, as without a summary of plain text."""
    messages = [message for message in messages if message.kind != "boundary"]
    opening = messages[0] if messages else None
    times = [message.time for message in session.messages]
    if session.format != ID or view_of(session).chosen:
        return write(session, messages)
    if opening is None or opening.kind != "summary" or opening.role == "tool":
        return write(session, messages)
    known_times = [time for time in times if time is not None]
    if len(known_times) < len(times) or not all(isinstance(block, Text) and block.text for block in opening.blocks):
        return write(session, messages)
    body = dict_of(parse(session.path or Path(), session.records.data)[0])
    events = [dict_of(event) for event in body["events"]]
    tail = _tail(session, messages[1:])
    first = tail[0].source[0] if tail else len(events)
    if any(map(compaction_of, events[first:])):
        tail, first = [], len(events)  # a later recorded compaction would hide the new one
    hidden = [time for message, time in zip(session.messages, known_times, strict=True) if message.source[0] < first]
    if not hidden:
        return write(session, messages)
    end = max(hidden)
    repeated = messages[1 : len(messages) - len(tail)]
    key = key_of(body, events)
    render_message = own_renderer(session, body, events)
    losses: Losses = []
    new = [event for message in repeated for event in _events_again(message, events, render_message, losses)]
    step = (tail[0].time - end) / (len(new) + 2) if tail and tail[0].time is not None else _REPEATED_STEP
    for number, event in enumerate(new, 1):
        event |= {"id": uuid4().hex[:8], "timestamp": end + number * step}
    inserted = [_compaction(opening, min(hidden), end, key), *new]
    pieces = [*range(first), *map(render, inserted), *range(first, len(events))]
    return addressed(session, splice(session.records.data, "events", pieces), session.id, losses)


def _events_again(
    message: Message, events: Sequence[Item], render_message: Callable[[Message, Losses], list[Item]], losses: Losses
) -> list[Item]:
    """Return a message's events again. A message with media is copied: its blocks do not hold the bytes."""
    if message.source and any(isinstance(block, Media) for block in message.blocks):
        return [dict(events[index]) for index in message.source]
    return render_message(message, losses)


def _tail(session: Session, rest: Sequence[Message]) -> list[Message]:
    """Return the messages at the end of the context that stay unchanged and are later than all earlier messages."""
    context = session.context()
    size = 0
    while size < min(len(rest), len(context)) and rest[-1 - size] == context[-1 - size]:
        size += 1
    while size:
        first = context[-size]
        before = [message for message in session.messages if message.source[0] < first.source[0]]
        later = all(m.source[0] >= first.source[0] for m in context[len(context) - size :])
        if first.kind != "summary" and later and all((m.time or 0) < (first.time or 0) for m in before):
            break
        size -= 1
    return list(context[len(context) - size :])


def _compaction(summary: Message, start: float, end: float, key: Key) -> Item:
    content = {"parts": [{"text": block.text} for block in summary.blocks if isinstance(block, Text)]}
    role = "model" if summary.role == "assistant" else "user"
    fields = {"start_timestamp": start, "end_timestamp": end, "compacted_content": {**content, "role": role}}
    return {
        key("invocation_id"): f"e-{uuid4().hex[:8]}",
        "author": "user",
        "actions": {"compaction": {key(name): value for name, value in fields.items()}},
        "id": uuid4().hex[:8],
        "timestamp": end,
    }
