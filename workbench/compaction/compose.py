"""Two compactions one after another, told as one: what the second did to the first one's output, in words of the input.

A ladder recounts after every rung, so each rung works on what the one before left; its outcome must still speak of the
messages that the session holds (spec/strategies.md, What holds §3: fates add up, through generations).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.compaction.outcome import Kept, Made, Outcome, Piece
from workbench.compaction.painting import Stroke, each, painted
from workbench.session import Span


def composed(first: Outcome, second: Outcome) -> Outcome:
    """`second`, whose source is `first.messages`, as an outcome over `first.source`.

    Status and reason are the second's; rungs and traces are joined. What the first kept has the fate that the second
    gave it; what it did not keep has its own for good. O(messages).
    """
    stood: list[int | Made] = []
    for piece in first.pieces:
        if isinstance(piece, Kept):
            stood.extend(range(piece.start, piece.stop))
        else:
            stood.append(piece)
    return replace(
        second,
        source=first.source,
        pieces=_pieces(first, second, stood),
        fates=painted(len(first.source), _strokes(first, second, stood)),
        rungs=(*first.rungs, *second.rungs),
        memories=first.memories if second.memories is None else second.memories,
        trace=(*first.trace, *second.trace),
    )


def _pieces(first: Outcome, second: Outcome, stood: Sequence[int | Made]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for piece in second.pieces:
        if isinstance(piece, Made):
            behind = {i for at in _indexes(piece.stands_for) for i in _indexes(first.provenance[at])}
            pieces.append(Made(piece.message, tuple(each(sorted(behind)))))
            continue
        for was in stood[piece.start : piece.stop]:
            last = pieces[-1] if pieces else None
            if isinstance(was, Made):
                pieces.append(was)
            elif isinstance(last, Kept) and last.stop == was:
                pieces[-1] = Kept(last.start, was + 1)
            else:
                pieces.append(Kept(was, was + 1))
    return tuple(pieces)


def _strokes(first: Outcome, second: Outcome, stood: Sequence[int | Made]) -> Iterator[Stroke]:
    for span in first.fates:
        yield Stroke(span.fate, (Span(span.start, span.stop),), span.saw)
    for span in second.fates:
        originals = (was for was in stood[span.start : span.stop] if isinstance(was, int))
        yield Stroke(span.fate, each(originals), span.saw)


def _indexes(spans: Iterable[Span]) -> Iterator[int]:
    return (index for span in spans for index in range(span.start, span.stop))
