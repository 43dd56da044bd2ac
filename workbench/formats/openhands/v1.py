"""V1 conversations of the OpenHands SDK: a folder with one file per event, and base_state.json.

The events form a tree. base_state.json names its head, the event from which the conversation continues. `navigate_to`
moves the head back, and later events form a new branch. An event without a parent id follows the one before it in the
list. State updates and errors hang on the tree and are never its head.

A written folder gets a new id as its name, by which the SDK finds it. In its base_state.json, the list with the usage
of each call is emptied, because it belongs to another context; totals are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from workbench.formats.format import Folder
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import elements, render
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.values import dict_of
from workbench.formats.openhands import is_v1
from workbench.session import LoadWarning, Session

Event = dict[str, Any]

ROOT = "__root__"
"""Parent id of an event that begins a new tree."""

_SIDE_EVENTS = ("ConversationStateUpdateEvent", "ConversationErrorEvent")


def abandoned_events(events: Sequence[Any], state: Event, warnings: list[LoadWarning]) -> frozenset[int]:
    """Return the indexes of the events on abandoned branches: those not on the path from the head to the root, except
    state updates and errors that hang on it. Empty if no event names a parent. Appends to `warnings`.

    `state`: contents of base_state.json. If it names no head, or a missing event, the head is the newest event other
    than state updates and errors. With `head_is_empty` and no head, all events are abandoned.
    """
    if not any(dict_of(event).get("parent_id") for event in events):
        return frozenset()
    places = {as_text(event["id"]): n for n, event in enumerate(events) if is_v1(event) and "id" in event}
    path = _path(events, places, _head(events, places, state, warnings), warnings)
    hanging = {n for n, e in enumerate(events) if is_side_event(e) and _parent(events, places, n) in path}
    others = frozenset(range(len(events))) - path - hanging
    if others:
        text = f"{len(others)} of {len(events)} events are on other branches and not sent"
        warnings.append(LoadWarning(text))
    return others


def _head(events: Sequence[Any], places: dict[str, int], state: Event, warnings: list[LoadWarning]) -> int | None:
    named = state.get("leaf_event_id")
    if isinstance(named, str) and named in places:
        return places[named]
    if named:
        warnings.append(LoadWarning(f"the event {named}, where the conversation continues, is missing"))
    elif state.get("head_is_empty") is True:
        return None
    return next((n for n in range(len(events) - 1, -1, -1) if is_v1(events[n]) and not is_side_event(events[n])), None)


def _path(
    events: Sequence[Any], places: dict[str, int], head: int | None, warnings: list[LoadWarning]
) -> frozenset[int]:
    """Return the indexes of the events from `head` up to the root, or to an event whose parent is missing."""
    path: set[int] = set()
    while head is not None and head not in path:
        path.add(head)
        parent = _parent(events, places, head)
        named = dict_of(events[head]).get("parent_id")
        if parent is None and named and named != ROOT:
            warnings.append(LoadWarning(f"event {head + 1} follows the missing event {named}"))
        head = parent
    return frozenset(path)


def _parent(events: Sequence[Any], places: dict[str, int], place: int) -> int | None:
    named = dict_of(events[place]).get("parent_id")
    if named is None:
        return place - 1 if place else None
    return places.get(as_text(named))


def is_side_event(event: Any) -> bool:
    return dict_of(event).get("kind") in _SIDE_EVENTS


_ID = re.compile(r"[0-9a-fA-F-]{8,100}")
"""Pattern of event ids that the SDK accepts in file names."""


@dataclass(frozen=True, slots=True)
class OpenHandsFacts:
    """Facts of an OpenHands session. `others`: indexes of the events on abandoned branches. `v1`: False for V0 events.
    `state`: contents of base_state.json, {} without one."""

    others: frozenset[int] = frozenset()
    v1: bool = True
    state: Mapping[str, Any] = field(default_factory=dict)


def folder(session: Session, data: bytes) -> Folder | None:
    """Return the events of `data` (a JSON list) as a folder with a new id. None for V0 events, for event ids that the
    SDK does not accept, and without a base_state.json, which has the agent and the workspace."""
    own = session.facts.own
    raws = elements(data, None)
    events = [dict_of(loads(raw)) for raw in raws]
    if not isinstance(own, OpenHandsFacts) or not own.state:
        return None
    if not all(is_v1(event) and _ID.fullmatch(str(event.get("id"))) for event in events):
        return None
    id = uuid4()
    state: dict[str, Any] = {**own.state, "id": str(id)}
    if "leaf_event_id" in state or any(event.get("parent_id") for event in events):
        state["leaf_event_id"] = next((event["id"] for event in reversed(events) if not is_side_event(event)), None)
    if "stats" in state:
        state["stats"] = _without_usage(dict_of(state["stats"]))
    named = {
        f"events/event-{n:05d}-{event['id']}.json": raw for n, (event, raw) in enumerate(zip(events, raws, strict=True))
    }
    return Folder(id.hex, {"base_state.json": render(state), **named})


def _without_usage(stats: Mapping[str, Any]) -> dict[str, Any]:
    metrics = dict_of(stats.get("usage_to_metrics"))
    return {**stats, "usage_to_metrics": {of: {**dict_of(one), "token_usages": []} for of, one in metrics.items()}}
