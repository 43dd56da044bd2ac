"""Compose two compactions into one: express the second, which worked on the output of the first, over the first one's
input.

A ladder recounts after every rung, so each rung works on the output of the one before; its outcome must still describe
the messages of the session.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.compaction.fates import Saw, Stroke, painted
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, Piece
from workbench.session import Span


def composed(first: Outcome, second: Outcome) -> Outcome:
    """Rewrite `second`, whose source is `first.messages`, as an outcome over `first.source`.

    Status and reason are the second's; rungs and traces are joined. Messages that the first kept have the second's
    fate. So do messages that it shortened, unless the second kept them. Messages that it summarized or dropped keep
    that fate. O(pieces and fates), not messages.
    """
    origins = SourceMap(first)
    return replace(
        second,
        source=first.source,
        pieces=_pieces(origins, second),
        fates=painted(len(first.source), _strokes(origins, second)),
        rungs=(*first.rungs, *second.rungs),
        memories=first.memories if second.memories is None else second.memories,
        trace=(*first.trace, *second.trace),
        tail=None if second.tail is None else origins.index(second.tail),
    )


@dataclass(frozen=True)
class SourceMap:
    """Map from the messages of an outcome to those of its source."""

    outcome: Outcome

    @cached_property
    def _starts(self) -> list[int]:
        """Output index at which each piece begins."""
        starts, at = [], 0
        for piece in self.outcome.pieces:
            starts.append(at)
            at += piece.stop - piece.start if isinstance(piece, KeptSpan) else 1
        return starts

    def parts(self, start: int, stop: int) -> Iterator[Piece]:
        """Pieces, cut to size, that produce messages `start`..`stop` of the output."""
        number = max(0, bisect_right(self._starts, start) - 1)
        while start < stop and number < len(self.outcome.pieces):
            piece, began = self.outcome.pieces[number], self._starts[number]
            if isinstance(piece, KeptSpan):
                last = min(piece.stop, piece.start + stop - began)
                yield KeptSpan(piece.start + start - began, last)
                start = began + last - piece.start
            else:
                yield piece
                start += 1
            number += 1

    def index(self, place: int) -> int:
        """Source index of the message at `place` of the output; the number of source messages for its end."""
        for part in self.parts(place, place + 1):
            if isinstance(part, KeptSpan):
                return part.start
            if part.replaces:
                return part.replaces[0].start
        return len(self.outcome.source)


def _pieces(origins: SourceMap, second: Outcome) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for piece in second.pieces:
        if isinstance(piece, NewMessage):
            replaced = (span for span in piece.replaces for span in _sources_of(origins, span))
            pieces.append(NewMessage(piece.message, tuple(_union(replaced))))
            continue
        for part in origins.parts(piece.start, piece.stop):
            last = pieces[-1] if pieces else None
            if isinstance(part, KeptSpan) and isinstance(last, KeptSpan) and last.stop == part.start:
                pieces[-1] = KeptSpan(last.start, part.stop)
            else:
                pieces.append(part)
    return tuple(pieces)


def _sources_of(origins: SourceMap, span: Span) -> Iterator[Span]:
    for part in origins.parts(span.start, span.stop):
        if isinstance(part, KeptSpan):
            yield Span(part.start, part.stop)
        else:
            yield from part.replaces


def _union(spans: Iterable[Span]) -> list[Span]:
    out: list[Span] = []
    for span in sorted(spans, key=lambda one: one.start):
        if out and span.start <= out[-1].stop:
            out[-1] = Span(out[-1].start, max(out[-1].stop, span.stop))
        else:
            out.append(span)
    return out


def _strokes(origins: SourceMap, second: Outcome) -> Iterator[Stroke]:
    for span in origins.outcome.fates:
        yield Stroke(span.fate, (Span(span.start, span.stop),), span.saw)
    for span in second.fates:
        for part in origins.parts(span.start, span.stop):
            if isinstance(part, KeptSpan):
                yield Stroke(span.fate, (Span(part.start, part.stop),), span.saw)
            elif _compressed(origins.outcome, part) and span.fate not in (Fate.KEPT, Fate.PINNED):
                yield Stroke(span.fate, part.replaces, _saw_at_most_part(span))


def _compressed(first: Outcome, piece: NewMessage) -> bool:
    """True if the piece is one shortened message, not a summary."""
    spans = piece.replaces
    return len(spans) == 1 and len(spans[0]) == 1 and first.fate_at(spans[0].start).fate is Fate.COMPRESSED


def _saw_at_most_part(span: FateSpan) -> Saw:
    return "part" if span.saw == "all" else span.saw
