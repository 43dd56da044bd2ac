"""Zstandard-compressed sessions, unpacked within limits: a small file must not fill the memory."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import BadInput

LARGEST = 400 << 20
"""Most bytes unpacked; they are in memory twice, as chunks and as texts."""
HIGHEST_RATIO = 200
"""Ratio above which unpacking stops, once `_FREE` bytes were unpacked; session texts reach 5 to 40."""

_FREE = 1 << 24
_CHUNK = 1 << 20


def glimpse(head: bytes, size: int) -> bytes:
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


def unpack(path: Path, data: bytes) -> bytes:
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
                if size > LARGEST or (size > _FREE and size > HIGHEST_RATIO * len(data)):
                    raise BadInput(
                        f"{path} unpacks to more than {size >> 20} MiB, too much for a session; unpack it yourself."
                    )
    except (zstandard.ZstdError, MemoryError) as error:
        raise BadInput(f"{path}: the zstd data are damaged ({error}); restore a whole copy and open that.") from None
    return b"".join(parts)
