"""Running sums from which triggers are read in O(1)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gauge:
    """How full a context is at one moment.

    `chars` is the history's size by `api_chars` (compact JSON as the model sees it); `tokens` the whole context,
    overhead included, on the basis of the context's sizes; `last_usage` the last API call's billed tokens, input, cache
    and output together, None without one. `cache_age_ms` is the time since the last API call, None when unknown.
    `tool_uses` is filled in by the strategy that counts them.
    """

    messages: int = 0
    rounds: int = 0
    events: int = 0
    chars: int = 0
    tokens: int = 0
    last_usage: int | None = None
    input_chars: int = 0
    window: int | None = None
    marker_seen: bool = False
    overflow_error_seen: bool = False
    cache_age_ms: int | None = None
    memory_lines: int = 0
    tool_uses: int = 0
    manual: bool = False
