"""`message-window`: the oldest messages become one short summary; the rest stays.

Source: spec/strategies.md §4 and document 003. What goes where:

    before   [system] m1 … m30 | m31 … m40
    after    [system] [system-role summary] [pins] | m31 … m40

The document's window is the first 30 of at least 40 messages. Other products measure it differently (by what stays, by
tokens, by a share of the characters); each is a way to say where the window ends, and then everything is the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from workbench.compaction.context import Context, Layout
from workbench.compaction.dialogue import LABELS, Limits, entry
from workbench.compaction.dropping import Marker, Oldest, drop_oldest, exempt_of
from workbench.compaction.excerpt import Asked, Bounds, Excerpt, excerpt, excerpt_request, shown_strokes
from workbench.compaction.fates import kept_runs, without
from workbench.compaction.gauge import Gauge
from workbench.compaction.keeping import Head, head_of, in_order, run_of, summary_made, with_pairs
from workbench.compaction.lint import lint_prompt
from workbench.compaction.outcome import Fate, Made, Outcome, Piece, unchanged
from workbench.compaction.painting import Stroke, each, painted
from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.setting import setting
from workbench.compaction.strategy import Compacting, Strategy, SummaryFailed, SummaryRequest, Trigger
from workbench.compaction.token_triggers import TokenLimits, count_trigger, token_triggers
from workbench.compaction.verdict import cleaned, judged
from workbench.figures import grouped
from workbench.session import Message, Span, leading_system

SafeEnd = Literal["plain_chat", "whole_pairs", "user_message"]
TEMPLATES = {
    "zh": "[对话摘要 - 早期上下文]\n{summary}",
    "en": "[Conversation summary - earlier context]\n{summary}",
}
MARKERS = {"zh": "...[已截断]", "en": "...[cut]"}
DROPPED = {"zh": "[更早的消息已被丢弃]", "en": "[Earlier messages were dropped.]"}


class MessageWindowPolicy(TokenLimits):
    """Document 003's constants, and other ways to say when the window closes and where it ends."""

    trigger_messages: int = setting(
        40, "trigger", "Compact when there are at least so many messages. 0: never.", unit="messages", ge=0
    )
    cut: Literal["first_messages", "newest_messages", "newest_spoken", "newest_tokens", "head_percent"] = setting(
        "first_messages",
        "split",
        "How the window's end is found: so many messages from the start (window_messages); or all but the newest "
        "messages, the newest user and agent messages (keep_messages), the newest tokens (keep_tokens); or a share of "
        "the characters (head_percent).",
    )
    window_messages: int = setting(
        30, "split", "Messages in the window, leading system messages not counted.", unit="messages", ge=1
    )
    keep_messages: int = setting(20, "split", "Newest messages that stay.", unit="messages", ge=0)
    keep_tokens: int = setting(20_000, "split", "The newest messages that fit stay.", unit="tokens", ge=0)
    head_percent: float = setting(70.0, "split", "Share of the characters in the window.", unit="%", gt=0, le=100)
    min_tail_messages: int = setting(
        10, "split", "At least so many newest messages stay, also when run by hand.", unit="messages", ge=0
    )
    safe_end: SafeEnd = setting(
        "plain_chat",
        "split",
        "Where the window may end: after a message without calls and results; after any whole tool pair; or before a "
        "user's own message. The first is the document's, and on tool sessions it finds next to nothing.",
    )
    search: Literal["back", "forward"] = setting(
        "back",
        "split",
        "Where to look for a safe end: back, keeping more; or forward, keeping less, and back only if none follows.",
    )
    keep_first: int = setting(
        0, "split", "So many first messages stay in front of the summary, whole pairs only.", unit="messages", ge=0
    )
    text_limit: int = setting(500, "request", "Characters shown of a text.", unit="characters", ge=1)
    result_limit: int = setting(200, "request", "Characters shown of a tool result.", unit="characters", ge=0)
    call_input_limit: int = setting(
        0, "request", "Characters shown of a call's input. 0: the tool's name alone.", unit="characters", ge=0
    )
    transcript_limit: int = setting(12_000, "request", "Characters shown of the whole window.", unit="characters", ge=1)
    transcript_cut: Literal["end", "middle", "start"] = setting(
        "end", "request", "What of a longer transcript the model is not shown. The document cuts the end off."
    )
    language: Literal["zh", "en"] = setting("zh", "summary", "Language of prompt, labels and summary.")
    prompt: str = setting(
        "",
        "summary",
        "What the model is asked; {max_chars} is filled in. Empty: the shipped one in the policy's language.",
        multiline=True,
    )
    summary_char_limit: int = setting(
        1_500, "summary", "Asked for, and cut at a line or sentence if the model writes more.", unit="characters", ge=1
    )
    temperature: float = setting(0.3, "summary", "Used where the model takes one.", ge=0, le=2)
    summary_template: str = setting(
        "",
        "result",
        "The summary message, with {summary}. Empty: the document's heading in the policy's language.",
        multiline=True,
        pattern=r"^$|\{summary\}",
    )
    summary_role: Literal["system", "user"] = setting("system", "result", "Role of the summary message.")
    reply: str = setting("", "result", "What the agent says after the summary. Empty: nothing.")
    fallback: Literal["hard_trim", "unchanged"] = setting(
        "hard_trim", "fallback", "When there is no summary: drop the oldest messages, or leave everything as it is."
    )
    fallback_messages: int = setting(
        50, "fallback", "Messages that the hard trim leaves at most.", unit="messages", ge=1
    )


