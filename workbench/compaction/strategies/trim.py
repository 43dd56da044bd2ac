"""`trim`: drop the oldest rounds or messages, never half of a tool pair; no model is used.

before   [system] request a b c d | e f g
after    [system] request [marker] | e f g        (pins stay in place)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction import vocabulary
from workbench.compaction.context import Context
from workbench.compaction.dropping import Marker, Oldest, drop_oldest
from workbench.compaction.invariants import (
    allowed_cuts,
    before_unread,
    must_stay,
    with_verdict,
)
from workbench.compaction.outcome import Fate, NewMessage, Outcome, unchanged
from workbench.compaction.policy import Converted, setting
from workbench.compaction.strategy import Compacting, ProgressStep, Strategy, Traits
from workbench.compaction.triggers import MessageLimits, message_triggers

Target = Literal["messages", "tokens", "percent_of_context", "percent_of_messages", "percent_of_window"]


class TrimPolicy(MessageLimits):
    """Settings of `trim`: trigger, target, and messages to spare."""

    trigger_window_percent: float = vocabulary.trigger_window_percent(90.0)
    target: Target = setting(
        "percent_of_context",
        "split",
        "Unit of the target. messages, tokens and percent_of_window count everything sent, so protected messages "
        "may make them unreachable. percent_of_context and percent_of_messages count only what can be dropped. "
        "Messages are dropped in even numbers.",
    )
    target_messages: int = setting(
        50,
        "split",
        "Most messages afterwards, system messages not counted.",
        unit="messages",
        needs={"target": ("messages",)},
        ge=1,
    )
    target_tokens: int = setting(
        50_000, "split", "Most tokens afterwards.", unit="tokens", needs={"target": ("tokens",)}, ge=1
    )
    target_percent: float = setting(
        50.0,
        "split",
        "Largest share afterwards, of the droppable part or of the window.",
        unit="%",
        needs={"target": ("percent_of_context", "percent_of_messages", "percent_of_window")},
        gt=0,
        le=100,
    )
    drop: Literal["rounds", "messages"] = setting(
        "rounds", "split", "Cut only before a round, or before any message that splits no tool pair."
    )
    keep_first_request: bool = setting(True, "split", "Keep the user's first request, which states the task.")
    marker: bool = setting(
        False,
        "result",
        "Insert a marker for dropped messages. Always inserted if the agent would otherwise speak first.",
    )
    marker_text: str = setting(
        "[Earlier messages were dropped to save context.]", "result", "Text of the marker.", min_length=1
    )
    keep_summaries: bool = setting(
        True, "split", "Keep earlier summaries. Off: they are dropped with the other old messages."
    )

    converted: ClassVar = {"earlier_summary": Converted("keep_summaries", lambda choice: choice != "drop")}


def compact(context: Context, policy: TrimPolicy, trace: list[str]) -> Compacting:
    """Drop the oldest messages until the target is met, or up to the manual split."""
    old = Oldest(context, _exempt(context, policy))
    marker = Marker(policy.marker_text, policy.marker)
    if context.split_at is not None:
        cut = old.whole_cut(context.shape.index_of[context.split_at])
        trace.append(f"manual split before message {cut + 1}")
        draft = drop_oldest(old, cut, marker)
    else:
        kind, target = _target(old, policy)
        if kind == "unknown":
            return unchanged(context.messages, "the target is a share of the model's window, which is unknown", trace)
        draft = _to_target(old, policy, kind, target, marker, trace)
    count = draft.fate_counts[Fate.DROPPED]
    if not count:
        return unchanged(context.messages, "nothing to drop: the target is met, or all messages are protected", trace)
    yield ProgressStep("trim", f"{counted(count, 'message')} dropped")
    trace.append(f"{count} of {len(context)} messages dropped")
    return with_verdict(context, replace(draft, trace=tuple(trace)))


def _exempt(context: Context, policy: TrimPolicy) -> Sequence[int]:
    spared: list[int] = []
    if policy.keep_first_request and (rounds := (*context.shape.rounds.rounds, context.shape.rounds.current_input)):
        first = rounds[0].start
        while first < len(context) and context.messages[first].starts_round:
            spared.append(first)
            first += 1
    if policy.keep_summaries:
        spared += context.shape.summaries
    return sorted(must_stay(context, spared))


def _target(old: Oldest, policy: TrimPolicy) -> tuple[Literal["messages", "tokens", "unknown"], int]:
    window, end = old.context.window, len(old.context)
    match policy.target:
        case "messages":
            return "messages", policy.target_messages
        case "tokens":
            return "tokens", policy.target_tokens
        case "percent_of_context":
            spared = old.tokens_left(end)
            return "tokens", spared + int((old.tokens_left(old.lead) - spared) * policy.target_percent / 100)
        case "percent_of_messages":  # as Roo Code's truncateConversation: in pairs, so that no answer loses its request
            now = old.messages_left(old.lead)
            dropped = int((now - old.messages_left(end)) * (100 - policy.target_percent) / 100)
            return "messages", now - dropped + dropped % 2
        case _ if window is None:
            return "unknown", 0
        case _:
            return "tokens", int(window * policy.target_percent / 100)


def _to_target(
    old: Oldest, policy: TrimPolicy, kind: Literal["messages", "tokens"], target: int, marker: Marker, trace: list[str]
) -> Outcome:
    """Return the outcome that meets the target, or else the smallest one. An inserted marker counts."""
    left = old.messages_left if kind == "messages" else old.tokens_left
    meter = old.context.layout.sizes.meter
    room = 1 if kind == "messages" else meter.text_tokens(policy.marker_text) + 8
    cut = _cut(old, policy, old.first_cut(left, target))
    draft = drop_oldest(old, cut, marker)
    if any(isinstance(piece, NewMessage) for piece in draft.pieces) and left(cut) + room > target:
        cut = _cut(old, policy, old.first_cut(left, target - room))
        draft = drop_oldest(old, cut, marker)
    reached = "" if left(cut) <= target else ", the least possible"
    trace.append(f"target: {grouped(target)} {kind}; left: {grouped(left(cut))}{reached}")
    return draft


def _cut(old: Oldest, policy: TrimPolicy, ideal: int) -> int:
    if policy.drop == "messages" or ideal == old.lead:
        return old.whole_cut(ideal)
    shape = old.context.layout.shape
    starts = [
        *shape.round_starts,
        *([shape.rounds.current_input.start] if len(shape.rounds.current_input) else []),
    ]
    unread = before_unread(shape)
    whole = [start for start in allowed_cuts(shape, starts) if old.lead <= start <= unread]
    return next((start for start in whole if start >= ideal), whole[-1] if whole else old.lead)


STRATEGY = Strategy(
    id="trim",
    title="Trim",
    about="Drops the oldest rounds or messages until a target is met. Uses no model.",
    traits=Traits(method="truncation"),
    policy_type=TrimPolicy,
    triggers=message_triggers,
    compact=compact,
)
