"""Counterfactuals: when a limit is reached, and how much later it would be if something were different.

Computed on the session's real messages, continued without compaction: no rate is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from workbench.analysis.course import Course
from workbench.analysis.replay import sizes_without
from workbench.base.figures import grouped
from workbench.base.text import counted


class Crossing(Struct, frozen=True):
    """First call with `limit` tokens or more: its number from 1, its answer's id, its round."""

    call: int
    message: str
    round: int


class Delay(Struct, frozen=True):
    """Crossing of a limit, `before` as it was and `after` with the change; None: not within the session. `last_round`
    is the round of the last call, `last` the tokens that it is sent, `last_after` with the change."""

    limit: int
    before: Crossing | None
    after: Crossing | None
    last_round: int
    last: int
    last_after: int

    @property
    def rounds(self) -> int | None:
        """Rounds by which it comes later; the remaining rounds if it never comes."""
        if self.before is None:
            return None
        return (self.last_round if self.after is None else self.after.round) - self.before.round

    @property
    def calls(self) -> int | None:
        """Calls by which it comes later; None if one crossing is missing."""
        return None if self.before is None or self.after is None else self.after.call - self.before.call

    def __str__(self) -> str:
        """The end of a sentence: `would have delayed the overflow by 23 rounds (round 12 → 35)`."""
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
    """Return where `sizes` (one per call) first reach `limit`."""
    for number, (index, tokens) in enumerate(zip(course.calls, sizes, strict=True), 1):
        if tokens >= limit:
            return Crossing(number, course.message_of(index).id, course.round_of(index))
    return None


def delay(course: Course, sizes: Sequence[int], limit: int) -> Delay:
    """Return how much later `sizes` reach `limit` than the session did."""
    plain = course.plain
    last = course.round_of(course.calls[-1]) if len(plain) else 0
    ends = (plain[-1], sizes[-1]) if len(plain) else (0, 0)
    return Delay(limit, crossing(course, plain, limit), crossing(course, sizes, limit), last, *ends)


def delay_without(course: Course, less: Mapping[int, tuple[int, int]], limit: int) -> Delay:
    """Return how much later the limit is reached if message i had `less[i][0]` fewer tokens from message `less[i][1]`
    on."""
    return delay(course, sizes_without(course, less), limit)
