"""Epochs of a session in one line: size at the end, how each ended, what it lost and what rework it caused."""

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
    """Epoch in the timeline. `tokens` is its size at the end, 0 if unknown; `ended` the recorded compaction, None for
    the last. `lost` counts the facts lost by it, `again` the rework; None if not computed, `lost` also if its summary
    cannot be read."""

    number: int
    tokens: int
    ended: Compaction | None
    lost: int | None = None
    again: int | None = None

    @property
    def trigger(self) -> str:
        """Kind of the compaction in a word; "" for the last epoch."""
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
    """Return the tokens of every epoch at its end, equal to `Context.total`, by what `counter` knows now."""
    return tuple(session_sizes(session, one.number, counter, scale).total for one in session.epochs)


def facts_lost(session: Session, epoch: int, counter: Counter) -> int | None:
    """Return the number of facts that the recorded compaction of an epoch lost completely; None if there is none or it
    cannot be read. Reads the whole epoch."""
    from workbench.analysis.recorded import following, recorded_outcome
    from workbench.analysis.retention import retention
    from workbench.compaction.opening import context_at

    try:
        outcome = recorded_outcome(session, epoch)
    except KeyError:
        return None
    held = retention(context_at(session, epoch, counter), outcome, following(session, epoch))
    return None if held.overall.unknown else held.overall.lost


def rework_counts(session: Session, counter: Counter) -> dict[int, int]:
    """Return the number of rework items by epoch whose compaction caused them. Reads the whole session."""
    from workbench.analysis.course import course_messages, course_of
    from workbench.analysis.rework.items import rework

    counter.count_all(course_messages(session), lambda done, of: None, lambda: False)
    return {one.made.epoch: len(one.items) for one in rework(course_of(session, counter))}


def size_when_compacted(stretches: Sequence[TimelineEpoch], epoch: int) -> int:
    """Return the size at which the agent compacted this epoch, or the one before if it did not; 0 if unknown or
    manual."""
    for one in reversed(stretches[:epoch]):
        if one.ended is not None and one.number >= epoch - 1:
            return 0 if one.ended.trigger == "manual" else one.tokens
    return 0
