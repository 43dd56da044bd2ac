"""Correction of values that APIs and agents reject, in exported bytes: copied records include their damage.

Lone surrogates become U+FFFD, as on the screen; counts of tokens or messages that are negative or impossibly large
become 0; NUL bytes are removed. All other bytes are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.formats.loss import Loss, Losses, LossKind

_MOST = 1e15
"""Bound above any real count of tokens or messages."""

_MAY_BE_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD]([89a-fA-F])[0-9a-fA-F]{2}|.)", re.DOTALL
)
_MAY_BE_WRONG = re.compile(rb'(?<!\\)"\s*:\s*(?:-[\dI]|\d{16}|\d[\d.]*[eE]|Infinity)')
_NUL_LINE = re.compile(rb"^[ \t\r]*\x00[ \t\r\x00]*\n", re.MULTILINE)
_TOKENS = re.compile(rb'("(?:[^"\\]|\\.)*")(\s*:)?|([{\[])|([}\]])|(-?(?:\d[\d.eE+-]*|Infinity))', re.DOTALL)
_COUNTED = re.compile(rb"token|removed$", re.IGNORECASE)
_LIMITS = re.compile(rb"max|limit|budget|logprob|_id$|Id$", re.IGNORECASE)
_USAGE = re.compile(rb"(?:usage|tokens|usage_?metadata)$", re.IGNORECASE)
_OF_TOOLS = frozenset(
    b"action args arguments attachment content extras functionCall functionResponse function_call function_response "
    b"input observation result results schema toolTelemetry toolUseResult".split()
)
"""Keys that hold tool input or tool results: numbers under them are data of the tool, not counts of the session."""


def sanitize(data: bytes) -> tuple[bytes, Losses]:
    """Return the JSON document or lines `data` with such values corrected, and a loss for each kind. Other data are
    returned unchanged."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n\x00").startswith((b"{", b"[")):
        return data, []
    losses: Losses = []
    if 0 in data:
        losses.append(Loss(LossKind.NUL_BYTES, data.count(0)))
        data = _NUL_LINE.sub(b"", data).replace(b"\x00", b"")
    if _MAY_BE_HALF.search(data):
        halves = sum(1 for found in _ESCAPES.finditer(data) if found[1])
        if halves:
            losses.append(Loss(LossKind.HALF_CHARACTERS, halves))
            data = _ESCAPES.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)
    if _MAY_BE_WRONG.search(data):
        wrong = [*_wrong_counts(data)]
        if wrong:
            losses.append(Loss(LossKind.COUNTS_OUT_OF_RANGE, len(wrong)))
            data = _with_zeros(data, wrong)
    return data, losses


def _with_zeros(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    parts: list[bytes] = []
    done = 0
    for start, stop in spans:
        parts += data[done:start], b"0"
        done = stop
    return b"".join([*parts, data[done:]])


def _wrong_counts(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of counts that are out of range."""
    at = 0
    while found := _MAY_BE_WRONG.search(data, at):
        start = data.rfind(b"\n", 0, found.start()) + 1
        stop = data.find(b"\n", found.end())
        stop = len(data) if stop < 0 else stop
        if not data.startswith(b"{", start):  # a document over several lines
            yield from _in_json(data, at, len(data))
            return
        yield from _in_json(data, start, stop)
        at = stop


def _in_json(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of wrong counts within one JSON value."""
    keys: list[bytes] = []
    key = b""
    for token in _TOKENS.finditer(data, start, stop):
        text, colon, opens, closes, number = token.groups()
        if text is not None:
            key = text[1:-1] if colon else key
        elif opens:
            keys.append(key)
        elif closes:
            key = keys.pop() if keys else b""
        elif number and _is_out_of_range(number) and _is_count(keys, key):
            yield token.span(5)


def _is_out_of_range(number: bytes) -> bool:
    try:
        return not 0 <= float(number) < _MOST
    except ValueError:
        return False


def _is_count(keys: list[bytes], key: bytes) -> bool:
    if _LIMITS.search(key) or not _OF_TOOLS.isdisjoint(keys):
        return False
    return bool(_COUNTED.search(key)) or any(_USAGE.search(outer) for outer in keys)
