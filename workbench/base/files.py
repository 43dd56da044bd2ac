"""Atomic writes: a file is there complete or not at all, readable by its owner only, and never replaces a device."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from workbench.base.errors import BadInput

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_WAIT_S = 2.0
"""Seconds to wait for another program's lock, which it holds for milliseconds."""


def write_atomically(
    path: Path,
    data: bytes | Callable[[BinaryIO], object],
    *,
    overwrite: bool = False,
    verify: Callable[[bytes], object] | None = None,
) -> None:
    """Write a file atomically, readable by its owner only. `data` may be a function that writes it in pieces.

    `verify` is called with the written bytes before the file gets its name; if it raises, nothing is left. Raises
    BadInput when the file exists and `overwrite` is not set, when the name is that of a folder, device, pipe or socket,
    or when its folder cannot be written to.
    """
    refuse_existing(path, overwrite=overwrite)
    with _unfinished(path, _make_file) as temporary:
        try:
            with temporary.open("wb") as file:
                if isinstance(data, bytes):
                    file.write(data)
                else:
                    data(file)
                file.flush()
                os.fsync(file.fileno())
            if verify is not None:
                verify(temporary.read_bytes())
            _rename(temporary, path, overwrite=overwrite)
        except OSError as error:
            remedy = (
                "choose a shorter name" if error.errno == errno.ENAMETOOLONG else "make room or choose another folder"
            )
            raise BadInput(f"{path} cannot be written: {reason(error)}; {remedy}.") from None


def write_folder(path: Path, files: Mapping[str, bytes], verify: Callable[[Path], object]) -> None:
    """Write a folder with these files (by their paths in it) atomically, readable by its owner only.

    `verify` is called with the written folder before it gets its name; if it raises, nothing is left. Raises BadInput
    when the name is taken, or when the folder cannot be written.
    """
    if os.path.lexists(path):
        raise BadInput(f"{path} exists; choose another name.")
    with _unfinished(path, lambda prefix, folder: tempfile.mkdtemp(prefix=prefix, dir=folder)) as temporary:
        try:
            for name, data in files.items():
                (temporary / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_atomically(temporary / name, data)
            verify(temporary)
            temporary.rename(path)
        except OSError as error:
            raise BadInput(f"{path} cannot be written: {reason(error)}; make room or choose another folder.") from None


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, readable by their owner only. Raises BadInput if that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder} cannot be made: {reason(error)}; choose another folder.") from None


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock a folder to read, change and rewrite a file in it, so that no program loses what another wrote.

    The folder itself is locked, without a lock file. Where the file system has no locks, or another program holds the
    lock longer than LOCK_WAIT_S, the context runs without one.
    """
    if fcntl is None:
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # the write itself will report it
        yield
        return
    try:
        until = time.monotonic() + LOCK_WAIT_S
        while time.monotonic() < until:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.005)
            except OSError:
                break
        yield
    finally:
        os.close(handle)


def same_file(one: Path | str, other: Path | str) -> bool:
    """True if both paths lead to one existing file. Names from a session may be impossible for a file."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def refuse_existing(path: Path, *, overwrite: bool = False) -> None:
    """Raise BadInput if the file exists and `overwrite` is not set, or its folder is not writable. Call it before long
    or paid work whose result is to be written."""
    refuse_special(path)
    if not overwrite and os.path.exists(path):
        raise BadInput(f"{path} exists; choose another name or allow replacing it.")
    if not os.access(path.parent, os.W_OK):
        is_missing = not os.path.isdir(path.parent)
        raise _unwritable(path, os.strerror(errno.ENOENT if is_missing else errno.EACCES))


def refuse_special(path: Path) -> None:
    """Raise BadInput if a folder, device, pipe or socket has this name, or a link leads to one.

    A rename would replace it: it would remove a device from the system, or cut off the reader of a pipe or socket.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # nothing is there; an impossible name fails in the write
        return
    if stat.S_ISDIR(mode):
        raise BadInput(f"{path} is a folder; name a file in it.")
    if not stat.S_ISREG(mode):
        raise BadInput(f"{path} is a device, pipe or socket and is not overwritten; choose the name of a file.")


# --- unfinished files -------------------------------------------------------------------------------------------------

_MARK = ".cwb-"
_UNFINISHED = re.compile(rf"\..+{re.escape(_MARK)}[a-z0-9_]{{8}}", re.DOTALL)
"""Names of files and folders that are being written."""


@contextmanager
def _unfinished(path: Path, make: Callable[[str, Path], str]) -> Iterator[Path]:
    """Create a file or folder next to `path` with `make(prefix, folder)`, and remove it at the end unless it was
    renamed. It is locked until then: unlocked ones were left by a killed writer, and are removed first.

    Raises BadInput if none can be created.
    """
    _remove_abandoned(path.parent)
    try:
        prefix = f".{os.fsencode(path.name)[:100].decode('utf-8', 'ignore')}{_MARK}"
        temporary = Path(make(prefix, path.parent))
        lock = _lock(temporary, wait=True)
        while not temporary.exists():  # another program removed it as abandoned before it was locked
            temporary = Path(make(prefix, path.parent))
            lock = _lock(temporary, wait=True)
    except (OSError, ValueError) as error:
        raise _unwritable(path, reason(error)) from None
    try:
        yield temporary
    finally:
        _remove(temporary)
        if lock is not None:
            os.close(lock)


def _make_file(prefix: str, folder: Path) -> str:
    handle, name = tempfile.mkstemp(prefix=prefix, dir=folder)
    os.close(handle)
    return name


def _remove_abandoned(folder: Path) -> None:
    """Remove unfinished files of killed writers from a folder. One that cannot be locked stays, because
    its writer may be running."""
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in found if _UNFINISHED.fullmatch(entry.name)]
    except (OSError, ValueError):  # the write itself will report it
        return
    for name in names:
        lock = _lock(folder / name, wait=False)
        if lock is None:
            continue
        try:
            status = os.fstat(lock)
            if status.st_uid == os.geteuid() and (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                _remove(folder / name)
        finally:
            os.close(lock)


def _lock(path: Path, *, wait: bool) -> int | None:
    """Return a handle that locks a file or folder while it is open. None if the file is missing or cannot be locked,
    and without `wait` if another handle locks it."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if os.path.samestat(os.fstat(handle), path.lstat()):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _rename(temporary: Path, path: Path, *, overwrite: bool) -> None:
    """Give the finished file its name. Raises BadInput if a file appeared meanwhile and `overwrite` is not set."""
    if overwrite:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)  # unlike a rename, fails where the name is taken
    except FileExistsError:
        raise BadInput(f"{path} exists; choose another name or allow replacing it.") from None
    except OSError:  # a file system without hard links
        temporary.replace(path)


def _unwritable(path: Path, why: str) -> BadInput:
    return BadInput(f"{path} cannot be written: {why}; choose a folder that you may write to.")


def reason(error: Exception) -> str:
    """Return the system's message about a file that could not be read or written."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
