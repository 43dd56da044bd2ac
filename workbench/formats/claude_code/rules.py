"""Rules of Claude Code's loader and the Messages API for a session file:
https://docs.anthropic.com/en/docs/claude-code."""

from __future__ import annotations

import re
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.faults import Faults, Item, StopValidation, excess_tokens, inner, lines, objects, validator

Line = tuple[int, Item]
Lines = dict[int, Item]
"""Lines by number."""


@validator
def validate(data: bytes) -> Faults:
    """Yield one sentence for each fault. Claude Code cannot resume web exports, files of sub-agents and printed output:
    these are only checked for lines that are no JSON object and for having messages (web exports not at all)."""
    if re.match(rb'\s*(?:\{\s*"loglines"|\[\s*\{)', data.removeprefix(b"\xef\xbb\xbf")):
        return
    found: list[Line] = []
    for number, value in lines(data):
        if value is None:
            yield f"Line {number} is not a JSON object."
        else:
            found.append((number, value))
    named = [line for line in found if isinstance(line[1].get("uuid"), str)]
    linked = [line for line in named if not line[1].get("isSidechain")]
    if not any(value.get("type") in ("user", "assistant") for _, value in linked or named or found):
        raise StopValidation("It holds no user or assistant line.")
    if not linked or all("session_id" in value and "sessionId" not in value for _, value in found):
        return
    yield from _identity(found, linked)
    walked, top = _walk(linked)
    loaded = _with_parallel_lines(linked, _preserved_lines(linked, walked[top]) | walked)
    yield from _unreached(linked, loaded, top)
    ordered = [(number, loaded[number]) for number in sorted(loaded)]
    yield from _contents([line for line in ordered if line[0] >= top])
    yield from _pairs(ordered)
    yield from _last_usage([line for line in ordered if line[0] >= top], ordered)


def _identity(found: list[Line], linked: list[Line]) -> Faults:
    """Check that there is one session id, uuids are unique, and each parent is before its child."""
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
            yield f"Line {number} names a parent that is not before it."


def _walk(linked: list[Line]) -> tuple[Lines, int]:
    """Return the lines that the loader's walk reaches, by number, and the number of the line at which it ends.

    The walk starts at the newest user, assistant or attachment line. It follows parents to a boundary or to a line
    without a parent. If the parent is the last line that a boundary preserves, it continues at the boundary's anchor.
    """
    by_uuid = {value["uuid"]: (number, value) for number, value in linked}
    anchors: dict[str, str] = {}
    for _, value in linked:
        listed, chain = _preserved_metadata(value)
        tail = (_texts(listed, "uuids") or [str(chain.get("tailUuid"))])[-1]
        anchors[tail] = str(listed.get("anchorUuid") or chain.get("anchorUuid"))
    line: Line | None = next(
        line for line in reversed(linked) if line[1].get("type") in ("user", "assistant", "attachment")
    )
    walked: Lines = {}
    top = 0
    while line is not None and line[0] not in walked:
        top, value = line
        walked[top] = value
        parent = str(value.get("parentUuid"))
        anchor = by_uuid.get(anchors.get(parent, ""))
        above = anchor if anchor is not None and anchor[0] < top and anchor[0] not in walked else by_uuid.get(parent)
        line = None if value.get("subtype") == "compact_boundary" else above
    return walked, top


def _preserved_metadata(value: Item) -> tuple[Item, Item]:
    metadata = inner(value, "compactMetadata", dict)
    return inner(metadata, "preservedMessages", dict), inner(metadata, "preservedSegment", dict)


def _texts(value: Item, key: str) -> list[str]:
    return [one for one in inner(value, key, list) if isinstance(one, str)]


def _preserved_lines(linked: list[Line], boundary: Item) -> Lines:
    """Return the lines that a boundary keeps after its summary, by number."""
    listed, chain = _preserved_metadata(boundary)
    uuids = set(_texts(listed, "allUuids") or _texts(listed, "uuids"))
    if not uuids:
        parents = {value["uuid"]: value.get("parentUuid") for _, value in linked}
        uuid = chain.get("tailUuid")
        while isinstance(uuid, str) and uuid in parents and uuid not in uuids:
            uuids.add(uuid)
            uuid = None if uuid == chain.get("headUuid") else parents[uuid]
    return {number: value for number, value in linked if value["uuid"] in uuids}


