"""`message-window`: the oldest messages become one short summary; the rest stays.

What goes where:

    before   [system] m1 … m30 | m31 … m40
    after    [system] [system-role summary] [pins] | m31 … m40

The design's window is the first 30 of at least 40 messages. Other products measure it differently (by what stays, by
tokens, by a share of the characters); each is a way to say where the window ends, and then everything is the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from workbench.base.figures import grouped
from workbench.compaction import vocabulary
from workbench.compaction.context import Context
from workbench.compaction.dropping import Marker, Oldest, drop_oldest, exempt_of
from workbench.compaction.keeping import (
    Head,
    before_unread,
    head_fates,
    head_of,
    in_order,
    summary_made,
    text_of_summaries,
    unframed,
    with_pairs,
)
from workbench.compaction.language import Language
from workbench.compaction.layout import Layout
from workbench.compaction.lint import lint_prompt
from workbench.compaction.marks import Mark
from workbench.compaction.outcome import Made, Outcome, Piece, unchanged
from workbench.compaction.policy import setting
from workbench.compaction.prompts import fill
from workbench.compaction.render import LABELS, Limits
from workbench.compaction.request import UNBOUNDED, Asked, Bounds, labelled_style, summarized
from workbench.compaction.shape import Shape
from workbench.compaction.spans import each, kept
from workbench.compaction.strategy import Compacting, Strategy, SummaryFailed, judged
from workbench.compaction.summarizing import Prompted, Shaped, shipped
from workbench.compaction.triggers import MessageLimits, message_triggers
from workbench.compaction.vocabulary import EarlierSummary
from workbench.session import Message, Span

SafeEnd = Literal["plain_chat", "whole_pairs", "user_message"]
TEMPLATES: dict[Language, str] = {
    "zh": "[对话摘要 - 早期上下文]\n{summary}",
    "en": "[Conversation summary - earlier context]\n{summary}",
}
OPENINGS = {"zh": "对话摘要：", "en": "Conversation summary:"}
"""With these words the shipped prompts have the summary begin."""
MARKERS = {"zh": "...[已截断]", "en": "...[cut]"}
DROPPED = {"zh": "[更早的消息已被丢弃]", "en": "[Earlier messages were dropped.]"}


class MessageWindowPolicy(Prompted, Shaped, MessageLimits):
    """When the window closes and where it ends; the defaults are the design's, each product has its own."""

    trigger_messages: int = vocabulary.trigger_messages(40)
    cut: Literal["first_messages", "newest_messages", "newest_spoken", "newest_tokens", "head_percent"] = setting(
        "first_messages",
        "split",
        "How the window's end is found: so many messages from the start (window_messages); or all but the newest "
        "messages, the newest user and agent messages (keep_messages), the newest tokens (keep_tokens); or a share of "
        "the characters (head_percent).",
    )
    window_messages: int = setting(
        30,
        "split",
        "Messages in the window, leading system messages not counted.",
        unit="messages",
        needs={"cut": ("first_messages",)},
        ge=1,
    )
    keep_messages: int = setting(
        20,
        "split",
        "Newest messages that stay.",
        unit="messages",
        needs={"cut": ("newest_messages", "newest_spoken")},
        ge=0,
    )
    keep_tokens: int = setting(
        20_000,
        "split",
        "The newest messages that fit stay.",
        unit="tokens",
        needs={"cut": ("newest_tokens",)},
        ge=0,
    )
    head_percent: float = setting(
        70.0,
        "split",
        "Share of the characters in the window.",
        unit="%",
        needs={"cut": ("head_percent",)},
        gt=0,
        le=100,
    )
    min_tail_messages: int = setting(
        10, "split", "At least so many newest messages stay, also when run by hand.", unit="messages", ge=0
    )
    safe_end: SafeEnd = setting(
        "plain_chat",
        "split",
        "Where the window may end: after a message without calls and results; after any whole tool pair; or before a "
        "user's own message. The first finds next to nothing in sessions full of tool calls.",
    )
    search: Literal["back", "forward"] = setting(
        "back",
        "split",
        "Where to look for a safe end: back, keeping more; or forward, keeping less, and back only if none follows.",
    )
    keep_first: int = vocabulary.keep_first()
    text_char_limit: int = setting(
        500,
        "request",
        "So much of a text is shown in the request.",
        unit="characters",
        old=("text_limit",),
        needs=vocabulary.AS_TEXT,
        ge=1,
    )
    result_char_limit: int = vocabulary.result_char_limit(200, needs=vocabulary.AS_TEXT)
    call_char_limit: int = setting(
        0,
        "request",
        "So much of a call's input is shown in the request. 0: the tool's name alone.",
        unit="characters",
        old=("call_input_limit",),
        needs=vocabulary.AS_TEXT,
        ge=0,
    )
    request_char_limit: int = vocabulary.request_char_limit(12_000)
    request_cut: Literal["end", "middle", "start"] = setting(
        "end",
        "request",
        "Which part of a longer request the model is not shown.",
        old=("transcript_cut",),
        needs={"request_char_limit": ..., **vocabulary.AS_TEXT},
    )
    language: Language = vocabulary.language("zh")
    summary_char_limit: int = vocabulary.summary_char_limit(1_500, "")
    temperature: float = setting(0.3, "summary", "Used where the model takes one.", ge=0, le=2)
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("drop")
    summary_template: str = vocabulary.summary_template("", empty="a heading in the policy's language")
    summary_role: Literal["system", "user"] = setting("system", "result", "Role of the summary message.")
    reply: str = vocabulary.reply("")
    fallback: Literal["hard_trim", "unchanged"] = setting(
        "hard_trim", "fallback", "When there is no summary: drop the oldest messages, or leave everything as it is."
    )
    fallback_messages: int = setting(
        50,
        "fallback",
        "Messages that the hard trim leaves at most.",
        unit="messages",
        needs={"fallback": ("hard_trim",)},
        ge=1,
    )

    worded: ClassVar = {
        "prompt": shipped("message-window"),
        "summary_template": TEMPLATES.__getitem__,
        "reply": vocabulary.REPLIES.__getitem__,
    }


