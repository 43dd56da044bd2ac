"""What a drag on the bar means: another limit of a trigger, or another split. Pure but for the steps at the end."""

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
"""How far a setting's limit may lie from the trigger's: what is rounded."""


def moved_trigger(policy: Policy, trigger: Trigger, limit: float, window: int | None) -> tuple[Policy, str] | None:
    """The policy whose trigger has another `limit`, in its own unit, and the key of the setting that says it; None
    where no number does: a setting is found by the limit that it makes now."""
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
    """The id of the message at which the context has so many tokens, what is sent beside the messages included."""
    layout = bench.layout
    before = bench.context.total.tokens - layout.tokens[-1]
    index = bisect_right(layout.tokens, tokens - before) - 1
    return layout.messages[max(0, min(index, len(layout.messages) - 1))].id if layout.messages else None


def dragged(host: Host, grip: Grip, tokens: int) -> None:
    """What was dragged stands at `tokens` now: the bench is planned anew."""
    bench = host.store.bench
    if grip.number is None:
        if bench.strategy.movable and (id := message_at(bench, tokens)) is not None:
            take(host, partial(steps.split_at, id=id), key="split")
        return
    # What its mark was taken for may be older than the policy: an earlier move of the same drag has changed that.
    now = bench.strategy.read_triggers(bench.context, bench.policy)[grip.number]
    found = moved_trigger(bench.policy, now, grip.limit(tokens), bench.window)
    if found is None:
        host.tell("No setting determines this trigger.", bad=True)
    else:
        change_policy(host, *found)
