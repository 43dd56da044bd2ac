"""Times that calls have, and that no time counts in which a call is not under way at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

CLOCKS: ContextVar[tuple[asyncio.Timeout, ...]] = ContextVar("clocks", default=())
"""Those that the task at hand is under."""


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
    """As `asyncio.timeout`, but the time that is `standing_still` does not count."""
    async with asyncio.timeout(seconds) as clock:
        token = CLOCKS.set((*CLOCKS.get(), clock))
        try:
            yield clock
        finally:
            CLOCKS.reset(token)


@contextmanager
def paused_clocks() -> Iterator[None]:
    """While a call waits for others, or for what a person says, no clock runs that it is under."""
    loop = asyncio.get_running_loop()
    began, clocks = loop.time(), [(clock, when) for clock in CLOCKS.get() if (when := clock.when()) is not None]
    for clock, _ in clocks:
        clock.reschedule(None)
    try:
        yield
    finally:
        for clock, when in clocks:
            clock.reschedule(when + loop.time() - began)
