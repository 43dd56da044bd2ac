"""The program as a person runs it: in a terminal, watched from outside, timed from the start of its process."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS, ROWS = 140, 40
QUIT = b"q"
PATIENCE_S = 180

_CONTROL = re.compile(rb"\x1b\[[0-9;:?<>=$ ]*[@-~]|\x1b[@-_=>]")


@dataclass
class Watched:
    """Seconds from the start until each mark stood on the screen, and the peak of resident memory in MB."""

    seconds: dict[str, float] = field(default_factory=dict)
    peak_mb: float = 0.0


def watch(file: Path, marks: Mapping[str, bytes], environment: Mapping[str, str]) -> Watched:
    """Open `file` on the workbench's screen, wait until every mark was written in the order given, then leave.

    Raises TimeoutError when a mark does not appear, RuntimeError with the last words when the program ends before.
    """
    watched = Watched()
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began = time.perf_counter()
    program = subprocess.Popen(
        [sys.executable, "-m", "workbench", "open", str(file)],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, **environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        start_new_session=True,
    )
    os.close(inner)
    waiting = list(marks.items())
    seen = b""
    try:
        while waiting:
            if time.perf_counter() - began > PATIENCE_S:
                raise TimeoutError(f"{waiting[0][0]!r} did not appear in {PATIENCE_S} s")
            if not select.select([terminal], [], [], 1)[0]:
                continue
            # A mark may be cut in two by a read: a little of the past stays in view.
            seen = seen[-4096:] + _read(terminal)
            said = _CONTROL.sub(b"", seen)
            if program.poll() is not None:
                raise RuntimeError(f"the program ended with {program.returncode}: {said.decode(errors='replace')}")
            while waiting and waiting[0][1] in said:
                watched.seconds[waiting.pop(0)[0]] = time.perf_counter() - began
        watched.peak_mb = _peak_mb(program.pid)
        os.write(terminal, QUIT)
        _drain(terminal)
    finally:
        program.kill()
        program.wait()
        os.close(terminal)
    return watched


def _peak_mb(pid: int) -> float:
    """The largest resident size so far, as Linux keeps it; 0 on other systems."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


def _drain(terminal: int) -> None:
    """Read to the end, lest the program blocks on a full terminal while it leaves."""
    until = time.perf_counter() + 5
    while time.perf_counter() < until and select.select([terminal], [], [], 1)[0]:
        if not _read(terminal):
            return


def _read(terminal: int) -> bytes:
    """What the program wrote; nothing once it has ended, which Linux reports as an error."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
