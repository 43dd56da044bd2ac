"""How patient a live call is: its time-outs, and when a call that failed is tried again."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from workbench.compaction.summary_request import SummaryFailed
from workbench.summarizers.client_errors import CallFailure
from workbench.summarizers.connections import Connection


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Times in seconds. The whole call, waits included, is bounded by the request's own `timeout_s`, else by `whole_s`;
    its answer by the request's own `max_output_tokens`, else by `max_output`.

    `tries` bounds how often one prompt is sent (429, 5xx, overloaded, broken connection); waits double from `backoff_s`
    up to `longest_backoff_s`, or are what the server asks for; a wait that would outlast the call is not begun.
    `shrinks` bounds how often a prompt that is too long is cut (`workbench.summarizers.wire`).
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
    """As patient as the connection's settings say."""
    return CallLimits(
        whole_s=connection.timeout,
        first_token_s=connection.first_token,
        stall_s=connection.stall,
        tries=connection.tries,
        max_output=connection.max_output,
    )


def next_wait(trouble: CallFailure, tries: int, limits: CallLimits, clock: asyncio.Timeout) -> float | SummaryFailed:
    """Seconds to wait before the next try after `tries` of them, or the failure when none is left, or `clock` runs out
    before."""
    if trouble.remedy != "retry":
        return SummaryFailed(trouble.kind, trouble.sentence)
    if tries >= limits.tries:
        return SummaryFailed(trouble.kind, f"{trouble.sentence}; stopped after {tries} tries")
    backoff = min(limits.longest_backoff_s, limits.backoff_s * 2 ** (tries - 1))
    # Spread, so that requests that were refused together do not come back together.
    wait = trouble.wait_s or backoff * random.uniform(0.75, 1.0)
    if (ends := clock.when()) is not None and wait >= ends - asyncio.get_running_loop().time():
        return SummaryFailed(trouble.kind, f"{trouble.sentence}; waiting {wait:.0f} s would outlast the call")
    return wait
