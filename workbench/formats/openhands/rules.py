"""What OpenHands demands of a list of events, judged on the JSON alone (formats.md §2.10)."""

from __future__ import annotations

import json
from typing import Any

_FIELDS_V1 = {
    "SystemPromptEvent": ("system_prompt",),
    "MessageEvent": ("llm_message",),
    "ActionEvent": ("tool_call", "tool_call_id", "tool_name", "llm_response_id"),
    "ObservationEvent": ("observation", "tool_call_id", "action_id"),
    "Condensation": ("forgotten_event_ids", "llm_response_id"),
}


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming events by their place from 1.

    Ids are unique, and rise in a V0 list; an observation follows the action it answers; a condensation forgets events
    before it, and its summary has an offset. What is not forgotten must not answer a forgotten call.
    """
    try:
        events = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(events, list) or not events:
        return ["there are no events"]
    faults: list[str] = []
    ids: dict[str, int] = {}
    calls: dict[str, str] = {}
    forgotten: set[str] = set()
    answers: list[tuple[int, str, str]] = []
    for number, event in enumerate(events, 1):
        if not isinstance(event, dict) or event.get("source") not in ("user", "agent", "environment"):
            faults.append(f"event {number}: has no source of user, agent or environment")
            continue
        id = str(event.get("id"))
        found = _id_faults(event, ids)
        ids[id] = number
        found += [f"has no {key}" for key in _FIELDS_V1.get(str(event.get("kind")), ()) if key not in event]
        call = _call(event)
        if call and _is_action(event):
            calls[call] = id
        elif call and _is_answer(event):
            asked = calls.get(call)
            if asked is None:
                found.append(f"answers {call}, which no event before it calls")
            elif event.get("action_id", event.get("cause")) not in (asked, _number(asked)):
                found.append(f"answers {call}, but names another event than {asked}")
            else:
                answers.append((number, id, asked))
        found += _condensation_faults(event, ids, forgotten)
        faults += [f"event {number}: {fault}" for fault in found]
    return faults + [
        f"event {number}: answers a call that is forgotten"
        for number, id, asked in answers
        if asked in forgotten and id not in forgotten
    ]


def _id_faults(event: dict[str, Any], ids: dict[str, int]) -> list[str]:
    id = event.get("id")
    if "kind" in event:
        faults = [] if isinstance(id, str) and id else ["has no id"]
        return faults + ([f"the id {id} stands twice"] if str(id) in ids else [])
    if type(id) is not int:
        return ["its id is no number"]
    last = next(reversed(ids), "-1")
    return [] if _number(last) is None or id > int(last) else [f"its id {id} does not rise"]


def _number(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdigit() else None


def _call(event: dict[str, Any]) -> str:
    about = event.get("tool_call_metadata")
    found = event.get("tool_call_id") or (about.get("tool_call_id") if isinstance(about, dict) else None)
    return found if isinstance(found, str) else ""


def _is_action(event: dict[str, Any]) -> bool:
    return event.get("kind") == "ActionEvent" or ("kind" not in event and "action" in event)


def _is_answer(event: dict[str, Any]) -> bool:
    return event.get("kind") == "ObservationEvent" or ("kind" not in event and "observation" in event)


def _condensation_faults(event: dict[str, Any], ids: dict[str, int], forgotten: set[str]) -> list[str]:
    about = event if event.get("kind") == "Condensation" else event.get("args")
    if not isinstance(about, dict) or not (about is event or event.get("action") == "condensation"):
        return []
    named = about.get("forgotten_event_ids")
    named = [str(id) for id in named] if isinstance(named, list) else []
    faults = [f"forgets {id}, which no event before it has" for id in named if id not in ids]
    start, end = about.get("forgotten_events_start_id"), about.get("forgotten_events_end_id")
    if type(start) is int and type(end) is int:
        named += [id for id in ids if (n := _number(id)) is not None and start <= n <= end]
    forgotten.update(named)
    if about.get("summary") and not (type(about.get("summary_offset")) is int and about["summary_offset"] >= 0):
        faults.append("its summary has no offset")
    elif about.get("summary") and about["summary_offset"] > len(ids) - len(forgotten):
        faults.append("its summary stands behind the end of what is left")
    return faults
