"""The terminal: leave when it is gone (a closed window, a broken connection), and lend it to the user's own editor."""

from __future__ import annotations

import asyncio
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from textual.app import App, SuspendNotSupported

from workbench.base.errors import BadInput
from workbench.base.files import reason

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


# --- the user's editor ------------------------------------------------------------------------------------------------


def editor_command() -> list[str]:
    """Command line in $VISUAL, else $EDITOR, as words. Raises BadInput if neither is set or the quoting is wrong."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"$EDITOR is {command!r}, which is no command line ({error}); correct it.") from None
    if not words:
        raise BadInput("No editor is known: set $EDITOR, for example EDITOR=nano.")
    return words


def run_editor(text: str, suffix: str = ".md") -> str:
    """Open `text` in the editor and return it as saved. Blocks until the editor ends. Raises BadInput if the editor
    cannot be run or fails, or if what it saved is not UTF-8."""
    command = editor_command()
    with ExitStack() as until_done:
        try:
            folder = until_done.enter_context(tempfile.TemporaryDirectory(prefix="cwb-"))
            path = Path(folder) / f"text{suffix}"
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise BadInput(f"The text cannot be written to a file for {command[0]}: {reason(error)}.") from None
        try:
            code = subprocess.run([*command, str(path)], check=False).returncode
        except OSError as error:
            raise BadInput(
                f"{command[0]} cannot be run ({error.strerror}); set $EDITOR to a command that can."
            ) from None
        if code:
            raise BadInput(f"{command[0]} ended with code {code}; the text is unchanged.")
        try:
            return path.read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(
                f"The file that {command[0]} saved cannot be read as UTF-8 ({error}); the text is unchanged."
            ) from None


def edit_outside(app: App[None], text: str, suffix: str = ".md") -> str:
    """Hand the terminal to the editor, and return the text as saved. Raises BadInput as `run_editor` does, and if this
    terminal cannot be suspended."""
    editor_command()
    try:
        with app.suspend():
            return run_editor(text, suffix)
    except SuspendNotSupported:
        raise BadInput("This terminal cannot run an editor; edit the text here.") from None
