"""The epochs of a session as one line: how large each was at its end, how it ended, what that lost and had done
again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tokens import session_sizes

if TYPE_CHECKING:
    from workbench.session import Compaction, Session
    from workbench.tokens import Counter, Scale


@dataclass(frozen=True, slots=True)
class Stretch:
    """One epoch. `tokens` is the size of its context at its end, 0 while that is not known; `ended` the compaction that
    the file records there, None for the last. `lost` counts the facts that went with it, None where that is not known:
    not looked for yet, or a summary that nobody can read. `again` counts what was done again because of it, None where
    it was not looked for yet."""

    number: int
    tokens: int
    ended: Compaction | None
    lost: int | None = None
    again: int | None = None

    @property
    def trigger(self) -> str:
        """How it was compacted, in a word; "" for the last epoch."""
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
) -> tuple[Stretch, ...]:
    """Every epoch, by the `sizes` of all of them, the losses and the rework, as far as they are known."""
    return tuple(
        Stretch(one.number, size, one.ended_by, (losses or {}).get(one.number), (again or {}).get(one.number))
        for one, size in zip(session.epochs, sizes or [0] * len(session.epochs), strict=True)
    )


def sizes_at_end(session: Session, counter: Counter, scale: Scale | None = None) -> tuple[int, ...]:
    """The tokens of every epoch's context at its end, as `Context.total` has them, by what `counter` knows now."""
    return tuple(session_sizes(session, one.number, counter, scale).total for one in session.epochs)


def lost_in(session: Session, epoch: int, counter: Counter) -> int | None:
    """How many facts of an epoch the recorded compaction at its end does not hold at all; None where it ended otherwise
    or nobody can tell. Reads the whole epoch."""
    from workbench.analysis.recorded import following, recorded_outcome
    from workbench.analysis.retention import retention
    from workbench.compaction.opening import context_at

    try:
        outcome = recorded_outcome(session, epoch)
    except KeyError:
        return None
    held = retention(context_at(session, epoch, counter), outcome, following(session, epoch))
    return None if held.overall.unknown else held.overall.lost


def done_again(session: Session, counter: Counter) -> dict[int, int]:
    """How much was done again because of the recorded compaction at the end of each epoch. Reads the whole session."""
    from workbench.analysis.course import course_of, uncounted
    from workbench.analysis.rework.found import rework

    counter.count_all(uncounted(session), lambda done, of: None, lambda: False)
    return {one.made.epoch: len(one.items) for one in rework(course_of(session, counter))}


def compacted_at(stretches: Sequence[Stretch], epoch: int) -> int:
    """The size of the context when the agent compacted this epoch or, where it did not, the one before it; 0 where
    neither is known or it was at the user's command."""
    for one in reversed(stretches[:epoch]):
        if one.ended is not None and one.number >= epoch - 1:
            return 0 if one.ended.trigger == "manual" else one.tokens
    return 0
