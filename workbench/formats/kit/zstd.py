"""Zstandard-compressed sessions, unpacked within bounds: a small file must not fill the memory."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import BadInput

LARGEST = 400 << 20
"""Bytes that are unpacked at most: they are in memory twice, as they are put together and again as texts."""
HIGHEST_RATIO = 200
"""Times its size that a file may grow, once it has grown to `_FREE`; sessions as text reach 5 to 40."""

_FREE = 1 << 24
_CHUNK = 1 << 20


def glimpse(head: bytes, size: int) -> bytes:
    """The first `size` unpacked bytes of what `head` begins; fewer where it is cut off, none where it is broken."""
    try:
        import zstandard

    except ImportError:
        return b""
    try:
        with zstandard.ZstdDecompressor().stream_reader(head) as reader:
            return bytes(reader.read(size))
    except (zstandard.ZstdError, MemoryError):
        return b""


def unpack(path: Path, data: bytes) -> bytes:
    """The whole unpacked file. Raises BadInput when it is damaged or grows beyond bounds."""
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
                if size > LARGEST or (size > _FREE and size > HIGHEST_RATIO * len(data)):
                    raise BadInput(
                        f"{path} unpacks to more than {size >> 20} MiB, too much for a session; unpack it yourself."
                    )
    except (zstandard.ZstdError, MemoryError) as error:
        raise BadInput(f"{path}: the zstd data are damaged ({error}); restore a whole copy and open that.") from None
    return b"".join(parts)
