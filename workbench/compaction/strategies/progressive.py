"""`progressive`: a ladder of light strategies, the context recounted after each rung; a full summary as the last one.

Source: spec/strategies.md §2 and document 001. What goes where:

    before        [system] U1 … a long history …  Un …
    light rung    [system] U1  summary  [pins, <Pin> messages, task list]  what the rung keeps
    full summary  [system] summary + U1, <Pin> passages, memories, tasks, changes as text  [pins]  [current input]

Which rungs are tried, in which order, depends on the type of the task. Pins stay as messages everywhere.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import field_validator

from workbench.compaction.compose import composed
from workbench.compaction.context import SUMMARY_MARKER, Context
from workbench.compaction.gauge import Gauge
from workbench.compaction.importance import ImportanceWeights
from workbench.compaction.keeping import with_pairs
from workbench.compaction.lint import lint_summary_prompt
from workbench.compaction.outcome import Outcome, Rung, unchanged
from workbench.compaction.policy import EarlierSummary, Policy
from workbench.compaction.prompts import load_prompt
from workbench.compaction.replacing import Wording, replaced
from workbench.compaction.retained import Texts, described, memory_lines, retained_of, task_lines
from workbench.compaction.rungs import Cut, full_summary, importance, incremental, key_events, sliding_window
from workbench.compaction.setting import setting
from workbench.compaction.strategy import Answer, Compacting, Requests, Step, Strategy, SummaryFailed, Trigger
from workbench.compaction.task_type import TaskCutoffs, TaskKind, task_type
from workbench.compaction.verdict import judged
from workbench.figures import grouped

RungName = Literal["sliding window", "importance", "key events", "incremental", "full summary"]

CHAINS: dict[TaskKind, tuple[RungName, ...]] = {
    "code": ("sliding window", "key events", "incremental"),
    "analysis": ("sliding window", "importance", "incremental"),
    "conversation": ("sliding window", "importance", "incremental"),
    "mixed": ("sliding window", "incremental", "importance"),
    "unknown": ("sliding window", "importance", "incremental"),
}
AFTERWARDS: tuple[RungName, ...] = ("sliding window", "importance")
"""Tried when a chain's rung changed something and it is not enough."""
FALLBACK: tuple[RungName, ...] = ("sliding window", "importance", "key events", "incremental")
"""Tried when every rung of a chain failed."""

TOKENS, ROUNDS, MARKER, COMMAND = "remaining tokens", "rounds", "marker", "command"


