"""Drags on the bars: another limit of a trigger, or another split."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial

from workbench.bench import Bench, steps
from workbench.compaction.policy import Policy
from workbench.compaction.settings import settings_of
from workbench.compaction.strategy import Trigger
from workbench.tui.bench.host import Host, take
from workbench.tui.bench.policy import change_policy
from workbench.tui.fields import InvalidValue, with_typed
from workbench.tui.pointing import Grip

NEAR = 0.51
"""Largest difference between a setting's limit and the trigger's, which rounding causes."""


def moved_trigger(policy: Policy, trigger: Trigger, limit: float, window: int | None) -> tuple[Policy, str] | None:
    """Policy with another `limit` for the trigger, in its own unit, and the key of the setting; None if no setting
    determines it. The setting is found by the limit that it gives now."""
    for field in settings_of(type(policy)):
        value = field.of(policy)
        if field.group != "trigger" or field.kind not in ("whole", "real") or not value or field.why_off(policy):
            continue
        new: float | None = None
        if field.unit == "%" and window and abs(window * value / 100 - trigger.limit) <= NEAR:
            new = round(100 * limit / window, 1)
        elif trigger.unit in field.unit and abs(value - trigger.limit) <= NEAR:
            new = limit
        elif field.unit == "tokens" and "reserve" in field.key and trigger.unit == "tokens":
            new = value + trigger.limit - limit
        if new is not None:
            try:
                typed = str(round(new) if field.kind == "whole" else new)
                return with_typed(policy, field, typed)[0], field.key
            except InvalidValue:
                return None
    return None


def message_at(bench: Bench, tokens: int) -> str | None:
    """Id of the message at which the context reaches `tokens`, system prompt and tools included."""
    layout = bench.layout
    before = bench.context.total.tokens - layout.tokens[-1]
    index = bisect_right(layout.tokens, tokens - before) - 1
    return layout.messages[max(0, min(index, len(layout.messages) - 1))].id if layout.messages else None


def dragged(host: Host, grip: Grip, tokens: int) -> None:
    """Plan the bench again with the dragged mark at `tokens`."""
    bench = host.store.bench
    if grip.number is None:
        if bench.strategy.movable and (id := message_at(bench, tokens)) is not None:
            take(host, partial(steps.split_at, id=id), key="split")
        return
    # The grip may be older than the policy, which an earlier move of the same drag has changed.
    now = bench.strategy.read_triggers(bench.context, bench.policy)[grip.number]
    found = moved_trigger(bench.policy, now, grip.limit(tokens), bench.window)
    if found is None:
        host.tell("No setting determines this trigger.", bad=True)
    else:
        change_policy(host, *found)
