"""Running sums from which triggers are read in O(1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from workbench.compaction.layout import Layout
from workbench.session import Message
from workbench.tokens.window import Window


class Gauge(NamedTuple):
    """How full a context is at one moment. A replay makes one before each of a session's calls.

    `lead` of the `messages` are the session's own system messages before everything else. `chars` is the history's size
    by `api_chars` (compact JSON as the model sees it); `tokens` the whole context, overhead included, on the basis of
    the context's sizes; `input_tokens` and `input_chars` are of the current input alone, the request that has no answer
    yet. `last_usage` is the last API call's billed tokens, input, cache and output together, None without one; `limit`
    the context window and who says so, None when unknown. `cache_age_ms` is that of `cache_age_ms`. `meters` are the
    strategy's own sums.
    """

    messages: int = 0
    lead: int = 0
    rounds: int = 0
    events: int = 0
    chars: int = 0
    tokens: int = 0
    last_usage: int | None = None
    input_tokens: int = 0
    input_chars: int = 0
    limit: Window | None = None
    marker_seen: bool = False
    overflow_error_seen: bool = False
    cache_age_ms: int | None = None
    memory_lines: int = 0
    manual: bool = False
    meters: Mapping[str, int] = MappingProxyType({})

    @property
    def window(self) -> int | None:
        """The context window in tokens, None when unknown."""
        return self.limit.tokens if self.limit else None


def cache_age_ms(answer: Message | None, newest: Message | None, at: float | None) -> int | None:
    """How long the prompt cache has stood `at` a time, in seconds since the epoch, or when the `newest` message came:
    the time since the newest `answer`, which read it. None where that answer is the newest message, or has no time."""
    if at is None and newest is not None and newest is not answer:
        at = newest.time
    if at is None or answer is None or answer.time is None:
        return None
    return max(0, round(1000 * (at - answer.time)))


class RunningMeter(Protocol):
    """A sum of a strategy's own over the messages of a context, from the first to the last.

    It is made for a context that is still empty and for a policy, is given one message after another, each just once,
    and can be read after any of them. A whole context is measured by the same additions as a replay that grows message
    by message, so that a replay stays linear. Where two that begin alike are equal, as dataclasses are, a whole context
    is not read again for a policy that differs only in what the meter does not depend on.
    """

    def add(self, message: Message, chars: int, tokens: int) -> None:
        """The next message, with its size as compact JSON and in tokens."""

    @property
    def value(self) -> int: ...


def read_on(meters: Iterable[RunningMeter], layout: Layout, start: int, stop: int) -> None:
    """Give the meters messages `start`..`stop`."""
    messages, chars, tokens = layout.messages, layout.shape.api_chars, layout.sizes.tokens
    for meter in meters:
        add = meter.add
        for index in range(start, stop):
            add(messages[index], chars[index + 1] - chars[index], tokens[index])
