"""Find the preset of the agent that wrote a session, in the version that wrote it. Bench, screen and commands all use
this module."""

from __future__ import annotations

from contextlib import suppress

from workbench.base.errors import BadInput
from workbench.base.stamps import utc_datetime
from workbench.compaction.preset import Preset
from workbench.formats.registry import by_id
from workbench.session import Session


def agent_preset_id(session: Session) -> str:
    """Id of the preset that compacts as the session's agent does; "" without one."""
    with suppress(BadInput):
        return by_id(session.format).preset
    return ""


def preset_for_version(preset: Preset, session: Session) -> Preset:
    """Preset of the session's agent with the settings of the version that wrote it, or of the day on which the session
    began if its files name no version. Any other preset is returned unchanged."""
    if not preset.id or preset.id != agent_preset_id(session):
        return preset
    began = next((message.time for message in session.messages if message.time is not None), None)
    return preset.of_version(session.facts.version, None if began is None else utc_datetime(began).date())
