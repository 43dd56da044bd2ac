"""What is more than any session holds, told from the bytes of a JSON value before they are decoded."""

from __future__ import annotations

import re

from workbench.base.figures import grouped

LONGEST_TEXT = 100_000_000
"""Bytes of a text. The largest windows hold less than half of it; decoded it takes up to four times as much memory, for
one character beyond the sixteen bits of most makes all of them that wide."""

MOST_VALUES = 8_000_000
"""Values in one document or line. Decoded, an empty list takes sixty bytes for its three, an object two hundred."""

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_FRONT = 1_000
"""Bytes in which a file of JSON begins to be some, behind blank lines."""

_BETWEEN = (b",", b"[", b"{")


def enough() -> int:
    """Bytes up to which nothing can hold too much."""
    return min(LONGEST_TEXT, 2 * MOST_VALUES)


def beyond(data: bytes, start: int, stop: int) -> str:
    """What the JSON in `data[start:stop]` holds too much of, in words; "" where it may be decoded. Nothing is looked
    at of what is too short to hold it."""
    if stop - start <= enough():
        return ""
    if stop - start > LONGEST_TEXT:
        for text in _TEXT.finditer(data, start, stop):
            if text.end() - text.start() > LONGEST_TEXT:
                return f"a text of {(text.end() - text.start()) // 1_000_000} MB"
    if _values(data, start, stop) <= MOST_VALUES:
        return ""
    bare = _TEXT.sub(b"", memoryview(data)[start:stop])
    return f"more than {grouped(MOST_VALUES)} values" if _values(bare, 0, len(bare)) > MOST_VALUES else ""


def line_beyond(data: bytes) -> tuple[int, str] | None:
    """The first line of JSON that holds too much, by its number, and what that is."""
    least = enough()
    if len(data) <= least or data[:_FRONT].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
        return None
    at = 0
    while len(data) - at > least:
        # The last newline that is near enough: what lies before it are short lines.
        newline = data.rfind(b"\n", at, at + least)
        if newline < 0:
            newline = data.find(b"\n", at)
            stop = len(data) if newline < 0 else newline
            if much := beyond(data, at, stop):
                return data.count(b"\n", 0, at) + 1, much
            newline = stop
        at = newline + 1
    return None


def _values(data: bytes, start: int, stop: int) -> int:
    """At most so many, and within texts as many as seem to begin there."""
    return sum([data.count(sign, start, stop) for sign in _BETWEEN])
