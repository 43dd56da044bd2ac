"""Paint fates over each other, one cell per message. Time is linear in the context, whatever the number of strokes."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from workbench.compaction.outcome import Fate, FateSpan
from workbench.session import Span

Saw = Literal["all", "part", "nothing"]

_FATES = tuple(Fate)
_SAWS: tuple[Saw, ...] = ("nothing", "part", "all")
_RUN = re.compile(rb"(.)\1*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stroke:
    """A fate for some messages; a later stroke covers an earlier one."""

    fate: Fate
    spans: Iterable[Span]
    saw: Saw = "nothing"


def painted(count: int, strokes: Iterable[Stroke]) -> tuple[FateSpan, ...]:
    """Fates of `count` messages. Messages without a stroke are dropped."""
    cells = _cells(bytearray([_code(Fate.DROPPED, "nothing")]) * count, strokes)
    return tuple(_runs(cells, 0, count))


class Painting:
    """Fates of `count` messages as spans that can be painted over repeatedly, each time in O(spans touched)."""

    def __init__(self, count: int, strokes: Iterable[Stroke]) -> None:
        self._cells = _cells(bytearray([_code(Fate.DROPPED, "nothing")]) * count, strokes)
        self.fates = tuple(_runs(self._cells, 0, count))
        self._stops = array("q", [span.stop for span in self.fates])

    def over(self, strokes: Iterable[Stroke]) -> tuple[FateSpan, ...]:
        """Fates with these strokes painted over them."""
        known = [replace(stroke, spans=[span for span in stroke.spans if len(span)]) for stroke in strokes]
        cells = _cells(self._cells.copy(), known)
        found: list[FateSpan] = []
        done = 0
        for first, last in self._reached(span for stroke in known for span in stroke.spans):
            found += self.fates[done:first]
            found += _runs(cells, self.fates[first].start, self.fates[last].stop)
            done = last + 1
        return (*found, *self.fates[done:])

    def _reached(self, spans: Iterable[Span]) -> list[tuple[int, int]]:
        """First and last fate span of every range that strokes overlap or touch; other spans cannot join."""
        ranges: list[tuple[int, int]] = []
        for span in sorted(spans, key=lambda one: one.start):
            first = bisect_right(self._stops, max(span.start - 1, 0))
            last = min(bisect_right(self._stops, span.stop), len(self.fates) - 1)
            if ranges and first <= ranges[-1][1]:
                before = ranges.pop()
                first, last = before[0], max(before[1], last)
            ranges.append((first, last))
        return ranges


def _cells(cells: bytearray, strokes: Iterable[Stroke]) -> bytearray:
    for stroke in strokes:
        paint = bytes([_code(stroke.fate, stroke.saw)])
        for span in stroke.spans:
            cells[span.start : span.stop] = paint * (span.stop - span.start)
    return cells


def _runs(cells: bytearray, start: int, stop: int) -> list[FateSpan]:
    return [
        FateSpan(run.start(), run.end(), *_MEANING[cells[run.start()]]) for run in _RUN.finditer(cells, start, stop)
    ]


def _code(fate: Fate, saw: Saw) -> int:
    return _FATES.index(fate) * len(_SAWS) + _SAWS.index(saw)


_MEANING = [(fate, saw) for fate in _FATES for saw in _SAWS]
