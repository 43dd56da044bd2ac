"""Lines of Claude Code sessions for tests, in the shapes that real ones have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from workbench.formats import claude_code
from workbench.formats.format import no_progress
from workbench.session import Session

SESSION = "11111111-2222-4333-8444-555555555555"
USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_input_tokens": 30_000,
    "cache_creation_input_tokens": 100,
}


def line(type: str, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/me/my_project",
        "sessionId": SESSION,
        "version": "2.1.37",
        "gitBranch": "main",
        "type": type,
        "uuid": uuid,
        "timestamp": "2026-02-08T10:30:50.235Z",
        **more,
    }


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return line("user", uuid, parent, message={"role": "user", "content": content}, **more)


def assistant(uuid: str, parent: str | None, api_id: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    body = {"id": api_id, "type": "message", "role": "assistant", "model": "claude-opus-4-6", "content": list(blocks)}
    body |= {"stop_reason": None, "usage": USAGE} | more.pop("body", {})
    return line("assistant", uuid, parent, message=body, requestId="req_1", **more)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, name: str = "Read", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(uuid: str, parent: str, call_id: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    block = {"tool_use_id": call_id, "type": "tool_result", "content": content}
    return user(uuid, parent, [block], toolUseResult={"stdout": "NEVER SENT"}, **more)


def boundary(uuid: str, logical: str | None) -> dict[str, Any]:
    about = {"trigger": "auto", "preTokens": 155_000}
    content = "Conversation compacted"
    return line(
        "system",
        uuid,
        None,
        logicalParentUuid=logical,
        subtype="compact_boundary",
        content=content,
        compactMetadata=about,
    )


def summary(uuid: str, parent: str) -> dict[str, Any]:
    return user(uuid, parent, "This session is being continued…", isCompactSummary=True, isVisibleInTranscriptOnly=True)


def jsonl(*lines: dict[str, Any] | bytes) -> bytes:
    return b"".join((part if isinstance(part, bytes) else orjson.dumps(part)) + b"\n" for part in lines)


def read(*lines: dict[str, Any] | bytes) -> Session:
    return read_bytes(jsonl(*lines))


def read_bytes(data: bytes) -> Session:
    return claude_code.FORMAT.codec.read(Path("session.jsonl"), data, no_progress)


def small() -> list[dict[str, Any]]:
    """A session of two rounds with parallel calls, a progress line, a snapshot and a recorded compaction."""
    return [
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"messageId": "u1"}},
        user("u1", None, "Fix the parser; never touch main."),
        assistant("a1", "u1", "msg_1", {"type": "thinking", "thinking": "Hm.", "signature": "abc="}),
        assistant("a2", "a1", "msg_1", call("t1", file_path="/a.py")),
        line("progress", "p1", "a2", data={"type": "hook_progress"}, toolUseID="t1", parentToolUseID="t1"),
        result("r1", "a2", "t1", "one"),
        assistant("a3", "a2", "msg_1", call("t2", file_path="/b.py")),
        result("r2", "a3", "t2", "two"),
        assistant("a4", "r2", "msg_2", text("Done."), body={"stop_reason": "end_turn"}),
        boundary("b1", "a4"),
        summary("s1", "b1"),
        user("u2", "s1", "Now the tests."),
        {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": "later"},
        line("progress", "p2", "u2", data={"type": "hook_progress"}),
        assistant("a5", "p2", "msg_3", text("Written."), body={"stop_reason": "end_turn"}),
    ]
