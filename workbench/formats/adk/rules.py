"""What ADK's `Session` and its request builder refuse, judged on the JSON alone (formats.md §2.13)."""

from __future__ import annotations

import json
import re
from typing import Any

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


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming events by their place from 1."""
    try:
        body = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(body, dict) or not isinstance(body.get("events"), list):
        return ["there are no events"]
    session = _snake(body)
    faults = [f"the {key} is missing" for key in ("id", "app_name", "user_id") if not isinstance(session.get(key), str)]
    asked: set[str] = set()
    names: list[str] = []
    for number, raw in enumerate(body["events"], 1):
        event = _snake(raw)
        if not isinstance(event.get("author"), str) or type(event.get("timestamp")) not in (int, float):
            faults.append(f"event {number}: has no author or no timestamp")
        faults += [f"event {number}: has the unknown key {key}" for key in event if key.startswith("workbench")]
        content = event.get("content")
        if content is None:
            continue
        if not isinstance(content, dict) or content.get("role") not in ("user", "model", None):
            faults.append(f"event {number}: its content is none of the user or the model")
            continue
        parts = content.get("parts")
        for part in map(_snake, parts if isinstance(parts, list) else []):
            if not any(kind in part for kind in _KINDS):
                faults.append(f"event {number}: a part holds nothing that ADK knows")
            call, response = part.get("function_call"), part.get("function_response")
            if isinstance(call, dict):
                asked.add(str(call.get("id")))
                names.append(str(call.get("name")))
                if not isinstance(call.get("args", {}), dict | None):
                    faults.append(f"event {number}: the args of {call.get('name')} are no object")
            if isinstance(response, dict):
                known = response.get("id") is not None and str(response.get("id")) in asked
                if not known and str(response.get("name")) in names:
                    names.remove(str(response.get("name")))
                elif not known:
                    faults.append(f"event {number}: answers a call of {response.get('name')} that no event before made")
                if not isinstance(response.get("response"), dict):
                    faults.append(f"event {number}: the response of {response.get('name')} is no object")
    return faults


def _snake(value: Any) -> dict[str, Any]:
    holder = value if isinstance(value, dict) else {}
    return {_UPPER.sub(lambda found: "_" + found[1].lower(), key): inner for key, inner in holder.items()}
