"""A recorded compaction beside what a preset makes of the same stretch: does it fire where the agent did, and keep what
the agent kept?

Each epoch is played by itself, from the context that the file records for it, so that what one compaction is judged by
does not hang on how the one before came out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from workbench.analysis.course import Course, course_of
from workbench.analysis.recorded import made_room, recorded_outcome, told_room
from workbench.analysis.running import Running
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction.agent_preset import agent_preset_id, preset_for_version
from workbench.compaction.context import Context
from workbench.compaction.keeping import before_unread
from workbench.compaction.outcome import KeptSpan, Outcome
from workbench.compaction.preset import Preset, load_preset
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import Trigger
from workbench.session import Compaction, Message, Session
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.tokens import Counter
from workbench.tokens.window import window_of

NEAR = 1
"""So many calls sooner or later is the same call: some agents look after an answer, some before the next."""

TOLD = 3
"""So many compactions that differ are told of in a sentence."""

Cause = Literal["automatic", "manual", "not said"]
Verdict = Literal["agrees", "explained", "unexplained"]
_CAUSES: dict[str, Cause] = {"auto": "automatic", "manual": "manual"}


@dataclass(frozen=True, slots=True)
class AsRecorded:
    """A recorded compaction, and the preset's own of the same epoch.

    The agent compacted before call number `call` of those made in the epoch (from 1), or began to, where it did so in
    the background; the preset would have before call `fires`, None where no trigger had fired by then. `triggers` are
    as they stood at `call`. `kept` are the ids of the messages that stayed word for word, `keeps` of those that stay
    where the preset runs at `call`, by hand if the agent did or if no trigger fires there. `why_call` and `why_kept`
    say what the file or the product's own rules give as the reason for a difference; "" where there is none, or
    nothing gives it.
    """

    epoch: int
    ended: Compaction
    call: int
    fires: int | None
    triggers: tuple[Trigger, ...]
    kept: frozenset[str]
    keeps: frozenset[str]
    why_call: str = ""
    why_kept: str = ""

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
    def verdict(self) -> Verdict:
        call = self.same_call or self.cause == "manual"
        if call and self.same_kept:
            return "agrees"
        explained = (call or self.why_call) and (self.same_kept or self.why_kept)
        return "explained" if explained else "unexplained"

    @property
    def agrees(self) -> bool:
        return self.verdict == "agrees"

    @property
    def difference(self) -> str:
        """In what it differs; "" where it agrees."""
        found = []
        if not self.same_call and self.cause != "manual":
            found += [str(trigger) for trigger in self.triggers]
        if more := len(self.keeps - self.kept):
            found.append(f"keeps {counted(more, 'message')} more than the agent did")
        if fewer := len(self.kept - self.keeps):
            found.append(f"drops {counted(fewer, 'message')} that the agent kept")
        return "; ".join(found)

    @property
    def reason(self) -> str:
        """Why it differs, as far as that is known; "" where it agrees or nothing says it."""
        return "; ".join(filter(None, (self.why_call, self.why_kept)))


def as_recorded(session: Session, counter: Counter, preset: Preset) -> Iterator[AsRecorded]:
    """Every recorded compaction to a summary, oldest first, beside the preset's as the version that wrote the session
    did it; none of which the file holds nothing that went. Raises BadInput for a broken table of models."""
    preset = preset_for_version(preset, session)
    for epoch in session.epochs[:-1]:
        if epoch.ended_by is None or epoch.ended_by.way != "summary":
            continue
        theirs = recorded_outcome(session, epoch.number)
        if theirs.status == "compacted":
            upto = replace(session, epochs=session.epochs[: epoch.number])
            course = course_of(upto, counter, first=epoch.number)
            yield _beside(session, course, theirs, epoch.number, epoch.ended_by, preset)


def own_as_recorded(course: Course) -> tuple[Preset, tuple[AsRecorded, ...]] | None:
    """The preset of the session's own tool as of the version that wrote it, and every compaction that the course's
    epochs record beside that preset's; None where the tool has none. Raises BadInput for a broken table of models."""
    if not (name := agent_preset_id(course.session)):
        return None
    preset = preset_for_version(load_preset(name), course.session)
    judged = as_recorded(course.session, course.counter, preset)
    return preset, tuple(one for one in judged if one.epoch >= course.numbers[0])


