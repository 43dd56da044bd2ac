"""Glance at a folder of events, by its first and last few."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats.format import no_progress
from workbench.formats.glance import SessionGlance, with_session_facts
from workbench.formats.kit.ends import ends_of
from workbench.formats.kit.values import dict_of, word_of
from workbench.formats.openhands import ID
from workbench.formats.openhands.read import read
from workbench.formats.openhands.stores import state_of

_EVENTS = 20
"""Events read at each end."""


def glance(path: Path) -> SessionGlance | None:
    """Return the conversation in a folder; None for a file. Raises BadInput for one without events; OSError."""
    if not path.is_dir():
        return None
    with os.scandir(path / "events") as entries:
        names = (entry.name for entry in entries if entry.name.endswith(".json"))
        events = sorted(names, key=lambda name: (len(name), name))  # numbers, with zeros before them or without
    chosen = events if len(events) <= 2 * _EVENTS else [*events[:_EVENTS], *events[-_EVENTS:]]
    ends = [ends_of(path / "events" / name) for name in chosen]
    if not ends:
        raise BadInput("This conversation has no events yet.")
    is_whole = len(chosen) == len(events) and all(one.is_whole for one in ends)
    parts = [(one.head + one.tail).strip() for one in ends if one.is_whole]
    size = sum(one.size for one in ends) * len(events) // len(chosen)
    found = SessionGlance(path, size, max(one.time for one in ends), ID, "OpenHands conversation")
    session = read(path, b"[\n" + b",\n".join(parts) + b"\n]\n", no_progress)
    found = with_session_facts(found, session, is_whole=is_whole)
    workspace = dict_of(dict_of(state_of(path)).get("workspace")).get("working_dir")
    return replace(found, folder=word_of(workspace) or found.folder)
