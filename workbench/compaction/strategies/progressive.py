"""`progressive`: a ladder of light strategies, the context recounted after each rung; a full summary as the last one.

Source: spec/strategies.md §2 and document 001. What goes where:

    before        [system] U1 … a long history …  Un …
    light rung    [system] U1  summary  [pins, <Pin> messages, task list]  what the rung keeps
    full summary  [system] summary + U1, <Pin> passages, memories, tasks, changes as text  [pins]  [current input]

Which rungs are tried, in which order, depends on the type of the task. Pins stay as messages everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import field_validator

from workbench.compaction.context import Context
from workbench.compaction.gauge import Gauge
from workbench.compaction.layout import SUMMARY_MARKER
from workbench.compaction.lint import lint_summary_prompt
from workbench.compaction.outcome import Outcome, unchanged
from workbench.compaction.policy import EarlierSummary, Policy, setting
from workbench.compaction.progressive.climb import Climb, all_texts, attempt, ladder
from workbench.compaction.progressive.importance import ImportanceWeights
from workbench.compaction.progressive.retained import Texts, described, retained_of, task_lines
from workbench.compaction.progressive.task_type import TaskCutoffs
from workbench.compaction.prompts import load_prompt
from workbench.compaction.strategy import (
    NOT_DUE,
    Compacting,
    Strategy,
    Trigger,
    judged,
)
from workbench.figures import grouped

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


def compact(context: Context, policy: ProgressivePolicy) -> Compacting:
    """Fired by tokens alone: the ladder. By rounds, the marker or the user's command: the full summary at once."""
    fired = triggers(context.gauge(), policy)
    trace = [str(trigger) for trigger in fired]
    names = {trigger.name for trigger in fired if trigger.fires}
    if not names:
        return unchanged(context.messages, NOT_DUE, trace)
    layout = context.layout
    more = Texts(tasks=task_lines(layout))
    climb = Climb(policy, context, context, more, trace=trace)
    climb.trace.append(
        described(context, retained_of(context, non_interactive=policy.non_interactive), all_texts(climb))
    )
    at_once = sorted(names - ({TOKENS, COMMAND} if policy.manual_runs == "ladder" else {TOKENS}))
    if at_once:
        yield from attempt(climb, "full summary")
        climb.then(f"no lighter rung ran: fired by {', '.join(at_once)}")
    else:
        yield from ladder(climb)
    return _told(climb)


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
