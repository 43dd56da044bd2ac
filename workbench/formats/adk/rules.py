"""Loader rules of ADK, checked on the JSON alone.

Source: `Session` and the request builder of https://github.com/google/adk-python.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.formats.faults import Faults, Item, StopValidation, document, inner, validator

_UPPER = re.compile(r"(?<=[a-z])([A-Z])")
_KINDS = (
    "text",
    "function_call",
    "function_response",
    "inline_data",
    "file_data",
    "executable_code",
    "code_execution_result",
)


@validator
def validate(data: bytes) -> Faults:
    body = document(data)
    if not isinstance(body, dict) or not isinstance(body.get("events"), list):
        raise StopValidation("There are no events.")
    session = _in_snake_case(body)
    owners = [key for key in ("app_name", "user_id") if session.get(key) is not None]
    for key in ("id", *(("app_name", "user_id") if owners else ())):  # before 1.0 a session had no owner
        if not isinstance(session.get(key), str):
            yield f"It has no {key}."
    call_ids: set[str] = set()
    open_names: list[str] = []
    for number, raw in enumerate(body["events"], 1):
        event, where = _in_snake_case(raw), f"Event {number}"
        if not isinstance(event.get("author"), str) or type(event.get("timestamp")) not in (int, float):
            yield f"{where} has no author or no timestamp."
        yield from (f"{where} has the unknown key {key}." for key in event if key.startswith("workbench"))
        content = event.get("content")
        if content is None:
            continue
        if not isinstance(content, dict) or content.get("role") not in ("user", "model", None):
            yield f"{where} has content with a role other than user or model."
            continue
        for part in map(_in_snake_case, inner(content, "parts", list)):
            if not any(kind in part for kind in _KINDS):
                yield f"{where} has a part of no type that ADK knows."
            call, response = part.get("function_call"), part.get("function_response")
            if isinstance(call, dict):
                call_ids.add(str(call.get("id")))
                open_names.append(str(call.get("name")))
                if not isinstance(call.get("args", {}), dict | None):
                    yield f"{where} calls {call.get('name')} with args that are not an object."
            if isinstance(response, dict):
                has_call = response.get("id") is not None and str(response.get("id")) in call_ids
                if not has_call and str(response.get("name")) in open_names:
                    open_names.remove(str(response.get("name")))
                elif not has_call:
                    yield f"{where} answers a call of {response.get('name')} that no earlier event made."
                if not isinstance(response.get("response"), dict):
                    yield f"{where} has a response of {response.get('name')} that is not an object."


def _in_snake_case(value: Any) -> Item:
    holder = value if isinstance(value, dict) else {}
    return {_UPPER.sub(lambda match: "_" + match[1].lower(), key): inner for key, inner in holder.items()}
