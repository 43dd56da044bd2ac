"""Leave the application if its terminal is gone (a closed window, a broken connection) or the system ends the
program."""

from __future__ import annotations

import asyncio
import select
import signal
import sys
from types import FrameType

from textual.app import App

LOOK_S = 1.0
"""Interval in which the terminal is polled: not every way to lose one sends a signal."""


def leave_without_terminal(app: App[None]) -> None:
    """Have the app exit once its terminal is gone or the system asks it to end. Does nothing if there is no
    terminal."""
    if app.is_headless or not hasattr(select, "poll") or sys.__stdin__ is None:
        return
    terminal = select.poll()
    terminal.register(sys.__stdin__.fileno(), 0)

    def look() -> None:
        if terminal.poll(0):  # registered for no event, it reports a hang-up only
            app.exit()

    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        asyncio.get_running_loop().add_signal_handler(number, app.exit)
    resume_only_what_was_stopped()
    app.set_interval(LOOK_S, look)


def resume_only_what_was_stopped() -> None:
    """Ignore SIGCONT unless the program was stopped. Linux sends it when a terminal hangs up; Textual would then read
    keys in a second thread, and the first would never end."""
    stop, resume = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
    if not callable(stop) or not callable(resume):
        return
    is_stopped = False

    def stopped(number: int, frame: FrameType | None) -> None:
        nonlocal is_stopped
        is_stopped = True
        stop(number, frame)

    def continued(number: int, frame: FrameType | None) -> None:
        nonlocal is_stopped
        if is_stopped:
            is_stopped = False
            resume(number, frame)

    signal.signal(signal.SIGTSTP, stopped)
    signal.signal(signal.SIGCONT, continued)
