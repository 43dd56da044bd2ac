"""Captures of API calls: HAR 1.2 (browsers, proxies, Playwright), and the JSONL of claude-trace.

A capture has no conversation, only requests and responses, complete or streamed. Requests are grouped into
conversations, each a session: a request that extends another's context, or continues a response that the server stored,
belongs to the same one; where it holds only a part of that context, an epoch ends. Headers are never read and URLs
never stored: they may hold keys. Read only.

No usual place: a browser, a proxy or claude-trace writes it to the folder it was started in.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "capture"
KEYS = frozenset(["entries", "log", "logged_at", "request", "response"])


def recognise(look: Look) -> str:
    entries = list_of(dict_of(look.first.get("log")).get("entries"))
    if entries and "request" in dict_of(entries[0]):
        return "a HAR log of requests"
    request = dict_of(look.first.get("request"))
    is_exchange = {"url", "body"} <= request.keys() and "response" in look.first
    return "lines of request and response, as claude-trace writes them" if is_exchange else ""


def _codec() -> Codec:
    from workbench.formats.capture.read import Reader
    from workbench.formats.kit.calls import requests

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part, requests=requests)


FORMAT = Format(ID, "API capture", recognise, _codec, keys=KEYS, suffixes=(".har",))
