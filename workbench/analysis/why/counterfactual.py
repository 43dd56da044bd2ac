"""Counterfactuals: the call that reaches a limit, and its delay by a change of the context.

Computed on all recorded messages as if the session had never been compacted; no growth is extrapolated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from workbench.analysis.course import Course
from workbench.analysis.replay import sizes_without
from workbench.base.figures import grouped
from workbench.base.text import counted


class Crossing(Struct, frozen=True):
    """First call that reaches a limit: its number from 1, the id of its answer, and its round."""

    call: int
    message: str
    round: int


class Delay(Struct, frozen=True):
    """Crossing of a limit without the change (`before`) and with it (`after`); None if the session does not reach the
    limit. `last_round` is the round of the last call; `last` is its size in tokens, `last_after` its size with the
    change."""

    limit: int
    before: Crossing | None
    after: Crossing | None
    last_round: int
    last: int
    last_after: int

    @property
    def rounds(self) -> int | None:
        """Rounds by which the limit is reached later; the remaining rounds if the change avoids it. None if the session
        does not reach it."""
        if self.before is None:
            return None
        return (self.last_round if self.after is None else self.after.round) - self.before.round

    @property
    def calls(self) -> int | None:
        """Calls by which the limit is reached later; None if either crossing is missing."""
        return None if self.before is None or self.after is None else self.after.call - self.before.call

    def __str__(self) -> str:
        """End of a sentence: `would have delayed the overflow by 23 rounds (round 12 → 35)`."""
        if self.before is None:
            return f"would have left the last call at {self._ends}"
        if self.after is None and (self.rounds or 0) <= 1:
            return f"would have kept the session's last call below the limit, at {self._ends}"
        if self.after is None:
            later = counted(self.rounds or 0, "round")
            left = f"for the remaining {later}"
            return f"would have avoided the overflow {left}, the last call at {self._ends}"
        if self.after.call <= self.before.call:
            return "would not have delayed the overflow by a single call"
        if self.rounds:
            where = f"round {self.before.round} → {self.after.round}"
            return f"would have delayed the overflow by {counted(self.rounds, 'round')} ({where})"
        return f"would have delayed the overflow by {counted(self.calls or 0, 'call')} (in the same round)"

    @property
    def _ends(self) -> str:
        return f"{grouped(self.last_after)} tokens instead of {grouped(self.last)} without a compaction"


def crossing(course: Course, sizes: Sequence[int], limit: int) -> Crossing | None:
    """Return the first call at which `sizes` (one per call) reach `limit`; None if they do not."""
    for number, (index, tokens) in enumerate(zip(course.calls, sizes, strict=True), 1):
        if tokens >= limit:
            return Crossing(number, course.message_of(index).id, course.round_of(index))
    return None


def delay(course: Course, sizes: Sequence[int], limit: int) -> Delay:
    """Return the delay with which `sizes` reach `limit`, compared with the session without compaction."""
    plain = course.plain
    last = course.round_of(course.calls[-1]) if len(plain) else 0
    ends = (plain[-1], sizes[-1]) if len(plain) else (0, 0)
    return Delay(limit, crossing(course, plain, limit), crossing(course, sizes, limit), last, *ends)


def delay_without(course: Course, less: Mapping[int, tuple[int, int]], limit: int) -> Delay:
    """Return the delay of the limit if message i had `less[i][0]` fewer tokens from message `less[i][1]` on."""
    return delay(course, sizes_without(course, less), limit)
