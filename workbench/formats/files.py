"""Files in and out: the one way a session file is opened, and the one way anything is written."""

from __future__ import annotations

import contextlib
import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import BadInput
from workbench.formats import registry
from workbench.formats.format import Progress, no_progress
from workbench.session import Session

LARGE = 8_000_000
"""Bytes above which a session lets go of its file's bytes and reads them again for an export."""

_BLANKS = b" \t\r\n\x00"
_BINARY = {
    b"SQLite format 3\0": "an SQLite database",
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "zstd-compressed",
    b"\x1f\x8b": "gzip-compressed",
    b"\x89PNG": "an image",
    b"%PDF": "a PDF",
    b"\x7fELF": "a program",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def load(path: Path, progress: Progress = no_progress) -> Session:
    """Open a session file of any known format, recognised by its content.

    A folder is opened when a tool keeps its sessions so. Raises BadInput with one sentence for any other folder, for a
    missing, unreadable, empty or binary file, and for one that no format recognises. The file itself is never changed
    or held open.
    """
    if path.is_dir():
        return _load_folder(path, progress)
    data = _bytes_of(path)
    head = data[: registry.HEAD]
    try:
        found, _ = registry.detect(head)
    except BadInput as error:
        _refuse_binary(path, head)
        raise BadInput(f"{path}: {error}") from None
    with gc_paused():
        session = found.read(path, data, progress)
    if len(data) > LARGE and session.records.data is data:
        session.records.let_go(path)
    return session


def _load_folder(path: Path, progress: Progress) -> Session:
    found, _ = registry.detect_folder(path)
    if found.read_folder is None:
        raise BadInput(f"{path} is a folder; name a session file in it.")
    with gc_paused():
        return found.read_folder(path, progress)


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """Without the cyclic collector: a load makes millions of objects and no garbage (spec/tokens.md §4)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def write_atomically(path: Path, data: bytes, mode: int = 0o600, overwrite: bool = False) -> None:
    """Write a file so that it is there whole or not at all, readable by its owner only.

    Raises BadInput when the file exists and `overwrite` is not set, or when its folder cannot be written to.
    """
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name a file in it.")
    if not overwrite and path.exists():
        raise BadInput(f"{path} exists already; choose another name or allow it to be replaced.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {_reason(error)}; choose a folder that you may write to.") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        _rename(temporary, path, overwrite=overwrite)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {_reason(error)}; make room or choose another folder.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _rename(temporary: Path, path: Path, *, overwrite: bool) -> None:
    """Give the finished file its name; never over a file that appeared meanwhile, unless that is wanted."""
    if overwrite:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)  # unlike a rename, fails where the name is taken
    except FileExistsError:
        raise BadInput(f"{path} exists already; choose another name or allow it to be replaced.") from None
    except OSError:  # a file system without hard links
        temporary.replace(path)


def _bytes_of(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise BadInput(f"{path} is a folder; name a session file in it.")
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a regular file; copy what it gives to a file and name that.")
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; check the name.") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {_reason(error)}; check its name and permissions.") from None
    if not data[: registry.HEAD].strip(_BLANKS) and not data.strip(_BLANKS):
        raise BadInput(f"{path} is empty; name a file that holds a session.")
    return data


def _refuse_binary(path: Path, head: bytes) -> None:
    for magic, kind in _BINARY.items():
        if head.startswith(magic):
            raise BadInput(f"{path} is {kind}; name a session file in JSON or JSONL, as UTF-8 text.")
    controls = sum(head.count(byte) for byte in b"\x00\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x7f")
    if controls * 50 > len(head) and head.lstrip()[:1] not in (b"{", b"["):
        raise BadInput(f"{path} is a binary file; name a session file in JSON or JSONL, as UTF-8 text.")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
