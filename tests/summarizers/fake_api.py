"""A server on loopback that speaks the real protocols of the Messages, Chat Completions and Responses APIs, well or
badly, for the real clients to talk to: each request is answered in the protocol of its path.

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
from functools import partial
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
    def said(self) -> list[dict[str, Any]]:
        """The messages, however the protocol calls them."""
        messages: list[dict[str, Any]] = self.body["input" if self.path.endswith("/responses") else "messages"]
        return messages

    @property
    def prompt(self) -> str:
        text: str = self.said[0]["content"]
        return text


Reply = Callable[["Connection"], Awaitable[None]]


@dataclass
class Connection:
    """One request's connection: what to write to, and how to know that the client has left."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    path: str = "/v1/messages"

    @property
    def speaks(self) -> str:
        """ "messages", "completions" or "responses"."""
        return self.path.partition("?")[0].rpartition("/")[2]

    async def head(self, status: int, kind: str, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"content-type: {kind}", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await self.writer.drain()

    async def event(self, kind: str, **data: Any) -> None:
        self.writer.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
        await self.writer.drain()

    async def chunk(self, delta: dict[str, Any], reason: str | None = None, **more: Any) -> None:
        """A piece of a chat completion."""
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}
        whole |= more
        self.writer.write(f"data: {json.dumps(whole)}\n\n".encode())
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
            request = await _request(reader)
            self.received.append(request)
            self.arrived.set()
            reply = self.replies.pop(0) if self.replies else error(500, "api_error", "no reply was prepared")
            await reply(Connection(reader, writer, request.path))
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
    if to.speaks == "completions":
        await to.chunk({"role": "assistant", "content": ""})
        return
    if to.speaks == "responses":
        await to.event("response.created", response=response("in_progress"), sequence_number=0)
        return
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


