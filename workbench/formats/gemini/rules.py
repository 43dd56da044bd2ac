"""Loader rules of Gemini CLI and its API, checked on the JSON alone: https://github.com/google-gemini/gemini-cli."""

from __future__ import annotations

import json
from typing import Any

from workbench.formats.faults import Faults, Item, StopValidation, excess_tokens, inner, lines, objects, validator

_TYPES = ("user", "gemini", "info", "error", "warning")


@validator
def validate(data: bytes) -> Faults:
    """Yield faults that would keep Gemini CLI from resuming the complete session."""
    metadata, messages_by_id = _read_document(data)
    if not metadata:
        for number, value in lines(data.removeprefix(b"\xef\xbb\xbf")):
            if value is None:
                yield f"Line {number} is not a JSON object, so Gemini CLI would skip it."
            else:
                _apply(value, messages_by_id, metadata)
    messages = list(messages_by_id.values())
    yield from (f"It has no {key} as text." for key in ("sessionId", "projectHash") if not inner(metadata, key, str))
    if not any(_is_sent(message) for message in messages):
        raise StopValidation("It holds no message that Gemini CLI would send.")
    for number, message in enumerate(messages, 1):
        if message.get("type") not in _TYPES:
            yield f"Message {number} has a type that Gemini CLI does not know."
        if not inner(message, "id", str):
            yield f"Message {number} has no id."
    yield from _check_pairs(messages)
    yield from _check_last_count(messages)


def _read_document(data: bytes) -> tuple[Item, dict[str, Item]]:
    """Return (session, messages by position) of the older form, one document; both empty for lines."""
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return {}, {}
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        return {}, {}
    return document, {str(place): message for place, message in enumerate(objects(document["messages"]))}


def _apply(value: Item, messages_by_id: dict[str, Item], metadata: Item) -> None:
    """Apply a line as the loader does: `messages_by_id` and `metadata` are changed."""
    rewound, id = value.get("$rewindTo"), value.get("id")
    if isinstance(rewound, str):
        ids = list(messages_by_id)
        for removed in ids[ids.index(rewound) if rewound in messages_by_id else 0 :]:
            del messages_by_id[removed]
    elif isinstance(id, str):
        messages_by_id[id] = value
    elif isinstance(changes := value.get("$set", value), dict):
        metadata |= changes
        if isinstance(changes.get("messages"), list):
            messages_by_id.clear()
            messages_by_id |= {str(message.get("id")): message for message in objects(changes["messages"])}


def _parts(message: Item) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [content] if content else []


def _text(message: Item) -> str:
    texts = (part.get("text") if isinstance(part, dict) else part for part in _parts(message))
    return "".join(text for text in texts if isinstance(text, str))


def _is_sent(message: Item) -> bool:
    if message.get("type") == "gemini":
        return bool(_parts(message) or message.get("toolCalls") or message.get("thoughts"))
    text = _text(message).strip()
    skipped = text.startswith(("/", "?", "<session_context>", "<hook_context>"))
    return message.get("type") == "user" and not skipped and bool(text or _parts(message))


def _calls_in(message: Item, key: str) -> list[Item]:
    return [part[key] for part in objects(_parts(message)) if inner(part, key, dict).get("id")]


def _check_pairs(messages: list[Item]) -> Faults:
    """Check that each call but the last ones is answered before the next response, and each result has a call before
    it."""
    call_ids: set[str] = set()
    open_calls: dict[str, int] = {}
    for number, message in enumerate(messages, 1):
        if not _is_sent(message):
            continue
        if message.get("type") == "user":
            for response in _calls_in(message, "functionResponse"):
                if str(response["id"]) not in call_ids:
                    yield f"Message {number} has a response without its call before it."
                open_calls.pop(str(response["id"]), None)
            continue
        yield from (f"A call of message {at} has no response before message {number}." for at in open_calls.values())
        open_calls = {str(call["id"]): number for call in _calls_in(message, "functionCall")}
        call_ids |= open_calls.keys()
        for call in inner(message, "toolCalls", list):
            id, name = inner(call, "id", str), inner(call, "name", str)
            if not id or not name:
                yield f"Message {number} has a call without an id or a name."
                continue
            call_ids.add(id)
            open_calls[id] = number
            if call.get("result"):
                open_calls.pop(id)
                yield from _check_result(number, call)


def _check_result(number: int, call: Item) -> Faults:
    result = call["result"]
    responses = [part["functionResponse"] for part in objects(result) if inner(part, "functionResponse", dict)]
    if isinstance(result, list) and not responses:
        yield f"Message {number} has a result of {call['name']} without a functionResponse."
    if responses and all(response.get("id") not in (None, call["id"]) for response in responses):
        yield f"Message {number} has a result of {call['name']} that answers another call."


def _check_last_count(messages: list[Item]) -> Faults:
    """Check the last count of tokens, by which Gemini CLI compresses."""
    for number, message in reversed(list(enumerate(messages, 1))):
        if message.get("type") == "gemini" and isinstance(message.get("tokens"), dict):
            yield from excess_tokens(f"Message {number}", message["tokens"].get("total"), messages)
            return
