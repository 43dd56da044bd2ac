"""Rules of the Responses API for a list of items, checked on the JSON alone:
https://platform.openai.com/docs/api-reference/responses."""

from __future__ import annotations

from workbench.formats.faults import Faults, Item, StopValidation, document, inner, objects, require_list, validator

_ROLES = ("user", "assistant", "system", "developer")


@validator
def validate(data: bytes) -> Faults:
    """Yield faults for which the API would reject the items, numbered from 1. Calls may be open at the end, and need
    not be answered by the next item; if the server has older items, their calls may be answered here."""
    body = document(data)
    content = body.get("input", body.get("output")) if isinstance(body, dict) else body
    if isinstance(content, str):
        if not content:
            raise StopValidation("The input is empty.")
        return
    items = require_list(content, "items")
    continues = isinstance(body, dict) and bool(body.get("previous_response_id") or body.get("conversation"))
    waiting: dict[str, int] = {}
    last_user_item = 0
    for number, item in enumerate(items, 1):
        where = f"Item {number}"
        if not isinstance(item, dict):
            yield f"{where} is not an object."
            continue
        last_user_item = number if item.get("role") == "user" else last_user_item
        kind = str(item.get("type", "message"))
        if kind == "message":
            yield from _faults_of(where, item)
        elif kind in ("function_call", "custom_tool_call"):
            if not isinstance(item.get("name"), str) or not isinstance(item.get("call_id"), str):
                yield f"{where} is a call without a name or without a call_id."
            elif item["call_id"] in waiting:
                yield f"{where} repeats the open call {item['call_id']}."
            elif not isinstance(item.get("arguments" if kind == "function_call" else "input"), str):
                yield f"{where} calls {item['name']} with arguments that are not text."
            waiting[str(item.get("call_id"))] = number
        elif kind in ("function_call_output", "custom_tool_call_output"):
            if waiting.pop(str(item.get("call_id")), None) is None and not continues:
                yield f"{where} answers the call {item.get('call_id')}, which no item before it made."
            if not isinstance(item.get("output"), str | list):
                yield f"{where} has an output that is neither text nor a list of parts."
        elif kind == "compaction" and not isinstance(item.get("encrypted_content"), str):
            yield f"{where} is a compaction without encrypted_content."
        elif kind == "reasoning" and number == len(items) and isinstance(body, dict) and "input" in body:
            yield f"{where} is reasoning without the item that must follow."
    for id, number in waiting.items():
        if number < last_user_item:
            yield f"Item {number} makes the call {id}, which has no output."


def _faults_of(where: str, item: Item) -> Faults:
    role, content = inner(item, "role", str), item.get("content")
    if role not in _ROLES:
        yield f"{where} has a role other than {', '.join(_ROLES)}."
    elif not isinstance(content, str | list) or not content:
        yield f"{where} has no content, or one that is neither text nor a list of parts."
    else:
        accepted = ("output_text", "refusal") if role == "assistant" else ("input_",)
        for kind in (str(part.get("type")) for part in objects(content)):
            if not kind.startswith(accepted):
                yield f"{where} has a part of type {kind}, which is invalid for role {role}."
