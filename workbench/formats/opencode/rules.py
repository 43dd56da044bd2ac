"""Loader rules of opencode and of `opencode import`, checked on the JSON alone: https://github.com/sst/opencode."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import (
    Faults,
    Item,
    Shape,
    StopValidation,
    document,
    inner,
    missing_keys,
    objects,
    validator,
)

_PARTS: dict[str, Shape] = {
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
_STATES: dict[str, Shape] = {
    "pending": {"input": dict, "raw": str},
    "running": {"input": dict, "time": dict},
    "completed": {"input": dict, "output": str, "title": str, "metadata": dict, "time": dict},
    "error": {"input": dict, "error": str, "time": dict},
}
_USER: Shape = {"agent": str, "model": dict, "time": dict}
_ASSISTANT: Shape = {
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


@validator
def validate(data: bytes) -> Faults:
    """Yield each broken rule. Ids are unique and have the prefix of their kind; messages are ordered by time, then id,
    as opencode loads them; an answer's parent is a user message before it."""
    body = document(data)
    info = inner(body, "info", dict)
    if not str(info.get("id")).startswith("ses_"):
        raise StopValidation("The info has no id that begins with ses_.")
    yield from (f"The info has no {key}." for key in ("directory", "title", "version", "time") if key not in info)
    if not isinstance(body.get("messages"), list):
        raise StopValidation("There is no list of messages.")
    ids: set[str] = set()
    users: set[str] = set()
    requests: set[str] = set()
    before: tuple[float, str] = (0, "")
    for number, record in enumerate(body["messages"], 1):
        where = f"Message {number}"
        about = record.get("info") if isinstance(record, dict) else None
        if not isinstance(about, dict) or not isinstance(record.get("parts"), list):
            yield f"{where} has no info or no parts."
            continue
        yield from _message_faults(where, about, info["id"], ids, users)
        created = inner(about, "time", dict).get("created")
        place = (created if isinstance(created, int | float) else 0, str(about.get("id")))
        if place < before:
            yield f"{where} was created before the previous message."
        before = place
        for part in record["parts"]:
            yield from _part_faults(where, part, about, info["id"], ids)
        if about.get("role") == "user":
            users.add(str(about.get("id")))
            if any(part.get("type") == "compaction" for part in objects(record["parts"])):
                requests.add(str(about.get("id")))
        elif about.get("summary") and about.get("finish"):
            if str(about.get("parentID")) not in requests:
                yield f"{where} is a summary, but its parent does not request one."
            requests.discard(str(about.get("parentID")))


def _message_faults(where: str, info: Item, session: str, ids: set[str], users: set[str]) -> Faults:
    yield from _id_faults(where, info.get("id"), "msg_", ids)
    if info.get("sessionID") != session:
        yield f"{where} belongs to another session."
    role = info.get("role")
    if role == "user":
        yield from missing_keys(info, _USER, where)
        model = info.get("model")
        if isinstance(model, dict) and not all(isinstance(model.get(key), str) for key in ("providerID", "modelID")):
            yield f"{where} has a model without a provider or name."
    elif role == "assistant":
        yield from missing_keys(info, _ASSISTANT, where)
        if str(info.get("parentID")) not in users:
            yield f"{where} has the parent {info.get('parentID')}, which is no user's message before it."
    else:
        yield f"{where} is neither a user nor an assistant message."


def _part_faults(where: str, part: Any, info: Item, session: str, ids: set[str]) -> Faults:
    kind = inner(part, "type", str)
    if kind not in _PARTS:
        yield f"{where} has a part of a type that the import rejects."
        return
    yield from _id_faults(where, part.get("id"), "prt_", ids)
    if part.get("messageID") != info.get("id") or part.get("sessionID") != session:
        yield f"{where} has a {kind} part that belongs to another message."
    yield from missing_keys(part, _PARTS[kind], f"{where}, in a {kind} part,")
    state = part.get("state")
    if kind == "tool" and isinstance(state, dict):
        call, status = part.get("callID"), str(state.get("status"))
        if status in _STATES:
            yield from missing_keys(state, _STATES[status], f"{where}, in the state of the call {call},")
        else:
            yield f"{where} has the call {call} with the status {status}."
    if kind == "tool" and info.get("role") == "user":
        yield f"{where} is a user message with a tool call."


def _id_faults(where: str, id: Any, prefix: str, ids: set[str]) -> Faults:
    if not isinstance(id, str) or not id.startswith(prefix):
        yield f"{where} has the id {id}, which does not begin with {prefix}."
    elif id in ids:
        yield f"{where} has the id {id}, which an earlier record has."
    ids.add(str(id))
