"""Loader rules of Copilot CLI: its event schema, and the pairs that its APIs require.

Source: https://github.com/github/copilot-cli.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Item, StopValidation, inner, lines, validator

_REQUIRED_FIELDS: dict[str, dict[str, type]] = {
    "session.start": {"sessionId": str, "producer": str, "version": int, "copilotVersion": str, "startTime": str},
    "user.message": {"content": str},
    "assistant.message": {"content": str, "messageId": str},
    "tool.execution_start": {"toolCallId": str, "toolName": str},
    "tool.execution_complete": {"toolCallId": str, "success": bool},
    "system.message": {"content": str, "role": str},
    "system.notification": {"content": str, "kind": dict},
    "session.compaction_complete": {"success": bool},
    "subagent.started": {"toolCallId": str, "agentName": str, "agentDisplayName": str, "agentDescription": str},
    "subagent.completed": {"toolCallId": str, "agentName": str, "agentDisplayName": str},
}
"""Fields without which Copilot CLI 1.0.102 refuses a file: "Session file is corrupted (line 14: missing field …)"."""

Event = tuple[int, Item]


@validator
def validate(data: bytes) -> Faults:
    """Yield faults for which Copilot CLI would refuse the file, or its API would reject the messages."""
    events: list[Event] = []
    for number, value in lines(data):
        if value and isinstance(value.get("data"), dict) and isinstance(value.get("type"), str):
            events.append((number, value))
        else:
            yield f"Line {number} is not an event."
    if not events or events[0][1]["type"] != "session.start":
        raise StopValidation("Line 1 is not a session.start event.")
    yield from _check_chain(events)
    for number, event in events:
        for key, kind in _REQUIRED_FIELDS.get(event["type"], {}).items():
            if not isinstance(event["data"].get(key), kind):
                yield f"Line {number} has no {key}, which a {event['type']} event requires."
    main = [event for event in events if not event[1].get("agentId") and not event[1]["data"].get("parentToolCallId")]
    for number, event in main:
        if _is_compaction(event) and not event["data"].get("summaryContent"):
            yield f"Line {number} is a compaction without a summary."
    context = _context(main)
    if not context:
        yield "There is no message that Copilot CLI would send."
    yield from _check_pairs(context)


def _check_chain(events: list[Event]) -> Faults:
    """Check that each event names the one before it as its parent, and has a unique id and a time. Events of model
    calls form a chain of their own, which is incomplete in files."""
    before: Any = None
    seen: set[str] = set()
    for number, event in events:
        if event["type"].startswith("model."):
            continue
        id = event.get("id")
        if not isinstance(id, str) or id in seen:
            yield f"Line {number} has no id of its own."
        if event.get("parentId") != before:
            yield f"Line {number} does not name the event before it as its parent."
        if not isinstance(event.get("timestamp"), str):
            yield f"Line {number} has no timestamp."
        before = id
        seen.add(str(id))


def _is_compaction(event: Item) -> bool:
    return event["type"] == "session.compaction_complete" and event["data"].get("success") is not False


def _context(events: list[Event]) -> list[Event]:
    """Return the events whose messages are sent: after a compaction its summary, and events since it began."""
    context: list[Event] = []
    kept_from = 0
    for number, event in events:
        kind = event["type"]
        if kind in ("user.message", "assistant.message", "tool.execution_complete"):
            context.append((number, event))
        elif kind == "session.compaction_start":
            kept_from = len(context)
        elif _is_compaction(event):
            context = [(number, event), *context[kept_from:]]
            kept_from = 0
        elif kind == "session.context_cleared":
            context = []
    return context


def _check_pairs(context: list[Event]) -> Faults:
    """Check that each call has a result before the next response, if there is one, and that each result follows its
    call."""
    call_ids: set[str] = set()
    open_calls: dict[str, int] = {}
    for number, event in context:
        data = event["data"]
        if event["type"] == "assistant.message":
            requests = inner(data, "toolRequests", list)
            if open_calls and (data.get("content") or requests):
                yield from (
                    f"A call of line {line} has no result before line {number}." for line in open_calls.values()
                )
                open_calls = {}
            for request in requests:
                id = inner(request, "toolCallId", str)
                if not id or not inner(request, "name", str):
                    yield f"Line {number} has a call without an id or a name."
                else:
                    call_ids.add(id)
                    open_calls[id] = number
        elif event["type"] == "tool.execution_complete" and not data.get("isUserRequested"):
            if str(data.get("toolCallId")) not in call_ids:
                yield f"Line {number} has a result without its call before it."
            open_calls.pop(str(data.get("toolCallId")), None)
