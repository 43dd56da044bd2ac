"""`progressive`: try light strategies one after another, recounting after each; the last one is a full summary.

    before        [system] U1 … a long history …  Un …
    light rung    [system] U1 + summary + <Pin> passages, memories, tasks, changes as text  what the rung keeps
    full summary  [system] U1 + summary + <Pin> passages, memories, tasks, changes as text  [current input]

Which rungs are tried, and in which order, depends on the type of the task. Pins and open calls always stay as messages.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.base.figures import grouped, percent
from workbench.base.text import counted
from workbench.compaction.compose import composed
from workbench.compaction.context import Context, Gauge
from workbench.compaction.invariants import with_pairs, with_verdict
from workbench.compaction.outcome import NewMessage, Outcome, Rung, unchanged
from workbench.compaction.progressive.importance import score
from workbench.compaction.progressive.key_events import events_of
from workbench.compaction.progressive.policy import ProgressivePolicy
from workbench.compaction.progressive.replacing import SummaryWording, replace_groups
from workbench.compaction.progressive.retained import never_summarized, retained_in_words, task_lines
from workbench.compaction.progressive.rungs import (
    RUNGS,
    RungName,
    RungPlan,
    full_summary,
    importance,
    incremental,
    key_events,
    sliding_window,
)
from workbench.compaction.progressive.task_type import TaskKind, task_type
from workbench.compaction.prompts import lint_summary_prompt, load_prompt
from workbench.compaction.shape import SUMMARY_MARKER, Shape
from workbench.compaction.strategy import Compacting, ProgressStep, Strategy, StrategyNote, StrategyView, Trigger
from workbench.compaction.summary_extras import SummaryExtras
from workbench.compaction.summary_request import Answer, Requests, SummaryFailed
from workbench.compaction.vocabulary import EarlierSummary

CHAINS: dict[TaskKind, tuple[RungName, ...]] = {
    "code": ("sliding window", "key events", "incremental"),
    "analysis": ("sliding window", "importance", "incremental"),
    "conversation": ("sliding window", "importance", "incremental"),
    "mixed": ("sliding window", "incremental", "importance"),
    "unknown": ("sliding window", "importance", "incremental"),
}
FALLBACK: tuple[RungName, ...] = ("sliding window", "importance", "key events", "incremental")
"""Rungs tried if every rung of a chain failed, or if one changed something but not enough.

Document 001 contradicts itself about the order. Its first chart and its two lists begin with the window, and the lists
give it priority; its second chart and its code begin with importance. It also contradicts itself about the rungs after
a change that is not enough: its first chart and its code name two of these; its list of rungs and its account of each
compaction name all of them before the full summary.
"""


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
        climb.append_reason(f"no lighter rung ran: fired by {', '.join(at_once)}")
    else:
        yield from ladder(climb)
    return _finish_climb(climb)


@dataclass
class Climb:
    """State of a climb: the input, the context so far, and every rung tried with its reason. `new_ids`: ids of new
    messages."""

    policy: ProgressivePolicy
    context: Context
    state: Context
    done: Outcome | None = None
    new_ids: set[str] = field(default_factory=set)
    rungs: list[Rung] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def more(self) -> SummaryExtras:
        """Extras of a summary that do not come from the messages: memories and tasks."""
        count = self.policy.recent_memories
        memories = self.context.memory_lines[-count:] if count else ()
        return SummaryExtras(memories=tuple(memories), tasks=task_lines(self.context.shape))

    @property
    def remaining(self) -> int | None:
        """Tokens that remain in the window, None if the window is unknown."""
        return None if self.state.window is None else self.state.window - self.state.total.tokens

    @property
    def enough(self) -> bool:
        """True if enough tokens remain, or if the window is unknown."""
        remaining, window = self.remaining, self.state.window
        share = self.policy.summary_remaining_token_threshold
        return remaining is None or window is None or remaining >= window * share / 100

    def record(self, name: RungName, before: int, after: int, note: str) -> None:
        """Record a rung with tokens before and after."""
        self.rungs.append(Rung(name, before, after, note))
        self.trace.append(f"{name}: {note}")

    def append_reason(self, why: str) -> None:
        """Append the reason why the next rung runs or does not run to the last rung's note."""
        last = self.rungs[-1]
        self.rungs[-1] = replace(last, note=f"{last.note}; {why}")
        self.trace[-1] += f"; {why}"


Climbing = Generator[ProgressStep | Requests, tuple[Answer, ...] | None, bool]
"""Climbs, and returns True if anything changed."""


def ladder(climb: Climb) -> Climbing:
    """Try the chain of the task's type until a rung changes something, then more rungs while too few tokens remain. If
    the chain fails, try the fallback order. If all of this is not enough, make a full summary."""
    found = task_type(climb.state.shape, climb.policy.task_cutoffs, climb.policy.task_type)
    climb.trace.append(str(found))
    changed = yield from _first_that_changes(climb, CHAINS[found.kind])
    if changed:
        yield from _while_short(climb, FALLBACK)
    else:
        climb.append_reason(f"every rung for {found.kind} failed: next, the fallback order")
        changed = yield from _until_enough(climb, FALLBACK)
    if changed and climb.enough:
        climb.append_reason(_describe_remaining(climb))
        return True
    climb.append_reason(
        f"{_describe_remaining(climb)}: next, a full summary"
        if changed
        else "no lighter rung remains: next, a full summary"
    )
    changed = (yield from attempt(climb, "full summary")) or changed
    climb.append_reason(_describe_remaining(climb))
    return changed


