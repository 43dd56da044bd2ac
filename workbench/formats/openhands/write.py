"""Write an OpenHands conversation as a list of events that ends with a condensation.

No message is deleted: messages left out of the new context stay in the list, before the others, and the condensation
names them as forgotten. Abandoned branches are left out. A V0 list is renumbered, because its ids are positions; V1
events keep their ids, and in a tree each gets the event before it as parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from workbench.formats.format import NAME, Written
from workbench.formats.kit.blocks import as_object, as_text, writable
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import agent_home, folder_of
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.settle import NO_RESULT, as_user_text, settled, system_prompt
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.openhands import ID
from workbench.formats.openhands.events import (
    CALL,
    FAILED,
    SENDER,
    Event,
    begins_loop,
    content_of,
    continues_loop,
    forgetting_of,
    is_counted,
    key_of,
    preview_of,
    stamp_of,
    unanswered_actions,
)
from workbench.formats.openhands.v1 import OpenHandsFacts
from workbench.session import Block, Message, Session, Text, ToolResult, ToolUse

_BY_HAND = "OpenHands resumes only a folder: export a session loaded from a V1 folder into an existing folder (-o .)"
_BY_HAND_V0 = "nothing resumes a list of V0 events: V0 would run its actions again, and V1 does not read them"
_APART = "workbench_apart"


@dataclass(slots=True)
class _EventList:
    """The list while it is written. By call id, `actions` holds the id of the event that makes the call, and `answers`
    the V0 metadata of that event. `numbers`: new V0 id by old one. `others`: indexes of events on abandoned branches.
    `running`: indexes of actions that OpenHands would run on resume. `parent`: id of the previous event in a `tree`.
    `loop`: True in a kept tool loop, False in a forgotten one, None outside of loops."""

    v1: bool = True
    tree: bool = False
    parent: str | None = None
    loop: bool | None = None
    others: frozenset[int] = frozenset()
    running: frozenset[int] = frozenset()
    raws: list[bytes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    out: list[bytes] = field(default_factory=list)
    actions: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    losses: Losses = field(default_factory=list)


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the conversation's events. Never raises; content that could not be written is in `losses`."""
    native, own = session.format == ID, _own(session)
    name = f"{session.path.name.split('.')[0] if session.path else 'conversation'}.compacted.json"
    messages = [message for message in messages if message.kind != "boundary" and message.blocks]
    if native and not own.others and messages == list(session.context()):
        return _written(session, session.records.data, name, ())
    sheet = _EventList(own.v1, others=own.others)
    if native:
        sheet.raws = elements(session.records.data, None)
        values = [loads(raw) for raw in sheet.raws]
        sheet.events = [dict_of(value) for value in values]
        sheet.tree = any(event.get("parent_id") for event in sheet.events)
        sheet.running = unanswered_actions(sheet.events)
        sheet.losses.extend([Loss(LossKind.OTHER_BRANCHES)] if own.others else [])
    else:
        prompt, rest = system_prompt(session, messages)
        rest, losses = settled(rest, "anthropic-messages")
        sheet.losses.extend(losses)
        first_time = next((message.time for message in messages if message.time is not None), None)
        messages = [*([Message("system", "system", (Text(prompt),), time=first_time)] if prompt else []), *rest]
    _list(sheet, messages)
    data = splice(session.records.data, None, sheet.out) if native else b"[" + b",\n".join(sheet.out) + b"]"
    return _written(session, data, name, sheet.losses)


def _own(session: Session) -> OpenHandsFacts:
    """Return the format-specific facts of a conversation; for one of another format, those of a new V1 conversation."""
    own = session.facts.own
    return own if session.format == ID and isinstance(own, OpenHandsFacts) else OpenHandsFacts()


def _written(session: Session, data: bytes, name: str, losses: Sequence[Loss]) -> Written:
    own = _own(session)
    if not own.state:
        return Written(data, name, by_hand=_BY_HAND if own.v1 else _BY_HAND_V0, losses=losses)
    home = agent_home("OPENHANDS_PERSISTENCE_DIR", otherwise="~/.openhands")
    home = agent_home("OPENHANDS_CONVERSATIONS_DIR", otherwise=f"{home}/conversations")
    resume = ("openhands", "--resume", NAME)
    return Written(
        data, name, session_folder=home, folder=folder_of(session), commands=(resume,), by_hand=_BY_HAND, losses=losses
    )


