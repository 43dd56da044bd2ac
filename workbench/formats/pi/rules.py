"""What pi's loader and the APIs behind it ask of a session (formats.md §2.8).

Written from those rules and from the standard library alone: it judges the writer, so it shares nothing with it.
"""

from __future__ import annotations

import json
from typing import Any

_SPARE_TOKENS = 30_000
"""Tokens that the last usage may claim beyond what the messages could be: instructions and tools."""
_MOST = 20
_ROLES = ("user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary")

Entry = tuple[int, dict[str, Any]]


def validate(data: bytes) -> list[str]:
    """What is wrong with a session, a sentence each; nothing when pi would resume it whole."""
    faults: list[str] = []
    entries = _entries(data, faults)
    header = entries[0][1] if entries else {}
    if header.get("type") != "session" or not isinstance(header.get("id"), str):
        return [*faults[:_MOST], "The first line is not a session header with an id: pi would start afresh."]
    version = header.get("version", 1)
    if not isinstance(version, int) or version not in (1, 2, 3):
        faults.append(f"Version {version} is none that pi knows.")
    entries = [entry for entry in entries[1:] if entry[1].get("type") != "session"]
    faults += _chain(entries) if version != 1 else []
    sent = _sent(entries) if version != 1 else [entry for entry in entries if _body(entry[1])]
    if not sent:
        faults.append("There is no message on the way to the newest entry.")
    faults += [fault for number, entry in sent for fault in _shape(number, entry)]
    faults += _orphans(sent)
    faults += _stale(sent)
    return [*faults[:_MOST], f"{len(faults) - _MOST} more faults."] if len(faults) > _MOST else faults


def _entries(data: bytes, faults: list[str]) -> list[Entry]:
    entries: list[Entry] = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            entries.append((number, value))
        else:
            faults.append(f"Line {number} is not a JSON object, so pi would pass over it.")
    return entries


def _body(entry: dict[str, Any]) -> dict[str, Any]:
    body = entry.get("message")
    return body if entry.get("type") == "message" and isinstance(body, dict) else {}


def _chain(entries: list[Entry]) -> list[str]:
    faults: list[str] = []
    seen: set[str] = set()
    for number, entry in entries:
        id, parent = entry.get("id"), entry.get("parentId")
        if not isinstance(id, str) or not id:
            faults.append(f"Line {number} has no id.")
            continue
        if id in seen:
            faults.append(f"Line {number} has the id of an earlier line.")
        if parent is not None and str(parent) not in seen:
            faults.append(f"Line {number} names a parent that does not stand before it.")
        seen.add(id)
    return faults


def _sent(entries: list[Entry]) -> list[Entry]:
    """The messages that pi would send: from the first that the newest compaction on the way to the leaf kept."""
    by_id = {str(entry.get("id")): (number, entry) for number, entry in entries}
    way: list[Entry] = []
    at = entries[-1] if entries else None
    while at is not None and at not in way[-1:] and len(way) <= len(entries):
        way.append(at)
        at = by_id.get(str(at[1].get("parentId")))
    way.reverse()
    newest = max((place for place, (_, entry) in enumerate(way) if entry.get("type") == "compaction"), default=-1)
    if newest >= 0:
        first = way[newest][1].get("firstKeptEntryId")
        kept = next((place for place in range(newest) if way[place][1].get("id") == first), newest)
        way = [way[newest], *way[kept:newest], *way[newest + 1 :]]
    return [
        entry
        for entry in way
        if entry[1].get("type") in ("compaction", "custom_message", "branch_summary")
        or (_body(entry[1]) and _body(entry[1]).get("stopReason") not in ("aborted", "error"))
    ]


def _shape(number: int, entry: dict[str, Any]) -> list[str]:
    if entry.get("type") == "compaction":
        return [] if isinstance(entry.get("summary"), str) else [f"Line {number} is a compaction without a summary."]
    body = _body(entry)
    if not body:
        return []
    role, content = body.get("role"), body.get("content")
    if not isinstance(role, str) or role not in _ROLES:
        return [f"Line {number} has a message of a role that pi does not know."]
    if role in ("assistant", "toolResult") and not isinstance(content, list):
        return [f"Line {number} has a message whose content is no list."]
    if role == "user" and not content:
        return [f"Line {number} has a message without content."]
    if role == "assistant" and not isinstance(body.get("usage"), dict):
        return [f"Line {number} has a response without usage, on which pi counts."]
    if role == "toolResult" and not (isinstance(body.get("toolCallId"), str) and isinstance(body.get("toolName"), str)):
        return [f"Line {number} has a result that does not say of which call and tool."]
    return []


def _orphans(sent: list[Entry]) -> list[str]:
    """Results need their call before them. A call without a result is no fault: pi adds one."""
    faults: list[str] = []
    calls: set[str] = set()
    for number, entry in sent:
        body = _body(entry)
        content = body.get("content")
        if body.get("role") == "assistant" and isinstance(content, list):
            calls |= {str(p.get("id")) for p in content if isinstance(p, dict) and p.get("type") == "toolCall"}
        elif body.get("role") == "toolResult" and str(body.get("toolCallId")) not in calls:
            faults.append(f"Line {number} has a result, but its call does not stand before it.")
    return faults


def _stale(sent: list[Entry]) -> list[str]:
    """The last usage must not claim more than the messages can be: pi compacts by it."""
    largest = sum(len(json.dumps(entry, ensure_ascii=False)) for _, entry in sent) + _SPARE_TOKENS
    for number, entry in reversed(sent):
        usage = _body(entry).get("usage")
        if isinstance(usage, dict):
            counts = [usage.get(key) for key in ("input", "output", "cacheRead", "cacheWrite")]
            total = usage.get("totalTokens") or sum(count for count in counts if isinstance(count, int))
            if isinstance(total, int) and total > largest:
                return [f"Line {number} claims {total} tokens, more than the context can have."]
            return []
    return []
