"""What has grown old is looked through once for garbage, a little at a time, and then kept out of the collector's way.

Python's own full collection walks all there is, whenever a quarter more has come to stay: with a long session that
holds the screen up for a quarter of a second, every few keys. What grows old on the screen of a session is nearly all
that session's, and goes when another is opened. A screen that stands in front of it is garbage when it goes, with all
that came meanwhile: that is looked through when nothing is done. What is young is collected as ever. Where nothing has
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
"""How long nothing is done before there is time for more."""

BUSY = 0.05
"""The share of one core from which something is being done."""

DUE = 2
"""Collections of the middle generation, some 7 000 objects each, after which what has grown old is looked through: so
much takes less than a frame."""

AT_MOST = 1_000
"""The number of those after which Python looks through it even while another screen stands in front."""

MANY = 1_000
"""Messages from which a session is kept out of the collector's way as soon as it is read."""


def keep_out(session: Session) -> None:
    """Have no collection look at what is there by now: a session that is read, or counted, stays as long as its screen.
    When that has gone `Collecting.opened` takes it back."""
    if len(session.messages) > MANY:
        gc.freeze()


def look_through() -> None:
    """Collect the garbage of all that is not kept out, and keep out the rest."""
    gc.collect()
    gc.freeze()


class Collecting:
    """Has an app's garbage collected so, from when this is made until `leave`."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._loop, self._here = asyncio.get_running_loop(), copy_context()
        self._before = gc.get_threshold()
        self._timer: Timer | None = None
        self._used = 0.0
        self._in_front = False
        """Whether another screen has stood in front since what is old was looked through."""
        self._has_one = self._has_gone = False
        """Whether a session has its screen, and whether one that is kept out has had it."""
        gc.set_threshold(*self._before[:2], AT_MOST)
        gc.callbacks.append(self._collected)
        if not app.is_headless:  # where many apps run in one process, what others left may be garbage
            gc.freeze()
        app.screen_change_signal.subscribe(app, self._changed)

    def opened(self) -> None:
        """A session has its screen. Where it took another's place, that one is looked through at the next pause, though
        it was kept out."""
        self._in_front = False
        self._has_gone = self._has_gone or self._has_one
        self._has_one = True
        if self._has_gone:
            self._wait()

    def leave(self) -> None:
        gc.callbacks.remove(self._collected)
        gc.set_threshold(*self._before)

    def _changed(self, _: object) -> None:
        """A screen has come or gone. What comes with one that stands in front may go with it."""
        if not self._in_front and not self._is_alone:
            look_through()
            self._in_front = True

    @property
    def _is_alone(self) -> bool:
        return len(self._app.screen_stack) <= ALONE

    def _collected(self, phase: str, about: dict[str, Any]) -> None:
        """Called by Python for every collection, in whatever thread it is made."""
        if phase == "stop" and about["generation"] == 1 and gc.get_count()[2] >= DUE and not self._timer:
            self._loop.call_soon_threadsafe(self._grown, context=self._here)  # a timer needs to know its app

    def _grown(self) -> None:
        if self._in_front or self._has_gone:
            self._wait()
        elif gc.get_count()[2] >= DUE:  # it may have been asked for twice
            look_through()

    def _wait(self) -> None:
        if self._timer is None:
            self._used = time.process_time()
            self._timer = self._app.set_interval(REST_S, self._look)

    def _look(self) -> None:
        spent, self._used = time.process_time() - self._used, time.process_time()
        # What a worker waits for may be about to come: then its result is drawn.
        at_rest = spent < BUSY * REST_S and all(worker.is_finished for worker in self._app.workers)
        if self._timer and at_rest and self._is_alone:
            self._timer.stop()
            self._timer = None
            if self._has_gone:
                gc.unfreeze()
            look_through()
            self._in_front = self._has_gone = False


ALONE = 2
"""Screens of which none stands in front of a session's: Textual's blank one and that."""
