"""What pi's loader and the APIs behind it ask of a session: https://github.com/badlogic/pi-mono."""

from __future__ import annotations

from workbench.formats.faults import Faults, Hopeless, Item, inner, lines, objects, too_much, validator

_ROLES = ("user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary")

Entry = tuple[int, Item]


@validator
def validate(data: bytes) -> Faults:
    """Nothing when pi would resume the session whole."""
    entries: list[Entry] = []
    for number, value in lines(data):
        if value is None:
            yield f"Line {number} is not a JSON object, so pi would pass over it."
        else:
            entries.append((number, value))
    header = entries[0][1] if entries else {}
    if header.get("type") != "session" or not isinstance(header.get("id"), str):
        raise Hopeless("The first line is not a session header with an id: pi would start afresh.")
    version = header.get("version", 1)
    if not isinstance(version, int) or version not in (1, 2, 3):
        yield f"Version {version} is none that pi knows."
    entries = [entry for entry in entries[1:] if entry[1].get("type") != "session"]
    if version != 1:
        yield from _chain(entries)
    sent = _sent(entries) if version != 1 else [entry for entry in entries if _body(entry[1])]
    if not sent:
        yield "There is no message on the way to the newest entry."
    for number, entry in sent:
        yield from _shape(f"Line {number}", entry)
    yield from _orphans(sent)
    yield from _stale(sent)


def _body(entry: Item) -> Item:
    return inner(entry, "message", dict) if entry.get("type") == "message" else {}


def _chain(entries: list[Entry]) -> Faults:
    seen: set[str] = set()
    for number, entry in entries:
        id, parent = inner(entry, "id", str), entry.get("parentId")
        if not id:
            yield f"Line {number} has no id."
            continue
        if id in seen:
            yield f"Line {number} has the id of an earlier line."
        if parent is not None and str(parent) not in seen:
            yield f"Line {number} names a parent that does not stand before it."
        seen.add(id)


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


def _shape(where: str, entry: Item) -> Faults:
    if entry.get("type") == "compaction" and not isinstance(entry.get("summary"), str):
        yield f"{where} is a compaction without a summary."
    body = _body(entry)
    role, content = inner(body, "role", str), body.get("content")
    if not body:
        return
    if role not in _ROLES:
        yield f"{where} has a message of a role that pi does not know."
    elif role in ("assistant", "toolResult") and not isinstance(content, list):
        yield f"{where} has a message whose content is no list."
    elif role == "user" and not content:
        yield f"{where} has a message without content."
    elif role == "assistant" and not isinstance(body.get("usage"), dict):
        yield f"{where} has a response without usage, on which pi counts."
    elif role == "toolResult" and not all(isinstance(body.get(key), str) for key in ("toolCallId", "toolName")):
        yield f"{where} has a result that does not say of which call and tool."


def _orphans(sent: list[Entry]) -> Faults:
    """Results need their call before them. A call without a result is no fault: pi adds one."""
    calls: set[str] = set()
    for number, entry in sent:
        body = _body(entry)
        if body.get("role") == "assistant":
            calls |= {str(part.get("id")) for part in objects(body.get("content")) if part.get("type") == "toolCall"}
        elif body.get("role") == "toolResult" and str(body.get("toolCallId")) not in calls:
            yield f"Line {number} has a result, but its call does not stand before it."


def _stale(sent: list[Entry]) -> Faults:
    """The last usage: pi compacts by it, where no compaction came since."""
    compacted = max((number for number, entry in sent if entry.get("type") == "compaction"), default=0)
    for number, entry in reversed(sent):
        if number < compacted:
            return
        usage = _body(entry).get("usage")
        if isinstance(usage, dict):
            counts = sum(inner(usage, key, int) for key in ("input", "output", "cacheRead", "cacheWrite"))
            yield from too_much(f"Line {number}", usage.get("totalTokens") or counts, [each for _, each in sent])
            return