def _list(sheet: _EventList, messages: Sequence[Message]) -> None:
    """Write system prompts, forgotten events, the context without its summary, and the condensation. If the context
    consists of loaded events in their order, apart from a summary, all events keep their places and the condensation
    follows, as OpenHands itself writes it."""
    summary = next((m for m in messages if m.kind == "summary" and m.role in ("user", "system")), None)
    if summary is not None and not _plain(sheet, summary.blocks):  # OpenHands would send an empty text
        messages, summary = [message for message in messages if message is not summary], None
    places = [event for message in messages if message is not summary for event in message.source or (-1,)]
    has_one = all(message is summary or message.kind != "summary" for message in messages)
    if sheet.raws and has_one and -1 not in places and places == sorted(places):
        _list_in_order(sheet, messages, summary, frozenset(places))
        return
    start = next((n for n, message in enumerate(messages) if not message.is_own_system), len(messages))
    kept_events = (
        {event for message in messages if message is not summary for event in message.source} if sheet.raws else set()
    )
    offset = counted = 0
    for message in messages[:start]:
        counted += _message(sheet, message)
    answers = _answers_of_retained(sheet, kept_events)
    left_out = [n for n in range(len(sheet.events)) if n not in kept_events and n not in sheet.others]
    forgotten = _forgotten(sheet, [n for n in left_out if n not in answers])
    for message in messages[start:]:
        if message is summary:
            offset = counted
        else:
            counted += _message(sheet, message)
    forgotten += _forgotten(sheet, [n for n in left_out if n in answers])
    if forgotten or summary is not None:
        _append(sheet, _condensation(sheet, forgotten, summary, offset))


def _list_in_order(
    sheet: _EventList, messages: Sequence[Message], summary: Message | None, retained: frozenset[int]
) -> None:
    forgotten: list[Any] = []
    for index in range(len(sheet.events)):
        if index in retained:
            _place(sheet, index)
        elif index not in sheet.others:
            forgotten += _forgotten(sheet, [index])
    before = messages[: messages.index(summary)] if summary is not None else ()
    if forgotten or summary is not None:
        offset = sum(len(message.source) for message in before)
        _append(sheet, _condensation(sheet, forgotten, summary, offset))


def _answers_of_retained(sheet: _EventList, retained: set[int]) -> set[int]:
    """Return the indexes of results that are left out although their calls are kept: new results replace them."""
    calls: dict[str, bool] = {}
    v0_calls: dict[str, str] = {}
    found: set[int] = set()
    for index, event in enumerate(sheet.events):
        content = content_of(event, v0_calls) if event else None
        if content and content.call and content.role == "assistant":
            calls[content.call] = index in retained
        elif content and content.call and index not in retained and calls.get(content.call):
            found.add(index)
    return found


def _forgotten(sheet: _EventList, left_out: Sequence[int]) -> list[Any]:
    """Write the events that the context leaves out; return the ids of those that count in the view. Earlier
    condensations are dropped, and actions that OpenHands would run on resume get a result."""
    forgotten: list[Any] = []
    for index in left_out:
        event = sheet.events[index]
        if forgetting_of(event) is not None:
            sheet.losses.append(Loss(LossKind.EARLIER_CONDENSATIONS))
            continue
        id = _place(sheet, index, retained=False)
        if is_counted(event):
            forgotten.append(id)
        if index in sheet.running:
            answer = ToolResult(as_text(event.get("tool_call_id")), (Text(NO_RESULT),), is_error=True)
            forgotten.append(
                _append(sheet, _observation(sheet, answer, Message("", "tool", (answer,))), retained=False)
            )
    return forgotten


def _message(sheet: _EventList, message: Message) -> int:
    """Write a message's events; return how many of them count in the view."""
    if sheet.raws and message.source and message.kind != "summary":
        for index in message.source:
            _place(sheet, index)
        return len(message.source)
    events = _new_events(sheet, message)
    for event in events:
        _append(sheet, event)
    return len(events)


def _split_loop(sheet: _EventList, event: Event, retained: bool) -> None:
    """Insert a state update, which no model receives, between kept and forgotten events of a tool loop. Otherwise the
    SDK would send none of the loop."""
    if begins_loop(event):
        sheet.loop = retained
    elif not continues_loop(event):
        sheet.loop = None
    elif sheet.loop is (not retained):
        head = {"id": str(uuid4()), "timestamp": stamp_of(None), "source": "environment"}
        _append(sheet, {**head, "key": _APART, "value": True, "kind": "ConversationStateUpdateEvent"})


