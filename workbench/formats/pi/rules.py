"""Loader rules of pi, and of the APIs that it calls, checked on the JSON alone:
https://github.com/earendil-works/pi."""

from __future__ import annotations

from workbench.formats.faults import Faults, Item, StopValidation, excess_tokens, inner, lines, objects, validator

_ROLES = ("system", "user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary")
_EDITABLE = ("user", "assistant", "toolResult", "custom", "hookMessage")
"""Roles of messages whose content an edit replaces."""

NumberedEntry = tuple[int, Item]


@validator
def validate(data: bytes) -> Faults:
    """Yield faults that would keep pi from resuming the complete session."""
    entries: list[NumberedEntry] = []
    for number, value in lines(data):
        if value is None:
            yield f"Line {number} is not a JSON object, so pi would skip it."
        else:
            entries.append((number, value))
    header = entries[0][1] if entries else {}
    if header.get("type") != "session" or not isinstance(header.get("id"), str):
        raise StopValidation("The first line is not a session header with an id: pi would start a new session.")
    version = header.get("version", 1)
    if not isinstance(version, int) or version not in (1, 2, 3):
        yield f"Version {version} is unknown to pi."
    entries = [entry for entry in entries[1:] if entry[1].get("type") != "session"]
    if version != 1:
        yield from _chain(entries)
    yield from _edits(entries)
    path = _selected(entries) if version != 1 else entries
    sent = _sent(path) if version != 1 else [entry for entry in entries if _body(entry[1])]
    if not sent:
        yield "The newest entry's branch has no message."
    for number, entry in sent:
        yield from _shape(f"Line {number}", entry)
    yield from _orphans(sent)
    changed = max((number for number, entry in path if entry.get("type") in ("compaction", "context_edit")), default=0)
    yield from _stale(sent, changed)


def _body(entry: Item) -> Item:
    return inner(entry, "message", dict) if entry.get("type") == "message" else {}


def _chain(entries: list[NumberedEntry]) -> Faults:
    seen: set[str] = set()
    for number, entry in entries:
        id, parent = inner(entry, "id", str), entry.get("parentId")
        if not id:
            yield f"Line {number} has no id."
            continue
        if id in seen:
            yield f"Line {number} has the id of an earlier line."
        if parent is not None and str(parent) not in seen:
            yield f"Line {number} names a parent that is not before it."
        seen.add(id)


def _edits(entries: list[NumberedEntry]) -> Faults:
    for number, entry in entries:
        if entry.get("type") != "context_edit":
            continue
        if "replacement" not in entry:
            yield f"Line {number} is an edit without a replacement: pi cannot open the session."
        elif not _has_content(entry) and entry["replacement"] is not None:
            yield f"Line {number} is an edit whose replacement has no content: pi sends the edited message empty."


def _has_content(edit: Item) -> bool:
    return isinstance(inner(edit, "replacement", dict).get("content"), str | list)


def _selected(entries: list[NumberedEntry]) -> list[NumberedEntry]:
    """Return the path to the newest entry, from the newest compaction on, with the entries that it kept."""
    by_id = {str(entry.get("id")): (number, entry) for number, entry in entries}
    path: list[NumberedEntry] = []
    at = entries[-1] if entries else None
    while at is not None and at not in path[-1:] and len(path) <= len(entries):
        path.append(at)
        at = by_id.get(str(at[1].get("parentId")))
    path.reverse()
    newest = max((place for place, (_, entry) in enumerate(path) if entry.get("type") == "compaction"), default=-1)
    if newest < 0:
        return path
    first = path[newest][1].get("firstKeptEntryId")
    start = next((place for place in range(newest) if path[place][1].get("id") == first), newest)
    retained = [entry for entry in path[start:newest] if _body(entry[1]).get("role") != "system"]
    return [path[newest], *(entry for entry in retained if entry[1].get("type") != "compaction"), *path[newest + 1 :]]


def _sent(path: list[NumberedEntry]) -> list[NumberedEntry]:
    """Return the selected entries that pi would send, with the content of their last edit."""
    edits = {
        inner(edit, "targetId", str): edit["replacement"]
        for _, edit in path
        if "replacement" in edit and _is_edit(edit)
    }
    edits.pop("", None)
    sent: list[NumberedEntry] = []
    for number, entry in path:
        body, id = _body(entry), inner(entry, "id", str)
        if id in edits and edits[id] is None:
            continue
        if id in edits and inner(body, "role", str) in _EDITABLE:
            content = inner(edits, id, dict).get("content", [])
            text = [{"type": "text", "text": content}]
            plain = isinstance(content, str) and body["role"] in ("assistant", "toolResult")
            entry = {**entry, "message": {**body, "content": text if plain else content}}
            if body["role"] == "user" and not content:
                continue
        if body.get("stopReason") not in ("aborted", "error") and (
            body or entry.get("type") in ("compaction", "custom_message", "branch_summary")
        ):
            sent.append((number, entry))
    return sent


def _is_edit(entry: Item) -> bool:
    return entry.get("type") == "context_edit"


def _shape(where: str, entry: Item) -> Faults:
    if entry.get("type") == "compaction" and not isinstance(entry.get("summary"), str):
        yield f"{where} is a compaction without a summary."
    if not isinstance(entry.get("systemMessage", {}), dict):
        yield f"{where} has a system message that is not an object."
    body = _body(entry)
    role, content = inner(body, "role", str), body.get("content")
    if not body:
        return
    if role not in _ROLES:
        yield f"{where} has a message with a role that pi does not know."
    elif role in ("assistant", "toolResult") and not isinstance(content, list):
        yield f"{where} has a message whose content is not a list."
    elif role == "user" and not content:
        yield f"{where} has a message without content."
    elif role == "assistant" and not isinstance(body.get("usage"), dict):
        yield f"{where} has a response without usage, which pi requires."
    elif role == "toolResult" and not all(isinstance(body.get(key), str) for key in ("toolCallId", "toolName")):
        yield f"{where} has a result without its call id or tool name."


def _orphans(sent: list[NumberedEntry]) -> Faults:
    """Yield results without their call before them, or with a user message between. A call without a result is valid:
    pi adds one."""
    calls: set[str] = set()
    open_calls: set[str] = set()
    for number, entry in sent:
        body = _body(entry)
        role = body.get("role")
        if role == "assistant":
            open_calls = {
                str(part.get("id")) for part in objects(body.get("content")) if part.get("type") == "toolCall"
            }
            calls |= open_calls
        elif role == "toolResult" and str(body.get("toolCallId")) not in calls:
            yield f"Line {number} has a result without its call before it."
        elif role == "toolResult" and str(body.get("toolCallId")) not in open_calls:
            yield f"Line {number} has a result that is not right after its call; pi fills in another result first."
        elif role not in ("toolResult", "system") and body.get("excludeFromContext") is not True:
            open_calls = set()


def _stale(sent: list[NumberedEntry], changed: int) -> Faults:
    """Yield a fault if the newest usage, by which pi compacts, is excessive. Usage before the newest compaction or
    edit, on line `changed`, is not checked."""
    for number, entry in reversed(sent):
        if number < changed:
            return
        usage = _body(entry).get("usage")
        if _body(entry).get("role") == "assistant" and isinstance(usage, dict):
            counts = sum(inner(usage, key, int) for key in ("input", "output", "cacheRead", "cacheWrite"))
            yield from excess_tokens(f"Line {number}", usage.get("totalTokens") or counts, [each for _, each in sent])
            return
