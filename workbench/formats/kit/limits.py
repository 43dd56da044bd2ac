"""Limits for damaged or hostile files: size of a JSON value, checked on its bytes before it is decoded, and number of
warnings of one kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from workbench.base.figures import grouped
from workbench.session import LoadWarning

LONGEST_TEXT = 100_000_000
"""Bytes of the longest text. The largest context windows hold less than half of it. Decoded, a text takes up to four
times the memory, because one wide character widens all of them."""

MOST_VALUES = 8_000_000
"""Values in one document or line. A decoded empty list takes 60 bytes for 3 bytes of JSON, an object 200."""

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_FRONT = 1_000
"""Leading bytes, blank lines included, within which JSON must begin."""

_BETWEEN = (b",", b"[", b"{")


def enough() -> int:
    """Return the size in bytes up to which no limit can be exceeded."""
    return min(LONGEST_TEXT, 2 * MOST_VALUES)


def beyond(data: bytes, start: int, stop: int) -> str:
    """Describe how `data[start:stop]` exceeds a limit; "" if it may be decoded. Short input is not scanned."""
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
    """Return the number of the first line of JSON that exceeds a limit, and a description; None if there is none."""
    least = enough()
    if len(data) <= least or data[:_FRONT].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
        return None
    at = 0
    while len(data) - at > least:
        # Every line before the last newline within `least` bytes is short enough.
        newline = data.rfind(b"\n", at, at + least)
        if newline < 0:
            newline = data.find(b"\n", at)
            stop = len(data) if newline < 0 else newline
            if excess := beyond(data, at, stop):
                return data.count(b"\n", 0, at) + 1, excess
            newline = stop
        at = newline + 1
    return None


def _values(data: bytes, start: int, stop: int) -> int:
    """Upper bound of the number of values: separators inside texts count as well."""
    return sum([data.count(sign, start, stop) for sign in _BETWEEN])


MOST_WARNINGS = 1_000
"""Warnings of one kind that are listed one by one."""

_VARIES = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\d\u202f\xa0]+")
"""Parts of a text that differ between warnings of one kind: quoted names and numbers."""


def limit_warnings(warnings: Iterable[LoadWarning]) -> tuple[LoadWarning, ...]:
    """Return at most `MOST_WARNINGS` warnings of each kind, followed by the number of further ones."""
    listed: list[LoadWarning] = []
    kinds: Counter[str] = Counter()
    newest: dict[str, LoadWarning] = {}
    for warning in warnings:
        kind = _VARIES.sub("", warning.text)
        kinds[kind] += 1
        if kinds[kind] <= MOST_WARNINGS:
            listed.append(warning)
        else:
            newest[kind] = warning
    for kind, last in newest.items():
        more = grouped(kinds[kind] - MOST_WARNINGS)
        listed.append(LoadWarning(f"{more} more warnings of this kind, the last: {last.text}", last.line))
    return tuple(listed)
