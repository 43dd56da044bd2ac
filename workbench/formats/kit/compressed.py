"""Compressed files, unpacked within limits, because a small file must not fill the memory: Zstandard and zip archives.

`zipfile` reads zstd members (method 93) only since Python 3.14.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.text import clip

ZIP = b"PK\x03\x04"
ZSTD = b"\x28\xb5\x2f\xfd"


LARGEST = 400 << 20
"""Most bytes unpacked; they are in memory twice, as chunks and as texts."""
HIGHEST_RATIO = 200
"""Ratio above which unpacking stops, once `_FREE_ZSTD` bytes were unpacked; session texts reach 5 to 40."""

_FREE_ZSTD = 1 << 24
_CHUNK = 1 << 20


def zstd_head(head: bytes, size: int) -> bytes:
    """Return the first `size` unpacked bytes of the file that `head` begins; fewer if cut off, none if damaged."""
    try:
        import zstandard

    except ImportError:
        return b""
    try:
        with zstandard.ZstdDecompressor().stream_reader(head) as reader:
            return bytes(reader.read(size))
    except (zstandard.ZstdError, MemoryError):
        return b""


def unpack_zstd(path: Path, data: bytes) -> bytes:
    """Return the complete unpacked file. Raises BadInput if it is damaged or exceeds limits."""
    try:
        import zstandard
    except ImportError:
        raise BadInput(
            f"{path} is zstd-compressed; unpack it (zstd -d) or install the package zstandard, then open it again."
        ) from None
    parts: list[bytes] = []
    size = 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            while chunk := reader.read(_CHUNK):
                parts.append(chunk)
                size += len(chunk)
                if size > LARGEST or (size > _FREE_ZSTD and size > HIGHEST_RATIO * len(data)):
                    raise BadInput(
                        f"{path} unpacks to more than {size >> 20} MiB, too much for a session; unpack it yourself."
                    )
    except (zstandard.ZstdError, MemoryError) as error:
        raise BadInput(f"{path}: the zstd data are damaged ({error}); restore a whole copy and open that.") from None
    return b"".join(parts)


try:
    from lzma import LZMAError
except ImportError:  # Python without lzma cannot read that method
    LZMAError = zlib.error  # type: ignore[misc, assignment]

_ZSTD_METHOD = 93
_TROUBLE = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, RuntimeError, ValueError, MemoryError)
"""Exceptions for a damaged archive, which differ by method; MemoryError if a header claims too much."""
_FREE_ZIP = 1 << 26
"""Bytes that may be unpacked at any ratio."""
_WORDS = 200
_LOCAL_HEADER = 30
"""Bytes before a member's name; the lengths of the name and of the extra field are at 26 and 28."""


def zip_members(path: Path, data: bytes, accepts: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield name and unpacked bytes of the members whose names pass `accepts`, in archive order.

    Raises BadInput for a damaged archive, and for one that unpacks beyond limits.
    """
    size, most = 0, min(LARGEST, max(_FREE_ZIP, HIGHEST_RATIO * len(data)))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not accepts(entry.filename):
                    continue
                if entry.compress_type == _ZSTD_METHOD:
                    raw = _zstd_member(path, data, entry)
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


def _zstd_member(path: Path, data: bytes, entry: zipfile.ZipInfo) -> bytes:
    at = entry.header_offset
    name, extra = (int.from_bytes(data[at + place : at + place + 2], "little") for place in (26, 28))
    start = at + _LOCAL_HEADER + name + extra
    raw = unpack_zstd(path, data[start : start + entry.compress_size])
    if zlib.crc32(raw) != entry.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {entry.filename!r}")
    return raw
