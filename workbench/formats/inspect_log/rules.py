"""What Inspect's log reader refuses, judged on the JSON alone (formats.md §2.13)."""

from __future__ import annotations

import json
from typing import Any

_ROLES = ("system", "user", "assistant", "tool")


def validate(data: bytes) -> list[str]:
    """What is wrong with a `.json` log, one sentence each, naming messages by their place from 1 in their sample."""
    try:
        log = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        return ["there is no eval"]
    faults = [
        f"the eval has no {key}" for key in ("created", "task", "dataset", "model", "config") if key not in log["eval"]
    ]
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        return [*faults, "there are no samples"]
    for sample in samples:
        if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
            faults.append("a sample has no messages")
            continue
        faults += [f"a sample has no {key}" for key in ("id", "epoch", "input", "target") if key not in sample]
        asked: set[str] = set()
        for number, message in enumerate(sample["messages"], 1):
            faults += [f"message {number}: {fault}" for fault in _faults_of(message, asked)]
    return faults


def _faults_of(message: Any, asked: set[str]) -> list[str]:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        return [f"its role is none of {', '.join(_ROLES)}"]
    faults: list[str] = []
    if not isinstance(message.get("content"), str | list):
        faults.append("its content is neither text nor a list of parts")
    if message["role"] == "tool" and str(message.get("tool_call_id")) not in asked:
        faults.append(f"answers the call {message.get('tool_call_id')}, which no message before it made")
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if not isinstance(call, dict) or not isinstance(call.get("function"), str):
            faults.append("a call names no function")
            continue
        asked.add(str(call.get("id")))
        if not isinstance(call.get("arguments"), dict):
            faults.append(f"the arguments of {call['function']} are no object")
    return faults
