"""A server on loopback that speaks the Messages API's real protocol, well or badly, for the real client to talk to.

It answers requests in order with the replies it was given; `received` keeps what reached it. Everything happens in the
test's own event loop: a reply that waits, waits for the client to go away. `gone` is set while no client is connected;
one that gave up before it had reached the server, as on a busy machine, never was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

KEY = "sk-test-4b1d5f0c9a7e"
"""The key that tests give the client; it must turn up in no log, event, error or record."""

MODEL = "claude-opus-4-5"


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        text: str = self.body["messages"][0]["content"]
        return text


Reply = Callable[["Connection"], Awaitable[None]]


@dataclass
class Connection:
    """One request's connection: what to write to, and how to know that the client has left."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self, status: int, kind: str, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"content-type: {kind}", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await self.writer.drain()

    async def event(self, kind: str, **data: Any) -> None:
        self.writer.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
        await self.writer.drain()

    async def until_the_client_leaves(self) -> None:
        while await self.reader.read(1024):
            continue


@dataclass
class FakeApi:
    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gone.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.gone.clear()
        try:
            self.received.append(await _request(reader))
            self.arrived.set()
            reply = self.replies.pop(0) if self.replies else error(500, "api_error", "no reply was prepared")
            await reply(Connection(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            self.gone.set()
            writer.close()


async def _request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, json.loads(body) if body else None)


@asynccontextmanager
async def fake_api(*replies: Reply) -> AsyncIterator[FakeApi]:
    api = FakeApi(replies=list(replies))
    server = await asyncio.start_server(api.serve, "127.0.0.1", 0, limit=2**24)
    try:
        api.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield api
    finally:
        server.close()


def usage(input: int = 1_000, output: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "input_tokens": input,
        "output_tokens": output,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        **more,
    }


async def begin(to: Connection) -> None:
    """The head of a stream, up to where text would come; pings included, as the real server sends them."""
    await to.head(200, "text/event-stream", request_id="req_1")
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage(),
    }
    await to.event("message_start", message=message)
    await to.event("ping")


async def write(to: Connection, texts: tuple[str, ...]) -> None:
    await to.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for text in texts:
        await to.event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def answer(*texts: str, stop: str = "end_turn", output: int = 42, **delta: Any) -> Reply:
    """A whole answer, streamed text by text."""

    async def reply(to: Connection) -> None:
        await begin(to)
        if texts:
            await write(to, texts)
            await to.event("content_block_stop", index=0)
        stopped = {"stop_reason": stop, "stop_sequence": None, **delta}
        await to.event("message_delta", delta=stopped, usage={"output_tokens": output})
        await to.event("message_stop")

    return reply


def in_one_piece(text: str, **more: Any) -> Reply:
    """The whole answer as JSON, by a server that does not stream."""
    content = [{"type": "text", "text": text}]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": content}
    return document({**message, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage(1_000, 42), **more})


def uncounted(text: str, figures: object) -> Reply:
    """A stream of a server that bills nothing, or does not say, and gives no reason for its end."""

    async def reply(to: Connection) -> None:
        await to.head(200, "text/event-stream")
        message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": figures}
        await to.event("message_start", message=message)
        await write(to, (text,))
        await to.event("message_delta", delta={"stop_reason": None, "stop_sequence": None}, usage=figures)
        await to.event("message_stop")

    return reply


def page() -> Reply:
    """A web page, as a proxy's login is."""

    async def reply(to: Connection) -> None:
        await to.head(200, "text/html; charset=utf-8")
        to.writer.write(b"<html><body>Sign in</body></html>")
        await to.writer.drain()

    return reply


def stalling(*texts: str) -> Reply:
    """A stream that writes so much, or nothing but a ping, and no more."""

    async def reply(to: Connection) -> None:
        await begin(to)
        if texts:
            await write(to, texts)
        await to.until_the_client_leaves()

    return reply


def broken_off(*texts: str) -> Reply:
    """The connection ends in the middle of the answer."""

    async def reply(to: Connection) -> None:
        await begin(to)
        await write(to, texts)

    return reply


def reset() -> Reply:
    """The connection is torn before any answer."""

    async def reply(to: Connection) -> None:
        to.writer.transport.abort()

    return reply


def failing_in_stream(kind: str, message: str, *texts: str) -> Reply:
    async def reply(to: Connection) -> None:
        await begin(to)
        await write(to, texts)
        await to.event("error", error={"type": kind, "message": message})

    return reply


def error(status: int, kind: str, message: str, **headers: str) -> Reply:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return document(body, status, **headers)


def document(body: Any, status: int = 200, **headers: str) -> Reply:
    """Any JSON answer."""

    async def reply(to: Connection) -> None:
        data = json.dumps(body).encode()
        await to.head(status, "application/json", content_length=str(len(data)), **headers)
        to.writer.write(data)
        await to.writer.drain()

    return reply
