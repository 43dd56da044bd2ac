"""What a session would have cost under other settings: replayed as its own tool compacts, at one size after another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.analysis.compaction_cost import Rates
from workbench.analysis.course import Course
from workbench.analysis.replay import Replay, replay
from workbench.auditing.rows import TRIGGERS, Tried
from workbench.base.errors import BadInput
from workbench.compaction.agent_preset import agent_preset_id, preset_for_version
from workbench.compaction.preset import Preset, load_preset
from workbench.tokens.cost import MILLION
from workbench.tokens.window import Window, window_of

PLAYED_FROM = 100_000
"""Tokens of its largest prompt from which a session is played that records no compaction: most never come so far, and
what is set makes no difference to them."""

ROOM = 1.1
"""A session is played in a window at least so many times the trigger."""

_OTHER_TRIGGERS = ("trigger_reserve_tokens", "trigger_answer_tokens", "trigger_messages", "trigger_events")
"""What else a policy may fire by: off, so that the size alone decides."""


def tried(course: Course, rates: Rates) -> tuple[Tried, ...]:
    """As the tool does by itself, and at each of `TRIGGERS`; none for a session that never came to the first of them,
    and for a tool without a preset that fires by a share of the window. A trigger that the session never reached gives
    what it costs without a compaction, which is replayed once."""
    peak = max(course.plain, default=0)
    preset = _preset(course) if peak >= TRIGGERS[0] else None
    if preset is None:
        return ()
    own = window_of(course.session, len(course.session.epochs))
    found = [_told(0, replay(course, preset, own), rates)]
    never: Tried | None = None
    for trigger in TRIGGERS:
        if never is None or trigger <= peak:
            limit = Window(max(own.tokens if own else 0, round(ROOM * max(trigger, peak))), "given")
            one = _told(trigger, replay(course, _at(preset, trigger, limit.tokens), limit), rates)
            found.append(one)
            never = one if trigger > peak else None
        else:
            found.append(replace(never, trigger=trigger))
    return tuple(found)


def _preset(course: Course) -> Preset | None:
    name = agent_preset_id(course.session)
    try:
        preset = preset_for_version(load_preset(name), course.session) if name else None
    except BadInput:
        return None
    return preset if preset and hasattr(preset.policy, "trigger_window_percent") else None


def _at(preset: Preset, trigger: int, window: int) -> Preset:
    """The preset, firing at `trigger` tokens of this window and by nothing else. It has no id: it is no tool's."""
    off: dict[str, Any] = {name: 0 for name in _OTHER_TRIGGERS if hasattr(preset.policy, name)}
    policy = preset.policy.model_copy(update={**off, "trigger_window_percent": 100 * trigger / window})
    return replace(preset, id="", policy=policy)


def _told(trigger: int, played: Replay, rates: Rates) -> Tried:
    return Tried(trigger, round(played.cost / (rates.input or 1.0) * MILLION), len(played.compacted))