def prompt_of(policy: MessageWindowPolicy) -> str:
    return policy.asks(max_chars=str(policy.summary_char_limit))


def template_of(policy: MessageWindowPolicy) -> str:
    return policy.said("summary_template") or TEMPLATES[policy.language]


def openings(policy: MessageWindowPolicy) -> tuple[Mark, ...]:
    """The words that the prompt in use asks the summary to begin with, if it does."""
    words = OPENINGS[policy.language]
    return (Mark(words, "opening"),) if words in prompt_of(policy) else ()


def faults(policy: MessageWindowPolicy, text: str) -> Iterator[str]:
    """Whether a summary message begins as it was asked to."""
    summary = unframed(text, template_of(policy))
    for mark in openings(policy):
        if not summary.startswith(mark.words):
            yield f"the summary does not begin with “{mark.words}”"


def compact(context: Context, policy: MessageWindowPolicy, trace: list[str]) -> Compacting:
    """See the module's docstring. Without a summary the policy's fallback runs."""
    end = _window_end(context, policy, trace)
    head = head_of(context, end, policy.earlier_summary)
    first = _first(context, policy, head)
    staying = head.kept | first
    if head.is_spent(staying):
        return unchanged(context.messages, "nothing to compact: the window holds nothing that could go", trace)
    style = labelled_style(context.shape, LABELS[policy.language], _limits(policy))
    previous = text_of_summaries(context, head.carried, template_of(policy), *TEMPLATES.values())
    carry_on = policy.earlier_summary == "extend"
    asked = Asked("summary of the window", prompt_of(policy), previous, carry_on, policy.language)
    settings = replace(policy.request, temperature=policy.temperature, marks=openings(policy))
    told = yield from summarized(context, head.fresh, asked, policy.sent(head, style), _bounds(policy), settings, trace)
    if isinstance(told, SummaryFailed):
        return _fallen_back(context, policy, str(told), trace)
    summary, shown = told
    trace.append(f"the summary has {grouped(len(summary))} characters")
    text = fill(template_of(policy), {"summary": summary})
    made = summary_made(context, head, staying, policy.summary_role, text, policy.said("reply"))
    pieces = _pieces(context, policy, head, first, made)
    fates = head_fates(context, head, shown, staying)
    return judged(context, Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace)))


