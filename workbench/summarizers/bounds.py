"""Bounds on what a server may send, counted while it arrives: bytes on the wire and after decompression, the events of
a stream, and how much JSON one of them holds.

A few hundred kilobytes of gzip hold gigabytes, a stream need not end, and the official clients read both without a
limit. `bound_response` is a response hook of their HTTP library (httpx, or a copy of it): it puts a bounded stream
in the place of the server's before anybody reads it, so that all protocols and error answers pass through it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from workbench.base.figures import grouped

ENCODING = "gzip"
"""The only accepted compression: the standard library decompresses it in steps of a given size."""

Framing = Literal["whole", "events", "lines"]
"""Framing of an answer: one document, the events of a stream, or one document per line."""


@dataclass(frozen=True, slots=True)
class ResponseBounds:
    """Limits for reading an answer. In bytes: a `document`, an error document with status 300 or above (`error`), a
    `stream` of events, a document of `lines`, and each `piece` (event or line). `pieces`: their number; `piece_lines`:
    lines per event. `parts`: strings, values and lists in one piece of JSON; `depth`: its nesting.

    The longest answers of current models have 128 000 tokens: half a megabyte of text, and 50 MB as a stream with one
    event per token.
    """

    document: int = 16_000_000
    error: int = 1_000_000
    stream: int = 64_000_000
    lines: int = 256_000_000
    piece: int = 4_000_000
    pieces: int = 300_000
    piece_lines: int = 1_000
    parts: int = 500_000
    depth: int = 100


BOUNDS = ResponseBounds()


class OutOfBounds(Exception):
    """Raised for an answer that exceeds a bound; `what` continues the sentence "The server sends". `status` and
    `headers` are those of the response."""

    def __init__(self, what: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(what)
        self.what, self.status, self.headers = what, status, headers or {}


async def bound_response(response: Any) -> None:
    """Bound what is read of a response. Raises OutOfBounds if its headers already exceed a bound, and for an encoding
    that was not requested."""
    status, headers = response.status_code, response.headers
    encoding = headers.get("content-encoding", "").strip().lower()
    cut = _framing_of(status, headers.get("content-type", "").lower(), response.url.path)
    reading = BoundedReader(cut, zipped=encoding in ("gzip", "x-gzip"), is_error=status >= 300, bounds=BOUNDS)
    try:
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise OutOfBounds(f"an answer in the encoding {encoding[:40]}, which was not asked for")
        reading.check_size(_length(headers))
    except OutOfBounds as refused:
        raise OutOfBounds(refused.what, status, headers) from None
    headers.pop("content-encoding", None)
    bounded = _bounded_type(next(one for one in type(response.stream).__mro__ if one.__name__ == "AsyncByteStream"))
    response.stream = bounded(response.stream, reading, status, headers)


def _framing_of(status: int, kind: str, path: str) -> Framing:
    if status >= 300 or "html" in kind:
        return "whole"
    if "jsonl" in kind or "ndjson" in kind or path.endswith("/results"):
        return "lines"
    return "whole" if "json" in kind and "stream" not in kind else "events"


def _length(headers: Mapping[str, str]) -> int:
    """Return the announced length in bytes, or 0."""
    try:
        return int(headers.get("content-length", "0"))
    except ValueError:
        return 0


@cache
def _bounded_type(base: Any) -> Any:
    """Return a class of bounded streams derived from `base`, the HTTP library's AsyncByteStream, which it requires."""

    class BoundedStream(base):  # type: ignore[misc]
        def __init__(self, stream: Any, reading: BoundedReader, status: int, headers: Mapping[str, str]) -> None:
            self._stream, self._reading, self._status, self._headers = stream, reading, status, headers

        @property
        def elapsed(self) -> Any:
            return getattr(self._stream, "elapsed", None)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async for data in self._stream:
                    for piece in self._reading.feed(data):
                        yield piece
                for piece in self._reading.rest():
                    yield piece
            except OutOfBounds as refused:
                raise OutOfBounds(refused.what, self._status, self._headers) from None

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedStream


_ENDS = {"events": re.compile(rb"\r\n\r\n|\n\n|\r\r"), "lines": re.compile(rb"\n")}
_ONE = {"whole": "an answer", "events": "an event", "lines": "a line"}
_STEP = 65_536
"""Number of bytes decompressed at a time."""


