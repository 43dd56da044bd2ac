"""Open files that the user, a session or a folder names, without blocking.

Pipes, sockets, devices and files of /proc or /sys are refused.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from functools import cache
from pathlib import Path
from typing import BinaryIO

_SYSTEM_MOUNTS = ("/proc", "/sys", "/sys/kernel/debug", "/sys/kernel/tracing")
_SHELL_PIPE = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+")
"""Names of pipes that the shell has already opened, for `<(…)`."""


def open_file(path: Path | str) -> BinaryIO:
    """Open a file for reading. Raises OSError, also for special files (`special_file_kind`)."""
    _refuse(os.stat(path), path)
    return open(path, "rb", opener=_open_at_once)


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting, and refuse a file that was replaced by a pipe meanwhile."""
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        _refuse(os.fstat(handle), path)
    except OSError:
        os.close(handle)
        raise
    return handle


def _refuse(status: os.stat_result, path: Path | str) -> None:
    if what := special_file_kind(status):
        raise OSError(errno.EINVAL, f"it is {what}", str(path))


def read_file(path: Path | str) -> bytes:
    """Return all bytes of a file, or of a pipe that the shell opened. Raises OSError as `open_file`."""
    is_shell_pipe = _SHELL_PIPE.fullmatch(str(path)) and stat.S_ISFIFO(os.stat(path).st_mode)
    with open(path, "rb") if is_shell_pipe else open_file(path) as file:
        return file.read()


def read_text(path: Path | str, encoding: str = "utf-8") -> str:
    """Return the text of a file with \\n at the end of each line. Raises OSError as `open_file`; UnicodeDecodeError."""
    return read_file(path).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def special_file_kind(status: os.stat_result) -> str:
    """Return the kind of a file that may block or have no end: a pipe, socket or device, or a file of /proc or /sys; ""
    for any other file, and for a folder."""
    mode = status.st_mode
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    if not stat.S_ISREG(mode):
        return "" if stat.S_ISDIR(mode) else "a device"
    return "a file that the system makes while it is read" if status.st_dev in _system_devices() else ""


@cache
def _system_devices() -> frozenset[int]:
    """Return the devices of the mounted system file systems."""
    return frozenset(os.stat(one).st_dev for one in _SYSTEM_MOUNTS if os.path.ismount(one))
