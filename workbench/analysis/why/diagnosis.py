"""Diagnosis of one epoch's context as one frozen value, `diagnose`, and the fix of each of its findings."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.analysis.course import Course, Point
from workbench.analysis.failures import SessionFailures, failures_of
from workbench.analysis.recorded_claims import RecordedClaims, recorded_claims
from workbench.analysis.recorded_compactions import ACTIONS
from workbench.analysis.replay import Replay, replay
from workbench.analysis.rework import Rework, rework
from workbench.analysis.session_cost import Rewrites, rewrites
from workbench.analysis.usage_check import check_usage
from workbench.analysis.why import breakdown, waste
from workbench.analysis.why.breakdown import causes, verdict
from workbench.analysis.why.findings import Finding, findings
from workbench.analysis.why.overflow import Crossing, OverflowLimit, RejectedRequest, crossing, rejected_requests
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.layers import Layer, layers
from workbench.compaction.preset import Preset, preset_for_version
from workbench.compaction.strategies import remedies, strategy
from workbench.compaction.strategy import Trigger
from workbench.session import Session
from workbench.tokens.sizes import Size
from workbench.tokens.window import Window

FAR = 0.5
"""Share of the window below which a rejected request was not too long, because no agent reserves half a window for the
answer."""

RECENT = 5
"""Number of the newest rounds, by whose mean growth the crossing of a limit is predicted."""


@dataclass(frozen=True)
class Diagnosis:
    """Cause of an overflow, or distance to it.

    Figures are of the epoch (from 1) if nothing else is said. `points` is the growth of the session, `total` the size
    of the epoch's context, `usage` the newest call's recorded prompt and answer, `window` the context window with its
    source. `limit` is the size that counts as the overflow, None if unknown; `crossing` is the first call that reaches
    it without any compaction. If no call reaches it and the agent did not compact after the last call, the context will
    reach it in `rounds_left` rounds of `growth_per_round` tokens, the mean of the newest rounds. `triggers` are the
    chosen strategy's at the end; `played` is the replay under it. `layers`, `tools`, `files`, `rounds` and `largest`
    break the tokens down; `rework` follows the recorded compactions from the epoch on; `rewrites` covers the whole
    session (None without cache figures in its usage). `failures` covers the whole session, `claims` the recorded
    summaries before and after the epoch.
    """

    session: Session
    epoch: int
    total: Size
    usage: int | None
    window: Window | None
    limit: OverflowLimit | None
    crossing: Crossing | None
    growth_per_round: int
    rounds_left: int | None
    points: tuple[Point, ...]
    refusals: tuple[RejectedRequest, ...]
    preset: Preset
    triggers: tuple[Trigger, ...]
    played: Replay
    layers: tuple[Layer, ...]
    tools: tuple[breakdown.SizeShare, ...]
    files: tuple[breakdown.SizeShare, ...]
    rounds: tuple[breakdown.RoundShare, ...]
    largest: tuple[breakdown.Large, ...]
    waste: waste.Waste
    rework: tuple[Rework, ...]
    rewrites: Rewrites | None
    findings: tuple[Finding, ...]
    verdict: str
    failures: SessionFailures
    claims: tuple[RecordedClaims, ...]

    @property
    def reached(self) -> str:
        """Words after the limit: `reached at call 166 of the epoch, in round 37`."""
        if self.limit is None:
            return "unknown without a limit"
        if self.crossing:
            return (
                f"reached at call {grouped(self.crossing.call)} of the epoch, in round {grouped(self.crossing.round)}"
            )
        if self.limit.ended:
            return "reached after the epoch's last call"
        if self.rounds_left is None:
            return "not reached"
        left, growth = counted(self.rounds_left, "round"), grouped(self.growth_per_round)
        return f"not reached; in about {left} at {growth} tokens per round"


def diagnose(
    context: Context, course: Course, epoch: int, preset: Preset, on_stage: Callable[[str], None] = lambda stage: None
) -> Diagnosis:
    """Diagnose `context`, epoch `epoch` of the session; `course` begins with that epoch. The agent's own preset is
    taken as of the version that wrote the session.

    `on_stage` is called with each stage, and cancels by raising. Raises BadInput for a broken table of models.
    """
    on_stage("measuring the growth")
    session = course.session
    preset = preset_for_version(preset, session)
    points = course.growth
    refused = rejected_requests(session)
    limit = limit_of(context, session, epoch, points, refused)
    chosen = strategy(preset.strategy)
    automatic = context.with_(manual=False)
    rounds = breakdown.by_round(context)
    recent = [each.tokens for each in rounds[-RECENT:]]
    per_round = sum(recent) // len(recent) if recent else 0
    crossed = crossing(course, course.plain, limit.tokens) if limit else None
    left = None
    if limit and not limit.ended and crossed is None and per_round > 0:
        left = max(0, -(-(limit.tokens - context.total.tokens) // per_round))
    on_stage("looking for waste")
    wasted = waste.find_waste(context)
    again = rework(course)
    on_stage("checking recorded summaries")
    claims = tuple(one for number in (epoch - 1, epoch) if (one := recorded_claims(session, number)))
    on_stage("checking recorded usage")
    gaps = check_usage(session, course.counter).gaps_in(epoch)
    on_stage(f"replaying the session under {preset.name}")
    played = replay(course, preset, context.limit)
    on_stage("replaying the suggestions")
    triggers = chosen.read_triggers(automatic, preset.policy)
    found = layers(context)
    named = causes(context)
    largest = breakdown.largest(context)
    return Diagnosis(
        session=session,
        epoch=epoch,
        total=context.total,
        usage=context.layout.last_usage,
        window=context.limit,
        limit=limit,
        crossing=crossed,
        growth_per_round=per_round,
        rounds_left=left,
        points=points,
        refusals=refused,
        preset=preset,
        triggers=triggers,
        played=played,
        layers=found,
        tools=breakdown.by_tool(context),
        files=breakdown.by_file(context),
        rounds=rounds,
        largest=largest,
        waste=wasted,
        rework=again,
        rewrites=rewrites(session),
        findings=findings(context, course, limit, named, wasted, again, played, triggers, found, largest, gaps, claims),
        verdict=verdict(context, limit, named),
        failures=failures_of(session),
        claims=claims,
    )


def limit_of(
    context: Context, session: Session, epoch: int, points: Sequence[Point], refusals: Sequence[RejectedRequest]
) -> OverflowLimit | None:
    """Return the size that counts as the overflow; None if unknown. If the agent compacted this epoch, it is the
    recorded size or the largest prompt, whichever is larger. If the API rejected a request between half the window and
    the window, it is the largest prompt. Otherwise it is the window."""
    here = set(session.epochs[epoch - 1].members)
    refused = context.overflow_error_seen or any(one.member in here for one in refusals)
    request = _refused_request(context, session.epochs[epoch - 1].members, refusals) if refused else 0
    sent = max((point.tokens for point in points if point.epoch == epoch), default=0)
    ended = session.epochs[epoch - 1].ended_by
    recorded = (ended.tokens_before if ended else None) or 0
    if ended is not None and max(recorded, sent):
        done = f"the agent {ACTIONS[ended.way]} after a prompt of this size"
        why = f"the agent recorded this size when it {ACTIONS[ended.way]}" if recorded > sent else done
        return OverflowLimit(max(recorded, sent), f"{why} (epoch {epoch})", "agent", context.total.tokens)
    window = context.limit
    if window is not None and sent <= window.tokens < request:
        rejection = f"it rejected a request of about {grouped(request)} tokens after a prompt of {grouped(sent)}"
        return OverflowLimit(window.tokens, f"the model's window, {window.origin}; {rejection}", "window")
    if window is not None and max(sent, request) < FAR * window.tokens and refused:
        rejection = f"it rejected a request of about {grouped(request)} tokens as too long for another reason"
        return OverflowLimit(window.tokens, f"the model's window, {window.origin}; {rejection}", "window")
    if sent and refused:
        return OverflowLimit(
            sent, "the API rejected the next request after a prompt of this size", "refusal", max(sent, request)
        )
    if window is not None:
        return OverflowLimit(window.tokens, f"the model's window, {window.origin}", "window")
    return None


def _refused_request(context: Context, members: Sequence[int], refusals: Sequence[RejectedRequest]) -> int:
    """Return the tokens of the largest rejected request of an epoch, 0 without one. A request has the messages before
    its error, or all messages if the error's place is unknown."""
    place = {member: index for index, member in enumerate(members)}
    timed = [message.time for message in context.messages if message.time is not None]
    sizes = [0]
    for one in refusals:
        if one.member in place:
            stop = place[one.member]
        elif one.time is not None and len(timed) == len(context):
            stop = sum(time <= one.time for time in timed)
        else:
            stop = len(context)
        sizes.append(context.upto(stop).tokens + context.layout.sizes.overhead)
    return max(sizes)


