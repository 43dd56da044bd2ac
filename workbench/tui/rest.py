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
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.timer import Timer

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


MANY = 1_000
"""Messages from which a session is kept out of the collector's way."""


def keep_out(session: Session) -> None:
    """Have no collection look at what is there by now: a session that is read, or counted, stays as long as its screen.
    When that has gone `Collecting.replaced` takes it back."""
    if len(session.messages) > MANY:
        gc.freeze()


class Collecting:
    """Full collections, put off to the pauses of an app from when this is made until `leave`."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._loop, self._here = asyncio.get_running_loop(), copy_context()
        self._before = gc.get_threshold()
        self._timer: Timer | None = None
        self._used = 0.0
        self._has_gone = False
        """Whether a session that is kept out has had its screen."""
        gc.set_threshold(*self._before[:2], AT_MOST)
        gc.callbacks.append(self._collected)

    def replaced(self) -> None:
        """Another session has taken a screen's place: at the next pause what was kept out is looked through, too."""
        self._has_gone = True
        self._wait()

    def leave(self) -> None:
        gc.callbacks.remove(self._collected)
        gc.set_threshold(*self._before)

    def _collected(self, phase: str, about: dict[str, Any]) -> None:
        """Called by Python for every collection, in whatever thread it is made."""
        if phase == "stop" and about["generation"] == 1 and gc.get_count()[2] >= DUE and not self._timer:
            self._loop.call_soon_threadsafe(self._wait, context=self._here)  # a timer needs to know its app

    def _wait(self) -> None:
        if self._timer is None:
            self._used = time.process_time()
            self._timer = self._app.set_interval(REST_S, self._look)

    def _look(self) -> None:
        spent, self._used = time.process_time() - self._used, time.process_time()
        # What a worker waits for may be about to come: then its result is drawn.
        if self._timer and spent < BUSY * REST_S and all(worker.is_finished for worker in self._app.workers):
            self._timer.stop()
            self._timer = None
            kept = self._has_gone and gc.get_freeze_count()
            if kept:
                gc.unfreeze()
            gc.collect()
            if kept:
                gc.freeze()
            self._has_gone = False