def told_of_agent(course: Course) -> str:
    """What the agent itself did by the file, and whether its own preset does the same; "" where it did nothing."""
    own = own_as_recorded(course)
    return " ".join(filter(None, (told_room(made_room(course)), told_as_recorded(*own) if own else "")))


def told_as_recorded(preset: Preset, judged: Sequence[AsRecorded]) -> str:
    """How often a preset does what was recorded, and of the first times when it does not in what and why, in a
    sentence; "" where nothing was judged."""
    if not judged:
        return ""
    differing = [one for one in judged if not one.agrees]
    said = [f"in epoch {one.epoch} it would not: {one.reason or one.difference}" for one in differing[:TOLD]]
    said += [f"{len(differing) - TOLD} more differ"] if len(differing) > TOLD else []
    same = "the same" if not differing else f"the same in {len(judged) - len(differing)} of {len(judged)}"
    return f"{'; '.join([f'Compared epoch by epoch, the {preset.name} preset compacts {same}', *said])}."


def _beside(
    session: Session, course: Course, theirs: Outcome, epoch: int, ended: Compaction, preset: Preset
) -> AsRecorded:
    chosen = strategy(preset.strategy)
    running = Running(course, chosen, preset.policy, window_of(session, epoch))
    fires: int | None = None
    triggers: tuple[Trigger, ...] = ()
    earlier = {member for one in session.epochs[: epoch - 1] for member in one.members}
    end = _began(course, ended)
    calls = [index for index in course.calls if index < end and course.members[index] not in earlier]
    for number, index in enumerate((*calls, end), 1):
        running.advance(index)
        triggers = chosen.triggers(running.gauge(), preset.policy)
        if fires is None and _fired(triggers):
            fires = number
    by_hand = ended.trigger == "manual" or not _fired(triggers)
    context = running.context().with_(manual=by_hand)
    ours = drive(chosen.run(context, preset.policy), estimate).outcome
    then = {message.id for message in context.messages}
    found = AsRecorded(epoch, ended, len(calls) + 1, fires, triggers, _kept(theirs) & then, _kept(ours))
    refused = [number for number, index in enumerate((*calls, end), 1) if index in course.refused]
    untrue = [number for number, index in enumerate(calls, 1) if _is_untrue(course.messages[index])]
    return replace(
        found,
        why_call=why_call(found, refused, untrue),
        why_kept=why_kept(found, context, session.context(epoch + 1), bool(refused)),
    )


def _is_untrue(answer: Message) -> bool:
    return answer.usage is not None and answer.usage.absurd


def _began(course: Course, ended: Compaction) -> int:
    """Where the course stood when the compaction began: at its end, but for one in the background."""
    if ended.background:
        kept = frozenset(ended.kept)
        return next((i for i, message in enumerate(course.messages) if message.id in kept), len(course.messages))
    return len(course.messages)


def _fired(triggers: tuple[Trigger, ...]) -> bool:
    return any(trigger.fires and not trigger.timed for trigger in triggers)


def _kept(outcome: Outcome) -> frozenset[str]:
    pieces = (piece for piece in outcome.pieces if isinstance(piece, KeptSpan))
    return frozenset(message.id for piece in pieces for message in outcome.source[piece.start : piece.stop])


# --- why they differ --------------------------------------------------------------------------------------------------

LITTLE = 200
"""A difference of less than one in so many is within what counts of the same prompt differ by."""


