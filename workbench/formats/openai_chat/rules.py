"""Rules of the Chat Completions API for a list of messages, checked on the JSON alone:
https://platform.openai.com/docs/api-reference/chat."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Item, document, inner, objects, require_list, validator

_ROLES = ("system", "developer", "user", "assistant", "tool")


@validator
def validate(data: bytes) -> Faults:
    """Yield faults for which the API would reject the body, with messages numbered from 1."""
    body = document(data)
    return chat_faults(body.get("messages") if isinstance(body, dict) else body)


def chat_faults(messages: Any, within: str = "") -> Faults:
    """Yield faults of a list of messages; `within` names its place (" in entry 2").

    Calls of the last turn may be open. Ids may repeat, but not within one turn.
    """
    waiting: list[str] = []
    caller = 0
    for number, message in enumerate(require_list(messages, f"messages{within}"), 1):
        where = f"Message {number}{within}"
        role = inner(message, "role", str)
        if role not in _ROLES:
            yield f"{where} has a role other than {', '.join(_ROLES)}."
            continue
        if role == "tool":
            answered = message.get("tool_call_id")
            if answered in waiting:
                waiting.remove(answered)
            else:
                yield f"{where} answers the call {answered}, which is not open."
        else:
            yield from (f"{where} comes before the result of the call {id} of message {caller}." for id in waiting)
            waiting = []
        yield from _faults_of(where, role, message)
        calls = objects(message.get("tool_calls"))
        if role == "assistant" and calls:
            waiting, caller = [str(call.get("id")) for call in calls], number
            if len(set(waiting)) < len(waiting):
                yield f"{where} has two calls with the same id."


def _faults_of(where: str, role: str, message: Item) -> Faults:
    content, calls = message.get("content"), message.get("tool_calls")
    speaks = role != "tool" and not (role == "assistant" and (calls or message.get("function_call")))
    if content is not None and not isinstance(content, str | list):
        yield f"{where} has content that is neither text nor a list of parts."
    elif (speaks and not content) or (role == "tool" and content is None):
        yield f"{where} has no content."
    if calls is not None and not isinstance(calls, list):
        yield f"{where} has tool_calls that are not a list."
        return
    for call in calls or ():
        function = inner(call, "function", dict)
        if not isinstance(function.get("name"), str):
            yield f"{where} has a call that names no function."
        elif not isinstance(function.get("arguments"), str):
            yield f"{where} calls {function['name']} with arguments that are not text."
