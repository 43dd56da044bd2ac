"""Time limits of calls, which can be paused while a call waits for something else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

CLOCKS: ContextVar[tuple[asyncio.Timeout, ...]] = ContextVar("clocks", default=())
"""Time limits of the current task."""


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
    """Limit the time like `asyncio.timeout`, without the time spent in `paused_clocks`."""
    async with asyncio.timeout(seconds) as clock:
        token = CLOCKS.set((*CLOCKS.get(), clock))
        try:
            yield clock
        finally:
            CLOCKS.reset(token)


@contextmanager
def paused_clocks() -> Iterator[None]:
    """Pause all time limits of the current task while it waits for other calls or for the user."""
    loop = asyncio.get_running_loop()
    began, clocks = loop.time(), [(clock, when) for clock in CLOCKS.get() if (when := clock.when()) is not None]
    for clock, _ in clocks:
        clock.reschedule(None)
    try:
        yield
    finally:
        for clock, when in clocks:
            clock.reschedule(when + loop.time() - began)
