"""Running sums from which triggers are read in O(1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from workbench.compaction.layout import Layout
from workbench.session import Message
from workbench.tokens.window import Window


class Gauge(NamedTuple):
    """How full a context is at one moment. A replay makes one before each call of a session.

    `lead`: leading own system messages among the `messages`. `chars`: size of the history in `api_chars` (compact JSON
    as the model sees it). `tokens`: whole context, overhead included, on the basis of the context's sizes.
    `input_tokens`, `input_chars`: the current input alone, the request without an answer. `last_usage`: billed tokens
    of the last API call, input, cache and output together, None without one. `limit`: context window and its source,
    None if unknown. `cache_age_ms`: see the function. `meters`: the strategy's own sums.
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
        """Context window in tokens, None if unknown."""
        return self.limit.tokens if self.limit else None


def cache_age_ms(answer: Message | None, newest: Message | None, at: float | None) -> int | None:
    """Age of the prompt cache in ms: time from the newest `answer`, which read the cache, to `at` (seconds since the
    epoch; None: the time of the `newest` message). None if the answer has no time, or if `at` is None and the answer is
    the newest message."""
    if at is None and newest is not None and newest is not answer:
        at = newest.time
    if at is None or answer is None or answer.time is None:
        return None
    return max(0, round(1000 * (at - answer.time)))


class RunningMeter(Protocol):
    """A strategy's own sum over the messages of a context, from the first to the last.

    Created for an empty context and a policy, it receives one message after another, each once, and can be read after
    any of them. A whole context is measured by the same additions as a replay, so that a replay stays linear. Use a
    dataclass: if two new meters are equal, the context is not read again for a policy that does not affect the meter.
    """

    def add(self, message: Message, chars: int, tokens: int) -> None:
        """Add the next message, with its size as compact JSON and in tokens."""

    @property
    def value(self) -> int:
        """The sum so far."""
        ...


def read_on(meters: Iterable[RunningMeter], layout: Layout, start: int, stop: int) -> None:
    """Add messages `start`..`stop` to the meters."""
    messages, chars, tokens = layout.messages, layout.shape.api_chars, layout.sizes.tokens
    for meter in meters:
        add = meter.add
        for index in range(start, stop):
            add(messages[index], chars[index + 1] - chars[index], tokens[index])
