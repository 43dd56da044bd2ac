"""Recorded compactions compared with a preset's compactions of the same epochs, by call and by kept messages.

Each epoch is replayed by itself from its recorded context, so that no check depends on an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from workbench.analysis.course import Course, course_of
from workbench.analysis.recorded_compactions import recorded_compactions, recorded_compactions_report, recorded_outcome
from workbench.analysis.running_context import RunningContext
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.invariants import before_unread
from workbench.compaction.outcome import KeptSpan, Outcome
from workbench.compaction.preset import Preset, agent_preset_id, load_preset, preset_for_version
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import Trigger
from workbench.session import Compaction, Message, Session
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.tokens import Counter
from workbench.tokens.window import window_of

NEAR = 1
"""Calls by which two compactions may differ and still agree: some agents check after an answer, some before the
next."""

MOST_DESCRIBED = 3
"""Differing compactions that a report describes."""

CompactionCause = Literal["automatic", "manual", "not said"]
PresetVerdict = Literal["agrees", "explained", "unexplained"]
_CAUSES: dict[str, CompactionCause] = {"auto": "automatic", "manual": "manual"}


@dataclass(frozen=True, slots=True)
class PresetCheck:
    """Recorded compaction, and the preset's compaction of the same epoch.

    The agent compacted, or began to in the background, before call `call` of the epoch (from 1). A trigger of the
    preset first fires before call `fires`; None if none had fired by `call`. `triggers` are read at `call`.
    `kept_by_agent` are the ids of the messages that the agent kept unchanged, `kept_by_preset` of those that the preset
    keeps if it runs at `call`. `why_call` and `why_messages` give the reason for a difference, from the file or the
    product's rules; "" if there is none or it is unknown.
    """

    epoch: int
    ended: Compaction
    call: int
    fires: int | None
    triggers: tuple[Trigger, ...]
    kept_by_agent: frozenset[str]
    kept_by_preset: frozenset[str]
    why_call: str = ""
    why_messages: str = ""

    @property
    def cause(self) -> CompactionCause:
        """Origin of the compaction. No trigger predicts a manual one; "not said" if the file does not record the
        origin."""
        return _CAUSES.get(self.ended.trigger, "not said")

    @property
    def same_call(self) -> bool:
        """True if agent and preset compact at about the same call."""
        return self.fires is not None and abs(self.fires - self.call) <= NEAR

    @property
    def same_messages(self) -> bool:
        """True if agent and preset keep the same messages."""
        return self.kept_by_agent == self.kept_by_preset

    @property
    def verdict(self) -> PresetVerdict:
        """Overall result; a manual compaction is judged by its messages alone."""
        call = self.same_call or self.cause == "manual"
        if call and self.same_messages:
            return "agrees"
        explained = (call or self.why_call) and (self.same_messages or self.why_messages)
        return "explained" if explained else "unexplained"

    @property
    def agrees(self) -> bool:
        """True without a difference."""
        return self.verdict == "agrees"

    @property
    def difference(self) -> str:
        """Description of the difference; "" if it agrees."""
        found = []
        if not self.same_call and self.cause != "manual":
            found += [str(trigger) for trigger in self.triggers]
        if more := len(self.kept_by_preset - self.kept_by_agent):
            found.append(f"keeps {counted(more, 'message')} more than the agent did")
        if fewer := len(self.kept_by_agent - self.kept_by_preset):
            found.append(f"drops {counted(fewer, 'message')} that the agent kept")
        return "; ".join(found)

    @property
    def reason(self) -> str:
        """Known reasons for the difference; "" without one."""
        return "; ".join(filter(None, (self.why_call, self.why_messages)))


def check_preset(session: Session, counter: Counter, preset: Preset) -> Iterator[PresetCheck]:
    """Check every recorded compaction to a summary, oldest first, against the preset as of the version that wrote the
    session. Compactions whose removed messages are not in the file are left out. Raises BadInput for a broken table of
    models."""
    preset = preset_for_version(preset, session)
    for epoch in session.epochs[:-1]:
        if epoch.ended_by is None or epoch.ended_by.way != "summary":
            continue
        theirs = recorded_outcome(session, epoch.number)
        if theirs.status == "compacted":
            upto = replace(session, epochs=session.epochs[: epoch.number])
            course = course_of(upto, counter, first=epoch.number)
            yield _check_epoch(session, course, theirs, epoch.number, epoch.ended_by, preset)


def check_own_preset(course: Course) -> tuple[Preset, tuple[PresetCheck, ...]] | None:
    """Return the agent's own preset as of the version that wrote the session, and its check of every compaction in the
    course's epochs; None if the agent has no preset. Raises BadInput for a broken table of models."""
    if not (name := agent_preset_id(course.session)):
        return None
    preset = preset_for_version(load_preset(name), course.session)
    judged = check_preset(course.session, course.counter, preset)
    return preset, tuple(one for one in judged if one.epoch >= course.numbers[0])