@dataclass(frozen=True, slots=True)
class PresetFix:
    """Use another policy. `words` say what the key `a` does: "use that preset"."""

    preset: Preset
    words: str


@dataclass(frozen=True, slots=True)
class MessageFix:
    """Pin, drop or shorten messages, by id. `words` say what the key `a` does: "shorten it"."""

    does: Literal["pin", "drop", "shorten"]
    words: str
    messages: tuple[str, ...]


FindingFix = PresetFix | MessageFix


def fix_for(found: Diagnosis, one: Finding, here: Container[str]) -> FindingFix | None:
    """Return the fix of a finding; None without one. `here` are the ids of the planned context; a fix changes no other
    messages."""
    waste, kind = found.waste, one.kind
    match kind:
        case "clear":
            return _preset_fix(found, kind)
        case "reread" | "rereads":
            of = set(one.messages)
            older = [read.message for each in waste.rereads for read in each.repeated if read.message in of]
            return _message_fix("drop", "drop the older reads", older, here)
        case "unused":
            return _message_fix("drop", "drop them", [spot.message for spot in waste.unused], here)
        case "base64" | "logs":
            spots = waste.base64 if kind == "base64" else waste.logs
            return _message_fix("shorten", "shorten them", [spot.message for spot in spots], here)
        case "message":
            return _message_fix("shorten", "shorten it", one.messages, here)
        case "rule_files":
            return _message_fix("pin", "pin the message with the file", one.messages, here)
        case "rework":
            before = [item.before for each in found.rework for item in each.items]
            return _message_fix("pin", "pin the facts that were needed again", before, here)
    return None


def _preset_fix(found: Diagnosis, kind: str) -> PresetFix | None:
    bound = found.limit.tokens if found.limit else None
    for chosen, remedy in remedies(bound) if bound is not None else ():
        if remedy.kind == kind:
            preset = Preset(chosen.id, chosen.id, chosen.about, "", remedy.policy)
            return PresetFix(preset, "use that preset")
    return None


def _message_fix(
    does: Literal["pin", "drop", "shorten"], words: str, messages: Sequence[str], here: Container[str]
) -> MessageFix | None:
    reached = tuple(dict.fromkeys(id for id in messages if id in here))
    return MessageFix(does, words, reached) if reached else None
