"""typed.py READY COMMAND [ARGUMENT …]: types $PROMPT into a program that goes on only at a terminal.

It waits until the screen says READY and is still, types, and ends the program when the screen is still again. Needs
nothing but Python, so that any tool's home can run it.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Sequence

_PATIENCE = 60.0
_STILL = 2.5
_DONE = 6.0
"""Seconds: how long the screen may take, and after how many without a change it is still, or has shown all that came of
a prompt: a request takes its time on a busy machine."""


def main(ready: str, command: Sequence[str]) -> int:
    pid, screen = pty.fork()
    if pid == 0:
        os.execvp(command[0], list(command))
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    went_well = _read(screen, ready)
    os.write(screen, os.environ["PROMPT"].encode())
    _read(screen, "")
    os.write(screen, b"\r")
    went_well = went_well and _read(screen, "", _DONE)
    os.kill(pid, signal.SIGTERM)
    _read(screen, "")
    os.waitpid(pid, 0)
    return int(not went_well)


def _read(screen: int, awaited: str, still: float = _STILL) -> bool:
    """Reads until the screen has said what is awaited and is still; False where it does not, or the program ended."""
    said, began, changed = b"", time.monotonic(), time.monotonic()
    while time.monotonic() - began < _PATIENCE:
        if select.select([screen], [], [], 0.1)[0]:
            try:
                said += os.read(screen, 65536)
            except OSError:
                return False
            changed = time.monotonic()
        elif awaited.encode() in said and time.monotonic() - changed > still:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
