"""Triggers that several strategies share: counts, and tokens as a number, as a share of the window, or as space that
must stay free. Products use different ones of these, so a strategy with token triggers has all three; 0 turns one
off."""

from __future__ import annotations

from functools import lru_cache

from workbench.base.figures import grouped
from workbench.compaction import vocabulary
from workbench.compaction.context import Gauge
from workbench.compaction.policy import Policy, setting
from workbench.compaction.strategy import Trigger
from workbench.tokens.window import Window


class TokenLimits(Policy):
    """Settings of `token_triggers`. Several may be on; the first one reached fires."""

    trigger_tokens: int = setting(
        0, "trigger", "Compact when the context reaches this number of tokens. 0: never.", unit="tokens", ge=0
    )
    trigger_window_percent: float = vocabulary.trigger_window_percent(0.0)
    trigger_reserve_tokens: int = setting(
        0,
        "trigger",
        "Compact when this number of tokens or fewer is free in the window. 0: never.",
        unit="tokens",
        ge=0,
    )
    trigger_answer_tokens: int = setting(
        0,
        "trigger",
        "Reserved output: the model's longest answer, at most this number of tokens. Added to the free space. 0: none.",
        unit="tokens",
        ge=0,
    )


def room_for_answer(policy: TokenLimits, longest: int | None) -> int:
    """Tokens reserved for an answer: the policy's number, or the model's longest answer if known and shorter."""
    return min(policy.trigger_answer_tokens, longest or policy.trigger_answer_tokens)


def token_triggers(now: Gauge, policy: TokenLimits, note: str = "") -> tuple[Trigger, ...]:
    """One trigger for each limit that is on. `note`: how `now.tokens` was obtained."""
    found = []
    if policy.trigger_tokens:
        limit = policy.trigger_tokens
        found.append(Trigger("tokens", now.tokens, limit, "tokens", now.tokens >= limit, note))
    if policy.trigger_window_percent:
        name = f"{policy.trigger_window_percent:.3g} % of the window"
        share = policy.trigger_window_percent / 100
        found.append(_of_window(name, now, None if now.window is None else now.window * share, note))
    free = policy.trigger_reserve_tokens + room_for_answer(policy, now.limit.answer if now.limit else None)
    if free:
        name = f"window − {grouped(free)}"
        left = None if now.window is None else max(now.window - free, 0)
        found.append(_of_window(name, now, left, note))
    return tuple(found)


def _of_window(name: str, now: Gauge, limit: float | None, note: str) -> Trigger:
    if limit is None:
        return Trigger(name, now.tokens, 0, "tokens", False, "the model's window is unknown")
    by = _limit_in_words(now.limit)
    note = f"{note}; {by}" if note else by
    return Trigger(name, now.tokens, limit, "tokens", now.tokens >= limit, note)


@lru_cache(maxsize=64)
def _limit_in_words(window: Window | None) -> str:
    return f"window {window}"


def count_trigger(name: str, value: int, limit: int, unit: str) -> Trigger:
    """Trigger on a count; a limit of 0 is off, with a note."""
    return Trigger(name, value, limit, unit, 0 < limit <= value, "" if limit else "off: limit 0")


class MessageLimits(TokenLimits):
    """Settings of `message_triggers`."""

    trigger_messages: int = vocabulary.trigger_messages(0)


def message_triggers(now: Gauge, policy: MessageLimits, unit: str = "messages") -> tuple[Trigger, ...]:
    """Triggers on messages and tokens; if none is on, a message trigger that is off. `unit`: unit of the count in
    `now`."""
    found = token_triggers(now, policy)
    if policy.trigger_messages or not found:
        return (count_trigger(unit, now.messages - now.lead, policy.trigger_messages, unit), *found)
    return found