def _window_end(context: Context, policy: MessageWindowPolicy, trace: list[str]) -> int:
    """Where the window ends; the number of leading system messages when nothing may be compacted."""
    layout, count = context.layout, len(context)
    lead = layout.shape.lead
    if context.split_at is not None:
        by_hand = min(layout.shape.index_of[context.split_at], before_unread(layout.shape))
        end = safe_end(layout.shape, lead, max(by_hand, lead), "whole_pairs")
        trace.append(f"split by hand before message {end + 1}")
        return end
    most = max(min(count - policy.min_tail_messages, before_unread(layout.shape)), lead)
    ideal = min(max(_ideal_end(layout, lead, policy), lead), most)
    end = safe_end(layout.shape, lead, ideal, policy.safe_end, most if policy.search == "forward" else None)
    if policy.safe_end == "plain_chat" and (pairs := safe_end(layout.shape, lead, ideal, "whole_pairs")) != end:
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
            sums = layout.shape.api_chars
            return bisect_left(sums, sums[lead] + (sums[count] - sums[lead]) * policy.head_percent / 100)


def _newest_spoken(messages: Sequence[Message], keep: int) -> int:
    """Where the newest `keep` user and agent messages begin; tool results between them come along."""
    for index in range(len(messages) - 1, -1, -1):
        if keep <= 0:
            return index + 1
        keep -= messages[index].role in ("user", "assistant")
    return 0


def safe_end(shape: Shape, start: int, ideal: int, rule: SafeEnd, forward_to: int | None = None) -> int:
    """The end next to `ideal` at which the window may end, looking back to `start`, which means there is none.

    With `forward_to` ends from `ideal` up to there come first. No rule lets a tool pair be torn.
    """
    if forward_to is not None:
        for end in range(ideal, forward_to + 1):
            if end > start and _is_safe(shape, end, rule):
                return end
    return next((end for end in range(ideal, start, -1) if _is_safe(shape, end, rule)), start)


def _is_safe(shape: Shape, end: int, rule: SafeEnd) -> bool:
    if shape.open_across[end]:
        return False
    messages = shape.messages
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
    stop = safe_end(context.shape, head.lead, min(head.lead + policy.keep_first, head.stop), "whole_pairs")
    return with_pairs(context.shape, (i for i in range(head.lead, stop) if context.messages[i].kind != "summary"))


def _limits(policy: MessageWindowPolicy) -> Limits:
    return Limits(policy.text_char_limit, policy.call_char_limit, policy.result_char_limit)


def _bounds(policy: MessageWindowPolicy) -> Bounds:
    limit = policy.request_char_limit
    if not limit:
        return UNBOUNDED
    first = {"end": limit, "middle": limit // 2, "start": 0}[policy.request_cut]
    return Bounds(limit, first, limit - first, MARKERS[policy.language])


def _pieces(
    context: Context, policy: MessageWindowPolicy, head: Head, first: frozenset[int], made: list[Made]
) -> tuple[Piece, ...]:
    """Leading system, first messages, earlier summaries that are kept and stand first, summary, pins, tail."""
    turn = max((index for index in first if index < head.stop), default=-1)
    before = sorted(index for index in head.kept | first if index <= turn)
    rest = sorted(index for index in head.kept if index > turn)
    while policy.earlier_summary == "keep" and rest and rest[0] in head.earlier:
        before.append(rest.pop(0))
    after = [*kept(each(rest)), *kept([Span(head.stop, len(context))])]
    return in_order(context, kept(each(before)), made, after)


def _fallen_back(context: Context, policy: MessageWindowPolicy, reason: str, trace: list[str]) -> Outcome:
    """Without a summary, the oldest messages are dropped, and the session goes on."""
    if policy.fallback == "unchanged":
        return unchanged(context.messages, reason, trace)
    spared = context.shape.summaries if policy.earlier_summary == "keep" else ()
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
    triggers=message_triggers,
    when_due=compact,
    prompts={"message-window": "prompt"},
    lint=lambda policy: lint_prompt(prompt_of(policy)),
    faults=faults,
)
