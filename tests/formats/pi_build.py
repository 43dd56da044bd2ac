"""Lines of a pi session, as tests write them."""

from __future__ import annotations

import json
from typing import Any

STAMP = "2026-05-20T10:00:33.231Z"
HEADER = {"type": "session", "version": 3, "id": "old", "timestamp": STAMP, "cwd": "/w/x"}


def entry(kind: str, id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": id, "parentId": parent, "timestamp": STAMP, **more}


def said(id: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return entry("message", id, parent, message={"role": role, "content": content, "timestamp": 1779271236420, **more})


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def call(id: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "ls", "arguments": {"path": "."}}


def usage(total: int) -> dict[str, Any]:
    return {
        "input": total - 15,
        "output": 5,
        "cacheRead": 10,
        "cacheWrite": 0,
        "totalTokens": total,
        "cost": {"total": 0},
    }


def response(id: str, parent: str, *content: Any, total: int = 100, stop: str = "stop") -> dict[str, Any]:
    more = {"api": "a", "provider": "p", "model": "m-1", "usage": usage(total), "stopReason": stop}
    return said(id, parent, "assistant", list(content), **more)


def result(id: str, parent: str, call: str, *content: Any, bad: bool = False) -> dict[str, Any]:
    return said(id, parent, "toolResult", list(content), toolCallId=call, toolName="ls", isError=bad)


def edit(id: str, parent: str, target: str, replacement: Any) -> dict[str, Any]:
    return entry("context_edit", id, parent, targetId=target, replacement=replacement)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)
