"""Loader rules of OpenHands for a list of events, checked on the JSON alone:
https://github.com/All-Hands-AI/OpenHands."""

from __future__ import annotations

from workbench.base.figures import whole_number
from workbench.formats.faults import Faults, Item, document, inner, require_list, validator

_FIELDS_V1 = {
    "SystemPromptEvent": ("system_prompt",),
    "MessageEvent": ("llm_message",),
    "ActionEvent": ("tool_call", "tool_call_id", "tool_name", "llm_response_id"),
    "ObservationEvent": ("observation", "tool_call_id", "action_id"),
    "Condensation": ("forgotten_event_ids", "llm_response_id"),
}
_METADATA_V0 = ("function_name", "model_response", "tool_call_id", "total_calls_in_response")
"""Required keys of V0's `ToolCallMetadata`."""


@validator
def validate(data: bytes) -> Faults:
    """Yield faults of these rules: ids are unique, and rise in a V0 list; an observation follows its action; a
    condensation forgets earlier events, and its summary has an offset. A remaining event must not answer a forgotten
    call, and a forgotten V1 action has a result, or the SDK would run it on resume."""
    ids: dict[str, int] = {}
    calls: dict[str, tuple[str, ...]] = {}
    forgotten: set[str] = set()
    answers: list[tuple[str, str, tuple[str, ...]]] = []
    running: dict[str, str] = {}
    for number, event in enumerate(require_list(document(data), "events"), 1):
        where = f"Event {number}"
        if inner(event, "source", str) not in ("user", "agent", "environment"):
            yield f"{where} is from neither user, agent nor environment."
            continue
        id = str(event.get("id"))
        yield from _id_faults(where, event, ids)
        ids[id] = number
        yield from (f"{where} has no {key}." for key in _FIELDS_V1.get(str(event.get("kind")), ()) if key not in event)
        yield from _faults_v0(where, event)
        call = inner(event, "tool_call_id", str) or inner(inner(event, "tool_call_metadata", dict), "tool_call_id", str)
        if call and _is("ActionEvent", "action", event):
            calls[call] = (*calls.get(call, ()), id)
            running |= {id: where} if event.get("action") and "kind" in event else {}
        elif call and _is("ObservationEvent", "observation", event):
            callers = calls.get(call)
            named = event.get("action_id", event.get("cause"))
            if callers is None:
                yield f"{where} answers the call {call}, which no earlier event makes."
            elif not any(named in (one, whole_number(one)) for one in callers):
                yield f"{where} answers the call {call}, but names another event than {callers[-1]}."
            else:
                answers.append((where, id, callers))
        is_error = event.get("kind") == "AgentErrorEvent"  # identified by its call, other events by their action
        for one in calls.get(call, ()) if is_error else (str(event.get("action_id")),):
            running.pop(one, None)
        yield from _condensation_faults(where, event, ids, forgotten)
    for where, id, callers in answers:
        if forgotten.issuperset(callers) and id not in forgotten:
            yield f"{where} answers a forgotten call."
    for id in forgotten & running.keys():
        yield f"{running[id]} is forgotten and has no result: OpenHands would run it again."


def _faults_v0(where: str, event: Item) -> Faults:
    if "kind" in event:
        return
    about = event.get("tool_call_metadata")
    missing = [key for key in _METADATA_V0 if isinstance(about, dict) and about and about.get(key) is None]
    yield from (f"{where} has tool_call_metadata without a {key}." for key in missing)
    if "observation" in event and not isinstance(event.get("content", ""), str):
        yield f"{where} has content that is not text."


def _is(kind: str, key: str, event: Item) -> bool:
    return event.get("kind") == kind or ("kind" not in event and key in event)


def _id_faults(where: str, event: Item, ids: dict[str, int]) -> Faults:
    id = event.get("id")
    if "kind" in event:
        if not isinstance(id, str) or not id:
            yield f"{where} has no id."
        if str(id) in ids:
            yield f"{where} has the id {id} of an earlier event."
        return
    last = whole_number(next(reversed(ids), "-1"))
    if type(id) is not int:
        yield f"{where} has an id that is not a number."
    elif last is not None and id <= last:
        yield f"{where} has the id {id}, which does not increase."


def _condensation_faults(where: str, event: Item, ids: dict[str, int], forgotten: set[str]) -> Faults:
    about = event if event.get("kind") == "Condensation" else inner(event, "args", dict)
    if about is not event and event.get("action") != "condensation":
        return
    named = [str(id) for id in inner(about, "forgotten_event_ids", list)]
    yield from (f"{where} forgets {id}, which no earlier event has." for id in named if id not in ids)
    start, end = about.get("forgotten_events_start_id"), about.get("forgotten_events_end_id")
    if type(start) is int and type(end) is int:
        named += [id for id in ids if (n := whole_number(id)) is not None and start <= n <= end]
    forgotten.update(named)
    offset = about.get("summary_offset")
    if not about.get("summary"):
        return
    if type(offset) is not int or offset < 0:
        yield f"{where} has a summary without an offset."
    elif offset > len(ids) - len(forgotten):
        yield f"{where} has a summary offset past the last message kept."
