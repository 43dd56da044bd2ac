"""Slot for an export's note in a list of events.

In a V0 list the first event holds the note, because V0 events keep unknown keys. A V1 list gets a state update, which
may have any key and value and is never sent to a model.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from workbench.base.stamps import utc_datetime
from workbench.formats.kit.document import render, splice
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import EXPORT_NOTE, NoteSlot, in_document
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.openhands import is_v1

_FIRST = in_document(EXPORT_NOTE, (0,))
_UPDATE = "ConversationStateUpdateEvent"


def _put(data: bytes, note: bytes) -> bytes | None:
    events = list_of(loads(data))
    if not any(map(is_v1, map(dict_of, events))):
        return _FIRST.put(data, note)
    head: dict[str, Any] = {
        "id": str(uuid4()),
        "timestamp": utc_datetime(None).replace(tzinfo=None).isoformat(),
        "source": "environment",
    }
    older = [place for place, event in enumerate(events) if not _is_note(event)]
    if older and any(dict_of(event).get("parent_id") for event in events):
        head["parent_id"] = dict_of(events[older[-1]]).get("id")
    return splice(data, None, [*older, render(head | {"key": EXPORT_NOTE, "value": loads(note), "kind": _UPDATE})])


def _found(data: bytes) -> Any:
    if EXPORT_NOTE.encode() not in data:
        return None
    events = list_of(loads(data))
    notes = [event["value"] for event in events if _is_note(event)]
    return notes[-1] if notes else _FIRST.found(data)


def _is_note(event: Any) -> bool:
    return dict_of(event).get("kind") == _UPDATE and event.get("key") == EXPORT_NOTE


NOTE = NoteSlot(_put, _found)
