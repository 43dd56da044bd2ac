"""Cost of a session under other triggers: a replay under its agent's preset for each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.analysis.course import Course
from workbench.analysis.replay import Replay, replay
from workbench.auditing.rows import TRIGGERS, TriggerCost
from workbench.base.errors import BadInput
from workbench.compaction.preset import Preset, agent_preset_id, load_preset, preset_for_version
from workbench.tokens.cost import MILLION, Rates
from workbench.tokens.window import Window, window_of

REPLAYED_FROM = 100_000
"""Tokens of the largest prompt from which a session without compactions is replayed: a trigger makes no difference to
shorter ones."""

WINDOW_FACTOR = 1.1
"""Smallest window of a replay, as a multiple of the trigger."""

_OTHER_TRIGGERS = ("trigger_reserve_tokens", "trigger_answer_tokens", "trigger_messages", "trigger_events")
"""Other triggers of a policy, switched off so that only the size decides."""


def trigger_costs(course: Course, rates: Rates) -> tuple[TriggerCost, ...]:
    """Replay the session at its agent's own trigger and at each of `TRIGGERS`. Return nothing for a session below the
    first of them, and for an agent without a preset whose trigger is a share of the window. All triggers above the
    session's peak cost the same, and are replayed once."""
    peak = max(course.plain, default=0)
    preset = _preset(course) if peak >= TRIGGERS[0] else None
    if preset is None:
        return ()
    own = window_of(course.session, len(course.session.epochs))
    found = [_trigger_cost(0, replay(course, preset, own), rates)]
    never: TriggerCost | None = None
    for trigger in TRIGGERS:
        if never is None or trigger <= peak:
            limit = Window(max(own.tokens if own else 0, round(WINDOW_FACTOR * max(trigger, peak))), "given")
            one = _trigger_cost(
                trigger, replay(course, _preset_with_trigger(preset, trigger, limit.tokens), limit), rates
            )
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


def _preset_with_trigger(preset: Preset, trigger: int, window: int) -> Preset:
    """Return the preset with `trigger` tokens of this window as its only trigger. It has no id: no agent uses it."""
    off: dict[str, Any] = {name: 0 for name in _OTHER_TRIGGERS if hasattr(preset.policy, name)}
    policy = preset.policy.model_copy(update={**off, "trigger_window_percent": 100 * trigger / window})
    return replace(preset, id="", policy=policy)


def _trigger_cost(trigger: int, played: Replay, rates: Rates) -> TriggerCost:
    return TriggerCost(trigger, round(played.cost / (rates.input or 1.0) * MILLION), len(played.compacted))