def prompt_of(policy: MessageWindowPolicy) -> str:
    """The policy's prompt, or the shipped one in its language, `{max_chars}` filled in."""
    text = policy.prompt.strip() or load_prompt(f"message-window.{policy.language}.md").text
    return fill(text, {"max_chars": str(policy.summary_char_limit)})


def template_of(policy: MessageWindowPolicy) -> str:
    return policy.summary_template or TEMPLATES[policy.language]


def triggers(now: Gauge, policy: MessageWindowPolicy) -> tuple[Trigger, ...]:
    found = token_triggers(now, policy)
    if policy.trigger_messages or not found:
        return (count_trigger("messages", now.messages, policy.trigger_messages, "messages"), *found)
    return found


def gauge(context: Context, policy: MessageWindowPolicy) -> Gauge:
    """The context's gauge, leading system messages not counted as messages."""
    now = context.gauge()
    return replace(now, messages=now.messages - leading_system(context.messages))


def compact(context: Context, policy: MessageWindowPolicy) -> Compacting:
    """See the module's docstring. Without a summary the policy's fallback runs."""
    fired = triggers(gauge(context, policy), policy)
    trace = [str(trigger) for trigger in fired]
    if not context.manual and not any(trigger.fires for trigger in fired):
        return unchanged(context.messages, "no trigger fires", trace)
    end = _window_end(context, policy, trace)
    head = head_of(context, end, policy.earlier_summary, template_of(policy))
    first = _first(context, policy, head)
    if head.is_spent(head.kept | first):
        return unchanged(context.messages, "nothing to compact: the window holds nothing that could go", trace)
    shown = _shown(context, policy, head)
    if shown.cut:
        trace.append(
            f"the transcript is cut to {grouped(policy.transcript_limit)} characters: {policy.transcript_cut} left out"
        )
    (answer,) = (yield (_request(context, policy, head, shown),)) or (SummaryFailed("error", "no answer"),)
    if isinstance(answer, SummaryFailed):
        return _fallen_back(context, policy, str(answer), trace)
    summary = cleaned(answer.text, policy.summary_char_limit, trace)
    if not summary:
        return _fallen_back(context, policy, "the summary is empty", trace)
    if head.carry_on and head.previous:
        summary = f"{head.previous}\n\n{summary}"
    text = fill(template_of(policy), {"summary": summary})
    gone = without(head.fresh, head.kept | first)
    made = summary_made(context, head, gone, policy.summary_role, text, policy.reply)
    return judged(context, _outcome(context, policy, head, first, shown, made, trace))


def _window_end(context: Context, policy: MessageWindowPolicy, trace: list[str]) -> int:
    """Where the window ends; the number of leading system messages when nothing may be compacted."""
    layout, count = context.layout, len(context)
    lead = leading_system(context.messages)
    if context.split_at is not None:
        end = safe_end(layout, lead, max(layout.index_of[context.split_at], lead), "whole_pairs")
        trace.append(f"split by hand before message {end + 1}")
        return end
    most = max(count - policy.min_tail_messages, lead)
    ideal = min(max(_ideal_end(layout, lead, policy), lead), most)
    end = safe_end(layout, lead, ideal, policy.safe_end, most if policy.search == "forward" else None)
    if policy.safe_end == "plain_chat" and (pairs := safe_end(layout, lead, ideal, "whole_pairs")) != end:
        trace.append(f"safe end: plain_chat gives {end - lead} messages, whole_pairs would give {pairs - lead}")
    trace.append(f"window: {end - lead} messages of {ideal - lead} wanted; tail: {count - end} messages")
    return end


def _ideal_end(layout: Layout, lead: int, policy: MessageWindowPolicy) -> int:
    count = len(layout.messages)
    match policy.cut:
        case "first_messages":
            return lead + policy.window_messages
        case "newest_messages":
            return count - policy.keep_messages
        case "newest_spoken":
            return _newest_spoken(layout.messages, policy.keep_messages)
        case "newest_tokens":
            return bisect_left(layout.tokens, layout.tokens[count] - policy.keep_tokens)
        case "head_percent":
            sums = layout.api_chars
            return bisect_left(sums, sums[lead] + (sums[count] - sums[lead]) * policy.head_percent / 100)


def _newest_spoken(messages: Sequence[Message], keep: int) -> int:
    """Where the newest `keep` user and agent messages begin; tool results between them come along."""
    for index in range(len(messages) - 1, -1, -1):
        if keep <= 0:
            return index + 1
        keep -= messages[index].role in ("user", "assistant")
    return 0


