"""Rules of LangChain's loaders and of the chat models behind them, checked on the JSON alone:
https://github.com/langchain-ai/langchain."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Item, document, inner, require_list, validator

_TYPES = ("human", "ai", "system", "tool", "function", "chat", "remove")
_CLASSES = tuple(f"{name.upper() if name == 'ai' else name.capitalize()}Message" for name in _TYPES)
_CHUNKS = {f"{long}Chunk": short for short, long in zip(_TYPES, _CLASSES, strict=True)}


@validator
def validate(data: bytes) -> Faults:
    """Yield messages that cannot be loaded, and results or calls without their counterpart. Calls of the last message
    may be open."""
    waiting: list[str] = []
    for number, item in enumerate(require_list(_list_in(document(data)), "messages"), 1):
        where = f"Message {number}"
        name, fields, fault = _unwrapped(item)
        if fault:
            yield f"{where} {fault}."
            continue
        if not isinstance(fields.get("content"), str | list):
            yield f"{where} has content that is neither text nor a list of blocks."
        if name == "tool":
            if fields.get("tool_call_id") in waiting:
                waiting.remove(fields["tool_call_id"])
            else:
                yield f"{where} answers the call {fields.get('tool_call_id')}, which is not open."
            continue
        yield from (f"{where} comes before the result of the call {id}." for id in waiting)
        waiting = []
        for call in inner(fields, "tool_calls", list) + inner(fields, "invalid_tool_calls", list):
            tool_name = inner(call, "name", str)
            if not tool_name:
                yield f"{where} has a call without a name."
                continue
            waiting.append(str(call.get("id")))
            is_text = call.get("type") == "invalid_tool_call"
            if not isinstance(call.get("args"), str if is_text else dict):
                yield f"{where} calls {tool_name} with args that are not {'text' if is_text else 'an object'}."


_PLACES = (
    (),
    ("messages",),
    ("values", "messages"),
    ("channel_values", "messages"),
    ("checkpoint", "channel_values", "messages"),
)


def _list_in(body: Any) -> Any:
    """Return the message list of a dump, or of LangGraph's state, which a server's answer or a checkpoint may hold."""
    for place in _PLACES:
        found = body
        for key in place:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, list):
            return found
    return None


def _unwrapped(item: Any) -> tuple[str, Item, str]:
    """Return the short name and fields of a message, and its fault, "" for none."""
    if not isinstance(item, dict):
        return "", {}, "is not an object"
    if "lc" in item:
        last = str((inner(item, "id", list) or [""])[-1]).removesuffix("Chunk")
        fields = item.get("kwargs")
        if item["lc"] != 1 or item.get("type") != "constructor" or last not in _CLASSES or not isinstance(fields, dict):
            return "", {}, "is not a message constructor"
        return last.removesuffix("Message").lower(), fields, ""
    fields = item.get("data") if "data" in item else item
    type = _CHUNKS.get(str(item.get("type")), item.get("type"))
    if type not in _TYPES or not isinstance(fields, dict) or not ("data" in item or "content" in item):
        return "", {}, "has no known type or no data"
    return str(type), fields, ""
