"""Edits of the plan by hand: pins, the split, dropped and shortened messages; undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from workbench.bench import Bench, steps
from workbench.compaction.edits import named, reach
from workbench.compaction.invariants import with_pairs
from workbench.session import Span
from workbench.tui.bench.host import Host, take
from workbench.tui.bench.planning import want
from workbench.tui.bench.store import BenchView
from workbench.tui.history import UndoHistory
from workbench.tui.plain import figure
from workbench.tui.policy_words import unmovable_words


def no_message(view: BenchView) -> str:
    return "" if view.bench.messages else "There is no message here."


def toggle_pin(host: Host) -> None:
    bench, span = host.store.bench, _span(host)
    index = next((i for i in range(span.start, span.stop) if bench.messages[i].starts_round), span.start)
    id = bench.messages[index].id
    word = "unpinned" if id in bench.pins else "pinned"
    take(host, partial(steps.toggle_pin, id=id), said=f"{word} message {figure(index + 1)}")


def _span(host: Host) -> Span:
    """Messages under the cursor; at least one if there is any."""
    span, count = host.cursor.span, len(host.store.bench.messages)
    return Span(min(span.start, count - 1), min(span.stop, count))


# --- the split --------------------------------------------------------------------------------------------------------


def unmovable(view: BenchView) -> str:
    return unmovable_words(view.bench)


def not_by_hand(view: BenchView) -> str:
    own = view.bench.split_at is None
    return unmovable(view) or ("The split is already the strategy's own." if own else "")


def split_here(host: Host) -> None:
    """Put the split before the cursor; if it is there already, return it to the strategy."""
    bench = host.store.bench
    id = bench.messages[_span(host).start].id
    take(host, partial(steps.split_at, id=None if bench.split_at == id else id))


def split_before(host: Host, index: int) -> None:
    take(host, partial(steps.split_at, id=host.store.bench.messages[index].id))


def unsplit(host: Host) -> None:
    take(host, partial(steps.split_at, id=None))


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
        _travel(host, view.history.undone())


def redo(host: Host) -> None:
    view = host.store.view
    host.store.put(replace(view, pending=()))
    _travel(host, view.history.redone())


def _travel(host: Host, history: UndoHistory) -> None:
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
    want(host, lambda bench: toggle(bench, ids), said=lambda before, after: edit_words(before, after, span, done))


def edit_words(before: Bench, after: Bench, span: Span, done: str) -> str:
    """Description of an edit: its messages, and their tokens before and after. The new total is on the bars, once the
    plan has been run offline."""
    reached = with_pairs(before.layout.shape, range(span.start, span.stop))
    marked = (before.dropped, before.shortened) != (after.dropped, after.shortened)
    lost, short = reach(after.context, after.edits)
    done_to = (lost if done == "dropped" else short) & reached
    is_more = len(after.dropped) > len(before.dropped) or len(after.shortened) > len(before.shortened)
    if marked and is_more and not done_to:
        return f"{named(range(span.start, span.stop))} is kept: a pin has priority"
    if not is_more:
        words = f"{named(reached if done == 'dropped' else range(span.start, span.stop))} as before"
        done_to = reached
    else:
        words = f"{done} {named(done_to)}"
    return f"{words}: {figure(_cost(before, done_to))} → {figure(_cost(after, done_to))} tokens"


def _cost(bench: Bench, indexes: Collection[int]) -> int:
    """Tokens of these messages in the strategy's input: 0 if dropped, the rest if shortened."""
    edited, whole = bench.plan.edited.layout, bench.layout
    total = 0
    for index in indexes:
        at = edited.shape.index_of.get(whole.messages[index].id)
        if at is not None:
            total += edited.tokens[at + 1] - edited.tokens[at]
    return total