def safe_end(layout: Layout, start: int, ideal: int, rule: SafeEnd, forward_to: int | None = None) -> int:
    """The end next to `ideal` at which the window may end, looking back to `start`, which means there is none.

    With `forward_to` ends from `ideal` up to there come first. No rule lets a tool pair be torn.
    """
    if forward_to is not None:
        for end in range(ideal, forward_to + 1):
            if end > start and _is_safe(layout, end, rule):
                return end
    return next((end for end in range(ideal, start, -1) if _is_safe(layout, end, rule)), start)


def _is_safe(layout: Layout, end: int, rule: SafeEnd) -> bool:
    if layout.open_across[end]:
        return False
    messages = layout.messages
    last = messages[end - 1]
    if rule == "plain_chat":
        return not last.calls and not last.results
    if rule == "user_message":
        whole = end == len(messages)
        return (last.role == "assistant" and not last.calls) if whole else messages[end].starts_round
    return True


def _first(context: Context, policy: MessageWindowPolicy, head: Head) -> frozenset[int]:
    """The first messages, which stay in front of the summary."""
    if not policy.keep_first:
        return frozenset()
    stop = safe_end(context.layout, head.lead, min(head.lead + policy.keep_first, head.stop), "whole_pairs")
    return with_pairs(context, (i for i in range(head.lead, stop) if context.messages[i].kind != "summary"))


def _shown(context: Context, policy: MessageWindowPolicy, head: Head) -> Excerpt:
    labels = LABELS[policy.language]
    limits = Limits(policy.text_limit, policy.call_input_limit, policy.result_limit)
    limit = policy.transcript_limit
    first = {"end": limit, "middle": limit // 2, "start": 0}[policy.transcript_cut]
    bounds = Bounds(limit, first, limit - first, MARKERS[policy.language])
    return excerpt(head.indexes, lambda index: entry(context.messages[index], labels, limits), bounds)


def _request(context: Context, policy: MessageWindowPolicy, head: Head, shown: Excerpt) -> SummaryRequest:
    asked = Asked("summary of the window", prompt_of(policy), head.previous, head.carry_on)
    return excerpt_request(
        context,
        asked,
        head.fresh,
        shown,
        language=policy.language,
        max_chars=policy.summary_char_limit,
        temperature=policy.temperature,
    )


def _outcome(
    context: Context,
    policy: MessageWindowPolicy,
    head: Head,
    first: frozenset[int],
    shown: Excerpt,
    made: list[Made],
    trace: list[str],
) -> Outcome:
    """Leading system, first messages, earlier summaries that are kept and stand first, summary, pins, tail."""
    turn = max((index for index in first if index < head.stop), default=-1)
    before = sorted(index for index in head.kept | first if index <= turn)
    rest = sorted(index for index in head.kept if index > turn)
    while policy.earlier_summary == "keep" and rest and rest[0] in head.earlier:
        before.append(rest.pop(0))
    before_pieces: list[Piece] = list(kept_runs(before))
    after = [*kept_runs(rest), *run_of(head.stop, len(context))]
    pieces = in_order(context, head.lead, before_pieces, made, after)
    nested = each(head.earlier) if head.previous else []
    strokes = [
        *shown_strokes(shown),
        Stroke(Fate.SUMMARIZED, nested, "all"),
        Stroke(Fate.KEPT, [Span(0, head.lead), Span(head.stop, len(context)), *each(sorted(head.kept | first))]),
        Stroke(Fate.PINNED, each(sorted(head.pins))),
    ]
    fates = painted(len(context), strokes)
    return Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace))


def _fallen_back(context: Context, policy: MessageWindowPolicy, reason: str, trace: list[str]) -> Outcome:
    """Document 003 §6.3: without a summary, the oldest messages are dropped, and the session goes on."""
    if policy.fallback == "unchanged":
        return unchanged(context.messages, reason, trace)
    spared = context.layout.summaries if policy.earlier_summary == "keep" else ()
    old = Oldest(context, exempt_of(context, spared))
    marker = Marker(DROPPED[policy.language], always=False)
    limit = policy.fallback_messages
    if old.messages_left(old.lead) <= limit:
        return unchanged(context.messages, f"{reason}; the hard trim to {limit} messages has nothing to drop", trace)
    draft = drop_oldest(old, old.whole_cut(old.first_cut(old.messages_left, limit)), marker)
    if len(draft.messages) - old.lead > limit:
        draft = drop_oldest(old, old.whole_cut(old.first_cut(old.messages_left, limit - 1)), marker)
    left = len(draft.messages) - old.lead
    trace.append(f"hard trim: {len(context) - old.lead} messages to {left}, at most {limit} wanted")
    return judged(context, replace(draft, status="fallback", reason=f"{reason}; hard trim", trace=tuple(trace)))


STRATEGY = Strategy(
    id="message-window",
    title="Message window",
    about="The oldest messages become one short summary, the rest stays; a hard trim when there is no summary.",
    policy_type=MessageWindowPolicy,
    triggers=triggers,
    compact=compact,
    gauge=gauge,
    lint=lambda policy: lint_prompt(prompt_of(policy)),
)
