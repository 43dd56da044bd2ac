"""What strategies share in deciding and recording fates: pins with their pairs, runs of kept messages, fate spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, FateSpan, Kept
from workbench.session import Span

Saw = Literal["all", "part", "nothing"]
Layers = Sequence[tuple[Fate, Iterable[Span]]]


def pinned_with_pairs(context: Context) -> frozenset[int]:
    """Indexes of the pinned messages, with every message at the other end of their tool pairs."""
    index_of, partners = context.layout.index_of, context.layout.partners
    waiting = [index_of[id] for id in context.pins if id in index_of]
    found: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting.extend(partners.get(index, ()))
    return frozenset(found)


def kept_runs(indexes: Iterable[int]) -> list[Kept]:
    """Ascending indexes as runs of kept messages."""
    return [Kept(span.start, span.stop) for span in merged(Span(i, i + 1) for i in indexes)]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Ascending spans, those that touch made one; empty ones left out."""
    out: list[Span] = []
    for span in spans:
        if span.start >= span.stop:
            continue
        if out and out[-1].stop == span.start:
            out[-1] = Span(out[-1].start, span.stop)
        else:
            out.append(span)
    return out


def without(spans: Iterable[Span], indexes: Iterable[int]) -> list[Span]:
    """Ascending spans without the given indexes."""
    holes = sorted(indexes)
    left: list[Span] = []
    for span in spans:
        start = span.start
        for index in holes:
            if span.start <= index < span.stop:
                left.append(Span(start, index))
                start = index + 1
        left.append(Span(start, span.stop))
    return [span for span in left if span.start < span.stop]


def fate_spans(
    context: Context, layers: Layers, pins: Iterable[int], saw: Callable[[Span], Iterable[tuple[Span, Saw]]]
) -> tuple[FateSpan, ...]:
    """Paint the layers over each other, pins last; a later layer wins. The layers must cover the context together.

    `saw` divides a summarized span by what the summarizer saw of it.
    """
    painted: list[tuple[int, int, Fate]] = []
    pinned = [Span(i, i + 1) for i in sorted(pins)]
    for fate, spans in (*layers, (Fate.PINNED, pinned)):
        for span in merged(spans):
            painted = _paint(painted, span, fate)
    out: list[FateSpan] = []
    for start, stop, fate in painted:
        if fate is Fate.SUMMARIZED:
            out.extend(FateSpan(part.start, part.stop, fate, seen) for part, seen in saw(Span(start, stop)))
        else:
            out.append(FateSpan(start, stop, fate))
    return tuple(out)


def _paint(painted: list[tuple[int, int, Fate]], span: Span, fate: Fate) -> list[tuple[int, int, Fate]]:
    out: list[tuple[int, int, Fate]] = []
    for start, stop, old in painted:
        if start < span.start:
            out.append((start, min(stop, span.start), old))
        if stop > span.stop:
            out.append((max(start, span.stop), stop, old))
    out.append((span.start, span.stop, fate))
    out.sort()
    return out