def _place(sheet: _EventList, index: int, retained: bool = True) -> Any:
    """Write a loaded event with its new links; return its id."""
    raw, event = sheet.raws[index], sheet.events[index]
    _split_loop(sheet, event, retained)
    content = content_of(event, sheet.calls) if event else None
    call = content.call if content else ""
    changes: dict[str, bytes] = {}
    id: Any = event.get("id")
    if not sheet.v1:
        id = len(sheet.out)
        sheet.numbers[key_of(event)] = id
        cause = sheet.actions.get(call) if call and content and content.role == "tool" else None
        cause = sheet.numbers.get(str(event.get("cause"))) if cause is None else cause
        if event and event.get("id") != id:
            changes["id"] = render(id)
            if call == f"event-{key_of(event)}":
                changes[CALL] = render(call)
        if cause is not None and event.get("cause") != cause:
            changes["cause"] = render(cause)
    if call and content and content.role == "assistant":
        sheet.actions[call] = id
        sheet.answers[call] = dict_of(event.get("tool_call_metadata")) or None
    if sheet.tree and event:
        if event.get("parent_id") != sheet.parent:
            changes["parent_id"] = render(sheet.parent)
        sheet.parent = key_of(event)
    sheet.out.append(replace_fields(raw, changes) if changes else raw)
    return id


def _append(sheet: _EventList, event: Event, retained: bool = True) -> Any:
    """Write a new event; return its id."""
    _split_loop(sheet, event, retained)
    if not sheet.v1:
        event["id"] = len(sheet.out)
    if sheet.tree:
        event["parent_id"], sheet.parent = sheet.parent, event["id"]
    call = event.get("tool_call_id") or (event.get("tool_call_metadata") or {}).get("tool_call_id")
    if call and ("tool_call" in event or "action" in event):
        sheet.actions[call] = event["id"]
        sheet.answers[call] = event.get("tool_call_metadata")
    sheet.out.append(render(event))
    return event["id"]


def _condensation(sheet: _EventList, forgotten: list[Any], summary: Message | None, offset: int) -> Event:
    text = _plain(sheet, summary.blocks) if summary is not None else None
    about = {
        "forgotten_event_ids": forgotten,
        "summary": text,
        "summary_offset": None if text is None else offset,
    }
    if sheet.v1:
        head = {"id": str(uuid4()), "timestamp": stamp_of(None), "source": "environment"}
        return {**head, **about, "llm_response_id": f"condensation-{uuid4()}", "kind": "Condensation"}
    return {"timestamp": stamp_of(None), "source": "agent", "message": "", "action": "condensation", "args": about}


def _plain(sheet: _EventList, blocks: Sequence[Block]) -> str:
    """Return the texts of a message as one."""
    return "\n\n".join(part["text"] for part in _parts(sheet, blocks))


def _parts(sheet: _EventList, blocks: Sequence[Block]) -> list[Event]:
    """Return the texts of blocks as content parts; blocks that V0 and V1 cannot hold are losses."""
    texts = (block.text for block in writable(blocks, sheet.losses) if isinstance(block, Text))
    return [{"type": "text", "text": text} for text in texts]


def _new_events(sheet: _EventList, message: Message) -> list[Event]:
    """Return new events for a message."""
    if message.role == "tool":
        events = [_observation(sheet, result, message) for result in message.results]
        rest = tuple(block for block in message.blocks if not isinstance(block, ToolResult))
        return events + (_message_events(sheet, Message("", "user", rest, "meta", message.time)) if rest else [])
    if message.role == "assistant" and message.calls:
        return _actions(sheet, message)
    return _message_events(sheet, message)


