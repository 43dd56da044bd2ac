"""`context-reset`: everything becomes the system messages, the pins and one summary message.

Source: spec/strategies.md §5 and document 004. What goes where:

    before   [system] m1 m2 … mn
    after    [system] [pins] "[System] Context cleared. Summary of previous conversation: …" [last request?]
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from workbench.compaction.context import Context
from workbench.compaction.dialogue import LABELS, WHOLE, entry
from workbench.compaction.excerpt import Asked, Bounds, Excerpt, excerpt, excerpt_request, shown_strokes
from workbench.compaction.fates import kept_runs, without
from workbench.compaction.gauge import Gauge
from workbench.compaction.keeping import Head, head_of, in_order, summary_made
from workbench.compaction.lint import lint_prompt
from workbench.compaction.outcome import Fate, Made, Outcome, unchanged
from workbench.compaction.painting import Stroke, each, painted
from workbench.compaction.policy import EarlierSummary
from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.setting import setting
from workbench.compaction.strategy import Compacting, Strategy, SummaryFailed, SummaryRequest, Trigger
from workbench.compaction.token_triggers import TokenLimits, count_trigger, token_triggers
from workbench.compaction.verdict import cleaned, judged
from workbench.figures import grouped
from workbench.session import Span

MARKER = {"en": "\n\n... [middle of the conversation left out] ...\n\n", "zh": "\n\n... [中间部分已省略] ...\n\n"}


class ContextResetPolicy(TokenLimits):
    """Document 004's thresholds and its guard (`MAX_SAFE_CHARS`)."""

    trigger_window_percent: float = setting(
        90.0, "trigger", "Compact when this share of the model's window is used. 0: never.", unit="%", ge=0, le=100
    )
    estimate_from: Literal["characters", "counted"] = setting(
        "characters", "trigger", "Tokens by which the triggers go: estimated from characters, or counted."
    )
    chars_per_token: float = setting(4.0, "trigger", "For the estimate from characters.", unit="characters", gt=0)
    trigger_events: int = setting(
        700,
        "trigger",
        "Compact when there are so many events: texts, calls and results. 0: never.",
        unit="events",
        ge=0,
    )
    trigger_on_overflow: bool = setting(
        True, "trigger", "Compact when the session records that a prompt was too long for the model: an emergency."
    )
    guard_chars: int = setting(
        200_000,
        "request",
        "A longer history loses its middle before the model is shown it.",
        unit="characters",
        ge=10,
    )
    guard_first_percent: float = setting(
        20.0, "request", "Share of the guard's limit shown of the beginning.", unit="%", ge=0, le=50
    )
    guard_last_percent: float = setting(
        30.0, "request", "Share of the guard's limit shown of the end.", unit="%", ge=0, le=50
    )
    language: Literal["en", "zh"] = setting("en", "summary", "Language of prompt, labels and summary.")
    prompt: str = setting(
        "",
        "summary",
        "What the model is asked. Empty: the shipped one in the policy's language.",
        multiline=True,
    )
    summary_char_limit: int = setting(
        0, "summary", "A longer summary is cut at a line or sentence. 0: no limit.", unit="characters", ge=0
    )
    summary_template: str = setting(
        "[System] Context cleared. Summary of previous conversation: \n {summary}",
        "result",
        "The one message that is left, with {summary}.",
        multiline=True,
        pattern=r"\{summary\}",
    )
    reply: str = setting("", "result", "What the agent says after the summary. Empty: nothing.")
    keep_last_request: bool = setting(
        False, "result", "The user's newest own message stays, after the summary. The document's system has it go too."
    )
    earlier_summary: EarlierSummary = setting(
        "nest",
        "summary",
        "What becomes of an earlier summary: drop it; keep it where it stands; nest it in the new request as context, "
        "as the document's system does, to which it is one more event; or extend it: summarize only what came after.",
    )


def prompt_of(policy: ContextResetPolicy) -> str:
    return policy.prompt.strip() or load_prompt(f"context-reset.{policy.language}.md").text


def triggers(now: Gauge, policy: ContextResetPolicy) -> tuple[Trigger, ...]:
    """Tokens, events, and a recorded overflow (document 004 §3)."""
    if policy.estimate_from == "characters":
        estimated = replace(now, tokens=int(now.chars / policy.chars_per_token))
        found = [*token_triggers(estimated, policy, f"from {grouped(now.chars)} characters")]
    else:
        found = [*token_triggers(now, policy, "counted")]
    found.append(count_trigger("events", now.events, policy.trigger_events, "events"))
    if policy.trigger_on_overflow:
        seen = now.overflow_error_seen
        note = "emergency: a prompt was too long for the model" if seen else ""
        found.append(Trigger("overflow error", int(seen), 1, "errors", seen, note))
    return tuple(found)


