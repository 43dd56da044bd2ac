"""Comparison of two outcomes of the same context: messages kept by both, by one, or by neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome

ComparedFate = Literal["gone", "shortened", "kept"]
_FATES: tuple[ComparedFate, ...] = ("gone", "shortened", "kept")


@dataclass(frozen=True, slots=True)
class FatePair:
    """Messages `start` to `stop` of the input with the same fate in the first outcome, and in the second."""

    start: int
    stop: int
    first: ComparedFate
    second: ComparedFate

    def __len__(self) -> int:
        return self.stop - self.start


def compare_fates(first: Outcome, second: Outcome) -> Iterator[FatePair]:
    """Yield all messages as runs with the same pair of fates. Both outcomes must be of the same messages. Linear."""
    one, other = _fates(first), _fates(second)
    start = 0
    for at in range(1, len(one) + 1):
        if at == len(one) or (one[at], other[at]) != (one[start], other[start]):
            yield FatePair(start, at, _FATES[one[start]], _FATES[other[start]])
            start = at


def shortened_messages(outcome: Outcome) -> dict[int, NewMessage]:
    """Return shortened replacements of single messages, by index of the original."""
    found = {}
    for piece in outcome.pieces:
        if isinstance(piece, NewMessage) and (index := _of_one(outcome, piece)) is not None:
            found[index] = piece
    return found


def added_messages(outcome: Outcome) -> tuple[NewMessage, ...]:
    """Return the new messages: summaries and others that replace several messages or none."""
    made = (piece for piece in outcome.pieces if isinstance(piece, NewMessage))
    return tuple(piece for piece in made if _of_one(outcome, piece) is None)


def _of_one(outcome: Outcome, piece: NewMessage) -> int | None:
    spans = piece.replaces
    if len(spans) != 1 or len(spans[0]) != 1 or outcome.fate_at(spans[0].start).fate is not Fate.COMPRESSED:
        return None
    return spans[0].start


def _fates(outcome: Outcome) -> bytearray:
    """Return for each message the index of its fate in `_FATES`."""
    cells = bytearray(len(outcome.source))
    for piece in outcome.pieces:
        if isinstance(piece, KeptSpan):
            cells[piece.start : piece.stop] = b"\2" * (piece.stop - piece.start)
    for index in shortened_messages(outcome):
        cells[index] = 1
    return cells
