"""Active branch of a V1 conversation.

Each event may name its parent: going back (`navigate_to`) moves the head of the tree, and later events form a new
branch. An event without a parent follows the one before it in the list. State updates are attached to the tree and are
never its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.values import dict_of
from workbench.formats.openhands import is_v1
from workbench.session import LoadWarning

Event = dict[str, Any]

ROOT = "__root__"
"""Parent id of an event that begins a new tree."""

_LEAVES = ("ConversationStateUpdateEvent", "ConversationErrorEvent")


def abandoned_events(events: Sequence[Any], state: Event, warnings: list[LoadWarning]) -> frozenset[int]:
    """Return the indexes of the events on abandoned branches: those on no path from the head of the tree to its root.
    `state` is the contents of base_state.json, which names the head; without it the head is the newest event."""
    if not any(dict_of(event).get("parent_id") for event in events):
        return frozenset()
    places = {as_text(event["id"]): n for n, event in enumerate(events) if is_v1(event) and "id" in event}
    path = _path(events, places, _head(events, places, state, warnings), warnings)
    hanging = {n for n, e in enumerate(events) if is_leaf(e) and _parent(events, places, n) in path}
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
    return next((n for n in range(len(events) - 1, -1, -1) if is_v1(events[n]) and not is_leaf(events[n])), None)


def _path(
    events: Sequence[Any], places: dict[str, int], head: int | None, warnings: list[LoadWarning]
) -> frozenset[int]:
    """Return the indexes from an event to the root, as far as parents are found."""
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


def is_leaf(event: Any) -> bool:
    return dict_of(event).get("kind") in _LEAVES