def _first_that_changes(climb: Climb, chain: Sequence[RungName]) -> Climbing:
    for number, name in enumerate(chain):
        if (yield from attempt(climb, name)):
            return True
        if number + 1 < len(chain):
            climb.append_reason(f"next: {chain[number + 1]}")
    return False


def _while_short(climb: Climb, names: Sequence[RungName]) -> Climbing:
    """Try rungs one after another as long as too few tokens remain."""
    changed = False
    for name in names:
        if climb.enough:
            break
        climb.append_reason(f"{_describe_remaining(climb)}: next, {name}")
        changed = (yield from attempt(climb, name)) or changed
    return changed


def _until_enough(climb: Climb, names: Sequence[RungName]) -> Climbing:
    """Try rungs one after another until one has changed something and enough tokens remain."""
    changed = False
    for number, name in enumerate(names):
        changed = (yield from attempt(climb, name)) or changed
        if changed and climb.enough:
            break
        if number + 1 < len(names):
            climb.append_reason(
                f"{_describe_remaining(climb)}: next, {names[number + 1]}" if changed else f"next: {names[number + 1]}"
            )
    return changed


def attempt(climb: Climb, name: RungName) -> Climbing:
    """Try one rung on the result of the rungs before it. It fails if there is nothing to summarize, no summary, or no
    smaller result.

    A full summary that is the only change is accepted even if the result is not smaller; the outcome reports it.
    """
    state, policy = climb.state, climb.policy
    before = state.total.tokens
    full = name == "full summary"
    keep = never_summarized(state)
    if policy.earlier_summary == "keep":
        keep = with_pairs(state.shape, keep | set(state.shape.summaries))
    cut = _plan_rung(name, state, keep, policy)
    if not cut.groups:
        climb.record(name, before, before, f"nothing to summarize: {cut.note}")
        yield ProgressStep(name, cut.note)
        return False
    answered = yield from replace_groups(
        state,
        cut,
        keep=keep,
        more=climb.more,
        non_interactive=policy.non_interactive,
        choice=lambda index: _choose_earlier_summary(climb, index),
        wording=_summary_wording(policy, full=full),
        exact=climb.done is None,
    )
    if isinstance(answered, SummaryFailed):
        climb.failure = str(answered)
        climb.record(name, before, before, climb.failure)
        return False
    after = state.outcome_size(answered).tokens
    if after >= before and (not full or climb.done is not None):
        climb.record(name, before, after, f"{cut.note}; discarded: the result would not be smaller")
        return False
    climb.trace += [f"{name}: {line}" for line in answered.trace]
    _accept_outcome(climb, answered)
    new = len(climb.new_ids & climb.state.shape.index_of.keys())
    climb.record(
        name,
        before,
        after,
        f"{cut.note}; {len(state)} → {counted(len(climb.state), 'message')}, {new} of them new summaries",
    )
    return True


def _plan_rung(name: RungName, state: Context, keep: frozenset[int], policy: ProgressivePolicy) -> RungPlan:
    match name:
        case "sliding window":
            return sliding_window(state, keep, policy.sliding_window_size)
        case "importance":
            threshold, newest = policy.importance_score_threshold, policy.importance_newest
            return importance(state, keep, policy.importance_weights, threshold, newest)
        case "key events":
            return key_events(state, keep, policy.key_events_newest)
        case "incremental":
            return incremental(state, keep, policy.incremental_summary_chunk_size)
        case _:
            return full_summary(state, keep)


def _accept_outcome(climb: Climb, outcome: Outcome) -> None:
    """Accept the outcome of a rung. Outcomes are composed over the input, so that fates always refer to it."""
    new = {piece.message.id for piece in outcome.pieces if isinstance(piece, NewMessage)}
    climb.new_ids |= new - climb.state.shape.index_of.keys()
    climb.state = climb.state.from_outcome(outcome)
    bare = replace(outcome, trace=())
    climb.done = bare if climb.done is None else composed(climb.done, bare)


def _choose_earlier_summary(climb: Climb, index: int) -> EarlierSummary:
    """Treatment of the summary at `index`. A summary made by this compaction is nested where the policy drops earlier
    ones."""
    policy = climb.policy.earlier_summary
    own = climb.state.messages[index].id in climb.new_ids
    return "nest" if own and policy == "drop" else policy


def _summary_wording(policy: ProgressivePolicy, *, full: bool) -> SummaryWording:
    template = load_prompt(f"progressive-{'full' if full else 'rung'}-node.{policy.language}.md").text
    return SummaryWording(
        policy.full_prompt_used if full else policy.rung_prompt_used,
        template,
        policy.language,
        policy.summary_char_limit,
        policy.request_char_limit,
    )


def _describe_remaining(climb: Climb) -> str:
    remaining, window = climb.remaining, climb.state.window
    if remaining is None or window is None:
        return "the window is unknown, so one rung is enough"
    share = climb.policy.summary_remaining_token_threshold
    verdict = "enough" if climb.enough else f"still under {share:g} %"
    return f"{grouped(remaining)} of {grouped(window)} tokens remain ({percent(remaining / window)}), {verdict}"


def _finish_climb(climb: Climb) -> Outcome:
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