def agent_report(course: Course) -> str:
    """Return sentences on the recorded compactions and on the agreement of the agent's own preset; "" without any."""
    own = check_own_preset(course)
    return " ".join(
        filter(None, (recorded_compactions_report(recorded_compactions(course)), preset_report(*own) if own else ""))
    )


def preset_report(preset: Preset, checks: Sequence[PresetCheck]) -> str:
    """Return a sentence on how often a preset agrees with the recorded compactions, with the first differences; ""
    without checks."""
    if not checks:
        return ""
    differing = [one for one in checks if not one.agrees]
    parts = [f"in epoch {one.epoch} it would not: {one.reason or one.difference}" for one in differing[:MOST_DESCRIBED]]
    parts += [f"{len(differing) - MOST_DESCRIBED} more differ"] if len(differing) > MOST_DESCRIBED else []
    same = "the same" if not differing else f"the same in {len(checks) - len(differing)} of {len(checks)}"
    return f"{'; '.join([f'Compared epoch by epoch, the {preset.name} preset compacts {same}', *parts])}."


def _check_epoch(
    session: Session, course: Course, theirs: Outcome, epoch: int, ended: Compaction, preset: Preset
) -> PresetCheck:
    chosen = strategy(preset.strategy)
    running = RunningContext(course, chosen, preset.policy, window_of(session, epoch))
    fires: int | None = None
    triggers: tuple[Trigger, ...] = ()
    earlier = {member for one in session.epochs[: epoch - 1] for member in one.members}
    end = _start_of(course, ended)
    calls = [index for index in course.calls if index < end and course.members[index] not in earlier]
    for number, index in enumerate((*calls, end), 1):
        running.advance(index)
        triggers = chosen.triggers(running.gauge(), preset.policy)
        if fires is None and _has_fired(triggers):
            fires = number
    by_hand = ended.trigger == "manual" or not _has_fired(triggers)
    context = running.context().with_(manual=by_hand)
    ours = drive(chosen.run(context, preset.policy), estimate).outcome
    then = {message.id for message in context.messages}
    found = PresetCheck(
        epoch, ended, len(calls) + 1, fires, triggers, _unchanged_ids(theirs) & then, _unchanged_ids(ours)
    )
    refused = [number for number, index in enumerate((*calls, end), 1) if index in course.refused]
    absurd = [number for number, index in enumerate(calls, 1) if _has_absurd_usage(course.messages[index])]
    return replace(
        found,
        why_call=why_call_differs(found, refused, absurd),
        why_messages=why_messages_differ(found, context, session.context(epoch + 1), bool(refused)),
    )


def _has_absurd_usage(answer: Message) -> bool:
    return answer.usage is not None and answer.usage.absurd


def _start_of(course: Course, ended: Compaction) -> int:
    """Return the position in the course at which the compaction began: the end of the course, or the first kept message
    for a compaction in the background."""
    if ended.background:
        kept = frozenset(ended.kept_ids)
        return next((i for i, message in enumerate(course.messages) if message.id in kept), len(course.messages))
    return len(course.messages)


