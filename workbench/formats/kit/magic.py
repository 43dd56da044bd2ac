"""Magic bytes of the binary file formats that are read."""

from __future__ import annotations

SQLITE = b"SQLite format 3\x00"
ZIP = b"PK\x03\x04"
ZSTD = b"\x28\xb5\x2f\xfd"