class ProgressivePolicy(Policy):
    """Document 001's configuration with its defaults, and what it leaves open as fields of the workbench's own."""

    earlier_summary: EarlierSummary = setting(
        "nest",
        "summary",
        "What becomes of an earlier summary: drop it; keep it where it stands; nest it in the new request as context "
        "(it is part of the history that document 001 summarizes); or extend it: carry its text on.",
    )
    trigger_on_remaining_tokens: bool = setting(
        True, "trigger", "Climb the ladder when too few tokens remain, checked before each model call."
    )
    summary_remaining_token_threshold: float = setting(
        25.0, "trigger", "Too few: less than this share of the window.", unit="% of the window", ge=0, le=100
    )
    trigger_on_rounds: bool = setting(True, "trigger", "Summarize everything when there are too many rounds.")
    conversation_turn_threshold: int = setting(200, "trigger", "So many rounds are too many.", unit="rounds", ge=1)
    trigger_on_marker: bool = setting(
        True, "trigger", f"Summarize everything when the model itself writes {SUMMARY_MARKER}."
    )
    manual_runs: Literal["full", "ladder"] = setting(
        "full",
        "trigger",
        "The user's command: full summarizes everything, as document 001's command does; ladder, the workbench's own, "
        "switches that off, and a manual run climbs the ladder as if too few tokens remained.",
    )
    task_type: Literal["auto", "code", "analysis", "conversation", "mixed", "unknown"] = setting(
        "auto", "ladder", "The type of the task, which chooses the chain of rungs. auto: told from the session."
    )
    sliding_window_size: int = setting(
        9,
        "ladder",
        "Sliding window: the newest messages that stay, 4 of user and tools and 5 of the agent. Odd, so that the roles "
        "still alternate.",
        unit="messages",
        ge=1,
    )
    importance_score_threshold: float = setting(
        3.0, "ladder", "Importance: messages that score this or more stay.", unit="points", ge=0
    )
    importance_newest: int = setting(
        5, "ladder", "Importance: the newest less important messages that stay.", unit="messages", ge=0
    )
    key_events_newest: int = setting(
        5, "ladder", "Key events: the newest other messages that stay.", unit="messages", ge=0
    )
    incremental_summary_chunk_size: int = setting(
        20, "ladder", "Incremental: each chunk but the last becomes a summary.", unit="rounds", ge=1
    )
    recent_memories: int = setting(
        10, "retained", "The newest memories that the full summary carries.", unit="memories", ge=0
    )
    non_interactive: bool = setting(
        False, "retained", "Nobody is at hand to ask: the whole requirement counts as pinned."
    )
    language: Literal["en", "zh"] = setting("en", "summary", "Language of prompts and summaries.")
    summary_char_limit: int = setting(
        0, "summary", "A longer summary is cut at a line or sentence. 0: no limit.", unit="characters", ge=0
    )
    request_hard_limit_chars: int = setting(
        1_000_000, "summary", "A longer request loses its middle. 0: no limit.", unit="characters", ge=0
    )
    rung_prompt: str = setting(
        "", "summary", "What a light rung asks the model. Empty: the shipped prompt of the language.", multiline=True
    )
    full_prompt: str = setting(
        "",
        "summary",
        "What the full summary asks the model. Empty: the shipped prompt of the language.",
        multiline=True,
    )
    importance_weights: ImportanceWeights = setting(ImportanceWeights(), "importance", "What each signal adds.")
    task_cutoffs: TaskCutoffs = setting(TaskCutoffs(), "task type", "From which figures on a session is called what.")

    @field_validator("sliding_window_size")
    @classmethod
    def _odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError(
                f"the window must be odd, so that the roles still alternate; take {value - 1} or {value + 1}"
            )
        return value

    @property
    def rung_prompt_used(self) -> str:
        return self.rung_prompt.strip() or load_prompt(f"progressive-rung.{self.language}.md").text

    @property
    def full_prompt_used(self) -> str:
        return self.full_prompt.strip() or load_prompt(f"progressive-full.{self.language}.md").text


def triggers(now: Gauge, policy: ProgressivePolicy) -> tuple[Trigger, ...]:
    """Remaining tokens, rounds, the marker, the user's command, each on its own switch (spec/strategies.md §2)."""
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
    """The value is what is used, the limit the first figure that leaves too little: remaining < share × window."""
    if now.window is None:
        return Trigger(TOKENS, now.tokens, 0, "tokens", False, "the model's window is not known")
    remaining = now.window - now.tokens
    least = now.window * policy.summary_remaining_token_threshold / 100
    note = f"{grouped(remaining)} of {grouped(now.window)} remain, threshold {grouped(least)}"
    limit = int(now.window - least) + 1
    if not policy.trigger_on_remaining_tokens:
        return Trigger(TOKENS, now.tokens, limit, "tokens", False, f"switched off; {note}")
    return Trigger(TOKENS, now.tokens, limit, "tokens", remaining < least, note)


@dataclass
class Climb:
    """A ladder being climbed: the input, what it has become, and every rung so far with its reason."""

    policy: ProgressivePolicy
    context: Context
    state: Context
    more: Texts
    done: Outcome | None = None
    made: set[str] = field(default_factory=set)
    rungs: list[Rung] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def remaining(self) -> int | None:
        return None if self.state.window is None else self.state.window - self.state.total.tokens

    @property
    def enough(self) -> bool:
        """Whether the threshold is kept; True where the window is not known."""
        remaining, window = self.remaining, self.state.window
        share = self.policy.summary_remaining_token_threshold
        return remaining is None or window is None or remaining >= window * share / 100

    def record(self, name: RungName, before: int, after: int, note: str) -> None:
        self.rungs.append(Rung(name, before, after, note))
        self.trace.append(f"{name}: {note}")

    def then(self, why: str) -> None:
        """Add to the last rung's record why the next one runs or does not."""
        last = self.rungs[-1]
        self.rungs[-1] = replace(last, note=f"{last.note}; {why}")
        self.trace[-1] += f"; {why}"