def _message_events(sheet: _EventList, message: Message) -> list[Event]:
    own_system = message.is_own_system
    parts = [{"type": "text", "text": as_user_text(message)}] if message.role == "system" and not own_system else []
    parts = parts or _parts(sheet, message.blocks)
    if not parts:
        return []
    head: Event = {"timestamp": stamp_of(message.time), "source": "agent" if message.role == "assistant" else "user"}
    kind = message.kind if message.kind != "normal" else ""
    if not sheet.v1:
        text = "\n\n".join(part["text"] for part in parts)
        action = "system" if own_system else "message"
        args = {"content": text, **({} if own_system else {"image_urls": [], "wait_for_response": False})}
        return [
            {
                **head,
                "message": preview_of(text),
                "action": action,
                "args": args,
                **({MARK: kind} if kind else {}),
            }
        ]
    head = {"id": str(uuid4()), **head}
    if own_system:
        prompt = {"type": "text", "text": "\n\n".join(part["text"] for part in parts)}
        return [{**head, "source": "agent", "system_prompt": prompt, "tools": [], "kind": "SystemPromptEvent"}]
    role = "assistant" if message.role == "assistant" else "user"
    llm_message = {"role": role, "content": parts, "thinking_blocks": []}
    sender = {"sender": SENDER + kind} if kind else {}
    return [
        {
            **head,
            "llm_message": llm_message,
            **sender,
            "activated_skills": [],
            "extended_content": [],
            "kind": "MessageEvent",
        }
    ]


def _actions(sheet: _EventList, message: Message) -> list[Event]:
    """Return an event for each call of a response; the first holds its text."""
    parts = _parts(sheet, [block for block in message.blocks if not isinstance(block, ToolUse)])
    prefix = f"{SENDER}{message.kind}/" if message.kind != "normal" else ""
    response = f"{prefix}{uuid4()}"
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(sheet, call)}}
        for call in message.calls
    ]
    events: list[Event] = []
    for number, call in enumerate(message.calls):
        head: Event = {"timestamp": stamp_of(message.time), "source": "agent"}
        if sheet.v1:
            tool_call = {"id": call.id, "name": call.name, "arguments": _arguments(sheet, call), "origin": "completion"}
            thought = parts if number == 0 else []
            event = {"id": str(uuid4()), **head, "thought": thought, "thinking_blocks": [], "action": None}
            event |= {
                "tool_name": call.name,
                "tool_call_id": call.id,
                "tool_call": tool_call,
                "llm_response_id": response,
            }
            events.append({**event, "kind": "ActionEvent"})
            continue
        content = "\n\n".join(part["text"] for part in parts)
        answer = {"role": "assistant", "content": content, "tool_calls": calls}
        meta = {
            "function_name": call.name,
            "tool_call_id": call.id,
            "model_response": {"id": response, "model": message.model or "", "choices": [{"message": answer}]},
            "total_calls_in_response": len(calls),
        }
        arguments = as_object(call.input)
        args = {"name": call.name, "arguments": arguments, "thought": ""}
        event = {**head, "message": "", "action": "call_tool_mcp", "args": args, "tool_call_metadata": meta}
        events.append(event | ({MARK: message.kind} if prefix else {}))
    return events


def _arguments(sheet: _EventList, call: ToolUse) -> str:
    return call.input if sheet.raws and isinstance(call.input, str) else render(as_object(call.input)).decode()


def _observation(sheet: _EventList, result: ToolResult, message: Message) -> Event:
    parts = _parts(sheet, result.content)
    cause = sheet.actions.get(result.call_id)
    if not sheet.v1:
        text = "\n".join(part["text"] for part in parts)
        no_metadata = {"function_name": "", "tool_call_id": result.call_id, "total_calls_in_response": 1}
        meta = sheet.answers.get(result.call_id, no_metadata | {"model_response": {"choices": []}})
        return {
            "timestamp": stamp_of(message.time),
            "source": "agent",
            "message": preview_of(text),
            "cause": cause,
            **({"tool_call_metadata": meta} if meta else {}),
            "observation": "mcp",
            "content": text,
            "extras": {},
            **({FAILED: True} if result.is_error else {}),
        }
    head = {"id": str(uuid4()), "timestamp": stamp_of(message.time), "source": "environment", "tool_name": ""}
    if result.is_error:  # OpenHands would add text to a failed observation
        error = {"error": "\n".join(part["text"] for part in parts), "kind": "AgentErrorEvent"}
        return {**head, "source": "agent", "tool_call_id": result.call_id, **error}
    content = {"content": parts, "is_error": False, "tool_name": "", "kind": "MCPToolObservation"}
    return {
        **head,
        "tool_call_id": result.call_id,
        "observation": content,
        "action_id": cause,
        "kind": "ObservationEvent",
    }
