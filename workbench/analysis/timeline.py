"""Timeline of a session: each epoch with its final size, the compaction that ended it, and the facts lost and the
rework that this compaction caused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tokens import session_sizes

if TYPE_CHECKING:
    from workbench.session import Compaction, Session
    from workbench.tokens import Counter, Scale


@dataclass(frozen=True, slots=True)
class TimelineEpoch:
    """Epoch in the timeline.

    `tokens` is its size at the end, 0 if unknown. `ended` is the recorded compaction, None for the last epoch. `lost`
    and `again` are the numbers of facts lost and of rework items caused by the compaction, None if not computed; `lost`
    is also None if the summary cannot be read.
    """

    number: int
    tokens: int
    ended: Compaction | None
    lost: int | None = None
    again: int | None = None

    @property
    def trigger(self) -> str:
        """Kind of the compaction in one or two words; "" for an epoch without one."""
        if self.ended is None:
            return ""
        if self.ended.way != "summary":
            return {"clearing": "cleared", "empty": "empty"}.get(self.ended.way, "cut")
        return {"manual": "by hand", "auto": "auto"}.get(self.ended.trigger, "compacted")


def timeline(
    session: Session,
    sizes: Sequence[int] = (),
    losses: Mapping[int, int | None] | None = None,
    again: Mapping[int, int | None] | None = None,
) -> tuple[TimelineEpoch, ...]:
    """Return every epoch with the sizes, losses and rework known so far."""
    return tuple(
        TimelineEpoch(one.number, size, one.ended_by, (losses or {}).get(one.number), (again or {}).get(one.number))
        for one, size in zip(session.epochs, sizes or [0] * len(session.epochs), strict=True)
    )


def sizes_at_end(session: Session, counter: Counter, scale: Scale | None = None) -> tuple[int, ...]:
    """Return the tokens of every epoch at its end, as in `Context.total`. Messages that `counter` has not counted yet
    are estimated."""
    return tuple(session_sizes(session, one.number, counter, scale).total for one in session.epochs)


def facts_lost(session: Session, epoch: int, counter: Counter) -> int | None:
    """Return the number of facts that the recorded compaction of an epoch lost completely. None if no compaction is
    recorded or its summary cannot be read. Reads the whole epoch."""
    from workbench.analysis.recorded_compactions import following, recorded_outcome
    from workbench.analysis.retention import retention
    from workbench.compaction.opening import context_at

    try:
        outcome = recorded_outcome(session, epoch)
    except KeyError:
        return None
    held = retention(context_at(session, epoch, counter), outcome, following(session, epoch))
    return None if held.overall.unknown else held.overall.lost


def rework_counts(session: Session, counter: Counter) -> dict[int, int]:
    """Return the number of rework items that each compaction caused, by the number of the epoch that it ended. Reads
    the whole session."""
    from workbench.analysis.course import course_messages, course_of
    from workbench.analysis.rework.items import rework

    counter.count_all(course_messages(session), lambda done, of: None, lambda: False)
    return {one.compaction.epoch: len(one.items) for one in rework(course_of(session, counter))}


def size_when_compacted(epochs: Sequence[TimelineEpoch], epoch: int) -> int:
    """Return the tokens at which the agent compacted epoch `epoch`, or the epoch before if this one was not compacted.
    0 if unknown, or if the user requested the compaction."""
    for one in reversed(epochs[:epoch]):
        if one.ended is not None and one.number >= epoch - 1:
            return 0 if one.ended.trigger == "manual" else one.tokens
    return 0