Climbing = Generator[Step | Requests, tuple[Answer, ...] | None, bool]
"""Climbs, and returns whether anything changed."""


def compact(context: Context, policy: ProgressivePolicy) -> Compacting:
    """Fired by tokens alone: the ladder. By rounds, the marker or the user's command: the full summary at once."""
    fired = triggers(context.gauge(), policy)
    trace = [str(trigger) for trigger in fired]
    names = {trigger.name for trigger in fired if trigger.fires}
    if not names:
        return unchanged(context.messages, "no trigger fires", trace)
    layout = context.layout
    more = Texts(tasks=task_lines(layout))
    climb = Climb(policy, context, context, more, trace=trace)
    climb.trace.append(
        described(context, retained_of(context, non_interactive=policy.non_interactive), _all_texts(climb))
    )
    at_once = sorted(names - ({TOKENS, COMMAND} if policy.manual_runs == "ladder" else {TOKENS}))
    if at_once:
        yield from _attempt(climb, "full summary")
        climb.then(f"no lighter rung ran: fired by {', '.join(at_once)}")
    else:
        yield from _ladder(climb)
    return _told(climb)


def _ladder(climb: Climb) -> Climbing:
    """The chain of the task's type; the first rung that changes something ends it. Then more, or the fallback."""
    found = task_type(climb.state.layout, climb.policy.task_cutoffs, climb.policy.task_type)
    climb.trace.append(str(found))
    changed = yield from _first_that_changes(climb, CHAINS[found.kind])
    if changed:
        yield from _while_short(climb, AFTERWARDS)
    else:
        climb.then(f"every rung for {found.kind} failed: the fallback order next")
        changed = yield from _until_enough(climb, FALLBACK)
    if changed and climb.enough:
        climb.then(_balance(climb))
        return True
    climb.then(f"{_balance(climb)}: full summary next" if changed else "nothing lighter is left: full summary next")
    changed = (yield from _attempt(climb, "full summary")) or changed
    climb.then(_balance(climb))
    return changed


def _first_that_changes(climb: Climb, chain: Sequence[RungName]) -> Climbing:
    for number, name in enumerate(chain):
        if (yield from _attempt(climb, name)):
            return True
        if number + 1 < len(chain):
            climb.then(f"next: {chain[number + 1]}")
    return False


def _while_short(climb: Climb, names: Sequence[RungName]) -> Climbing:
    """Rungs one after another as long as too few tokens remain."""
    changed = False
    for name in names:
        if climb.enough:
            break
        climb.then(f"{_balance(climb)}: {name} next")
        changed = (yield from _attempt(climb, name)) or changed
    return changed


def _until_enough(climb: Climb, names: Sequence[RungName]) -> Climbing:
    """Rungs one after another until one has changed something and enough tokens remain."""
    changed = False
    for number, name in enumerate(names):
        changed = (yield from _attempt(climb, name)) or changed
        if changed and climb.enough:
            break
        if number + 1 < len(names):
            climb.then(f"{_balance(climb)}: {names[number + 1]} next" if changed else f"next: {names[number + 1]}")
    return changed


def _attempt(climb: Climb, name: RungName) -> Climbing:
    """One rung on what the ones before left. It changes something, or it fails: nothing to do, no summary, not smaller.

    The full summary is taken where it is the only thing that happened, so that an outcome which is not smaller is
    reported and not hidden.
    """
    state, policy = climb.state, climb.policy
    before = state.total.tokens
    retained = retained_of(state, non_interactive=policy.non_interactive)
    full = name == "full summary"
    keep = retained.full if full else retained.light
    if policy.earlier_summary == "keep":
        keep = with_pairs(state, keep | set(state.layout.summaries))
    cut = _cut(name, state, keep, policy)
    if not cut.groups:
        climb.record(name, before, before, f"nothing to summarize: {cut.note}")
        yield Step(name, cut.note)
        return False
    answered = yield from replaced(
        state,
        cut,
        keep=keep,
        pinned=retained.pinned,
        more=_all_texts(climb) if full else climb.more,
        choice=lambda index: _choice(climb, index),
        wording=_wording(policy, full=full),
        exact=climb.done is None,
    )
    if isinstance(answered, SummaryFailed):
        climb.failure = str(answered)
        climb.record(name, before, before, climb.failure)
        return False
    after = state.outcome_size(answered).tokens
    if after >= before and (not full or climb.done is not None):
        climb.record(name, before, after, f"{cut.note}; taken back: it would not be smaller")
        return False
    climb.trace += [f"{name}: {line}" for line in answered.trace]
    _take(climb, answered)
    made = sum(1 for message in climb.state.messages if message.id in climb.made)
    climb.record(
        name, before, after, f"{cut.note}; {len(state)} → {len(climb.state)} messages, {made} of them new summaries"
    )
    return True


