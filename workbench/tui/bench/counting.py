"""Counting in a thread, with figures drawn as they become known; then the session's epochs and recorded usage."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.analysis.timeline import facts_lost, rework_counts, sizes_at_end, timeline
from workbench.bench import Bench, with_counts
from workbench.compaction.context import Layout
from workbench.formats import load_cache
from workbench.session import Span
from workbench.tokens import Counter, to_weigh, weights
from workbench.tui.bench.host import Host
from workbench.tui.bench.store import BenchView, is_drawable, to_count
from workbench.tui.rows import Groups

if TYPE_CHECKING:
    from workbench.analysis.usage_check import UsageCheck

BETWEEN_S = 0.25
"""Seconds between two updates of the counting progress."""

LAY_OUT_S = 1e-4
"""Seconds per message between two layouts with new figures. Making a layout takes about a tenth of that."""

MANY = 10_000
"""Most messages of a session that is searched for the lost facts and the rework of each compaction. With more, the
search takes seconds."""


def count(host: Host) -> None:
    """Count the epoch's tokens, those on the screen first; figures appear at most four times a second."""
    host.spawn("count", count_from, host, host.on_screen)


async def count_from(host: Host, first: Span) -> None:
    bench = host.store.bench
    is_stopped = threading.Event()

    def is_current() -> bool:
        """False once this count is cancelled or another session is on the bench: queued callbacks must do nothing."""
        return not is_stopped.is_set() and host.store.bench.session is bench.session

    def report_layout(layout: Layout, done: int, total: int) -> None:
        host.call_later(put_layout, layout, Groups(layout), done, total)

    def put_layout(layout: Layout, groups: Groups, done: int, total: int) -> None:
        if is_current():
            host.store.counted(bench.epoch, layout, groups, done, total)

    def report_progress(done: int, total: int) -> None:
        host.call_later(put_progress, (done, total))

    def put_progress(counting: tuple[int, int] | None) -> None:
        if is_current() and host.store.view.counting != counting:
            host.store.put(replace(host.store.view, counting=counting))

    def work() -> None:
        known = to_count(bench) is None
        counted = known or count_in_slices(
            bench, host.counter, first, report_layout, report_progress, is_stopped.is_set
        )
        if counted and not bench.session.begins_at:
            from workbench.analysis.course import growth_messages

            host.counter.count_all(growth_messages(bench.session), lambda done, of: None, is_stopped.is_set)

    try:
        await asyncio.to_thread(work)
    except asyncio.CancelledError:
        is_stopped.set()
        raise
    host.call_later(put_progress, None)  # hide the progress, also if everything was counted elsewhere
    if not bench.session.begins_at:
        host.call_later(_use_counts, host)  # after the last figures


def _use_counts(host: Host) -> None:
    """Start everything that needs the counts of all epochs."""
    show_epochs(host)
    host.spawn("bills", _check_usage, host)
    if all(one.lost is None for one in host.store.view.epochs) and len(host.store.bench.session.messages) <= MANY:
        host.spawn("losses", _find_losses, host)


def stop_counting(host: Host) -> None:
    host.cancel("count")
    note = "counting stopped: figures marked ~ are estimates"
    host.store.put(replace(host.store.view, counting=None, note=note))
    show_epochs(host)


def show_epochs(host: Host) -> None:
    """Compute the epochs and the verdict in a thread; does nothing while only the end of the session is read."""
    if not host.store.bench.session.begins_at:
        host.spawn("epochs", _compute_epochs, host)


def follow_epoch(host: Host, was: BenchView | None, now: BenchView) -> None:
    """Compute the verdict again when another epoch is on the bench."""
    if was is not None and was.bench.epoch != now.bench.epoch:
        show_epochs(host)


async def _compute_epochs(host: Host) -> None:
    """Put the epochs with the sizes known so far; with all counts also the verdict."""
    bench, counted, usage_check = host.store.bench, host.store.view.counting is None, host.store.view.usage_check

    def work() -> tuple[tuple[int, ...], str]:
        sizes = sizes_at_end(bench.session, host.counter, bench.scale)
        if not counted:
            return sizes, ""
        from workbench.analysis.course import growth
        from workbench.analysis.why.breakdown import causes, verdict
        from workbench.analysis.why.diagnosis import limit_of
        from workbench.analysis.why.overflow import rejected_requests

        points = growth(bench.session, host.counter, bench.scale)
        limit = limit_of(bench.context, bench.session, bench.epoch, points, rejected_requests(bench.session))
        return sizes, verdict(bench.context, limit, causes(bench.context))

    sizes, why = await asyncio.to_thread(work)
    view = host.store.view
    if view.usage_check is not usage_check:  # every epoch was counted meanwhile: the view's sizes are newer
        sizes = tuple(one.tokens for one in view.epochs)
    losses = {one.number: one.lost for one in view.epochs}
    again = {one.number: one.again for one in view.epochs}
    epochs = timeline(bench.session, sizes, losses, again)
    host.store.put(replace(view, epochs=epochs, verdict=why))


