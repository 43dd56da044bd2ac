"""What is to be written whatever becomes of who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def run_shielded(write: Callable[[], T]) -> asyncio.Future[T]:
    """Begin `write` at once, in a thread. It comes to its end where who waits is cancelled, and before the event loop
    does: what `asyncio.to_thread` was given is let go of while no thread has taken it up."""
    return asyncio.shield(asyncio.get_running_loop().run_in_executor(None, write))
