"""`context-reset`: replace everything except system messages and pins with one summary message.

before   [system] m1 m2 … mn
after    [system] [pins] "[System] Context cleared. Summary of previous conversation: …" [last request?] [unread?]
"""

from __future__ import annotations

from typing import ClassVar, Literal

from workbench.base.figures import grouped
from workbench.compaction import vocabulary
from workbench.compaction.context import Context, Gauge
from workbench.compaction.excerpt import UNBOUNDED, Truncation, labelled_style
from workbench.compaction.head import head_fates, head_of, ordered_pieces, summary_messages
from workbench.compaction.invariants import end_of_head, with_verdict
from workbench.compaction.language import Language
from workbench.compaction.outcome import Outcome, unchanged
from workbench.compaction.policy import setting
from workbench.compaction.prompt_policies import PromptPolicy, RequestShapePolicy, builtin_text
from workbench.compaction.prompts import fill, lint_prompt
from workbench.compaction.render import LABELS, WHOLE
from workbench.compaction.request import RequestPrompt, ask_for_summary
from workbench.compaction.spans import kept_pieces, spans_of
from workbench.compaction.strategy import Compacting, Strategy, Trigger
from workbench.compaction.summary_request import SummaryFailed
from workbench.compaction.summary_template import text_of_summaries
from workbench.compaction.triggers import TokenLimits, count_trigger, token_triggers
from workbench.session import Span

TEMPLATES: dict[Language, str] = {
    "en": "[System] Context cleared. Summary of previous conversation: \n {summary}",
    "zh": "[系统] 上下文已清除。先前对话的摘要：\n {summary}",
}
MARKER = {"en": "\n\n... [middle of the conversation left out] ...\n\n", "zh": "\n\n... [中间部分已省略] ...\n\n"}


class ContextResetPolicy(PromptPolicy, RequestShapePolicy, TokenLimits):
    """Settings of `context-reset`, with the defaults of its design (docs/strategies.md, Sources)."""

    trigger_window_percent: float = vocabulary.trigger_window_percent(90.0)
    estimate_from: Literal["characters", "counted"] = setting(
        "characters", "trigger", "Token source for the triggers: estimated from characters, or counted."
    )
    chars_per_token: float = setting(
        4.0,
        "trigger",
        "Used for the estimate from characters.",
        unit="characters",
        needs={"estimate_from": ("characters",)},
        gt=0,
    )
    trigger_events: int = setting(
        700,
        "trigger",
        "Compact at this number of events (texts, calls and results). 0: never.",
        unit="events",
        ge=0,
    )
    trigger_on_overflow: bool = setting(
        True, "trigger", "Compact when the session records that a prompt was too long for the model."
    )
    request_char_limit: int = vocabulary.request_char_limit(200_000)
    guard_first_percent: float = setting(
        20.0,
        "request",
        "Share of the limit used for the start.",
        unit="%",
        needs={"request_char_limit": ..., **vocabulary.AS_TEXT},
        ge=0,
        le=50,
    )
    guard_last_percent: float = setting(
        30.0,
        "request",
        "Share of the limit used for the end.",
        unit="%",
        needs={"request_char_limit": ..., **vocabulary.AS_TEXT},
        ge=0,
        le=50,
    )
    summary_template: str = vocabulary.summary_template(TEMPLATES["en"])
    reply: str = vocabulary.reply("")
    keep_last_request: bool = setting(
        False, "result", "Keep the newest user message, after the summary. Off: it is summarized as well."
    )
    unread: vocabulary.Unread = vocabulary.unread("keep")

    builtin_texts: ClassVar = {
        "prompt": builtin_text("context-reset"),
        "summary_template": TEMPLATES.__getitem__,
        "reply": vocabulary.REPLIES.__getitem__,
    }


def triggers(now: Gauge, policy: ContextResetPolicy) -> tuple[Trigger, ...]:
    """Read the triggers on tokens, events, and a recorded overflow."""
    if policy.estimate_from == "characters":
        estimated = now._replace(tokens=int(now.chars / policy.chars_per_token))
        found = [*token_triggers(estimated, policy, f"from {grouped(now.chars)} characters")]
    else:
        found = [*token_triggers(now, policy, "counted")]
    found.append(count_trigger("events", now.events, policy.trigger_events, "events"))
    if policy.trigger_on_overflow:
        seen = now.overflow_error_seen
        note = "emergency: a prompt was too long for the model" if seen else ""
        found.append(Trigger("overflow error", int(seen), 1, "errors", seen, note))
    return tuple(found)


def compact(context: Context, policy: ContextResetPolicy, trace: list[str]) -> Compacting:
    """Compact as the module describes. There is no fallback: without a summary the context is returned unchanged."""
    stop = end_of_head(context.shape, policy.unread)
    head = head_of(context, stop, policy.earlier_summary)
    last = _last_request(context, policy, stop)
    staying = head.must_stay | last
    if head.is_spent(staying):
        return unchanged(context.messages, "nothing to compact: every message is kept", trace)
    style = labelled_style(context.shape, LABELS[policy.language], WHOLE)
    template = policy.sent_text("summary_template")
    previous = text_of_summaries(context, head.in_request, template, *TEMPLATES.values())
    carry_on = policy.earlier_summary == "extend"
    prompt = RequestPrompt("summary of the conversation", policy.asks(), previous, carry_on, policy.language)
    how = policy.sent(head, style)
    answer = yield from ask_for_summary(context, head.fresh, prompt, how, _truncation(policy), policy.request, trace)
    if isinstance(answer, SummaryFailed):
        return unchanged(context.messages, str(answer), trace)
    summary, shown = answer
    text = fill(template, {"summary": summary})
    new = summary_messages(context, head, staying, "user", text, policy.sent_text("reply"))
    turn = min(last, default=stop)
    before = spans_of(sorted(index for index in staying if index < turn))
    after = spans_of(sorted(index for index in staying if index >= turn))
    pieces = ordered_pieces(context, kept_pieces(before), new, kept_pieces([*after, Span(stop, len(context))]))
    fates = head_fates(context, head, shown, staying)
    return with_verdict(context, Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace)))


def _last_request(context: Context, policy: ContextResetPolicy, stop: int) -> frozenset[int]:
    if not policy.keep_last_request:
        return frozenset()
    own = (i for i in range(len(context) - 1, -1, -1) if context.messages[i].starts_round)
    return frozenset([found]) if (found := next(own, stop)) < stop else frozenset()


def _truncation(policy: ContextResetPolicy) -> Truncation:
    """Truncation that gives the beginning and the end their shares of the policy's limit."""
    shares = policy.guard_first_percent, policy.guard_last_percent
    if not policy.request_char_limit:
        return UNBOUNDED
    first, last = (int(policy.request_char_limit * share / 100) for share in shares)
    return Truncation(policy.request_char_limit, first, last, MARKER[policy.language])


STRATEGY = Strategy(
    id="context-reset",
    title="Context reset",
    about="Replaces everything except system messages and pins with one summary. Limits the request's length.",
    policy_type=ContextResetPolicy,
    triggers=triggers,
    compact=compact,
    prompts={"context-reset": "prompt"},
    movable=False,
    lint=lambda policy: lint_prompt(policy.asks()),
)
