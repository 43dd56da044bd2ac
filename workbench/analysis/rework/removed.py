"""Text that each recorded compaction of a course removed from the context, by line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Set

from workbench.analysis.course import Course
from workbench.analysis.mentions import texts
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.session import Message

SAME = 0.8
"""Least share of common lines of two texts that count as the same."""

_GUTTER = re.compile(r"^(?:[^\s:]{1,200}:)?\s*\d+(?:[\t→|:│-]| {2}| \| ?)")
"""Line number, with or without the file's name, before a shown line."""
_WRAPPING = re.compile(
    r"^(?:chunk id:|wall time|process (?:exited|running) with|original token count|total output lines|output:?$|"
    r"exit code|exit_code|\[showing results with pagination|</?[\w-]{2,30}>$)",
    re.IGNORECASE,
)
_SAYS = re.compile(r"(?:[^\W_][\W_]*){3}")
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(r"\b\d+(?:[.:]\d+)*\s?(?:ms|µs|s|secs?|seconds?|min|minutes?)\b|\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b")


def lines_of(text: str) -> frozenset[str]:
    """Return the meaningful lines of a text, without line numbers and with every duration replaced by `T`."""
    found = (_GUTTER.sub("", line).strip() for line in text.split("\n"))
    prose = (line for line in found if _SAYS.search(line) and not _WRAPPING.match(line))
    return frozenset(_CLOCK.sub("T", line) if _DIGIT.search(line) else line for line in prose)


class RemovedText:
    """Lookup of the compaction that removed a text. Epochs are numbered from 0, the first of the course."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._left: dict[int, frozenset[str]] = {}
        self._lines: dict[int, tuple[Message, frozenset[str]]] = {}

    def epoch_of(self, index: int) -> int:
        """Return the epoch of message `index`."""
        return bisect_right(self._course.starts, index) - 1

    def between(self, index: int, later: int) -> bool:
        """True if a compaction lies between two messages."""
        return self.epoch_of(index) < self.epoch_of(later)

    def by(self, index: int, lines: Set[str], later: int) -> int | None:
        """Return the epoch whose compaction removed `lines` of message `index` before message `later`; None if the
        agent kept them or inserted them again. Lines in a summary count as removed."""
        for epoch in range(self.epoch_of(index), self.epoch_of(later)):
            if len(lines & self._left_after(epoch)) < SAME * len(lines):
                return epoch
        return None

    def _left_after(self, epoch: int) -> frozenset[str]:
        """Return the lines of the context right after a compaction, except those of summaries."""
        if epoch not in self._left:
            session, number = self._course.session, self._course.numbers[epoch]
            messages = recorded_outcome(session, number).messages if session.epochs[number - 1].ended_by else ()
            self._left[epoch] = frozenset[str]().union(*(self._in(one) for one in messages if one.kind != "summary"))
        return self._left[epoch]

    def _in(self, message: Message) -> frozenset[str]:
        """Return the lines of a message, cached by identity: most survive several compactions."""
        if id(message) not in self._lines:
            self._lines[id(message)] = message, frozenset[str]().union(*map(lines_of, texts(message)))
        return self._lines[id(message)][1]
