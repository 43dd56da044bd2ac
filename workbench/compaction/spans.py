"""Sets of messages as ascending spans of indexes. Everything here is linear in its input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from workbench.compaction.outcome import KeptSpan, NewMessage, Piece
from workbench.session import Message, Span


def spans_of(indexes: Iterable[int]) -> list[Span]:
    """Ascending indexes as spans."""
    out: list[Span] = []
    start = stop = -1
    for index in indexes:
        if index != stop:
            if start >= 0:
                out.append(Span(start, stop))
            start = index
        stop = index + 1
    if start >= 0:
        out.append(Span(start, stop))
    return out


def indexes_of(spans: Iterable[Span]) -> Iterator[int]:
    """Indexes in these spans, in order."""
    return (index for span in spans for index in range(span.start, span.stop))


def merge_adjacent(spans: Iterable[Span]) -> list[Span]:
    """Ascending spans with adjacent ones joined and empty ones removed."""
    out: list[Span] = []
    start = stop = -1
    for span in spans:
        if span.start >= span.stop:
            continue
        if span.start != stop:
            if start >= 0:
                out.append(Span(start, stop))
            start = span.start
        stop = span.stop
    if start >= 0:
        out.append(Span(start, stop))
    return out


def joined(spans: Iterable[Span], more: Iterable[int]) -> list[Span]:
    """Ascending spans plus further indexes outside them, as ascending spans."""
    return merge_adjacent(sorted((*spans, *spans_of(sorted(more))), key=lambda span: span.start))


def without(spans: Iterable[Span], indexes: Iterable[int]) -> list[Span]:
    """Ascending spans without these indexes."""
    holes = iter(sorted(indexes))
    hole = next(holes, None)
    left: list[Span] = []
    for span in spans:
        start = span.start
        while hole is not None and hole < span.stop:
            if hole >= start:
                left.append(Span(start, hole))
                start = hole + 1
            hole = next(holes, None)
        left.append(Span(start, span.stop))
    return [span for span in left if span.start < span.stop]


def kept_pieces(spans: Iterable[Span]) -> list[KeptSpan]:
    """Pieces that keep these messages unchanged; none for an empty span."""
    return [KeptSpan(span.start, span.stop) for span in spans if span.start < span.stop]


def pieces_in_place(span: Span, new: Mapping[int, Message], replaced: Set[int] = frozenset()) -> list[Piece]:
    """Pieces of the messages `span`, with the replacements `new` (by index) in place and without the other indexes in
    `replaced`."""
    pieces: list[Piece] = []
    here = span.start
    for index in sorted(new.keys() | replaced):
        if here < index:
            pieces.append(KeptSpan(here, index))
        if index in new:
            pieces.append(NewMessage(new[index], (Span(index, index + 1),)))
        here = index + 1
    if here < span.stop:
        pieces.append(KeptSpan(here, span.stop))
    return pieces
