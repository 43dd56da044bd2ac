"""Two outcomes of the same context beside each other: which messages both keep, only one, or neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome

Fare = Literal["gone", "shortened", "kept"]
_FARES: tuple[Fare, ...] = ("gone", "shortened", "kept")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages `start`..`stop` of the input that fare alike in the first outcome, and alike in the second."""

    start: int
    stop: int
    first: Fare
    second: Fare

    def __len__(self) -> int:
        return self.stop - self.start


def stretches(first: Outcome, second: Outcome) -> Iterator[Stretch]:
    """The input from its beginning to its end. Both outcomes must be of the same messages; linear in them."""
    one, other = _fares(first), _fares(second)
    start = 0
    for at in range(1, len(one) + 1):
        if at == len(one) or (one[at], other[at]) != (one[start], other[start]):
            yield Stretch(start, at, _FARES[one[start]], _FARES[other[start]])
            start = at


def shortened(outcome: Outcome) -> dict[int, NewMessage]:
    """What stands for a message in fewer words, by the message's index."""
    found = {}
    for piece in outcome.pieces:
        if isinstance(piece, NewMessage) and (index := _of_one(outcome, piece)) is not None:
            found[index] = piece
    return found


def added(outcome: Outcome) -> tuple[NewMessage, ...]:
    """The messages that are new: summaries, and whatever else stands for several or for none."""
    made = (piece for piece in outcome.pieces if isinstance(piece, NewMessage))
    return tuple(piece for piece in made if _of_one(outcome, piece) is None)


def _of_one(outcome: Outcome, piece: NewMessage) -> int | None:
    spans = piece.stands_for
    if len(spans) != 1 or len(spans[0]) != 1 or outcome.fate_at(spans[0].start).fate is not Fate.COMPRESSED:
        return None
    return spans[0].start


def _fares(outcome: Outcome) -> bytearray:
    """By message the place of its fare in `_FARES`."""
    cells = bytearray(len(outcome.source))
    for piece in outcome.pieces:
        if isinstance(piece, KeptSpan):
            cells[piece.start : piece.stop] = b"\2" * (piece.stop - piece.start)
    for index in shortened(outcome):
        cells[index] = 1
    return cells
