"""`message-window`: replace the oldest messages with one short summary; keep the rest.

    before   [system] m1 … m30 | m31 … m40
    after    [system] [system-role summary] [pins] | m31 … m40

By default the window is the first 30 messages, replaced from 40 messages on. Agents differ in the window's end, its
form in the request, and the order of the result; all three are settings (`workbench.compaction.window.policy`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.base.figures import grouped
from workbench.base.secrets import without_secrets
from workbench.base.text import counted
from workbench.compaction.context import Context, Gauge
from workbench.compaction.dropping import Marker, Oldest, drop_oldest
from workbench.compaction.excerpt import UNBOUNDED, Excerpt, Style, Truncation, join_excerpts, labelled_style
from workbench.compaction.head import Head, head_fates, head_of, ordered_pieces, preamble_of, summary_messages
from workbench.compaction.invariants import (
    must_stay,
    with_pairs,
    with_verdict,
)
from workbench.compaction.outcome import KeptSpan, NewMessage, Outcome, Piece, unchanged
from workbench.compaction.prompts import lint_prompt, load_prompt
from workbench.compaction.render import LABELS, PartLimits
from workbench.compaction.request import RequestPrompt, ask_for_summary
from workbench.compaction.spans import kept_pieces, spans_of, without
from workbench.compaction.strategy import Compacting, Strategy, Trigger
from workbench.compaction.summary_request import Answer, Requests, RequestSettings, SummaryFailed, TemplateMark
from workbench.compaction.summary_template import apply_template, strip_template, text_of_summaries
from workbench.compaction.triggers import message_triggers
from workbench.compaction.window.ends import EventMeter, first_end, window_end
from workbench.compaction.window.policy import BEGUN, DROPPED, MARKERS, OPENINGS, TEMPLATES, MessageWindowPolicy
from workbench.session import Span


def triggers(now: Gauge, policy: MessageWindowPolicy) -> tuple[Trigger, ...]:
    """Read the triggers on messages or events, and on tokens."""
    if policy.messages_as == "messages":
        return message_triggers(now, policy)
    return message_triggers(now._replace(messages=now.lead + now.meters["events"]), policy, "events")


def prompt_of(policy: MessageWindowPolicy) -> str:
    """Prompt with the summary's limit filled in."""
    return policy.asks(max_chars=str(policy.summary_char_limit))


def template_of(policy: MessageWindowPolicy) -> str:
    """Template of the summary message, or the built-in one."""
    return policy.sent_text("summary_template") or TEMPLATES[policy.language]


def openings(policy: MessageWindowPolicy) -> tuple[TemplateMark, ...]:
    """Words with which the prompt asks the summary to begin, if any."""
    words = OPENINGS[policy.language]
    return (TemplateMark(words, "opening"),) if words in prompt_of(policy) else ()


def faults(policy: MessageWindowPolicy, text: str) -> Iterator[str]:
    """Fault of a summary message that does not begin with the requested words."""
    summary = strip_template(text, template_of(policy))
    for mark in openings(policy):
        if not summary.startswith(mark.words):
            yield f"the summary does not begin with “{mark.words}”"


def compact(context: Context, policy: MessageWindowPolicy, trace: list[str]) -> Compacting:
    """Compact as the module describes. Without a summary the policy's fallback runs."""
    end = window_end(context, policy, trace)
    head = head_of(context, end, policy.earlier_summary)
    first = _first(context, policy, head)
    staying = head.must_stay | first
    if head.is_spent(staying):
        return unchanged(context.messages, "nothing to compact: every message in the window is kept", trace)
    style = labelled_style(context.shape, LABELS[policy.language], _limits(policy))
    previous = text_of_summaries(context, head.in_request, template_of(policy), *TEMPLATES.values())
    carry_on = policy.earlier_summary == "extend"
    second = load_prompt(f"second-look.{policy.language}.md").text.strip() if policy.second_look else ""
    prompt = RequestPrompt("summary of the window", prompt_of(policy), previous, carry_on, policy.language, second)
    settings = replace(policy.request, temperature=policy.temperature, marks=openings(policy))
    if not (spans := _spans_to_summarize(context, policy, head, first, style)):
        return _fallback(context, policy, "no user message fits within the request limit", trace)
    answer = yield from _summaries(context, policy, head, style, prompt, spans, settings, trace)
    if isinstance(answer, SummaryFailed):
        return _fallback(context, policy, str(answer), trace)
    summary, shown = answer
    trace.append(f"the summary has {grouped(len(summary))} characters")
    text = apply_template(template_of(policy), summary)
    new = summary_messages(context, head, staying, policy.summary_role, text, policy.sent_text("reply"))
    if policy.reply_at == "summary":
        pieces = _pieces(context, policy, head, first, new)
    else:
        pieces = _with_reply_at_end(context, _pieces(context, policy, head, first, new[:1]), new[1:])
    fates = head_fates(context, head, shown, staying)
    return with_verdict(context, Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace)))


