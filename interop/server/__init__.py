"""A server on this machine that speaks the providers' protocols: it keeps every request and answers as the prompt says.

It knows a protocol by the path that is asked for, so that one server does for every tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import ModuleType
from typing import Any

from interop.server import anthropic, chat, gemini, responses
from interop.server.script import Turn, turn_for
from interop.units import Protocol

_BY_PATH: tuple[tuple[str, Protocol, ModuleType], ...] = (
    ("/messages", "anthropic", anthropic),
    ("/responses", "responses", responses),
    ("/chat/completions", "chat", chat),
    (":streamGenerateContent", "gemini", gemini),
    (":generateContent", "gemini", gemini),
)


@dataclass(frozen=True, slots=True)
class Request:
    """One that asked a model for an answer, and what was answered."""

    path: str
    protocol: Protocol
    body: Mapping[str, Any]
    answer: Turn


@dataclass
class Server:
    """`url` is http://127.0.0.1:PORT, without a path. `requests` grows while tools run. `summary` is what is answered
    to a request without tools, which is one for a summary or a title, where its prompt does not say otherwise.
    `script` are turns that are given first, in their order, whatever the prompts say."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    summary: str = "<summary>\nThe port is 8443, and the file notes.md was read.\n</summary>"
    script: list[Turn] = field(default_factory=list)

    @contextmanager
    def mark(self) -> Iterator[list[Request]]:
        """The requests that came in the block, when it is left."""
        before, new = len(self.requests), list[Request]()
        yield new
        new.extend(self.requests[before:])


@contextmanager
def running() -> Iterator[Server]:
    """A server until the block is left."""
    server, lock = Server(), Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the requests are kept."""

        def do_GET(self) -> None:
            self._reply(200, "application/json", json.dumps(_MODELS).encode())

        def do_POST(self) -> None:
            raw, path = self._body(), self.path.partition("?")[0]
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            known = [(name, module) for end, name, module in _BY_PATH if path.endswith(end)]
            if not known or not isinstance(body, dict):
                count = {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4}
                return self._reply(200, "application/json", json.dumps(count).encode())
            (name, protocol) = known[0]
            asked = protocol.asked(body)
            with lock:
                turn = server.script.pop(0) if server.script else turn_for(asked, server.summary)
                server.requests.append(Request(path, name, body, turn))
                number = len(server.requests)
            if turn.most is not None and asked.before > turn.most:
                return self._reply(400, "application/json", json.dumps(protocol.TOO_LONG).encode())
            kind, data = protocol.answer(turn, body, path, number, turn.tokens or len(raw) // 4)
            return self._reply(200, kind, data)

        def _body(self) -> bytes:
            if "chunked" not in (self.headers.get("transfer-encoding") or ""):
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            chunks = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def _reply(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    Thread(target=http.serve_forever, daemon=True).start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


_MODELS = {"object": "list", "data": [{"id": "interop", "object": "model", "created": 1, "owned_by": "interop"}]}
