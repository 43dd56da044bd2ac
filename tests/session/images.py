"""Headers of images of any size, without pictures behind them."""

from __future__ import annotations

from base64 import b64encode
from struct import pack


def png(width: int, height: int, more: int = 0) -> str:
    """A PNG header and `more` bytes of data, in base64."""
    head = b"\x89PNG\r\n\x1a\n" + pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 2, 0, 0, 0)
    return b64encode(head + bytes(more)).decode()


def gif(width: int, height: int) -> str:
    return b64encode(b"GIF89a" + pack("<HH", width, height) + b"\xf7\x00\x00;").decode()


def jpeg(width: int, height: int, exif: int = 20, frame: int = 0xC0) -> str:
    """A JPEG header behind a segment of `exif` bytes."""
    head = b"\xff\xd8\xff\xe1" + pack(">H", exif + 2) + bytes(exif)
    head += b"\xff\xc4" + pack(">H", 4) + b"\x00\x00"  # a table, whose marker lies among those of frames
    head += b"\xff" + bytes([frame]) + pack(">HBHHB", 17, 8, height, width, 3)
    return b64encode(head + bytes(16)).decode()


def webp(kind: bytes, width: int, height: int) -> str:
    if kind == b"VP8X":
        body = b"\x10\x00\x00\x00" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == b"VP8L":
        body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + bytes(5)
    else:
        body = b"\x30\x01\x00\x9d\x01\x2a" + pack("<HH", width, height)
    chunk = kind + pack("<I", len(body)) + body
    return b64encode(b"RIFF" + pack("<I", len(chunk) + 4) + b"WEBP" + chunk).decode()