def _first(context: Context, policy: MessageWindowPolicy, head: Head) -> frozenset[int]:
    """First messages, which stay before the summary, and the preamble that the agent injected."""
    stop = first_end(context, policy, head.stop) if policy.keep_first else head.lead
    first = {i for i in range(head.lead, stop) if not context.messages[i].is_summary}
    if policy.keep_preamble:
        first.update(index for index in preamble_of(context) if head.lead <= index < head.stop)
    return with_pairs(context.shape, first)


def _spans_to_summarize(
    context: Context, policy: MessageWindowPolicy, head: Head, first: frozenset[int], style: Style
) -> list[Span]:
    """Messages that the request is about."""
    spans = without(head.fresh, first)
    if policy.request_cut != "before_user_message" or policy.request_shape != "text":
        return spans
    indexes = [index for span in spans for index in range(span.start, span.stop)]
    from_here, room = len(indexes), policy.request_char_limit or UNBOUNDED.limit
    while from_here and room > 0:
        from_here -= 1
        room -= len(style.entry_at(indexes[from_here]).text) + len(style.gap)
    begin = next((index for index in indexes[from_here:] if context.messages[index].starts_round), head.stop)
    return [Span(max(span.start, begin), span.stop) for span in spans if span.stop > begin]


def _summaries(
    context: Context,
    policy: MessageWindowPolicy,
    head: Head,
    style: Style,
    prompt: RequestPrompt,
    spans: Sequence[Span],
    settings: RequestSettings,
    trace: list[str],
) -> Generator[Requests, tuple[Answer, ...] | None, tuple[str, Excerpt] | SummaryFailed]:
    """Summary of `spans`, and the excerpt that was sent. If the window ends inside a round, that round's beginning gets
    its own summary after the summary of the rounds before it."""
    split = _split_round(context, policy, head)
    before = [Span(span.start, min(span.stop, split)) for span in spans if span.start < split]
    begun = [Span(max(span.start, split), span.stop) for span in spans if span.stop > split]
    bounds = _truncation(policy)
    if not begun or split == head.stop:
        return (yield from ask_for_summary(context, spans, prompt, policy.sent(head, style), bounds, settings, trace))
    trace.append(
        f"the window ends inside a round: its first {counted(sum(map(len, begun)), 'message')} get their own summary"
    )
    words, shown = without_secrets(prompt.previous), Excerpt(str, 0, (), {}, cut=False)
    if before:
        answer = yield from ask_for_summary(context, before, prompt, style, bounds, settings, trace)
        if isinstance(answer, SummaryFailed):
            return answer
        words, shown = answer
    instructions = load_prompt(f"split-round.{policy.language}.md").text.strip()
    apart = RequestPrompt("summary of the split round's start", instructions, language=policy.language)
    answer = yield from ask_for_summary(context, begun, apart, style, bounds, replace(settings, marks=()), trace)
    if isinstance(answer, SummaryFailed):
        return answer
    return BEGUN[policy.language].join(filter(None, (words, answer[0]))), join_excerpts(shown, answer[1])


