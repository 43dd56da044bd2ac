"""What a call was billed, as APIs tell it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from workbench.formats.kit.values import count_of, dict_of, dollars_of
from workbench.session import Message, Usage


def replayed_before(messages: Iterable[Message], since: float | None) -> tuple[Message, ...]:
    """The messages of a fork that began at `since`, with the usage of those before it as replayed; as they are where
    that is None."""

    def marked(message: Message) -> Message:
        early = message.usage and since is not None and message.time is not None and message.time < since
        return replace(message, usage=replace(message.usage, replayed=True)) if message.usage and early else message

    return tuple(map(marked, messages))


def usage_of_prompt(sent: int, said: int, read: int = 0, written: int = 0, cost: float | None = None) -> Usage | None:
    """The bill where an API counts the cache among the prompt's tokens: of `sent`, `read` came from there and `written`
    went to it. None for a prompt of none, which no call has; no more can have come from the cache than was sent."""
    if not sent:
        return None
    return Usage(max(sent - read - written, 0), said, min(read, sent), written, cost=cost)


def openai_usage(usage: Any, cost: Any = None) -> Usage | None:
    """The bill by the `usage` of OpenAI's APIs: Chat counts a prompt and a completion, Responses input and output."""
    given = dict_of(usage)
    details = dict_of(given.get("prompt_tokens_details")) or dict_of(given.get("input_tokens_details"))
    sent = count_of(given.get("prompt_tokens")) or count_of(given.get("input_tokens"))
    said = count_of(given.get("completion_tokens")) or count_of(given.get("output_tokens"))
    return usage_of_prompt(sent, said, count_of(details.get("cached_tokens")), cost=dollars_of(cost))


def anthropic_usage(usage: Any) -> Usage | None:
    """The bill by the `usage` of the Messages API, which counts the cache apart; None for one of nothing."""
    counts = anthropic_counts(usage)
    return Usage(*counts, cache_life=anthropic_cache_life(usage)) if counts else None


def anthropic_cache_life(usage: Any) -> int:
    """Seconds for which the Messages API keeps without use what this call wrote to its cache; 0 for no write."""
    written = dict_of(dict_of(usage).get("cache_creation"))
    lives = ((3_600, "ephemeral_1h_input_tokens"), (300, "ephemeral_5m_input_tokens"))
    return next((life for life, key in lives if count_of(written.get(key))), 0)


def anthropic_counts(usage: Any) -> tuple[int, int, int, int] | None:
    """The same as bare counts, for a bill that is told anew with each part of an answer: tokens of the prompt that are
    new, that were written, read from the cache and written to it."""
    told = dict_of(usage).get
    fresh, said, read, written = [n if type(n) is int and n > 0 else 0 for n in map(told, _COUNTED)]
    return (fresh, said, read, written) if fresh or read or written else None


_COUNTED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
