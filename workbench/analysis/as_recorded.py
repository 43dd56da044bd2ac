"""A recorded compaction beside what a preset makes of the same stretch: does it fire where the agent did, and keep what
the agent kept?

Each epoch is played by itself, from the context that the file records for it, so that what one compaction is judged by
does not hang on how the one before came out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from workbench.analysis.course import Course, course_of
from workbench.analysis.recorded import recorded_outcome
from workbench.analysis.running import Running
from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.compaction.outcome import Kept, Outcome
from workbench.compaction.preset import Preset
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import Trigger
from workbench.formats.registry import by_id
from workbench.session import Compaction, Session
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.tokens import Counter
from workbench.tokens.window import window_of

NEAR = 1
"""So many calls sooner or later is the same call: some agents look after an answer, some before the next."""

Cause = Literal["automatic", "manual", "not said"]
_CAUSES: dict[str, Cause] = {"auto": "automatic", "manual": "manual"}


@dataclass(frozen=True, slots=True)
class AsRecorded:
    """A recorded compaction, and the preset's own of the same epoch.

    The agent compacted before call number `call` of those made in the epoch (from 1); the preset would have before call
    `fires`, None where no trigger had fired by then. `triggers` are as they stood at `call`. `kept` are the ids of the
    messages that stayed word for word, `keeps` of those that stay where the preset runs at `call`, by hand if the agent
    did or if no trigger fires there.
    """

    epoch: int
    ended: Compaction
    call: int
    fires: int | None
    triggers: tuple[Trigger, ...]
    kept: frozenset[str]
    keeps: frozenset[str]

    @property
    def cause(self) -> Cause:
        """Whether a person asked for it, which no trigger foretells; many files do not say."""
        return _CAUSES.get(self.ended.trigger, "not said")

    @property
    def same_call(self) -> bool:
        return self.fires is not None and abs(self.fires - self.call) <= NEAR

    @property
    def same_kept(self) -> bool:
        return self.kept == self.keeps

    @property
    def agrees(self) -> bool:
        return self.same_kept and (self.same_call or self.cause == "manual")

    @property
    def difference(self) -> str:
        """In what it differs; "" where it agrees."""
        found = []
        if not self.same_call and self.cause != "manual":
            found += [str(trigger) for trigger in self.triggers]
        if more := len(self.keeps - self.kept):
            found.append(f"keeps {counted(more, 'message')} that the agent did not")
        if fewer := len(self.kept - self.keeps):
            found.append(f"does not keep {counted(fewer, 'message')} that the agent did")
        return "; ".join(found)


def of_its_time(preset: Preset, session: Session) -> Preset:
    """A preset of the session's own tool as the version did it that wrote the session; any other as it is."""
    with suppress(BadInput):
        if by_id(session.format).preset == preset.id:
            return preset.of_version(session.facts.version)
    return preset


def as_recorded(session: Session, counter: Counter, preset: Preset) -> Iterator[AsRecorded]:
    """Every recorded compaction to a summary, oldest first, beside the preset's as the version that wrote the session
    did it; none of which the file holds nothing that went. Raises BadInput for a broken table of models."""
    preset = of_its_time(preset, session)
    for epoch in session.epochs[:-1]:
        if epoch.ended_by is None or epoch.ended_by.way != "summary":
            continue
        theirs = recorded_outcome(session, epoch.number)
        if theirs.status == "compacted":
            upto = replace(session, epochs=session.epochs[: epoch.number])
            course = course_of(upto, counter, first=epoch.number)
            yield _beside(session, course, theirs, epoch.number, epoch.ended_by, preset)


def _beside(
    session: Session, course: Course, theirs: Outcome, epoch: int, ended: Compaction, preset: Preset
) -> AsRecorded:
    chosen = strategy(preset.strategy)
    running = Running(course, chosen, preset.policy, window_of(session, epoch))
    fires: int | None = None
    triggers: tuple[Trigger, ...] = ()
    earlier = {member for one in session.epochs[: epoch - 1] for member in one.members}
    end = len(course.messages)
    calls = [index for index in course.calls if index < end and course.members[index] not in earlier]
    for number, index in enumerate((*calls, end), 1):
        while running.stop < index:
            running.add()
        triggers = chosen.triggers(running.gauge(), preset.policy)
        if fires is None and _fired(triggers):
            fires = number
    by_hand = ended.trigger == "manual" or not _fired(triggers)
    ours = drive(chosen.compact(running.context().with_(manual=by_hand), preset.policy), estimate).outcome
    return AsRecorded(epoch, ended, len(calls) + 1, fires, triggers, _kept(theirs), _kept(ours))


def _fired(triggers: tuple[Trigger, ...]) -> bool:
    return any(trigger.fires and not trigger.timed for trigger in triggers)


def _kept(outcome: Outcome) -> frozenset[str]:
    pieces = (piece for piece in outcome.pieces if isinstance(piece, Kept))
    return frozenset(message.id for piece in pieces for message in outcome.source[piece.start : piece.stop])
