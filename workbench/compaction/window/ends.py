"""Find the end of the window of `message-window`: an ideal place by one of its rules, then the next safe end."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from workbench.base.text import counted
from workbench.compaction.context import Context, Gauge, Layout
from workbench.compaction.invariants import before_unread
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.triggers import token_triggers
from workbench.compaction.vocabulary import MessagesAs, TokensAs
from workbench.compaction.window.policy import MessageWindowPolicy, SafeEnd
from workbench.session import Message, ToolResult, ToolUse


def window_end(context: Context, policy: MessageWindowPolicy, trace: list[str]) -> int:
    """Index at which the window ends; the number of leading system messages if nothing may be compacted."""
    layout, count = context.layout, len(context)
    lead = layout.shape.lead
    if context.split_at is not None:
        by_hand = min(layout.shape.index_of[context.split_at], before_unread(layout.shape))
        end = safe_end(layout.shape, lead, max(by_hand, lead), "whole_pairs")
        trace.append(f"manual split before message {end + 1}")
        return end
    most = max(min(count - policy.min_tail_messages, before_unread(layout.shape)), lead)
    ideal = min(max(_ideal_end(context, policy), lead), most)
    end = safe_end(layout.shape, lead, ideal, policy.safe_end, most if policy.search == "forward" else None)
    if 0 < policy.min_window_messages >= end - lead:
        ideal = before_unread(layout.shape)
        end = safe_end(layout.shape, lead, ideal, "whole_pairs")
    if policy.safe_end == "plain_chat" and (pairs := safe_end(layout.shape, lead, ideal, "whole_pairs")) != end:
        trace.append(
            f"safe end: plain_chat reaches {counted(end - lead, 'message')}, whole_pairs would reach {pairs - lead}"
        )
    trace.append(
        f"window: {counted(end - lead, 'message')} of {ideal - lead} wanted; tail: {counted(count - end, 'message')}"
    )
    return end


def first_end(context: Context, policy: MessageWindowPolicy, stop: int) -> int:
    """End of the first messages, which are kept before the summary: an index, at most `stop`."""
    shape = context.shape
    ideal = bisect_left(counts(shape, policy.messages_as), policy.keep_first, shape.lead)
    if ideal <= shape.lead:  # the system prompt alone
        return shape.lead
    return safe_end(shape, shape.lead, min(ideal, stop), "whole_pairs", stop if policy.search == "forward" else None)


def _ideal_end(context: Context, policy: MessageWindowPolicy) -> int:
    layout, count = context.layout, len(context)
    shape = layout.shape
    numbered = counts(shape, policy.messages_as)
    match policy.cut:
        case "first_messages":
            return bisect_left(numbered, policy.window_messages)
        case "newest_messages":
            return bisect_left(numbered, numbered[count] - policy.keep_messages)
        case "newest_spoken":
            return _newest_text_messages(layout.messages, policy.keep_messages)
        case "newest_tokens":
            sums, per_token = sums_of(layout, policy.tokens_as)
            ideal = sums[count] - per_token * policy.keep_tokens
            return bisect_left(sums, ideal) if policy.keep_at == "most" else bisect_right(sums, ideal) - 1
        case "head_percent":
            sums = shape.api_chars
            return bisect_left(sums, sums[shape.lead] + (sums[count] - sums[shape.lead]) * policy.head_percent / 100)
        case "half":
            return max(_half_of_messages(context, policy, numbered), _half_of_tokens(context, policy, numbered))


def _half_of_messages(context: Context, policy: MessageWindowPolicy, numbered: Sequence[int]) -> int:
    """End that leaves half of `trigger_messages`, or half of the existing messages if there are fewer; first messages
    and summary are included. 0 if the run is not manual, there are fewer, and a token limit is reached."""
    there = numbered[-1]
    reached = 0 < policy.trigger_messages <= there
    if not reached and not context.manual and _token_limit(context, policy) is not None:
        return 0
    left = (policy.trigger_messages if reached else there) // 2
    return bisect_left(numbered, there - max(left - policy.keep_first - 1, 0))


def _half_of_tokens(context: Context, policy: MessageWindowPolicy, numbered: Sequence[int]) -> int:
    """End that leaves less than half of the lowest token limit that was reached; 0 if none was reached. The first
    messages stay."""
    limit = _token_limit(context, policy)
    if limit is None:
        return 0
    sums, first = context.layout.tokens, min(bisect_left(numbered, policy.keep_first), len(context))
    return min(bisect_right(sums, sums[first] + context.total.tokens - limit // 2), len(sums) - 1)


def _token_limit(context: Context, policy: MessageWindowPolicy) -> int | None:
    """Lowest token limit that the context has reached; None if none."""
    now = Gauge(tokens=context.total.tokens, limit=context.limit)
    return min((int(trigger.limit) for trigger in token_triggers(now, policy) if trigger.fires), default=None)


def counts(shape: Shape, what: MessagesAs) -> Sequence[int]:
    """Number of messages or events before each message, without leading system messages. The system prompt is the first
    event, even if it is not one of the messages."""
    return _events(shape) if what == "events" else range(-shape.lead, len(shape.messages) - shape.lead + 1)


@per_shape
def _events(shape: Shape) -> array[int]:
    own = shape.messages[shape.lead :]
    return array("q", [*[1] * shape.lead, *accumulate(map(events_in, own), initial=1)])


def events_in(message: Message) -> int:
    """Number of events: each call and each result is one; a message with neither is one."""
    return sum(isinstance(block, ToolUse | ToolResult) for block in message.blocks) or 1


@dataclass
class EventMeter:
    """Number of events in a growing context, counted as by `counts`."""

    value: int = 1
    leads: bool = True
    """True while only leading system messages have been added."""

    def add(self, message: Message, chars: int, tokens: int) -> None:
        """Count the events of a message, unless it is a leading system message."""
        self.leads = self.leads and message.is_own_system
        self.value += 0 if self.leads else events_in(message)


def sums_of(layout: Layout, what: TokensAs) -> tuple[Sequence[int], int]:
    """Sums of tokens or characters before each message, and how many of this unit make a token: 1 or 4."""
    match what:
        case "counted":
            return layout.tokens, 1
        case "text":
            return _whole_quarters(layout.shape), 4
        case "json":
            return layout.shape.api_chars, 4


@per_shape
def _whole_quarters(shape: Shape) -> array[int]:
    chars = shape.chars
    sizes = (chars[index + 1] - chars[index] for index in range(len(shape.messages)))
    return array("q", accumulate((size + -size % 4 for size in sizes), initial=0))


def _newest_text_messages(messages: Sequence[Message], keep: int) -> int:
    """Index from which the newest `keep` user and agent messages begin; tool results between them are not counted."""
    for index in range(len(messages) - 1, -1, -1):
        if keep <= 0:
            return index + 1
        keep -= messages[index].role in ("user", "assistant")
    return 0


def safe_end(shape: Shape, start: int, ideal: int, rule: SafeEnd, forward_to: int | None = None) -> int:
    """Nearest end up to `ideal` at which the window may end; `start` if there is none.

    With `forward_to`, ends from `ideal` to there are tried first. No rule allows a split tool pair.
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
    if rule == "answer":
        return last.role == "assistant" and not last.calls
    if rule == "user_message":
        whole = end == len(messages)
        return (last.role == "assistant" and not last.calls) if whole else messages[end].starts_round
    return True
