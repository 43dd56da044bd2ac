"""Edits of the plan by hand: pins, the split, dropped and shortened messages, marks dragged on the bars; undo, redo."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from workbench.bench import Bench, steps
from workbench.compaction.edits import named, reach
from workbench.compaction.invariants import with_pairs
from workbench.compaction.policy import Policy
from workbench.compaction.settings import settings_of
from workbench.compaction.strategy import Trigger
from workbench.session import Span
from workbench.tui.bars import Grip
from workbench.tui.bench.host import Host, take_step
from workbench.tui.bench.planning import plan_step
from workbench.tui.bench.policy import change_policy
from workbench.tui.bench.store import BenchView
from workbench.tui.fields import InvalidValue, with_typed
from workbench.tui.plain import figure
from workbench.tui.plan_words import unmovable_words
from workbench.tui.undo import UndoHistory


def no_message(view: BenchView) -> str:
    return "" if view.bench.messages else "There is no message here."


def toggle_pin(host: Host) -> None:
    bench, span = host.store.bench, _span(host)
    index = next((i for i in range(span.start, span.stop) if bench.messages[i].starts_round), span.start)
    id = bench.messages[index].id
    word = "unpinned" if id in bench.pins else "pinned"
    take_step(host, partial(steps.toggle_pin, id=id), note=f"{word} message {figure(index + 1)}")


def _span(host: Host) -> Span:
    """Messages under the cursor; at least one if there is any."""
    span, count = host.cursor.span, len(host.store.bench.messages)
    return Span(min(span.start, count - 1), min(span.stop, count))


# --- the split --------------------------------------------------------------------------------------------------------


def no_split(view: BenchView) -> str:
    return unmovable_words(view.bench)


def no_own_split(view: BenchView) -> str:
    own = view.bench.split_at is None
    return no_split(view) or ("The split is already the strategy's own." if own else "")


def split_here(host: Host) -> None:
    """Put the split before the cursor; if it is there already, return it to the strategy."""
    bench = host.store.bench
    id = bench.messages[_span(host).start].id
    take_step(host, partial(steps.split_at, id=None if bench.split_at == id else id))


def split_before(host: Host, index: int) -> None:
    take_step(host, partial(steps.split_at, id=host.store.bench.messages[index].id))


def unsplit(host: Host) -> None:
    take_step(host, partial(steps.split_at, id=None))


# --- undo -------------------------------------------------------------------------------------------------------------


def nothing_to_undo(view: BenchView) -> str:
    return "" if view.history.past or view.pending else "There is nothing to undo."


def nothing_to_redo(view: BenchView) -> str:
    return "" if view.history.future else "There is nothing to redo."


def undo(host: Host) -> None:
    """Undo the last change; one that is still being planned is discarded."""
    view = host.store.view
    if view.pending:
        host.store.put(replace(view, pending=view.pending[:-1]))
    else:
        _go_to_step(host, view.history.undone())


def redo(host: Host) -> None:
    view = host.store.view
    host.store.put(replace(view, pending=()))
    _go_to_step(host, view.history.redone())


def _go_to_step(host: Host, history: UndoHistory) -> None:
    host.cancel("run")
    host.store.travel(history)


# --- edits ------------------------------------------------------------------------------------------------------------


def drop(host: Host) -> None:
    _edit(host, steps.toggle_dropped, "dropped")


def shorten(host: Host) -> None:
    _edit(host, steps.toggle_shortened, "shortened")


def _edit(host: Host, toggle: Callable[[Bench, Collection[str]], Bench], done: str) -> None:
    """Plan the edit in a thread, because the remaining messages are laid out again."""
    span = _span(host)
    ids = [message.id for message in host.store.bench.messages[span.start : span.stop]]
    plan_step(host, lambda bench: toggle(bench, ids), note=lambda before, after: edit_words(before, after, span, done))


def edit_words(before: Bench, after: Bench, span: Span, done: str) -> str:
    """Description of an edit: its messages, and their tokens before and after. The new total is on the bars, once the
    plan has been run offline."""
    reached = with_pairs(before.layout.shape, range(span.start, span.stop))
    marked = (before.dropped, before.shortened) != (after.dropped, after.shortened)
    dropped, shortened = reach(after.context, after.edits)
    edited = (dropped if done == "dropped" else shortened) & reached
    is_more = len(after.dropped) > len(before.dropped) or len(after.shortened) > len(before.shortened)
    if marked and is_more and not edited:
        return f"{named(range(span.start, span.stop))} is kept: a pin has priority"
    if not is_more:
        words = f"{named(reached if done == 'dropped' else range(span.start, span.stop))} as before"
        edited = reached
    else:
        words = f"{done} {named(edited)}"
    return f"{words}: {figure(_edited_tokens(before, edited))} → {figure(_edited_tokens(after, edited))} tokens"


def _edited_tokens(bench: Bench, indexes: Collection[int]) -> int:
    """Tokens of these messages in the strategy's input: 0 if dropped, the rest if shortened."""
    edited, whole = bench.plan.edited.layout, bench.layout
    total = 0
    for index in indexes:
        at = edited.shape.index_of.get(whole.messages[index].id)
        if at is not None:
            total += edited.tokens[at + 1] - edited.tokens[at]
    return total


# --- marks dragged on the bars ----------------------------------------------------------------------------------------


NEAR = 0.51
"""Largest difference, by rounding, between the limit that a setting gives and that of its trigger."""


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


def drag_mark(host: Host, grip: Grip, tokens: int) -> None:
    """Plan the bench again with the dragged mark at `tokens`."""
    bench = host.store.bench
    if grip.number is None:
        if bench.strategy.movable and (id := message_at(bench, tokens)) is not None:
            take_step(host, partial(steps.split_at, id=id), key="split")
        return
    # The grip may be older than the policy, which an earlier move of the same drag has changed.
    now = bench.strategy.read_triggers(bench.context, bench.policy)[grip.number]
    found = moved_trigger(bench.policy, now, grip.limit(tokens), bench.window)
    if found is None:
        host.show_toast("No setting determines this trigger.", is_warning=True)
    else:
        change_policy(host, *found)
