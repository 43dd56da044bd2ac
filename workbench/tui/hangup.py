"""A terminal that is gone: its window was closed, its connection broke. Nothing can be shown or typed any more. And a
system that ends the program."""

from __future__ import annotations

import asyncio
import select
import signal
import sys
from types import FrameType

from textual.app import App

LOOK_S = 1.0
"""How often the terminal is looked at. Not every way to lose one sends a signal."""


def leave_without_terminal(app: App[None]) -> None:
    """Have the app leave once its terminal has gone, or the system asks it to end. Does nothing where there is none to
    lose."""
    if app.is_headless or not hasattr(select, "poll") or sys.__stdin__ is None:
        return
    terminal = select.poll()
    terminal.register(sys.__stdin__.fileno(), 0)

    def look() -> None:
        if terminal.poll(0):  # asked for no event, it tells of a hang-up alone
            app.exit()

    for told in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        asyncio.get_running_loop().add_signal_handler(told, app.exit)
    resume_only_what_was_stopped()
    app.set_interval(LOOK_S, look)


def resume_only_what_was_stopped() -> None:
    """A terminal that hangs up tells its program to continue, too (in Linux, whether it was stopped or not). Then
    Textual would read keys in a second thread, and the first one, which nobody ends, go on reading nothing for ever."""
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
