"""Media from the encoded data of a file, with the width and height that the header of an image names.

Only the first bytes are read; no image is decoded. The formats are those that the APIs accept: PNG, JPEG, GIF and WebP.
"""

from __future__ import annotations

from binascii import a2b_base64
from struct import unpack_from

from workbench.session.message import Media, Pixels

_FIRST = 512
"""Base64 characters that hold the header of nearly every image."""

_MOST = 400_000
"""Most base64 characters that are read: the size of a JPEG comes after its EXIF data, colour profile and thumbnail."""

_URL_SAFE = str.maketrans("-_", "+/")


def media_of(media_type: str, encoded: str) -> Media:
    """Media of `encoded`, the base64 text of a file or a data URL with it; `size` counts its characters."""
    data = encoded.partition(",")[2] if encoded.startswith("data:") else encoded
    return Media(media_type, len(encoded), pixels_of_encoded(data))


def media_of_url(url: str, kind: str) -> Media:
    """Media of a data URL, of the type that it names; media of `kind` without a size for any other address."""
    head, _, encoded = url.partition(",")
    return media_of(head[5:].split(";")[0] or kind, encoded) if head.startswith("data:") else Media(kind, 0)


def pixels_of_encoded(encoded: str) -> Pixels | None:
    """Width and height of an image in base64; None for other data and for a header that cannot be read."""
    found = pixels_of(_decoded(encoded[:_FIRST]))
    if found is None and len(encoded) > _FIRST:
        start = _decoded(encoded[:8])
        if start.startswith(_JPEG):
            found = pixels_of(_decoded(encoded[:_MOST]))
    return found


def pixels_of(data: bytes) -> Pixels | None:
    """Width and height of an image by the header at the start of `data`; None if they cannot be read from it."""
    found = None
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR" and len(data) >= 24:
        found = unpack_from(">II", data, 16)
    elif data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        found = unpack_from("<HH", data, 6)
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        found = _webp(data)
    elif data.startswith(_JPEG):
        found = _jpeg(data)
    return (found[0], found[1]) if found and found[0] and found[1] else None


_JPEG = b"\xff\xd8\xff"
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of a JPEG frame header, the one segment with the size."""
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers without a length."""


def _jpeg(data: bytes) -> tuple[int, ...] | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _ALONE:
            at += 2
        elif marker in _FRAMES:
            height, width = unpack_from(">HH", data, at + 5)
            return width, height
        else:
            at += 2 + int(unpack_from(">H", data, at + 2)[0])
    return None


def _webp(data: bytes) -> tuple[int, ...] | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and len(data) >= 30 and data[23:26] == b"\x9d\x01\x2a":
        width, height = unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _decoded(encoded: str) -> bytes:
    """Bytes of the beginning of a base64 text, line breaks skipped; b"" for other text."""
    text = "".join(encoded.split()).translate(_URL_SAFE)
    try:
        return a2b_base64(text[: len(text) // 4 * 4])
    except ValueError:
        return b""
