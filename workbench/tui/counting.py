"""Counting in the background, told in slices that a screen can draw."""

from __future__ import annotations

import time
from collections.abc import Callable

from workbench.bench import Bench, counted
from workbench.compaction.layout import Layout
from workbench.session import Span
from workbench.tokens import Counter

BETWEEN_S = 0.25
"""New figures at most four times a second, and never for more than a fifth of the time."""


def count_in_slices(
    bench: Bench,
    counter: Counter,
    first: Span,
    tell: Callable[[Layout, int, int], None],
    cancelled: Callable[[], bool],
) -> bool:
    """Count the bench's messages, those of `first` before all others; False when cancelled.

    `tell` gets a layout with the figures known by then, messages done, messages in all; at the end always.
    """
    messages = bench.messages
    total = len(messages)
    due = 0.0

    def progress(done: int, of: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due and done < of:
            tell(_layout(bench, counter), done, total)
            due = now + max(BETWEEN_S, 5 * (time.monotonic() - now))

    if not counter.count_all(messages[first.start : first.stop], lambda done, of: None, cancelled):
        return False
    if total > len(first):
        tell(_layout(bench, counter), len(first), total)
    if not counter.count_all(messages, progress, cancelled):
        return False
    tell(_layout(bench, counter), total, total)
    return True


def _layout(bench: Bench, counter: Counter) -> Layout:
    """The bench's layout with what is counted. Measures the plan once, so that sums are made and the tokenizer is
    loaded here and not where the screen is drawn."""
    fresh = counted(bench, counter)
    fresh.context.outcome_size(fresh.plan.outcome)
    return fresh.layout
