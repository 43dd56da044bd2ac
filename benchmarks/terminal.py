"""A program as a person runs it: in a terminal of its own, watched from outside, timed from its start."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

COLUMNS, ROWS = 140, 40
PATIENCE_S = 90
REPEAT_S = 1 / 30
"""How fast a key repeats that is held down."""
QUIET_S = 0.3
"""Nothing written for so long: what a key began is done."""

UP, DOWN, PAGE_DOWN, TOP, END = b"\x1b[A", b"\x1b[B", b"\x1b[6~", b"\x1b[H", b"\x1b[F"

_SIZE = ("COLUMNS", "LINES")
"""What may be said of the size of another terminal; a program asks its own."""

_CONTROL = re.compile(rb"\x1b\[[0-9;:?<>=$ ]*[@-~]|\x1b[@-_=>]")
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Terminal:
    """`command` in a pseudo terminal; used as a context manager, which ends it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], patience: float = PATIENCE_S) -> None:
        self._patience = patience
        self._ours, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.began = time.perf_counter()
        self._seen = b""
        self._program = subprocess.Popen(
            command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={
                **{name: said for name, said in {**os.environ, **environment}.items() if name not in _SIZE},
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
            },
            start_new_session=True,
        )
        os.close(inner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._program.kill()
        self._program.wait()
        if self._ours >= 0:
            os.close(self._ours)

    def wait_for(self, mark: bytes | re.Pattern[bytes]) -> float:
        """Seconds from the start until `mark` was written, words or a pattern.

        Raises TimeoutError when it does not appear, RuntimeError with the last words when the program ends before.
        """
        pattern = re.compile(re.escape(mark)) if isinstance(mark, bytes) else mark
        while not pattern.search(said := _CONTROL.sub(b"", self._seen)):
            if time.perf_counter() - self.began > self._patience:
                raise TimeoutError(f"{mark!r} did not appear in {self._patience} s")
            self._read(1)
            if self._program.poll() is not None:
                raise RuntimeError(
                    f"the program ended with {self._program.returncode}: {said.decode(errors='replace')}"
                )
        return time.perf_counter() - self.began

    def vanish(self) -> int:
        """Be gone, as when a window is closed; the code that the program then ends with.

        Raises subprocess.TimeoutExpired when it goes on.
        """
        os.close(self._ours)
        self._ours = -1
        return self._program.wait(self._patience)

    def stopped(self, key: bytes) -> bytes:
        """Press `key`, which stops the program; what it wrote until then. Raises TimeoutError when it goes on."""
        self._seen, pressed = b"", time.perf_counter()
        os.write(self._ours, key)
        while not os.waitpid(self._program.pid, os.WNOHANG | os.WUNTRACED)[0]:
            if time.perf_counter() - pressed > self._patience:
                raise TimeoutError(f"{key!r} did not stop it in {self._patience} s")
            self._read(0.05)
        self._read(0)
        return self._seen

    def goes_on(self) -> None:
        """Have a stopped program go on, as `fg` does."""
        self._seen = b""
        self._program.send_signal(signal.SIGCONT)

    def settled(self, key: bytes = b"") -> float:
        """Press `key`; milliseconds until the last that it made the program write, then `QUIET_S` of silence."""
        pressed = last = time.perf_counter()
        os.write(self._ours, key)
        while self._read(QUIET_S):
            last = time.perf_counter()
        return 1000 * (last - pressed)

    def answered(self, key: bytes, mark: bytes) -> float:
        """Press `key`; milliseconds until `mark` is written, whatever else is."""
        self._seen, pressed = b"", time.perf_counter()
        os.write(self._ours, key)
        self.wait_for(mark)
        return 1000 * (time.perf_counter() - pressed)

    def cpu_per_key(self, key: bytes, times: int) -> float:
        """Milliseconds of the whole process's CPU for one `key` of `times`, held down."""
        self.settled()
        before, due = self.cpu_s, time.perf_counter()
        for _ in range(times):
            os.write(self._ours, key)
            due += REPEAT_S
            while (left := due - time.perf_counter()) > 0:
                self._read(left)
        self.settled()
        return 1000 * (self.cpu_s - before) / times

    def idle(self, seconds: float) -> float:
        """The share of one core that the program takes when nobody touches it, 0 to 1."""
        self.settled()
        before, began = self.cpu_s, time.perf_counter()
        while (left := began + seconds - time.perf_counter()) > 0:
            self._read(left)
        return (self.cpu_s - before) / (time.perf_counter() - began)

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU so far, all threads, user and system; 0 where the system does not tell (not Linux)."""
        stat = self._told("stat").rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) * _TICK_S if stat else 0.0

    @property
    def peak_mb(self) -> float:
        """The largest resident size so far; 0 where the system does not tell."""
        peak = next((line for line in self._told("status").splitlines() if line.startswith("VmHWM:")), "VmHWM: 0")
        return int(peak.split()[1]) / 1024

    @property
    def now_mb(self) -> float:
        """The resident size now; 0 where the system does not tell."""
        now = next((line for line in self._told("status").splitlines() if line.startswith("VmRSS:")), "VmRSS: 0")
        return int(now.split()[1]) / 1024

    def _told(self, name: str) -> str:
        file = Path(f"/proc/{self._program.pid}/{name}")
        return file.read_text() if file.exists() else ""

    def _read(self, seconds: float) -> bool:
        """Wait for something to be written, at most so long; False when nothing was."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        try:
            # A mark may be cut in two by a read: a little of the past stays in view.
            self._seen = self._seen[-4096:] + os.read(self._ours, 1 << 16)
        except OSError:  # so Linux reports that the program has ended
            return False
        return True
