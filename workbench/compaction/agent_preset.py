"""The preset that compacts as a session's own tool does, as the version did it that wrote the session: the one place
that decides by which rules a session is judged, on the bench, on the screen and in every command."""

from __future__ import annotations

from contextlib import suppress

from workbench.base.errors import BadInput
from workbench.base.stamps import utc_datetime
from workbench.compaction.preset import Preset
from workbench.formats.registry import by_id
from workbench.session import Session


def agent_preset_id(session: Session) -> str:
    """The id of the preset that compacts as the session's own tool does; "" where there is none."""
    with suppress(BadInput):
        return by_id(session.format).preset
    return ""


def preset_for_version(preset: Preset, session: Session) -> Preset:
    """The preset of the session's own tool as the version did it that wrote the session, or, where its files name none,
    as it was done on the day on which it began; any other preset as it is."""
    if not preset.id or preset.id != agent_preset_id(session):
        return preset
    began = next((message.time for message in session.messages if message.time is not None), None)
    return preset.of_version(session.facts.version, None if began is None else utc_datetime(began).date())
