"""Overflow of a session: rejected requests, the epoch that overflowed, and the call that reaches a limit.

The delay of that call by a change of the context is computed on all recorded messages, as if the session had never been
compacted; no growth is extrapolated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from workbench.analysis.course import Course, sizes_without
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction.opening import epoch_of
from workbench.session import EpochChoice, Message, Session
from workbench.session.api_errors import TOO_LONG
from workbench.tokens.window import window_of

SHORT = 800
"""Longest error text, in characters; a longer text only mentions an error."""


class RejectedRequest(Struct, frozen=True):
    """Recorded rejection. `member` is the index in `Session.messages` of the error, or of the newest message before it
    if the error is no message; None if unknown."""

    text: str
    message: str | None = None
    member: int | None = None
    time: float | None = None


def rejected_requests(session: Session) -> tuple[RejectedRequest, ...]:
    """Return every rejection that the session records, in order.

    Sources: the format's list of such errors, the run's exit status, and short texts that neither the user typed nor a
    tool returned.
    """
    place = {message.id: index for index, message in enumerate(session.messages)}
    found: dict[str, RejectedRequest] = {}
    for error in session.facts.overflow_errors:
        at = _place_of(session, place.get(error.id), error.time)
        named = session.messages[at].id if at is not None else None
        found[error.id or str(len(found))] = RejectedRequest(" ".join(error.text.split()), named, at, error.time)
    for index, message in enumerate(session.messages):
        if message.id not in found and _is_error(message):
            found[message.id] = RejectedRequest(" ".join(message.text.split()), message.id, index, message.time)
    status = session.facts.exit_status
    if TOO_LONG.search(status) and session.messages:
        found["exit status"] = RejectedRequest(
            f"exit status {status}", session.messages[-1].id, len(session.messages) - 1
        )
    return tuple(sorted(found.values(), key=lambda one: len(place) if one.member is None else one.member))


def overflowed_epoch(session: Session) -> int:
    """Return the number of the newest epoch that ended in a compaction, had a rejected request, or exceeded the window;
    of the last epoch if none did."""
    refused = {one.member for one in rejected_requests(session)}
    for epoch in reversed(session.epochs):
        window = window_of(session, epoch.number)
        largest = max((session.messages[index].bill for index in epoch.members), default=0)
        over = window is not None and largest > window.tokens
        if epoch.ended_by is not None or over or (refused and not refused.isdisjoint(epoch.members)):
            return epoch.number
    return len(session.epochs)


def epoch_named(session: Session, epoch: EpochChoice) -> int:
    """Return the number of a chosen epoch. None, the default of the screen and the commands, means `overflowed_epoch`;
    "last" means the newest, in which the agent continues. Raises BadInput if there is no such epoch."""
    if epoch is None:
        return overflowed_epoch(session)
    return epoch_of(session, None if epoch == "last" else epoch)


def _is_error(message: Message) -> bool:
    if message.usage is not None or message.starts_round or message.calls or message.results:
        return False
    text = message.text
    return message.kind in ("normal", "meta") and 0 < len(text) <= SHORT and TOO_LONG.search(text[:300]) is not None


def _place_of(session: Session, known: int | None, time: float | None) -> int | None:
    """Return `known`, the index of an error, or the index of the newest message before `time`; None if unknown."""
    if known is not None or time is None:
        return known
    before = [i for i, message in enumerate(session.messages) if message.time is not None and message.time <= time]
    return before[-1] if before else None


class OverflowLimit(Struct, frozen=True):
    """Tokens at which a context counts as overflowing, and their source: the agent compacted there, the API rejected
    the next request, or it is the window. `context` is the whole context when the agent compacted or the API rejected
    the request, and may exceed `tokens`, the last recorded size; None for a window."""

    tokens: int
    why: str
    by: Literal["agent", "refusal", "window"]
    context: int | None = None

    @property
    def ended(self) -> bool:
        """True if the agent compacted there, possibly after the epoch's last call."""
        return self.by == "agent"


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
        """Rounds by which the change delays the limit; the remaining rounds if it avoids the limit. None if the session
        does not reach it."""
        if self.before is None:
            return None
        return (self.last_round if self.after is None else self.after.round) - self.before.round

    @property
    def calls(self) -> int | None:
        """Calls by which the change delays the limit; None if either crossing is missing."""
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
