"""Full collections of garbage wait until nothing is done: each one holds the screen up for a tenth of a second.

Python makes one whenever a quarter more objects have come to stay, which a long session's plans do every few keys. What
is young is collected as ever; what has grown old is looked through when nobody touches the screen. Where nothing has
grown old no timer runs.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from textual.app import App

REST_S = 3.0
"""How long nothing is done before there is time for it."""

BUSY = 0.05
"""The share of one core from which something is being done."""

DUE = 10
"""Collections of the middle generation, some 7 000 objects each, after which a full one is worth its time: the number
at which Python itself would make one."""

AT_MOST = 1_000
"""The number of those after which one is made even while something is done."""


def collect_at_rest(app: App[None]) -> Callable[[], None]:
    """Put full collections off to the app's pauses; returns what brings them back."""
    before = gc.get_threshold()
    loop, here = asyncio.get_running_loop(), copy_context()
    waiting = False

    def collected(phase: str, about: dict[str, Any]) -> None:
        """Called by Python for every collection, in whatever thread it is made."""
        if phase == "stop" and about["generation"] == 1 and gc.get_count()[2] >= DUE and not waiting:
            loop.call_soon_threadsafe(wait, context=here)  # a timer needs to know its app, and a thread does not

    def wait() -> None:
        nonlocal waiting
        if waiting:
            return
        waiting, used = True, time.process_time()

        def look() -> None:
            nonlocal waiting, used
            spent, used = time.process_time() - used, time.process_time()
            if spent < BUSY * REST_S:
                timer.stop()
                gc.collect()
                waiting = False

        timer = app.set_interval(REST_S, look)

    def leave() -> None:
        gc.callbacks.remove(collected)
        gc.set_threshold(*before)

    gc.set_threshold(*before[:2], AT_MOST)
    gc.callbacks.append(collected)
    return leave
