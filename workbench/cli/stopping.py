"""Cancel a waiting command on signals."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress


def cancel_on_signals() -> None:
    """Cancel the current task on SIGTERM and SIGHUP (closed terminal), on systems that support it."""
    task = asyncio.current_task()
    if task is None:
        return
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        with suppress(NotImplementedError, AttributeError, RuntimeError, ValueError):
            loop.add_signal_handler(getattr(signal, name), task.cancel)
