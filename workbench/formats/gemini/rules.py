"""What Gemini CLI's loader and its API ask of a session (formats.md §2.3).

Written from those rules and from the standard library alone: it judges the writer, so it shares nothing with it.
"""

from __future__ import annotations

import json
from typing import Any

_TYPES = ("user", "gemini", "info", "error", "warning")
_SPARE_TOKENS = 30_000
"""Tokens that the newest count may claim beyond what the messages could be: instructions and tools."""
_MOST = 20


def validate(data: bytes) -> list[str]:
    """What is wrong with a session, a sentence each; nothing when Gemini CLI would resume it whole."""
    faults: list[str] = []
    about, messages = _loaded(data, faults)
    faults += [f"It has no {key} as text." for key in ("sessionId", "projectHash") if not _is_text(about.get(key))]
    if not any(_is_sent(message) for message in messages):
        return [*faults, "It holds no message that Gemini CLI would send."]
    for number, message in enumerate(messages, 1):
        if message.get("type") not in _TYPES:
            faults.append(f"Message {number} is of no type that Gemini CLI knows.")
        if not _is_text(message.get("id")):
            faults.append(f"Message {number} has no id.")
    faults += _pairs(messages)
    faults += _stale(messages)
    return [*faults[:_MOST], f"{len(faults) - _MOST} more faults."] if len(faults) > _MOST else faults


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _loaded(data: bytes, faults: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Metadata and messages as the loader would hold them."""
    text = data.decode("utf-8-sig", "replace")
    try:
        whole = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
        return whole, [message for message in whole["messages"] if isinstance(message, dict)]
    about: dict[str, Any] = {}
    held: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, strict=False)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            faults.append(f"Line {number} is not a JSON object, so Gemini CLI would pass over it.")
        elif isinstance(value.get("$rewindTo"), str):
            ids = list(held)
            start = ids.index(value["$rewindTo"]) if value["$rewindTo"] in held else 0
            held = {id: held[id] for id in ids[:start]}
        elif isinstance(value.get("id"), str):
            held[value["id"]] = value
        else:
            changes = value.get("$set", value)
            if isinstance(changes, dict):
                if isinstance(changes.get("messages"), list):
                    held = {str(m.get("id")): m for m in changes["messages"] if isinstance(m, dict)}
                about |= changes
    return about, list(held.values())


def _parts(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [content] if content else []


def _text(message: dict[str, Any]) -> str:
    texts = (part.get("text") if isinstance(part, dict) else part for part in _parts(message))
    return "".join(text for text in texts if isinstance(text, str))


def _is_sent(message: dict[str, Any]) -> bool:
    if message.get("type") == "gemini":
        return bool(_parts(message) or message.get("toolCalls") or message.get("thoughts"))
    text = _text(message).strip()
    skipped = text.startswith(("/", "?", "<session_context>", "<hook_context>"))
    return message.get("type") == "user" and not skipped and bool(text or _parts(message))


def _inner(message: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return [
        part[key]
        for part in _parts(message)
        if isinstance(part, dict) and isinstance(part.get(key), dict) and part[key].get("id")
    ]


def _pairs(messages: list[dict[str, Any]]) -> list[str]:
    """Each call answered before the model speaks again, but for the last ones; each response to a call before it."""
    faults: list[str] = []
    asked: dict[str, int] = {}
    waiting: dict[str, int] = {}
    for number, message in enumerate(messages, 1):
        if not _is_sent(message):
            continue
        if message.get("type") == "user":
            for response in _inner(message, "functionResponse"):
                if str(response["id"]) not in asked:
                    faults.append(f"Message {number} has a response, but its call does not stand before it.")
                waiting.pop(str(response["id"]), None)
            continue
        faults += [f"A call of message {at} has no response before message {number}." for at in waiting.values()]
        waiting = {str(call["id"]): number for call in _inner(message, "functionCall")}
        listed = message.get("toolCalls")
        for call in listed if isinstance(listed, list) else ():
            if not isinstance(call, dict) or not _is_text(call.get("id")) or not _is_text(call.get("name")):
                faults.append(f"Message {number} has a call without an id or a name.")
                continue
            waiting[call["id"]] = number
            if call.get("result"):
                waiting.pop(call["id"])
                faults += _answers(number, call)
        asked |= dict.fromkeys((str(call["id"]) for call in _inner(message, "functionCall")), number)
        calls = listed if isinstance(listed, list) else ()
        asked |= {call["id"]: number for call in calls if isinstance(call, dict) and _is_text(call.get("id"))}
    return faults


def _answers(number: int, call: dict[str, Any]) -> list[str]:
    result = call["result"]
    responses = [
        part["functionResponse"]
        for part in (result if isinstance(result, list) else ())
        if isinstance(part, dict) and isinstance(part.get("functionResponse"), dict)
    ]
    if isinstance(result, list) and not responses:
        return [f"Message {number} has a result of {call['name']} without a functionResponse."]
    if responses and all(response.get("id") not in (None, call["id"]) for response in responses):
        return [f"Message {number} has a result of {call['name']} that answers another call."]
    return []


def _stale(messages: list[dict[str, Any]]) -> list[str]:
    """The last count must not claim more than the messages can be: Gemini CLI compresses by it."""
    largest = sum(len(json.dumps(message, ensure_ascii=False)) for message in messages) + _SPARE_TOKENS
    for number in range(len(messages), 0, -1):
        tokens = messages[number - 1].get("tokens")
        if messages[number - 1].get("type") == "gemini" and isinstance(tokens, dict):
            total = tokens.get("total")
            if isinstance(total, int) and total > largest:
                return [f"Message {number} counts {total} tokens, more than the context can have."]
            return []
    return []
