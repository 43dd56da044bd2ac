"""What `opencode import` and opencode's own loader demand of an export, judged on the JSON alone (formats.md §2.7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_PARTS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "text": {"text": str},
    "reasoning": {"text": str, "time": dict},
    "tool": {"callID": str, "tool": str, "state": dict},
    "file": {"mime": str, "url": str},
    "step-start": {},
    "step-finish": {"reason": str, "cost": (int, float), "tokens": dict},
    "snapshot": {"snapshot": str},
    "patch": {"hash": str, "files": list},
    "agent": {"name": str},
    "retry": {"attempt": (int, float), "time": dict},
    "subtask": {"prompt": str, "description": str, "agent": str},
    "compaction": {"auto": bool},
}
_STATES: dict[str, dict[str, type | tuple[type, ...]]] = {
    "pending": {"input": dict, "raw": str},
    "running": {"input": dict, "time": dict},
    "completed": {"input": dict, "output": str, "title": str, "metadata": dict, "time": dict},
    "error": {"input": dict, "error": str, "time": dict},
}
_USER: dict[str, type | tuple[type, ...]] = {"agent": str, "model": dict, "time": dict}
_ASSISTANT: dict[str, type | tuple[type, ...]] = {
    "parentID": str,
    "mode": str,
    "agent": str,
    "path": dict,
    "cost": (int, float),
    "tokens": dict,
    "modelID": str,
    "providerID": str,
    "time": dict,
}


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming messages by their place from 1.

    Ids are unique and begin as their kind demands; messages stand in the order of their time, then of their id, in
    which opencode loads them; an answer's parent is a user's message before it.
    """
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    info = document.get("info") if isinstance(document, dict) else None
    if not isinstance(info, dict) or not str(info.get("id")).startswith("ses_"):
        return ["info has no id that begins with ses_"]
    faults = [f"info has no {key}" for key in ("directory", "title", "version", "time") if key not in info]
    messages = document.get("messages")
    if not isinstance(messages, list):
        return [*faults, "messages is no list"]
    ids: set[str] = set()
    users: set[str] = set()
    asked: dict[str, int] = {}
    before: tuple[float, str] = (0, "")
    for number, record in enumerate(messages, 1):
        about = record.get("info") if isinstance(record, dict) else None
        if not isinstance(about, dict) or not isinstance(record.get("parts"), list):
            faults.append(f"message {number} has no info or no parts")
            continue
        found = [*_message_faults(about, info["id"], ids, users)]
        created = about["time"].get("created") if isinstance(about.get("time"), dict) else None
        place = (created if isinstance(created, int | float) else 0, str(about.get("id")))
        if place < before:
            found.append("it was created before the message in front of it")
        before = place
        for part in record["parts"]:
            found += _part_faults(part, about, info["id"], ids)
        kinds = {str(part.get("type")) for part in record["parts"] if isinstance(part, dict)}
        if about.get("role") == "user":
            users.add(str(about.get("id")))
            if "compaction" in kinds:
                asked[str(about.get("id"))] = number
        elif about.get("summary") and about.get("finish"):
            if str(about.get("parentID")) not in asked:
                found.append("it is a summary, but its parent asks for none")
            asked.pop(str(about.get("parentID")), None)
        faults += [f"message {number}: {fault}" for fault in found]
    return faults


def _message_faults(info: dict[str, Any], session: str, ids: set[str], users: set[str]) -> Iterator[str]:
    yield from _id_faults(info.get("id"), "msg_", ids)
    if info.get("sessionID") != session:
        yield "it belongs to another session"
    role = info.get("role")
    if role == "user":
        yield from _missing(info, _USER)
        model = info.get("model")
        if isinstance(model, dict) and not all(isinstance(model.get(key), str) for key in ("providerID", "modelID")):
            yield "its model names no provider or no model"
    elif role == "assistant":
        yield from _missing(info, _ASSISTANT)
        if str(info.get("parentID")) not in users:
            yield f"its parent {info.get('parentID')} is no user's message before it"
    else:
        yield f"its role is {role}"


def _part_faults(part: Any, info: dict[str, Any], session: str, ids: set[str]) -> Iterator[str]:
    if not isinstance(part, dict) or str(part.get("type")) not in _PARTS:
        yield f"a part has the type {part.get('type') if isinstance(part, dict) else None}, which the import refuses"
        return
    kind = part["type"]
    yield from _id_faults(part.get("id"), "prt_", ids)
    if part.get("messageID") != info.get("id") or part.get("sessionID") != session:
        yield f"a {kind} part belongs to another message"
    yield from _missing(part, _PARTS[kind], f"a {kind} part")
    state = part.get("state")
    if kind == "tool" and isinstance(state, dict):
        if str(state.get("status")) in _STATES:
            yield from _missing(state, _STATES[state["status"]], f"the state of call {part.get('callID')}")
        else:
            yield f"call {part.get('callID')} has the status {state.get('status')}"
    if kind == "tool" and info.get("role") == "user":
        yield "a user's message holds a call"


def _id_faults(id: Any, prefix: str, ids: set[str]) -> Iterator[str]:
    if not isinstance(id, str) or not id.startswith(prefix):
        yield f"the id {id} does not begin with {prefix}"
    elif id in ids:
        yield f"the id {id} stands twice"
    ids.add(str(id))


def _missing(value: dict[str, Any], fields: dict[str, type | tuple[type, ...]], what: str = "it") -> Iterator[str]:
    for key, kind in fields.items():
        if not isinstance(value.get(key), kind):
            yield f"{what} has no {key} of the right type"
