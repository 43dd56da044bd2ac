"""What Gemini CLI's loader and its API ask of a session: https://github.com/google-gemini/gemini-cli."""

from __future__ import annotations

import json
from typing import Any

from workbench.formats.faults import Faults, Hopeless, Item, inner, lines, objects, too_much, validator

_TYPES = ("user", "gemini", "info", "error", "warning")


@validator
def validate(data: bytes) -> Faults:
    """Nothing when Gemini CLI would resume the session whole."""
    about, held = _document(data)
    if not about:
        for number, value in lines(data.removeprefix(b"\xef\xbb\xbf")):
            if value is None:
                yield f"Line {number} is not a JSON object, so Gemini CLI would skip it."
            else:
                _take(value, held, about)
    messages = list(held.values())
    yield from (f"It has no {key} as text." for key in ("sessionId", "projectHash") if not inner(about, key, str))
    if not any(_is_sent(message) for message in messages):
        raise Hopeless("It holds no message that Gemini CLI would send.")
    for number, message in enumerate(messages, 1):
        if message.get("type") not in _TYPES:
            yield f"Message {number} has a type that Gemini CLI does not know."
        if not inner(message, "id", str):
            yield f"Message {number} has no id."
    yield from _pairs(messages)
    yield from _stale(messages)


def _document(data: bytes) -> tuple[Item, dict[str, Item]]:
    """What the one document of the older form says, and its messages by their places; nothing for lines."""
    try:
        whole = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return {}, {}
    if not isinstance(whole, dict) or not isinstance(whole.get("messages"), list):
        return {}, {}
    return whole, {str(place): message for place, message in enumerate(objects(whole["messages"]))}


def _take(value: Item, held: dict[str, Item], about: Item) -> None:
    """Take in one more line as the loader would: `held` are the messages by their ids, `about` is the session."""
    rewound, id = value.get("$rewindTo"), value.get("id")
    if isinstance(rewound, str):
        ids = list(held)
        for gone in ids[ids.index(rewound) if rewound in held else 0 :]:
            del held[gone]
    elif isinstance(id, str):
        held[id] = value
    elif isinstance(changes := value.get("$set", value), dict):
        about |= changes
        if isinstance(changes.get("messages"), list):
            held.clear()
            held |= {str(message.get("id")): message for message in objects(changes["messages"])}


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


def _inner(message: Item, key: str) -> list[Item]:
    return [part[key] for part in objects(_parts(message)) if inner(part, key, dict).get("id")]


def _pairs(messages: list[Item]) -> Faults:
    """Each call answered before the model speaks again, but for the last ones; each response to a call before it."""
    asked: set[str] = set()
    waiting: dict[str, int] = {}
    for number, message in enumerate(messages, 1):
        if not _is_sent(message):
            continue
        if message.get("type") == "user":
            for response in _inner(message, "functionResponse"):
                if str(response["id"]) not in asked:
                    yield f"Message {number} has a responsewithout its call before it."
                waiting.pop(str(response["id"]), None)
            continue
        yield from (f"A call of message {at} has no response before message {number}." for at in waiting.values())
        waiting = {str(call["id"]): number for call in _inner(message, "functionCall")}
        asked |= waiting.keys()
        for call in inner(message, "toolCalls", list):
            id, name = inner(call, "id", str), inner(call, "name", str)
            if not id or not name:
                yield f"Message {number} has a call without an id or a name."
                continue
            asked.add(id)
            waiting[id] = number
            if call.get("result"):
                waiting.pop(id)
                yield from _answers(number, call)


def _answers(number: int, call: Item) -> Faults:
    result = call["result"]
    responses = [part["functionResponse"] for part in objects(result) if inner(part, "functionResponse", dict)]
    if isinstance(result, list) and not responses:
        yield f"Message {number} has a result of {call['name']} without a functionResponse."
    if responses and all(response.get("id") not in (None, call["id"]) for response in responses):
        yield f"Message {number} has a result of {call['name']} that answers another call."


def _stale(messages: list[Item]) -> Faults:
    """The last count of tokens: Gemini CLI compresses by it."""
    for number, message in reversed(list(enumerate(messages, 1))):
        if message.get("type") == "gemini" and isinstance(message.get("tokens"), dict):
            yield from too_much(f"Message {number}", message["tokens"].get("total"), messages)
            return
