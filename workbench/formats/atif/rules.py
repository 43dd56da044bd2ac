"""What Harbor's trajectory validator refuses, judged on the JSON alone (formats.md §2.13)."""

from __future__ import annotations

import json
from typing import Any

_AGENT_ONLY = ("model_name", "reasoning_content", "tool_calls", "metrics")


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming steps by their place from 1."""
    try:
        body = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(body, dict) or not isinstance(body.get("steps"), list) or not body["steps"]:
        return ["there are no steps"]
    faults: list[str] = []
    if not str(body.get("schema_version")).startswith("ATIF-v1."):
        faults.append(f"the schema_version is {body.get('schema_version')}")
    if not isinstance(body.get("session_id"), str):
        faults.append("there is no session_id")
    agent = body.get("agent")
    if not isinstance(agent, dict) or not all(isinstance(agent.get(key), str) for key in ("name", "version")):
        faults.append("the agent has no name or no version")
    for number, step in enumerate(body["steps"], 1):
        known = step if isinstance(step, dict) else {}
        faults += [f"step {number}: {fault}" for fault in _faults_of(known, number)]
    return faults


def _faults_of(step: dict[str, Any], number: int) -> list[str]:
    faults: list[str] = []
    if step.get("step_id") != number:
        faults.append(f"its step_id is {step.get('step_id')}")
    if step.get("source") not in ("user", "agent", "system"):
        faults.append("its source is neither user, agent nor system")
    if not isinstance(step.get("message"), str | list):
        faults.append("its message is neither text nor a list of parts")
    if step.get("source") != "agent":
        faults += [f"{key} is for the agent's steps alone" for key in _AGENT_ONLY if step.get(key) is not None]
    faults += [f"has the unknown key {key}" for key in step if key.startswith("workbench")]
    ids: set[str] = set()
    for call in _list(step.get("tool_calls")):
        if not isinstance(call, dict) or not isinstance(call.get("function_name"), str):
            faults.append("a call names no function")
            continue
        ids.add(str(call.get("tool_call_id")))
        if not isinstance(call.get("arguments"), dict):
            faults.append(f"the arguments of {call['function_name']} are no object")
    seen = step.get("observation")
    for result in _list(seen.get("results")) if isinstance(seen, dict) else []:
        named = result.get("source_call_id") if isinstance(result, dict) else None
        if named is not None and str(named) not in ids:
            faults.append(f"a result answers the call {named}, which the step did not make")
    return faults


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