def _has_fired(triggers: tuple[Trigger, ...]) -> bool:
    return any(trigger.fires and not trigger.timed for trigger in triggers)


def _unchanged_ids(outcome: Outcome) -> frozenset[str]:
    pieces = (piece for piece in outcome.pieces if isinstance(piece, KeptSpan))
    return frozenset(message.id for piece in pieces for message in outcome.source[piece.start : piece.stop])


# --- reasons ----------------------------------------------------------------------------------------------------------

COUNT_ERROR = 200
"""Inverse of the relative error of a count: a distance of 1/200 of the trigger is within the error."""


def why_call_differs(found: PresetCheck, refused: Sequence[int], absurd: Sequence[int]) -> str:
    """Return why the agent compacted before another call than the preset; "" if unknown. `refused` are numbers of the
    calls that the API rejected as too long, `absurd` of those whose usage cannot be correct."""
    if found.same_call:
        return ""
    if found.fires is not None:
        return _why_later(found.fires, found.call, refused, absurd)
    due = [trigger for trigger in found.triggers if trigger.limit and not trigger.timed]
    if not due:
        note = next((trigger.note for trigger in found.triggers if trigger.note), "")
        return "at the user's request" if found.cause == "manual" else note
    nearest = min(due, key=lambda trigger: trigger.distance / trigger.limit)
    short = f"{_rounded_up(nearest.distance, nearest.unit)} below its trigger of {grouped(nearest.limit)}"
    own = found.ended.tokens_before or 0
    if found.cause == "manual":
        return f"at the user's request, {short}"
    if nearest.unit == "tokens" and own >= nearest.limit:
        over = _rounded_up(own - nearest.limit, nearest.unit)
        return f"{over} over its trigger of {grouped(nearest.limit)} by the agent's count, {short} by ours"
    if nearest.distance * COUNT_ERROR <= nearest.limit:
        thoughts = "reasoning" in nearest.note
        unseen = "; the agent also counts encrypted reasoning, whose size is not in the file" if thoughts else ""
        return f"{short} by our count, within its error{unseen}"
    if found.cause == "not said":
        return f"{short} by our count: a manual compaction or a lower limit, not recorded in the file"
    return ""


def _rounded_up(value: float, unit: str) -> str:
    """Return `1 token`, `25 tokens`; fractions are rounded up."""
    return counted(ceil(value), unit.removesuffix("s"))


def _why_later(fires: int, call: int, refused: Sequence[int], absurd: Sequence[int]) -> str:
    """Return why the agent compacted later than the trigger fired; "" if unknown."""
    if any(number >= call - NEAR for number in refused):
        return (
            f"the agent went on for {counted(call - fires, 'call')} over its trigger, until the API rejected a request"
        )
    if wrong := sum(fires <= number < call for number in absurd):
        return f"due before call {fires} by usage, but {counted(wrong, 'later usage record')} cannot be correct"
    return ""


def why_messages_differ(found: PresetCheck, context: Context, following: Sequence[Message], refused: bool) -> str:
    """Return why the agent kept other messages than the preset; "" if it kept the same, or if unknown. `context` was
    compacted, `following` is the next epoch; `refused`: the API rejected the context as too long."""
    more, fewer = found.kept_by_preset - found.kept_by_agent, found.kept_by_agent - found.kept_by_preset
    if not more and not fewer:
        return ""
    by_id = {message.id: index for index, message in enumerate(context.messages)}
    differing = [context.messages[by_id[id]] for id in (*more, *fewer)]
    ours = [context.messages[by_id[id]] for id in more]
    injected = any(message.id not in by_id and _is_injected(message) for message in following)
    if injected and all(map(_is_injected, differing)):
        return f"the agent replaced {counted(len(differing), 'message')} that it injects"
    if fewer and not more and found.cause == "manual" and found.ended.kept_ids:
        return (
            f"at the user's request the agent kept {counted(len(found.kept_by_agent), 'message')} that the file lists"
        )
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
