"""`progressive`: try light strategies one after another, recounting after each; the last one is a full summary.

    before        [system] U1 … a long history …  Un …
    light rung    [system] U1 + summary + <Pin> passages, memories, tasks, changes as text  what the rung keeps
    full summary  [system] U1 + summary + <Pin> passages, memories, tasks, changes as text  [current input]

Which rungs are tried, and in which order, depends on the type of the task. Pins and open calls always stay as messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.base.figures import grouped
from workbench.compaction.context import Context
from workbench.compaction.gauge import Gauge
from workbench.compaction.invariants import with_verdict
from workbench.compaction.lint import lint_summary_prompt
from workbench.compaction.outcome import Outcome, unchanged
from workbench.compaction.progressive.climb import Climb, attempt, ladder
from workbench.compaction.progressive.importance import score
from workbench.compaction.progressive.key_events import events_of
from workbench.compaction.progressive.policy import ProgressivePolicy
from workbench.compaction.progressive.retained import retained_in_words
from workbench.compaction.progressive.rungs import RUNGS
from workbench.compaction.progressive.task_type import task_type
from workbench.compaction.shape import SUMMARY_MARKER, Shape
from workbench.compaction.strategy import Compacting, Strategy, Trigger
from workbench.compaction.strategy_view import StrategyNote, StrategyView

TOKENS, ROUNDS, MARKER, COMMAND = "remaining tokens", "rounds", "marker", "command"


def triggers(now: Gauge, policy: ProgressivePolicy) -> tuple[Trigger, ...]:
    """Read the triggers on remaining tokens, rounds, the marker and the user's command, each with its own switch."""
    off = "switched off"
    marker = policy.trigger_on_marker and now.marker_seen
    rounds = policy.trigger_on_rounds and now.rounds >= policy.conversation_turn_threshold
    return (
        _token_trigger(now, policy),
        Trigger(
            ROUNDS,
            now.rounds,
            policy.conversation_turn_threshold,
            "rounds",
            rounds,
            "" if policy.trigger_on_rounds else off,
        ),
        Trigger(
            MARKER, int(now.marker_seen), 1, "markers", marker, SUMMARY_MARKER if policy.trigger_on_marker else off
        ),
        Trigger(COMMAND, int(now.manual), 1, "commands", now.manual, f"a manual run: {policy.manual_runs}"),
    )


def _token_trigger(now: Gauge, policy: ProgressivePolicy) -> Trigger:
    """Trigger on tokens used. Its limit is the smallest number that leaves too little: remaining < share × window."""
    if now.limit is None:
        return Trigger(TOKENS, now.tokens, 0, "tokens", False, "the model's window is unknown")
    window = now.limit.tokens
    remaining = window - now.tokens
    least = window * policy.summary_remaining_token_threshold / 100
    note = f"{grouped(remaining)} of {grouped(window)} tokens remain, threshold {grouped(least)}; window {now.limit}"
    limit = int(window - least) + 1
    if not policy.trigger_on_remaining_tokens:
        return Trigger(TOKENS, now.tokens, limit, "tokens", False, f"switched off; {note}")
    return Trigger(TOKENS, now.tokens, limit, "tokens", remaining < least, note)


def compact(context: Context, policy: ProgressivePolicy, trace: list[str]) -> Compacting:
    """Climb the ladder if tokens or the user's command fired; make the full summary at once if rounds or the marker
    fired."""
    names = {trigger.name for trigger in STRATEGY.read_triggers(context, policy) if trigger.fires}
    climb = Climb(policy, context, context, trace=trace)
    climb.trace.append(retained_in_words(context, climb.more))
    at_once = sorted(names - ({TOKENS, COMMAND} if policy.manual_runs == "ladder" else {TOKENS}))
    if at_once:
        yield from attempt(climb, "full summary")
        climb.then(f"no lighter rung ran: fired by {', '.join(at_once)}")
    else:
        yield from ladder(climb)
    return _outcome(climb)


def _outcome(climb: Climb) -> Outcome:
    """Outcome over the input, with every rung. If the full summary failed, the effect of lighter rungs remains."""
    rungs, source = tuple(climb.rungs), climb.context.messages
    last = climb.rungs[-1]
    if climb.done is None:
        reason = climb.failure or f"nothing to compact: {last.note.removeprefix('nothing to summarize: ')}"
        return replace(unchanged(source, reason, climb.trace), rungs=rungs)
    before, after = climb.context.shape.rounds.rounds, climb.state.shape.rounds.rounds
    climb.trace.append(f"rounds: {len(before)} → {len(after)}")
    draft = replace(climb.done, rungs=rungs, trace=tuple(climb.trace))
    if climb.failure and climb.state.total.tokens < climb.context.total.tokens:
        instead = ", ".join(rung.name for rung in rungs if rung.after < rung.before)
        draft = replace(draft, status="fallback", reason=f"{climb.failure}; used instead: {instead}")
    return with_verdict(climb.context, draft)


def _prompt_problems(policy: ProgressivePolicy) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys((*lint_summary_prompt(policy.rung_prompt_used), *lint_summary_prompt(policy.full_prompt_used)))
    )


def notes(shape: Shape, policy: ProgressivePolicy, index: int) -> Iterator[StrategyNote]:
    """Importance of a message with its parts, and the reason if it is a key event."""
    threshold = policy.importance_score_threshold
    yield StrategyNote(f"importance {score(shape, index, policy.importance_weights)} · kept from {threshold:g}")
    if why := events_of(shape).get(index):
        yield StrategyNote(f"key event: {why}")


def remark(shape: Shape, policy: ProgressivePolicy) -> str:
    """Type of the task, with evidence."""
    return task_type(shape, policy.task_cutoffs, policy.task_type).remark


STRATEGY = Strategy(
    id="progressive",
    title="Progressive",
    about="Tries light strategies for the task type one after another; the last one is a full summary.",
    policy_type=ProgressivePolicy,
    triggers=triggers,
    compact=compact,
    prompts={
        "progressive-rung": "rung_prompt",
        "progressive-rung-node": "",
        "progressive-full": "full_prompt",
        "progressive-full-node": "",
    },
    unit="message",
    movable=False,
    rungs=RUNGS,
    lint=_prompt_problems,
    view=StrategyView(notes=notes, remark=remark),
)
