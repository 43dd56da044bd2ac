"""Folder of a V1 conversation as OpenHands' SDK stores it: one file per event, and base_state.json, which names the
event from which the conversation continues.

The folder's name is its new id, by which the SDK finds it. Usage is removed from the state, because it counted another
context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from workbench.formats.format import Folder
from workbench.formats.kit.document import elements, render
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.values import dict_of
from workbench.formats.openhands import is_v1
from workbench.formats.openhands.tree import is_leaf
from workbench.session import Session

_ID = re.compile(r"[0-9a-fA-F-]{8,100}")
"""Ids that the SDK accepts in the name of an event's file."""


@dataclass(frozen=True, slots=True)
class OpenHandsFacts:
    """Format-specific facts: indexes of the events on abandoned branches, True for V1 events, and the contents of
    base_state.json, {} without one."""

    others: frozenset[int] = frozenset()
    v1: bool = True
    state: Mapping[str, Any] = field(default_factory=dict)


def folder(session: Session, data: bytes) -> Folder | None:
    """Return the list of events as a folder; None without a state, which holds agent and workspace, and for V0
    events."""
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
        state["leaf_event_id"] = next((event["id"] for event in reversed(events) if not is_leaf(event)), None)
    if "stats" in state:
        state["stats"] = _without_usage(dict_of(state["stats"]))
    named = {
        f"events/event-{n:05d}-{event['id']}.json": raw for n, (event, raw) in enumerate(zip(events, raws, strict=True))
    }
    return Folder(id.hex, {"base_state.json": render(state), **named})


def _without_usage(stats: Mapping[str, Any]) -> dict[str, Any]:
    metrics = dict_of(stats.get("usage_to_metrics"))
    return {**stats, "usage_to_metrics": {of: {**dict_of(one), "token_usages": []} for of, one in metrics.items()}}
