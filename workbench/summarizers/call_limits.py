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
    """Limits of a call; times in seconds. The complete call, waits included, may take the request's `timeout_s`, else
    `whole_s`; the first token may take `first_token_s`, each further text `stall_s`. The answer may have the request's
    `max_output_tokens`, else `max_output` tokens.

    One prompt is sent at most `tries` times: again after a 429 or 5xx, to an overloaded server, or after a broken
    connection. The waits between double from `backoff_s` to `longest_backoff_s`, unless the server requests another
    wait; a wait that would outlast the call is not started. A prompt that is too long is cut at most `shrinks` times
    (`workbench.summarizers.wire`).
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
    """Return the seconds to wait after `tries` tries, or the failure if one more is useless, excessive or late."""
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
