"""Fates painted over each other, one cell a message: linear in the context, whatever the number of strokes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.compaction.fates import Saw, merged
from workbench.compaction.outcome import Fate, FateSpan
from workbench.session import Span

_FATES = tuple(Fate)
_SAWS: tuple[Saw, ...] = ("nothing", "part", "all")
_RUN = re.compile(rb"(.)\1*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stroke:
    """These messages have this fate; a later stroke covers an earlier one."""

    fate: Fate
    spans: Iterable[Span]
    saw: Saw = "nothing"


def painted(count: int, strokes: Iterable[Stroke]) -> tuple[FateSpan, ...]:
    """The fates of `count` messages. What no stroke reaches is dropped."""
    cells = bytearray([_code(Fate.DROPPED, "nothing")]) * count
    for stroke in strokes:
        paint = bytes([_code(stroke.fate, stroke.saw)])
        for span in stroke.spans:
            cells[span.start : span.stop] = paint * len(span)
    return tuple(_span(run.start(), run.end(), cells[run.start()]) for run in _RUN.finditer(cells))


def each(indexes: Iterable[int]) -> list[Span]:
    """Ascending indexes as spans."""
    return merged(Span(index, index + 1) for index in indexes)


def _code(fate: Fate, saw: Saw) -> int:
    return _FATES.index(fate) * len(_SAWS) + _SAWS.index(saw)


def _span(start: int, stop: int, code: int) -> FateSpan:
    fate, saw = divmod(code, len(_SAWS))
    return FateSpan(start, stop, _FATES[fate], _SAWS[saw])
