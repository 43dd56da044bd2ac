"""The one way a file is opened whose name the user, a session or a folder gives: what waits for another program or has
no end is refused before it is opened."""

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
"""Names of a pipe that the shell has opened already, for `<(…)`."""


def open_file(path: Path | str) -> BinaryIO:
    """Open a file to be read. Raises OSError, also for what `not_a_file` names, and has become that by now."""
    _refuse(os.stat(path), path)
    return open(path, "rb", opener=_open_at_once)


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the writer of what has become a pipe, and refuse it."""
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
    """Return all bytes of a file, or what comes through a pipe that the shell gave. Raises OSError as `open_file`."""
    given = _SHELL_PIPE.fullmatch(str(path)) and stat.S_ISFIFO(os.stat(path).st_mode)
    with open(path, "rb") if given else open_file(path) as file:
        return file.read()


def read_text(path: Path | str, encoding: str = "utf-8") -> str:
    """Return the text of a file with \\n at the end of each line. Raises OSError as `open_file`; UnicodeDecodeError."""
    return read_file(path).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def special_file_kind(status: os.stat_result) -> str:
    """Return in words what has this status, where it may wait for ever or have no end: a pipe, socket or device, or a
    file of /proc or /sys. "" for any other file, and for a folder."""
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
    """The devices of the system's own file systems, as far as these are mounted."""
    return frozenset(os.stat(one).st_dev for one in _SYSTEM_MOUNTS if os.path.ismount(one))