def _split_round(context: Context, policy: MessageWindowPolicy, head: Head) -> int:
    """Index of the first message of the round that the window's end splits; the window's end if it splits none, or if
    split rounds get no summary of their own."""
    messages, stop = context.messages, head.stop
    if not policy.split_round or policy.request_shape != "text" or stop == len(messages) or messages[stop].starts_round:
        return stop
    return next((index for index in range(stop - 1, head.lead - 1, -1) if messages[index].starts_round), stop)


def _limits(policy: MessageWindowPolicy) -> PartLimits:
    return PartLimits(
        policy.text_char_limit, policy.call_char_limit, policy.result_char_limit, policy.thinking_char_limit
    )


def _truncation(policy: MessageWindowPolicy) -> Truncation:
    limit = policy.request_char_limit
    if not limit:
        return UNBOUNDED
    first = {"end": limit, "middle": limit // 2, "start": 0, "before_user_message": 0}[policy.request_cut]
    return Truncation(limit, first, limit - first, MARKERS[policy.language])


def _pieces(
    context: Context, policy: MessageWindowPolicy, head: Head, first: frozenset[int], new: list[NewMessage]
) -> tuple[Piece, ...]:
    """Leading system messages, first messages, kept earlier summaries at the front, the summary, pins, tail."""
    last = max((index for index in first if index < head.stop), default=-1)
    before = sorted(index for index in head.must_stay | first if index <= last)
    rest = sorted(index for index in head.must_stay if index > last)
    while policy.earlier_summary == "keep" and rest and rest[0] in head.earlier:
        before.append(rest.pop(0))
    after = [*kept_pieces(spans_of(rest)), *kept_pieces([Span(head.stop, len(context))])]
    return ordered_pieces(context, kept_pieces(spans_of(before)), new, after)


def _with_reply_at_end(context: Context, pieces: Iterable[Piece], reply: Sequence[NewMessage]) -> tuple[Piece, ...]:
    """Insert the reply before an unanswered request, or at the end without one, if the message before that place has
    the user role."""
    stop = context.shape.rounds.current_input.start
    done: list[Piece] = []
    waiting: list[KeptSpan] = []
    for piece in pieces:
        if isinstance(piece, KeptSpan):
            done += kept_pieces([Span(piece.start, min(piece.stop, stop))])
            waiting += kept_pieces([Span(max(piece.start, stop), piece.stop)])
        else:
            done.append(piece)
    last = done[-1]
    newest = context.messages[last.stop - 1] if isinstance(last, KeptSpan) else last.message
    return (*done, *(reply if newest.role == "user" else ()), *waiting)


def _fallback(context: Context, policy: MessageWindowPolicy, reason: str, trace: list[str]) -> Outcome:
    """Outcome without a summary: drop the oldest messages, so that the session can continue."""
    if not policy.fallback_messages:
        return unchanged(context.messages, reason, trace)
    spared = context.shape.summaries if policy.earlier_summary == "keep" else ()
    old = Oldest(context, sorted(must_stay(context, spared)))
    marker = Marker(DROPPED[policy.language], always=False)
    limit = policy.fallback_messages
    if old.messages_left(old.lead) <= limit:
        return unchanged(
            context.messages, f"{reason}; the hard trim to {counted(limit, 'message')} found nothing to drop", trace
        )
    draft = drop_oldest(old, old.whole_cut(old.first_cut(old.messages_left, limit)), marker)
    if len(draft.messages) - old.lead > limit:
        draft = drop_oldest(old, old.whole_cut(old.first_cut(old.messages_left, limit - 1)), marker)
    left = len(draft.messages) - old.lead
    trace.append(f"hard trim: {counted(len(context) - old.lead, 'message')} → {left}, limit {limit}")
    return with_verdict(context, replace(draft, status="fallback", reason=f"{reason}; hard trim", trace=tuple(trace)))


STRATEGY = Strategy(
    id="message-window",
    title="Message window",
    about="Replaces the oldest messages with one short summary. Drops them if the summary fails.",
    policy_type=MessageWindowPolicy,
    triggers=triggers,
    meters={"events": lambda context, policy: EventMeter()},
    compact=compact,
    prompts={"message-window": "prompt", "second-look": "", "split-round": ""},
    lint=lambda policy: lint_prompt(prompt_of(policy)),
    faults=faults,
)
