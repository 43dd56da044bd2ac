"""What the schema of Copilot CLI's events and the APIs behind it ask of a session (formats.md §2.6).

Written from those rules and from the standard library alone: it judges the writer, so it shares nothing with it.
"""

from __future__ import annotations

import json
from typing import Any

_MOST = 20
_DEMANDED: dict[str, dict[str, type]] = {
    "session.start": {"sessionId": str, "producer": str},
    "user.message": {"content": str},
    "assistant.message": {"content": str, "messageId": str},
    "tool.execution_start": {"toolCallId": str, "toolName": str},
    "tool.execution_complete": {"toolCallId": str, "success": bool},
    "system.message": {"content": str, "role": str},
}

Event = tuple[int, dict[str, Any]]


def validate(data: bytes) -> list[str]:
    """What is wrong with an events file, a sentence each; nothing when it keeps to the schema and can be sent."""
    faults: list[str] = []
    events = _events(data, faults)
    if not events or events[0][1].get("type") != "session.start":
        return [*faults[:_MOST], "Line 1 is not a session.start event."]
    faults += _chain(events)
    for number, event in events:
        for key, kind in _DEMANDED.get(str(event.get("type")), {}).items():
            if not isinstance(event["data"].get(key), kind):
                faults.append(f"Line {number} has no {key}, which a {event['type']} event needs.")
    main = [event for event in events if not event[1].get("agentId") and not event[1]["data"].get("parentToolCallId")]
    context = _context(main, faults)
    if not context:
        faults.append("There is no message that Copilot CLI would send.")
    faults += _pairs(context)
    return [*faults[:_MOST], f"{len(faults) - _MOST} more faults."] if len(faults) > _MOST else faults


def _events(data: bytes, faults: list[str]) -> list[Event]:
    events: list[Event] = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and isinstance(value.get("data"), dict) and isinstance(value.get("type"), str):
            events.append((number, value))
        else:
            faults.append(f"Line {number} is not an event.")
    return events


def _chain(events: list[Event]) -> list[str]:
    """Each event's parent is the one before it; ids are unique; times are there."""
    faults: list[str] = []
    before: Any = None
    seen: set[str] = set()
    for number, event in events:
        id = event.get("id")
        if not isinstance(id, str) or id in seen:
            faults.append(f"Line {number} has no id of its own.")
        if event.get("parentId") != before:
            faults.append(f"Line {number} does not name the event before it as its parent.")
        if not isinstance(event.get("timestamp"), str):
            faults.append(f"Line {number} has no timestamp.")
        before = id
        seen.add(str(id))
    return faults


def _context(events: list[Event], faults: list[str]) -> list[Event]:
    """The events whose messages are sent: after a compaction its summary, and what came since it began."""
    context: list[Event] = []
    began = 0
    for number, event in events:
        kind = event["type"]
        if kind in ("user.message", "assistant.message", "tool.execution_complete"):
            context.append((number, event))
        elif kind == "session.compaction_start":
            began = len(context)
        elif kind == "session.compaction_complete" and event["data"].get("success") is not False:
            if not event["data"].get("summaryContent"):
                faults.append(f"Line {number} is a compaction without a summary.")
            context = [(number, event), *context[began:]]
            began = 0
        elif kind == "session.context_cleared":
            context = []
    return context


def _pairs(context: list[Event]) -> list[str]:
    """Each call answered before the next response, but for the last ones; each result to a call before it."""
    faults: list[str] = []
    asked: set[str] = set()
    waiting: dict[str, int] = {}
    for number, event in context:
        data = event["data"]
        if event["type"] == "assistant.message":
            requests = data.get("toolRequests")
            if waiting and (data.get("content") or requests):
                faults += [f"A call of line {line} has no result before line {number}." for line in waiting.values()]
                waiting = {}
            for request in requests if isinstance(requests, list) else ():
                id = request.get("toolCallId") if isinstance(request, dict) else None
                if not isinstance(id, str) or not isinstance(request.get("name"), str):
                    faults.append(f"Line {number} has a call without an id or a name.")
                else:
                    asked.add(id)
                    waiting[id] = number
        elif event["type"] == "tool.execution_complete" and not data.get("isUserRequested"):
            if str(data.get("toolCallId")) not in asked:
                faults.append(f"Line {number} has a result, but its call does not stand before it.")
            waiting.pop(str(data.get("toolCallId")), None)
    return faults