def why_call(found: AsRecorded, refused: Sequence[int], untrue: Sequence[int]) -> str:
    """Why the agent compacted before another call than the preset: where a person asked for it, by how much that was
    below the trigger. `refused` are the numbers of the calls that the model refused as too long, `untrue` of those
    whose bill cannot be true."""
    if found.same_call:
        return ""
    if found.fires is not None:
        return _why_later(found.fires, found.call, refused, untrue)
    due = [trigger for trigger in found.triggers if trigger.limit and not trigger.timed]
    if not due:
        unread = next((trigger.note for trigger in found.triggers if trigger.note), "")
        return "at the user's request" if found.cause == "manual" else unread
    nearest = min(due, key=lambda trigger: trigger.distance / trigger.limit)
    short = f"{_so_many(nearest.distance, nearest.unit)} below its trigger of {grouped(nearest.limit)}"
    own = found.ended.tokens_before or 0
    if found.cause == "manual":
        return f"at the user's request, {short}"
    if nearest.unit == "tokens" and own >= nearest.limit:
        over = _so_many(own - nearest.limit, nearest.unit)
        return f"{over} over its trigger of {grouped(nearest.limit)} by the agent's count, {short} by ours"
    if nearest.distance * LITTLE <= nearest.limit:
        thoughts = "reasoning" in nearest.note
        unseen = "; the agent also counts encrypted reasoning, whose size is not in the file" if thoughts else ""
        return f"{short} by our count, within its error{unseen}"
    if found.cause == "not said":
        return f"{short} by our count: a manual compaction or a lower limit, not recorded in the file"
    return ""


def _so_many(value: float, unit: str) -> str:
    """`1 token`, `25 tokens`; what a part of one is short by is one."""
    return counted(ceil(value), unit.removesuffix("s"))


def _why_later(fires: int, call: int, refused: Sequence[int], untrue: Sequence[int]) -> str:
    """Why the agent did not compact yet where a trigger fired."""
    if any(number >= call - NEAR for number in refused):
        return (
            f"the agent went on for {counted(call - fires, 'call')} over its trigger, until the API rejected a request"
        )
    if wrong := sum(fires <= number < call for number in untrue):
        return f"due before call {fires} by usage, but {counted(wrong, 'later usage record')} cannot be correct"
    return ""


def why_kept(found: AsRecorded, context: Context, following: Sequence[Message], refused: bool) -> str:
    """Why other messages stayed than under the preset. `context` is what was compacted, `following` what the next epoch
    holds; `refused`: whether the model refused the context as too long."""
    more, fewer = found.keeps - found.kept, found.kept - found.keeps
    if not more and not fewer:
        return ""
    by_id = {message.id: index for index, message in enumerate(context.messages)}
    differing = [context.messages[by_id[id]] for id in (*more, *fewer)]
    ours = [context.messages[by_id[id]] for id in more]
    injected = any(message.id not in by_id and _is_injected(message) for message in following)
    if injected and all(map(_is_injected, differing)):
        return f"the agent replaced {counted(len(differing), 'message')} that it injects"
    if fewer and not more and found.cause == "manual" and found.ended.kept:
        return f"at the user's request the agent kept {counted(len(found.kept), 'message')} that the file lists"
    if fewer:
        return ""
    if refused and all(message.starts_round for message in ours):
        return f"the agent treated {counted(len(ours), 'rejected request')} as answered"
    if all(by_id[message.id] >= before_unread(context.shape) for message in ours):
        meanwhile = (
            "; it compacted in the background and kept the messages that arrived meanwhile"
            if found.ended.background
            else ""
        )
        return f"the agent summarized {counted(len(ours), 'unanswered message')}{meanwhile}"
    if all(message.kind == "summary" for message in ours):
        return "the agent summarized only its earlier summary, which is kept unchanged here"
    return ""


def _is_injected(message: Message) -> bool:
    return message.is_own_system or message.kind == "meta"