def compact(context: Context, policy: ContextResetPolicy) -> Compacting:
    """See the module's docstring. The document has no fallback: without a summary the input comes back."""
    fired = triggers(context.gauge(), policy)
    trace = [str(trigger) for trigger in fired]
    if not context.manual and not any(trigger.fires for trigger in fired):
        return unchanged(context.messages, "no trigger fires", trace)
    head = head_of(context, len(context), policy.earlier_summary, policy.summary_template)
    last = _last_request(context, policy)
    if head.is_spent(head.kept | last):
        return unchanged(context.messages, "nothing to compact: nothing is there that could go", trace)
    shown = _shown(context, policy, head)
    if shown.cut:
        first, end = _guarded(policy)
        sizes = f"the first {grouped(first)} and the last {grouped(end)}"
        trace.append(f"guard: over {grouped(policy.guard_chars)} characters; {sizes} are shown")
    (answer,) = (yield (_request(context, policy, head, shown),)) or (SummaryFailed("error", "no answer"),)
    if isinstance(answer, SummaryFailed):
        return unchanged(context.messages, str(answer), trace)
    summary = cleaned(answer.text, policy.summary_char_limit, trace)
    if not summary:
        return unchanged(context.messages, "the summary is empty", trace)
    if head.carry_on and head.previous:
        summary = f"{head.previous}\n\n{summary}"
    text = fill(policy.summary_template, {"summary": summary})
    made = summary_made(context, head, without(head.fresh, head.kept | last), "user", text, policy.reply)
    return judged(context, _outcome(context, head, last, shown, made, trace))


def _last_request(context: Context, policy: ContextResetPolicy) -> frozenset[int]:
    if not policy.keep_last_request:
        return frozenset()
    own = (i for i in range(len(context) - 1, -1, -1) if context.messages[i].starts_round)
    return frozenset([found]) if (found := next(own, None)) is not None else frozenset()


def _guarded(policy: ContextResetPolicy) -> tuple[int, int]:
    """Characters of the beginning and of the end that pass the guard: shares *of the limit*, so that it is a bound."""
    shares = policy.guard_first_percent, policy.guard_last_percent
    first, last = (int(policy.guard_chars * share / 100) for share in shares)
    return first, last


def _shown(context: Context, policy: ContextResetPolicy, head: Head) -> Excerpt:
    labels = LABELS[policy.language]
    first, last = _guarded(policy)
    bounds = Bounds(policy.guard_chars, first, last, MARKER[policy.language])
    return excerpt(head.indexes, lambda index: entry(context.messages[index], labels, WHOLE), bounds)


def _request(context: Context, policy: ContextResetPolicy, head: Head, shown: Excerpt) -> SummaryRequest:
    asked = Asked("summary of the conversation", prompt_of(policy), head.previous, head.carry_on)
    settings = {"language": policy.language, "max_chars": policy.summary_char_limit}
    return excerpt_request(context, asked, head.fresh, shown, **settings)


def _outcome(
    context: Context, head: Head, last: frozenset[int], shown: Excerpt, made: list[Made], trace: list[str]
) -> Outcome:
    """What is kept stands before the summary, but for the last request and what is kept after it."""
    turn = min(last, default=len(context))
    before = sorted(index for index in head.kept if index < turn)
    after = sorted(index for index in head.kept | last if index >= turn)
    pieces = in_order(context, head.lead, list(kept_runs(before)), made, kept_runs(after))
    strokes = [
        *shown_strokes(shown),
        Stroke(Fate.SUMMARIZED, each(head.earlier) if head.previous else [], "all"),
        Stroke(Fate.KEPT, [Span(0, head.lead), *each(sorted(head.kept | last))]),
        Stroke(Fate.PINNED, each(sorted(head.pins))),
    ]
    fates = painted(len(context), strokes)
    return Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace))


STRATEGY = Strategy(
    id="context-reset",
    title="Context reset",
    about="Everything becomes the system messages, the pins and one summary, with a guard on what the model is shown.",
    policy_type=ContextResetPolicy,
    triggers=triggers,
    compact=compact,
    movable=False,
    lint=lambda policy: lint_prompt(prompt_of(policy)),
)
