"""Edit a text in the user's own editor while the screen waits."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from textual.app import App, SuspendNotSupported

from workbench.base.errors import BadInput
from workbench.base.files import reason


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
