"""Rules of Inspect's log reader, checked on the JSON alone: https://github.com/UKGovernmentBEIS/inspect_ai."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, StopValidation, document, inner, require_list, validator

_ROLES = ("system", "user", "assistant", "tool")


@validator
def validate(data: bytes) -> Faults:
    """Yield faults of a `.json` log; messages are numbered from 1 in their sample."""
    log = document(data)
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise StopValidation("There is no eval.")
    for key in ("created", "task", "dataset", "model", "config"):
        if key not in log["eval"]:
            yield f"The eval has no {key}."
    for place, sample in enumerate(require_list(log.get("samples"), "samples"), 1):
        where = f"Sample {place}"
        if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
            yield f"{where} has no messages."
            continue
        yield from (f"{where} has no {key}." for key in ("id", "epoch", "input", "target") if key not in sample)
        call_ids: set[str] = set()
        for number, message in enumerate(sample["messages"], 1):
            yield from _faults_of(f"Message {number} of sample {place}", message, call_ids)


def _faults_of(where: str, message: Any, call_ids: set[str]) -> Faults:
    role = inner(message, "role", str)
    if role not in _ROLES:
        yield f"{where} has a role other than {', '.join(_ROLES)}."
        return
    if not isinstance(message.get("content"), str | list):
        yield f"{where} has content that is neither text nor a list of parts."
    if role == "tool" and str(message.get("tool_call_id")) not in call_ids:
        yield f"{where} answers the call {message.get('tool_call_id')}, which no earlier message made."
    for call in inner(message, "tool_calls", list):
        name = inner(call, "function", str)
        if not name:
            yield f"{where} has a call that names no function."
            continue
        call_ids.add(str(call.get("id")))
        if not isinstance(call.get("arguments"), dict):
            yield f"{where} calls {name} with arguments that are not an object."
