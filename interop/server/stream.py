"""Server-sent events, as every provider streams them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

STREAM = "text/event-stream"


def events(named: Iterable[dict[str, Any]]) -> bytes:
    """Events whose names are their types."""
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in named)


def data(values: Iterable[Any]) -> bytes:
    """Events without names; a string stands as it is."""
    lines = (value if isinstance(value, str) else json.dumps(value) for value in values)
    return b"".join(f"data: {line}\n\n".encode() for line in lines)