def _with_parallel_lines(linked: list[Line], loaded: Lines) -> Lines:
    """Return the loaded lines, the other lines of their API responses, and the results of all their calls. A response
    with parallel calls has several lines, and each result follows its own call, so one chain does not reach them."""
    answers = [(number, value, _response(value)) for number, value in linked if value.get("type") == "assistant"]
    responses = {_response(value) for value in loaded.values()} - {""}
    found = loaded | {number: value for number, value, response in answers if response in responses}
    calls = {inner(block, "id", str) for value in found.values() for block in _blocks(value)} - {""}
    users = ((number, value) for number, value in linked if value.get("type") == "user")
    return found | {n: v for n, v in users if any(inner(block, "tool_use_id", str) in calls for block in _blocks(v))}


def _response(value: Item) -> str:
    """Return the API message id of an assistant line, "" for any other line."""
    return inner(inner(value, "message", dict), "id", str) if value.get("type") == "assistant" else ""


def _unreached(linked: list[Line], loaded: Lines, top: int) -> Faults:
    """Check that the walk ends at the newest boundary, and that it reaches each later message or that message is on an
    abandoned branch."""
    boundary = max((number for number, value in linked if value.get("subtype") == "compact_boundary"), default=0)
    if boundary and top != boundary:
        yield f"The newest line's parent chain does not reach the boundary on line {boundary}."
    reached = {value["uuid"] for value in loaded.values()}
    for number, value in linked:
        if number in loaded:
            continue
        if str(value.get("parentUuid")) in reached:
            reached.add(value["uuid"])
        elif number > boundary and value.get("type") in ("user", "assistant"):
            yield f"Line {number} is not in the newest line's parent chain, so it would not be loaded."


def _blocks(value: Item) -> list[Item]:
    return objects(inner(value, "message", dict).get("content"))


def _contents(loaded: list[Line]) -> Faults:
    """Check that a user message is first, that roles match line types, and that no message or text block is empty."""
    has_first = False
    for number, value in loaded:
        type = value.get("type")
        if type not in ("user", "assistant"):
            continue
        if not has_first and type == "assistant":
            yield f"Line {number} is an assistant message, but the first message must be a user's."
        has_first = True
        body = inner(value, "message", dict)
        if body.get("role") != type:
            yield f"Line {number} is of type {type}, but its message has another role."
        if not body.get("content"):
            yield f"Line {number} has a message without content."
        if any(block.get("type") == "text" and not block.get("text") for block in _blocks(value)):
            yield f"Line {number} has an empty text block."


def _pairs(loaded: list[Line]) -> Faults:
    """Check that call ids are unique, that each call has one result before the next response, and that each result has
    a call before it. The last response may have calls without results."""
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
                    yield f"Line {number} has a result without its call before it."
                elif waiting.pop(id, None) is None:
                    yield f"Line {number} has a result of a call that was already answered or skipped."


def _last_usage(since: list[Line], loaded: list[Line]) -> Faults:
    """Check the newest usage in `since` (lines from the boundary on). If it is older than the boundary or exceeds the
    size of the `loaded` lines, Claude Code would compact at once."""
    for number, value in reversed(since):
        body = inner(value, "message", dict)
        usage = body.get("usage")
        if value.get("type") == "assistant" and isinstance(usage, dict) and body.get("model") != "<synthetic>":
            keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
            total = sum(inner(usage, key, int) for key in keys)
            boundary, metadata = since[0]
            if metadata.get("subtype") == "compact_boundary" and total > 0 and _is_before(value, metadata):
                yield f"Line {number} counts {total} tokens from before the compaction in line {boundary}."
                return
            yield from excess_tokens(f"Line {number}", total, (one.get("message") for _, one in loaded))
            return


def _is_before(value: Item, other: Item) -> bool:
    recorded, then = (seconds_of(one.get("timestamp")) for one in (value, other))
    return recorded is not None and then is not None and recorded < then
