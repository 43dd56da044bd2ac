"""Time limits and retries of a live call."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from workbench.compaction.summary_request import SummaryFailed
from workbench.summarizers.client_errors import CallFailure
from workbench.summarizers.connections import Connection


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of a call; times in seconds. The complete call including waits is limited by the request's `timeout_s`,
    else by `whole_s`; the wait for the first token by `first_token_s`, for more text by `stall_s`. The answer is
    limited by the request's `max_output_tokens`, else by `max_output`.

    `tries` limits how often one prompt is sent (429, 5xx, overloaded, broken connection). Waits double from `backoff_s`
    up to `longest_backoff_s`, unless the server requests another wait; a wait that would outlast the call is not
    started. `shrinks` limits how often a prompt that is too long is cut (`workbench.summarizers.wire`).
    """

    whole_s: float = 600.0
    first_token_s: float = 180.0
    stall_s: float = 60.0
    max_output: int = 8_000
    tries: int = 5
    backoff_s: float = 1.0
    longest_backoff_s: float = 16.0
    shrinks: int = 4


def limits_of(connection: Connection) -> CallLimits:
    """Return the limits in a connection's settings."""
    return CallLimits(
        whole_s=connection.timeout,
        first_token_s=connection.first_token,
        stall_s=connection.stall,
        tries=connection.tries,
        max_output=connection.max_output,
    )


def next_wait(trouble: CallFailure, tries: int, limits: CallLimits, clock: asyncio.Timeout) -> float | SummaryFailed:
    """Return the seconds to wait after `tries` tries, or the failure if none is left or `clock` would run out."""
    if trouble.remedy != "retry":
        return SummaryFailed(trouble.kind, trouble.sentence)
    if tries >= limits.tries:
        return SummaryFailed(trouble.kind, f"{trouble.sentence}; stopped after {tries} tries")
    backoff = min(limits.longest_backoff_s, limits.backoff_s * 2 ** (tries - 1))
    # Randomized, so that requests rejected together are not repeated together.
    wait = trouble.wait_s or backoff * random.uniform(0.75, 1.0)
    if (ends := clock.when()) is not None and wait >= ends - asyncio.get_running_loop().time():
        return SummaryFailed(trouble.kind, f"{trouble.sentence}; waiting {wait:.0f} s would outlast the call")
    return wait
