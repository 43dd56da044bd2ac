"""Full collections of garbage wait until nothing is done, and do not look at a long session: each one holds the screen
up for a tenth of a second.

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
from typing import TYPE_CHECKING, Any

from textual.app import App

if TYPE_CHECKING:
    from workbench.session import Session

REST_S = 3.0
"""How long nothing is done before there is time for it."""

BUSY = 0.05
"""The share of one core from which something is being done."""

DUE = 10
"""Collections of the middle generation, some 7 000 objects each, after which a full one is worth its time: the number
at which Python itself would make one."""

AT_MOST = 1_000
"""The number of those after which one is made even while something is done."""


MANY = 10_000
"""Messages from which a session is kept out of the collector's way."""


def keep_out(session: Session) -> None:
    """Have no collection look at what is there by now: a session that is read, or counted, stays as long as its screen.
    `gc.unfreeze`, when another is opened, takes it back."""
    if len(session.messages) > MANY:
        gc.freeze()


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
            # What a worker waits for may be about to come: then its result is drawn.
            if spent < BUSY * REST_S and all(worker.is_finished for worker in app.workers):
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
