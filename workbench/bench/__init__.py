"""The session at hand: opened under a preset, changed step by step, compacted and assessed.

state.py       the session, its pins, edits and policy as one frozen value
steps.py       from one bench to the next
assessment.py  everything known about one outcome
fixes.py       changes that keep a watched rule
saved_work.py  pins, edits and settings saved per session
rescue.py      compaction where the agent cannot
"""

from workbench.bench.state import Bench, EpochMarks, Plan, RuleState, plan, rule_states
from workbench.bench.steps import (
    DEFAULT_PRESET,
    at_epoch,
    choose_preset,
    move_split,
    open_bench,
    set_policy,
    split_at,
    toggle_dropped,
    toggle_pin,
    toggle_shortened,
    with_counts,
    with_layout,
    with_limit,
    with_pins,
    with_result,
    with_saved_scale,
    with_scale,
    with_summarizer,
    with_watched_rules,
    with_window,
    without_scale,
)

__all__ = [
    "DEFAULT_PRESET",
    "Bench",
    "EpochMarks",
    "Plan",
    "RuleState",
    "at_epoch",
    "choose_preset",
    "move_split",
    "open_bench",
    "plan",
    "rule_states",
    "set_policy",
    "split_at",
    "toggle_dropped",
    "toggle_pin",
    "toggle_shortened",
    "with_counts",
    "with_layout",
    "with_limit",
    "with_pins",
    "with_result",
    "with_saved_scale",
    "with_scale",
    "with_summarizer",
    "with_watched_rules",
    "with_window",
    "without_scale",
]
