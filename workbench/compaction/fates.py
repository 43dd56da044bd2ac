"""Fates painted over each other, one cell a message: linear in the context, whatever the number of strokes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workbench.compaction.outcome import Fate, FateSpan
from workbench.session import Span

Saw = Literal["all", "part", "nothing"]

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
            cells[span.start : span.stop] = paint * (span.stop - span.start)
    return tuple([FateSpan(run.start(), run.end(), *_MEANING[cells[run.start()]]) for run in _RUN.finditer(cells)])


def _code(fate: Fate, saw: Saw) -> int:
    return _FATES.index(fate) * len(_SAWS) + _SAWS.index(saw)


_MEANING = [(fate, saw) for fate in _FATES for saw in _SAWS]
