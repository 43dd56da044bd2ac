"""Rules of Codex's loader and the Responses API for a rollout: https://github.com/openai/codex."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Item, StopValidation, excess_tokens, inner, lines, objects, validator

_META = ("id", "timestamp", "cwd", "originator", "cli_version")

Line = tuple[int, Item]


@validator
def validate(data: bytes) -> Faults:
    """Yield each rule that the rollout breaks; nothing if Codex would resume it."""
    found: list[Line] = []
    for number, value in lines(data):
        if value is None or not isinstance(value.get("payload"), dict):
            yield f"Line {number} is not a rollout line, so Codex would skip it."
        elif not isinstance(value.get("timestamp"), str) or not isinstance(value.get("type"), str):
            yield f"Line {number} has no timestamp or no type."
        else:
            found.append((number, value))
    if not found or found[0][1]["type"] != "session_meta":
        raise StopValidation("Line 1 is not a session_meta line.")
    meta = found[0][1]["payload"]
    yield from (f"Line 1 has no {key}." for key in _META if not isinstance(meta.get(key), str))
    if meta.get("history_mode") == "paginated" and "ordinal" not in found[-1][1]:
        yield f"Line {found[-1][0]} has no ordinal, which a paginated history requires."
    if not any(_is_user_event(value) for _, value in found):
        yield "There is no user_message event, so Codex would not list the session."
    items = _context(found)
    if not items:
        yield "There are no response items."
    yield from _pairs(items)
    for number, item in items:
        yield from _shape(f"Line {number}", item)
    yield from _newest_token_count(found, items)


def _event(value: Item) -> Any:
    return value["payload"].get("type") if value["type"] == "event_msg" else None


def _is_user_event(value: Item) -> bool:
    item = inner(value["payload"], "item", dict)
    return _event(value) == "user_message" or (_event(value) == "item_completed" and item.get("type") == "UserMessage")


def _context(found: list[Line]) -> list[Line]:
    """Return the items that the loader would send: from the newest replacement on, without rolled-back turns."""
    items: list[Line] = []
    for number, value in found:
        payload = value["payload"]
        if value["type"] == "response_item":
            items.append((number, payload))
        elif value["type"] == "compacted":
            replaced = payload.get("replacement_history")
            if isinstance(replaced, list):
                items = [(number, item) for item in objects(replaced)]
            else:
                items = [item for item in items if item[1].get("role") == "user"]
                items.append((number, {"type": "message", "role": "user", "content": payload.get("message")}))
        elif _event(value) == "thread_rolled_back":
            for _ in range(inner(payload, "num_turns", int)):
                if not items:
                    break
                while items and items.pop()[1].get("role") != "user":
                    pass
    return items


def _pairs(items: list[Line]) -> Faults:
    """Check that each output follows a call of its type. A call without output is valid: the loader adds one."""
    calls: dict[str, tuple[int, str]] = {}
    for number, item in items:
        kind, id = str(item.get("type")), item.get("call_id")
        if kind.endswith("_call") and isinstance(id, str):
            if id in calls:
                yield f"Line {number} has a call with the id of line {calls[id][0]}."
            calls[id] = number, kind
        elif kind.endswith("_output") and isinstance(id, str):
            if id not in calls:
                yield f"Line {number} has an output without its call before it."
            elif (kind == "custom_tool_call_output") != (calls[id][1] == "custom_tool_call"):
                yield f"Line {number} has an output of another type than its call on line {calls[id][0]}."


def _shape(where: str, item: Item) -> Faults:
    kind = item.get("type")
    if not isinstance(kind, str):
        yield f"{where} has an item without a type."
    elif kind == "message":
        if item.get("role") not in ("user", "assistant", "developer", "system"):
            yield f"{where} has a message without a known role."
            return
        wrong = "input_text" if item["role"] == "assistant" else "output_text"
        if any(part.get("type") == wrong for part in objects(item.get("content"))):
            yield f"{where} has a part of type {wrong}, which its role does not allow."
    elif kind == "function_call" and not (isinstance(item.get("name"), str) and isinstance(item.get("arguments"), str)):
        yield f"{where} has a call without a name or without arguments as text."
    elif kind == "custom_tool_call" and not (isinstance(item.get("name"), str) and isinstance(item.get("input"), str)):
        yield f"{where} has a call without a name or without its input as text."
    elif kind.endswith("_call_output") and not isinstance(item.get("output"), str | list | dict):
        yield f"{where} has an output without content."


def _newest_token_count(found: list[Line], items: list[Line]) -> Faults:
    """Check the newest token count, by which Codex compacts: it must not date from before the newest compaction nor
    exceed the items. If all totals add up from the first count on, nothing was cut, and the counts are correct."""
    counts = [
        (number, last if type(last) is int else None, inner(info, "total_token_usage", dict))
        for number, value in found
        if _event(value) == "token_count"
        for info in [inner(value["payload"], "info", dict)]
        if info
        for last in [inner(info, "last_token_usage", dict).get("total_tokens")]
    ]
    compacted = max((number for number, value in found if value["type"] == "compacted"), default=0)
    if counts and counts[-1][0] < compacted and counts[-1][1]:
        number, last, _ = counts[-1]
        yield f"Line {number} counts {last} tokens from before the compaction in line {compacted}."
        return
    so_far = 0
    for _, last, total in counts:
        if total.get("total_tokens") not in (so_far, so_far + (last or 0)):
            break
        so_far = total["total_tokens"]
    else:
        return
    number, last, _ = counts[-1]
    yield from excess_tokens(f"Line {number}", last, [item for _, item in items])
