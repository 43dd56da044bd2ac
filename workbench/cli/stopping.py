"""How a command that waits is stopped from outside."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress


def cancel_on_signals() -> None:
    """Have a terminal that is closed, and a system that ends the process, cancel the task at hand, where the system can
    tell of that."""
    task = asyncio.current_task()
    if task is None:
        return
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        with suppress(NotImplementedError, AttributeError, RuntimeError, ValueError):
            loop.add_signal_handler(getattr(signal, name), task.cancel)