MOST_EPOCHS = 12
"""Number of compactions, the newest ones, whose lost facts are searched."""


async def _find_losses(host: Host) -> None:
    """Find the rework after each recorded compaction and what each lost, the newest first."""
    session, counter = host.store.bench.session, host.counter
    ended = [epoch.number for epoch in session.epochs[:-1] if epoch.ended_by is not None]
    if not ended:
        return
    again = await asyncio.to_thread(rework_counts, session, counter)
    known: dict[int, int | None] = {}
    for number in reversed(ended[-MOST_EPOCHS:]):
        known[number] = await asyncio.to_thread(facts_lost, session, number, counter)
        if session is not host.store.bench.session:
            return
        view = host.store.view
        sizes = [one.tokens for one in view.epochs]
        host.store.put(replace(view, epochs=timeline(session, sizes, known, again)))


async def _check_usage(host: Host) -> None:
    """Check whether the context explains the billed tokens, which needs the counts of the other epochs."""
    session, scale, is_stopped = host.store.bench.session, host.store.bench.scale, threading.Event()

    def work() -> tuple[UsageCheck, tuple[int, ...]] | None:
        from workbench.analysis.course import course_messages
        from workbench.analysis.usage_check import check_usage

        if not host.counter.count_all(course_messages(session), lambda done, of: None, is_stopped.is_set):
            return None
        return check_usage(session, host.counter), sizes_at_end(session, host.counter, scale)

    try:
        found = await asyncio.to_thread(work)
    except asyncio.CancelledError:
        is_stopped.set()
        raise
    if found is not None and session is host.store.bench.session:
        usage_check, sizes = found
        epochs = tuple(replace(one, tokens=size) for one, size in zip(host.store.view.epochs, sizes, strict=False))
        host.store.put(replace(host.store.view, usage_check=usage_check, epochs=epochs))
        host.spawn("keep", _cache_counts, host)


async def _cache_counts(host: Host) -> None:
    """Save a large session as read, with its counts, for the next time it is opened."""
    session = host.store.bench.session
    await asyncio.to_thread(load_cache.store, session)
    await asyncio.to_thread(weights.keep, session, host.counter)


def count_in_slices(
    bench: Bench,
    counter: Counter,
    first: Span,
    report_layout: Callable[[Layout, int, int], None],
    report_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> bool:
    """Count the bench's messages, those of `first` before all others; False when cancelled.

    `report_layout` gets a layout with the figures so far, the number of counted messages, and of all; it is always
    called at the end. `report_progress` gets the two numbers alone, between these calls.
    """
    messages = bench.messages
    total = len(messages)
    between = max(BETWEEN_S, total * LAY_OUT_S)
    now = time.monotonic()
    layout_due, due = now + between - BETWEEN_S, now

    def progress(done: int, of: int) -> None:
        nonlocal layout_due, due
        if done >= total:
            return
        now = time.monotonic()
        if now >= layout_due:
            report_layout(_layout(bench, counter), done, total)
            due = time.monotonic() + BETWEEN_S
            layout_due = due - BETWEEN_S + between
        elif now >= due:
            report_progress(done, total)
            due = now + BETWEEN_S

    if not counter.count_all(messages[first.start : first.stop], lambda done, of: None, cancelled):
        return False
    progress(len(first), total)
    if not counter.count_all(messages, progress, cancelled):
        return False
    if not counter.count_all(to_weigh(bench.session, bench.epoch), lambda done, of: None, cancelled):
        return False
    report_layout(_layout(bench, counter), total, total)
    return True


def _layout(bench: Bench, counter: Counter) -> Layout:
    """Layout of the bench with the counts so far. If the screen would plan with it at once, its outcome is measured
    here, in the thread, so that sums are cached and the tokenizer is loaded."""
    fresh = with_counts(bench, counter)
    if bench.is_planned and is_drawable(fresh):
        fresh.context.outcome_size(fresh.plan.outcome)
    return fresh.layout
