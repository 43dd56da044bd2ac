"""Zip archives, unpacked within limits: members in methods that Python knows, and zstd-compressed ones.

`zipfile` reads zstd (method 93) only since Python 3.14.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.text import clip
from workbench.formats.kit import zstd

try:
    from lzma import LZMAError
except ImportError:  # Python without lzma cannot read that method
    LZMAError = zlib.error  # type: ignore[misc, assignment]

_ZSTD = 93
_TROUBLE = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, RuntimeError, ValueError, MemoryError)
"""Exceptions for a damaged archive, which differ by method; MemoryError if a header claims too much."""
_FREE = 1 << 26
"""Bytes that may be unpacked at any ratio."""
_WORDS = 200
_LOCAL_HEADER = 30
"""Bytes before a member's name; the lengths of the name and of the extra field are at 26 and 28."""


def members(path: Path, data: bytes, accepts: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield name and unpacked bytes of the members whose names pass `accepts`, in archive order.

    Raises BadInput for a damaged archive, and for one that unpacks beyond limits.
    """
    size, most = 0, min(zstd.LARGEST, max(_FREE, zstd.HIGHEST_RATIO * len(data)))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not accepts(entry.filename):
                    continue
                if entry.compress_type == _ZSTD:
                    raw = _unpacked(path, data, entry)
                else:
                    with archive.open(entry) as file:
                        raw = file.read(most + 1 - size)
                size += len(raw)
                if size > most:
                    raise BadInput(f"{path} unpacks to more than {most >> 20} MiB; unpack the part you need yourself.")
                yield entry.filename, raw
    except _TROUBLE as error:
        words = clip(str(error), _WORDS)  # the error may quote a name of any length
        raise BadInput(f"{path}: the zip cannot be read ({words}); restore a whole copy and open that.") from None


def _unpacked(path: Path, data: bytes, entry: zipfile.ZipInfo) -> bytes:
    at = entry.header_offset
    name, extra = (int.from_bytes(data[at + place : at + place + 2], "little") for place in (26, 28))
    start = at + _LOCAL_HEADER + name + extra
    raw = zstd.unpack(path, data[start : start + entry.compress_size])
    if zlib.crc32(raw) != entry.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {entry.filename!r}")
    return raw
