"""Rules of Harbor's trajectory validator, checked on the JSON alone."""

from __future__ import annotations

from workbench.formats.faults import Faults, Item, document, inner, require_list, validator

_BEFORE_1_7 = ("0", "1", "2", "3", "4", "5", "6")
_AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")


@validator
def validate(data: bytes) -> Faults:
    body = document(data)
    steps = require_list(inner(body, "steps", list), "steps")
    if not str(body.get("schema_version")).startswith("ATIF-v1."):
        yield f"The schema_version is {body.get('schema_version')}, not one of ATIF-v1."
    yield from _id_faults(body)
    if not all(isinstance(inner(body, "agent", dict).get(key), str) for key in ("name", "version")):
        yield "The agent has no name or no version."
    for number, step in enumerate(steps, 1):
        yield from _faults_of(step if isinstance(step, dict) else {}, number)


def _id_faults(body: Item) -> Faults:
    """Check ids: since v1.7 the session_id is optional, and a nested trajectory has a trajectory_id."""
    version = str(body.get("schema_version")).removeprefix("ATIF-v1.")
    if not isinstance(body.get("session_id"), str) and (body.get("session_id") is not None or version in _BEFORE_1_7):
        yield "There is no session_id."
    seen: set[str] = set()
    for number, inside in enumerate(inner(body, "subagent_trajectories", list), 1):
        id = inner(inside, "trajectory_id", str)
        if not id or id in seen:
            yield f"The trajectory {number} inside it has no trajectory_id of its own."
        seen.add(id)


def _faults_of(step: Item, number: int) -> Faults:
    where = f"Step {number}"
    if step.get("step_id") != number:
        yield f"{where} has the step_id {step.get('step_id')}."
    if step.get("source") not in ("user", "agent", "system"):
        yield f"{where} is from neither user, agent nor system."
    if not isinstance(step.get("message"), str | list):
        yield f"{where} has a message that is neither text nor a list of parts."
    if step.get("source") != "agent":
        yield from (
            f"{where} has {key}, which only agent steps may have." for key in _AGENT_ONLY if step.get(key) is not None
        )
    yield from (f"{where} has the unknown key {key}." for key in step if key.startswith("workbench"))
    ids: set[str] = set()
    for call in inner(step, "tool_calls", list):
        name = inner(call, "function_name", str)
        if not name:
            yield f"{where} has a call that names no function."
            continue
        ids.add(str(call.get("tool_call_id")))
        if not isinstance(call.get("arguments"), dict):
            yield f"{where} calls {name} with arguments that are not an object."
    for result in inner(inner(step, "observation", dict), "results", list):
        call_id = result.get("source_call_id") if isinstance(result, dict) else None
        if call_id is not None and str(call_id) not in ids:
            yield f"{where} answers the call {call_id}, which it did not make."
