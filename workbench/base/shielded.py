"""Writes that finish even if the waiting task is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def run_shielded(write: Callable[[], T]) -> asyncio.Future[T]:
    """Start `write` at once in a thread. It finishes even if the waiting task is cancelled, and before the event loop
    closes; `asyncio.to_thread` would drop it while no thread has started it."""
    return asyncio.shield(asyncio.get_running_loop().run_in_executor(None, write))