class BoundedReader:
    """Reads one answer within its bounds. `feed` and `rest` yield it decompressed and cut at the end of an event or
    line, so that no client joins a long one from pieces. Both raise OutOfBounds."""

    def __init__(
        self, cut: Framing, *, zipped: bool = False, is_error: bool = False, bounds: ResponseBounds = BOUNDS
    ) -> None:
        self.bounds = bounds
        self._cut, self._what = cut, "an error answer" if is_error else "an answer"
        sizes = {"whole": bounds.document, "events": bounds.stream, "lines": bounds.lines}
        self.most = bounds.error if is_error else sizes[cut]
        self.received = self.decoded = self.pieces = 0
        self._unzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if zipped else None
        self._pending = bytearray()

    def check_size(self, size: int) -> None:
        if size > self.most:
            raise OutOfBounds(f"{self._what} of more than {grouped(self.most)} bytes")

    def feed(self, data: bytes) -> Iterator[bytes]:
        self.received += len(data)
        self.check_size(self.received)
        for decoded in self._decompressed(data):
            self.decoded += len(decoded)
            self.check_size(self.decoded)
            if self._cut == "whole":
                self._pending += decoded
            elif done := self._whole_pieces(decoded):
                yield done

    def rest(self) -> Iterator[bytes]:
        """Yield the bytes left over when the server has sent everything."""
        if self._pending:
            last = bytes(self._pending)
            self._pending.clear()
            self._check_piece(last)
            yield last

    def _decompressed(self, data: bytes) -> Iterator[bytes]:
        if self._unzip is None:
            yield data
            return
        try:
            while decoded := self._unzip.decompress(data, _STEP):
                yield decoded
                data = self._unzip.unconsumed_tail
        except zlib.error as error:
            raise OutOfBounds(f"{self._what} that is no gzip ({error})") from None

    def _whole_pieces(self, data: bytes) -> bytes:
        """Return the events or lines that end in `data`, with the pending beginning of the first; empty if none
        ends."""
        look_from = max(0, len(self._pending) - 3)
        self._pending += data
        start = 0
        for end in [found.end() for found in _ENDS[self._cut].finditer(self._pending, look_from)]:
            self._check_piece(bytes(self._pending[start:end]))
            start = end
        self._check_length(len(self._pending) - start)
        done = bytes(self._pending[:start])
        del self._pending[:start]
        return done

    def _check_piece(self, piece: bytes) -> None:
        if self._cut != "whole":
            self._check_length(len(piece))
            self.pieces += 1
            if self.pieces > self.bounds.pieces:
                raise OutOfBounds(f"more than {grouped(self.bounds.pieces)} {self._cut}")
        if self._cut == "events" and piece.count(b"\n") + piece.count(b"\r") > self.bounds.piece_lines:
            raise OutOfBounds(f"an event of more than {grouped(self.bounds.piece_lines)} lines")
        if much := exceeded_json_bound(piece, self.bounds, is_event=self._cut == "events"):
            raise OutOfBounds(f"{self._what if self._cut == 'whole' else _ONE[self._cut]} with {much}")

    def _check_length(self, length: int) -> None:
        if length > self.bounds.piece:
            raise OutOfBounds(f"{_ONE[self._cut]} of more than {grouped(self.bounds.piece)} bytes")


_PARTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|(?P<opens>[\[{])|(?P<closes>[\]}])|,', re.DOTALL)
"""A part of JSON: a string up to its end or the end of the data, a bracket, or a comma."""


def exceeded_json_bound(data: bytes, bounds: ResponseBounds = BOUNDS, *, is_event: bool = False) -> str:
    """Return the bound that a piece of JSON, or the data of an event, exceeds, in words; "" if it may be decoded."""
    opened = data.count(b"[") + data.count(b"{")
    if opened <= bounds.depth and opened + data.count(b",") + data.count(b'"') <= bounds.parts:
        return ""
    if is_event:  # quotes on other lines are no strings
        data = b"\n".join(line[5:] for line in data.splitlines() if line.startswith(b"data:"))
    depth = 0
    for number, part in enumerate(_PARTS.finditer(data), 1):
        if part.lastgroup == "opens":
            depth += 1
            if depth > bounds.depth:
                return f"JSON that is nested more than {grouped(bounds.depth)} deep"
        elif part.lastgroup == "closes":
            depth -= 1
        if number > bounds.parts:
            return f"JSON of more than {grouped(bounds.parts)} texts, lists and values"
    return ""