def _cut(name: RungName, state: Context, keep: frozenset[int], policy: ProgressivePolicy) -> Cut:
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


def _take(climb: Climb, outcome: Outcome) -> None:
    """Go on from what a rung made. Outcomes are kept over the input, so that every fate speaks of it."""
    climb.made |= {message.id for message in outcome.messages if message.kind == "summary"} - {
        message.id for message in climb.state.messages
    }
    climb.state = climb.state.from_outcome(outcome)
    bare = replace(outcome, trace=())
    climb.done = bare if climb.done is None else composed(climb.done, bare)


def _choice(climb: Climb, index: int) -> EarlierSummary:
    """What becomes of the summary at `index`. One that this very run made is never dropped: it is nested."""
    policy = climb.policy.earlier_summary
    own = climb.state.messages[index].id in climb.made
    return "nest" if own and policy == "drop" else policy


def _all_texts(climb: Climb) -> Texts:
    """What the full summary carries beyond what stands in the messages: memories, tasks."""
    count = climb.policy.recent_memories
    return replace(climb.more, memories=memory_lines(climb.context)[-count:] if count else ())


def _wording(policy: ProgressivePolicy, *, full: bool) -> Wording:
    node = load_prompt(f"progressive-{'full' if full else 'rung'}-node.{policy.language}.md").text
    return Wording(
        policy.full_prompt_used if full else policy.rung_prompt_used,
        node,
        policy.language,
        policy.summary_char_limit,
        policy.request_hard_limit_chars,
    )


def _balance(climb: Climb) -> str:
    remaining, window = climb.remaining, climb.state.window
    if remaining is None or window is None:
        return "the window is not known, so one rung is enough"
    share = climb.policy.summary_remaining_token_threshold
    verdict = "enough" if climb.enough else f"still under {share:g} %"
    return f"{grouped(remaining)} of {grouped(window)} tokens remain ({100 * remaining / window:.1f} %), {verdict}"


def _told(climb: Climb) -> Outcome:
    """The outcome over the input, with every rung. A full summary that failed leaves what lighter rungs did."""
    rungs, source = tuple(climb.rungs), climb.context.messages
    last = climb.rungs[-1]
    if climb.done is None:
        reason = climb.failure or f"nothing to compact: {last.note.removeprefix('nothing to summarize: ')}"
        return replace(unchanged(source, reason, climb.trace), rungs=rungs)
    before, after = climb.context.layout.rounds.rounds, climb.state.layout.rounds.rounds
    climb.trace.append(f"rounds: {len(before)} → {len(after)}")
    draft = replace(climb.done, rungs=rungs, trace=tuple(climb.trace))
    if climb.failure and climb.state.total.tokens < climb.context.total.tokens:
        instead = ", ".join(rung.name for rung in rungs if rung.after < rung.before)
        draft = replace(draft, status="fallback", reason=f"{climb.failure}; what stands was done by {instead}")
    return judged(climb.context, draft)


def _doubts(policy: ProgressivePolicy) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys((*lint_summary_prompt(policy.rung_prompt_used), *lint_summary_prompt(policy.full_prompt_used)))
    )


STRATEGY = Strategy(
    id="progressive",
    title="Progressive",
    about="A ladder of light strategies by type of task, recounted after each rung; a full summary as the last rung.",
    policy_type=ProgressivePolicy,
    triggers=triggers,
    compact=compact,
    unit="message",
    movable=False,
    lint=_doubts,
)