def response(status: str, texts: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A response of the Responses API."""
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    item = {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": parts}
    whole: dict[str, Any] = {"id": "r1", "object": "response", "created_at": 1, "model": MODEL, "status": status}
    whole |= {"output": [item] if texts else [], "error": None, "incomplete_details": None, "instructions": None}
    whole |= {"metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": None}
    return {**whole, **more}


async def write(to: Connection, texts: tuple[str, ...]) -> None:
    if to.speaks == "completions":
        for text in texts:
            await to.chunk({"content": text})
        return
    if to.speaks == "responses":
        place = {"item_id": "m1", "output_index": 0, "content_index": 0, "sequence_number": 1, "logprobs": []}
        for text in texts:
            await to.event("response.output_text.delta", delta=text, **place)
        return
    await to.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for text in texts:
        await to.event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


async def think(to: Connection, text: str) -> None:
    """What a model thinks before it answers."""
    if to.speaks == "completions":
        await to.chunk({"reasoning_content": text})
    elif to.speaks == "responses":
        place = {"item_id": "t1", "output_index": 0, "summary_index": 0, "sequence_number": 1}
        await to.event("response.reasoning_summary_text.delta", delta=text, **place)
    else:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        await to.event("content_block_start", index=0, content_block=block)
        await to.event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": text})
        await to.event("content_block_stop", index=0)


_FINISH = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}


async def end(to: Connection, texts: tuple[str, ...], stop: str, output: int, delta: dict[str, Any]) -> None:
    """The answer is whole: why it stops, and what it cost (1,000 tokens in, 200 of them cached over OpenAI's)."""
    if to.speaks == "completions":
        await to.chunk({}, _FINISH.get(stop, stop))
        billed = {"prompt_tokens": 1_000, "completion_tokens": output, "total_tokens": 1_000 + output}
        await to.chunk({}, None, choices=[], usage={**billed, "prompt_tokens_details": {"cached_tokens": 200}})
        to.writer.write(b"data: [DONE]\n\n")
        await to.writer.drain()
    elif to.speaks == "responses":
        billed = {"input_tokens": 1_000, "output_tokens": output, "total_tokens": 1_000 + output}
        billed |= {"input_tokens_details": {"cached_tokens": 200}, "output_tokens_details": {"reasoning_tokens": 0}}  # type: ignore[dict-item]
        if stop == "tool_use":
            whole = response("completed", texts, usage=billed)
            whole["output"].append(
                {"type": "function_call", "id": "f1", "call_id": "c1", "name": "Read", "arguments": "{}"}
            )
            await to.event("response.completed", response=whole, sequence_number=9)
        elif stop != "end_turn":
            why = {"reason": {"max_tokens": "max_output_tokens", "refusal": "content_filter"}.get(stop, stop)}
            whole = response("incomplete", texts, usage=billed, incomplete_details=why)
            await to.event("response.incomplete", response=whole, sequence_number=9)
        else:
            await to.event("response.completed", response=response("completed", texts, usage=billed), sequence_number=9)
    else:
        if texts:
            await to.event("content_block_stop", index=0)
        stopped = {"stop_reason": stop, "stop_sequence": None, **delta}
        await to.event("message_delta", delta=stopped, usage={"output_tokens": output})
        await to.event("message_stop")


def answer(*texts: str, stop: str = "end_turn", output: int = 42, thought: str = "", **delta: Any) -> Reply:
    """A whole answer, streamed text by text."""

    async def reply(to: Connection) -> None:
        await begin(to)
        if thought:
            await think(to, thought)
        if texts:
            await write(to, texts)
        await end(to, texts, stop, output, delta)

    return reply


def in_one_piece(text: str, **more: Any) -> Reply:
    """The whole answer as JSON, by a server that does not stream."""
    content = [{"type": "text", "text": text}]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": content}
    message |= {"stop_reason": "end_turn", "stop_sequence": None, "usage": usage(1_000, 42), **more}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    completion = {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}
    completion["usage"] = {"prompt_tokens": 1_000, "completion_tokens": 42, "total_tokens": 1_042}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    billed = {"input_tokens": 1_000, "output_tokens": 42, "total_tokens": 1_042, **details}
    bodies = {"completions": completion, "responses": response("completed", (text,), usage=billed)}

    async def reply(to: Connection) -> None:
        await document(bodies.get(to.speaks, message))(to)

    return reply


def uncounted(text: str, figures: object) -> Reply:
    """A stream of a server that bills nothing, or does not say, and, over Messages, gives no reason for its end."""

    async def openais(to: Connection) -> None:
        await begin(to)
        await write(to, (text,))
        if to.speaks == "completions":
            await to.chunk(
                {}, "stop", usage=figures and {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            )
            to.writer.write(b"data: [DONE]\n\n")
            await to.writer.drain()
        else:
            whole = response("completed", (text,), usage=figures and {**figures, "total_tokens": 0})  # type: ignore[dict-item]
            await to.event("response.completed", response=whole, sequence_number=9)

    async def reply(to: Connection) -> None:
        if to.speaks != "messages":
            await openais(to)
            return
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


def outlasting(seconds: float, *texts: str) -> Reply:
    """A stream that writes so much, then nothing for so long: by the clock of the event loop that client and server run
    on, which goes ahead when what was written is read, however slow the machine is."""

    async def reply(to: Connection) -> None:
        await begin(to)
        await write(to, texts)
        loop: Any = asyncio.get_running_loop()
        turns = 0  # in which nobody had anything to do: what is written arrives in the next
        while turns < 3:
            # not 0: a test that waits in the same way until nobody can go on would wait for this, and this for the test
            await asyncio.sleep(0.001)
            turns = 0 if loop._ready else turns + 1
        go_ahead(seconds)
        await to.until_the_client_leaves()

    return reply


def go_ahead(seconds: float) -> None:
    """Let so much time go by on the clock of the event loop, and none at all."""
    loop: Any = asyncio.get_running_loop()
    loop.time = partial(_ahead, loop.time, seconds)


def _ahead(time: Callable[[], float], seconds: float) -> float:
    return time() + seconds


def broken_off(*texts: str) -> Reply:
    """The connection ends in the middle of the answer."""

    async def reply(to: Connection) -> None:
        await begin(to)
        await write(to, texts)

    return reply


def broken_off_thinking(thought: str) -> Reply:
    """The connection ends when it has thought."""

    async def reply(to: Connection) -> None:
        await begin(to)
        await think(to, thought)

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
        told = {"type": kind, "message": message}
        if to.speaks == "completions":
            to.writer.write(f"data: {json.dumps({'error': told})}\n\n".encode())
            await to.writer.drain()
        elif to.speaks == "responses":
            await to.event("error", code=kind, message=message, param=None, sequence_number=2)
        else:
            await to.event("error", error=told)

    return reply


def error(status: int, kind: str, message: str, **headers: str) -> Reply:
    told = {"type": kind, "message": message}
    body = {"type": "error", "error": told, "request_id": "req_1"}

    async def reply(to: Connection) -> None:
        here = body if to.speaks == "messages" else {"error": {**told, "param": None, "code": None}}
        await document(here, status, **headers)(to)

    return reply


def document(body: Any, status: int = 200, **headers: str) -> Reply:
    """Any JSON answer."""

    async def reply(to: Connection) -> None:
        data = json.dumps(body).encode()
        await to.head(status, "application/json", content_length=str(len(data)), **headers)
        to.writer.write(data)
        await to.writer.drain()

    return reply
