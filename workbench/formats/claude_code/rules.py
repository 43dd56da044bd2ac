"""What Claude Code's loader and the Messages API ask of a session file: https://docs.anthropic.com/en/docs/claude-code."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Hopeless, Item, inner, lines, objects, validator

SMALL_USAGE = 20_000
"""Tokens that the last call may claim to have been sent before the tool would think the context full already."""

Line = tuple[int, Item]


@validator
def validate(data: bytes) -> Faults:
    """Nothing when Claude Code would resume the file."""
    found: list[Line] = []
    for number, value in lines(data):
        if value is None:
            yield f"Line {number} is not a JSON object."
        else:
            found.append((number, value))
    linked = [line for line in found if isinstance(line[1].get("uuid"), str) and not line[1].get("isSidechain")]
    if not any(value.get("type") in ("user", "assistant") for _, value in linked):
        raise Hopeless("It holds no user or assistant line of a main session.")
    yield from _identity(found, linked)
    walked, top = _walked(linked)
    yield from _unreached(linked, walked, top)
    loaded = [(number, walked[number]) for number in sorted(walked)]
    yield from _contents(loaded)
    yield from _pairs(loaded)
    yield from _last_usage(loaded)


def _identity(found: list[Line], linked: list[Line]) -> Faults:
    """One session id, and every uuid once."""
    ids = {value["sessionId"] for _, value in found if isinstance(value.get("sessionId"), str)}
    if len(ids) != 1:
        yield f"It has {len(ids)} session ids where there must be one."
    yield from (f"Line {number} has no sessionId." for number, value in linked if not value.get("sessionId"))
    seen: dict[str, int] = {}
    for number, value in linked:
        first = seen.setdefault(value["uuid"], number)
        if first != number:
            yield f"Line {number} has the uuid of line {first}."
        parent = value.get("parentUuid")
        if parent is not None and str(parent) not in seen:
            yield f"Line {number} names a parent that does not stand before it."


def _walked(linked: list[Line]) -> tuple[dict[int, Item], int]:
    """The lines that the loader would take, by number, and the topmost: from the newest leaf up to the newest boundary
    or a line without parent."""
    by_uuid = {value["uuid"]: (number, value) for number, value in linked}
    here: Line | None = next(
        line for line in reversed(linked) if line[1].get("type") in ("user", "assistant", "attachment")
    )
    walked: dict[int, Item] = {}
    top = 0
    while here is not None and here[0] not in walked:
        top, value = here
        walked[top] = value
        here = None if value.get("subtype") == "compact_boundary" else by_uuid.get(str(value.get("parentUuid")))
    return walked, top


def _unreached(linked: list[Line], walked: dict[int, Item], top: int) -> Faults:
    boundary = max((number for number, value in linked if value.get("subtype") == "compact_boundary"), default=0)
    if boundary and top != boundary:
        yield f"The newest line's parents do not lead up to the boundary of line {boundary}."
    for number, value in linked:
        if number > boundary and value.get("type") in ("user", "assistant") and number not in walked:
            yield f"Line {number} is not among the parents of the newest line, so it would not be loaded."


def _blocks(value: Item) -> list[Item]:
    return objects(inner(value, "message", dict).get("content"))


def _contents(loaded: list[Line]) -> Faults:
    """No message without content, no block without text, and a user's message first."""
    opened = False
    for number, value in loaded:
        type = value.get("type")
        if type not in ("user", "assistant"):
            continue
        if not opened and type == "assistant":
            yield f"Line {number} is an assistant's, but the first message must be a user's."
        opened = True
        body = inner(value, "message", dict)
        if body.get("role") != type:
            yield f"Line {number} is of type {type}, but its message has another role."
        if not body.get("content"):
            yield f"Line {number} has a message without content."
        if any(block.get("type") == "text" and not block.get("text") for block in _blocks(value)):
            yield f"Line {number} has an empty text block."


def _pairs(loaded: list[Line]) -> Faults:
    """Each call answered before the next response, but for calls of the last one; each answer to a call before it."""
    calls: dict[str, int] = {}
    waiting: dict[str, int] = {}
    response: Any = None
    for number, value in loaded:
        if value.get("type") == "assistant" and not value.get("isApiErrorMessage"):
            id = inner(value, "message", dict).get("id") or number
            if id != response:
                yield from (f"The call of line {line} has no result before line {number}." for line in waiting.values())
                waiting.clear()
                response = id
        for block in _blocks(value):
            if block.get("type") == "tool_use":
                id = str(block.get("id"))
                if id in calls:
                    yield f"Line {number} has a call with the id of line {calls[id]}."
                calls[id] = waiting[id] = number
            elif block.get("type") == "tool_result":
                id = str(block.get("tool_use_id"))
                if id not in calls:
                    yield f"Line {number} has a result, but its call does not stand before it."
                elif waiting.pop(id, None) is None:
                    yield f"Line {number} has a result of a call that was answered or passed over before."


def _last_usage(loaded: list[Line]) -> Faults:
    for number, value in reversed(loaded):
        body = inner(value, "message", dict)
        usage = body.get("usage")
        if value.get("type") == "assistant" and isinstance(usage, dict) and body.get("model") != "<synthetic>":
            keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
            total = sum(inner(usage, key, int) for key in keys)
            if total > SMALL_USAGE:
                yield f"Line {number} claims {total} tokens, so Claude Code would compact the session at once."
            return
