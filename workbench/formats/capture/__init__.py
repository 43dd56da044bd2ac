"""Captures of API calls: HAR 1.2 (browsers, proxies, Playwright), and the JSONL of claude-trace.

A capture has no conversation, only requests and what came back, whole or streamed. Each conversation among them is a
session: a request that goes on from another's context, or from a response that the server kept, continues it, and where
it holds only a part of that, an epoch ends. Headers are never read, and of an address nothing is kept: keys stand in
them. Read only.

No usual place: a browser, a proxy or claude-trace writes it to the folder it was started in.
"""

from __future__ import annotations

from workbench.formats.capture.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.capture.read import Reader
    from workbench.formats.kit.calls import requests

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part, requests=requests)


FORMAT = Format(ID, "API capture", recognise, _codec, keys=KEYS, suffixes=(".har",))
