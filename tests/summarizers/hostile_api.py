"""A server on loopback that sends more than any client should read: compressed, without an end, or nested."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

from tests.summarizers.fake_api import Connection, Reply, begin, write

MB = 1_000_000
JSON, STREAM = "application/json", "text/event-stream"


def gzip(before: bytes, filling: bytes = b"", times: int = 0, after: bytes = b"") -> bytes:
    """`filling` so many times between two other texts."""
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    packed = [packer.compress(before), *(packer.compress(filling) for _ in range(times)), packer.compress(after)]
    return b"".join([*packed, packer.flush()])


@dataclass
class Hostile:
    """A reply that sends `data`, then `for_ever` or the event of a `word` until the client leaves. A stream begins as
    its protocol's does where it `begins`; `head` stands for a whole one. `sent` counts the bytes of the body that a
    socket took."""

    data: bytes = b""
    for_ever: bytes = b""
    word: str = ""
    status: int = 200
    kind: str = JSON
    encoding: str = ""
    length: int | None = None
    begins: bool = False
    head: str = ""
    sent: int = 0

    async def __call__(self, to: Connection) -> None:
        self.sent = 0
        if self.head:
            to.writer.write(self.head.encode())
        elif self.begins:
            await begin(to)
        else:
            more = {"content_encoding": self.encoding} if self.encoding else {}
            if self.length is not None:
                more["content_length"] = str(self.length)
            await to.head(self.status, self.kind, **more)
        await self._write(to, self.data)
        while self.for_ever:
            await self._write(to, self.for_ever)
        while self.word:
            await write(to, (self.word,))
            self.sent += len(self.word)
        if self.length is not None and not self.data:
            await to.until_the_client_leaves()

    async def _write(self, to: Connection, data: bytes) -> None:
        to.writer.write(data)
        await to.writer.drain()
        self.sent += len(data)


def compressed(reply: Reply, encoding: str) -> Reply:
    """The same answer as gzip, which is called `encoding`."""

    async def packed(to: Connection) -> None:
        kept = _Kept()
        await reply(replace(to, writer=kept))  # type: ignore[arg-type]
        head, _, body = kept.data.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"content-length")]
        to.writer.write(b"\r\n".join([*lines, f"content-encoding: {encoding}".encode(), b"", gzip(bytes(body))]))
        await to.writer.drain()

    return packed


class _Kept:
    """A writer that keeps what is written."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None:
        """There is always room."""
