"""Captures of `codex exec --json`, turn by turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.formats import read
from workbench.formats import registry
from workbench.formats.codex_exec import FORMAT
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Opaque, Text, Thinking, ToolResult, ToolUse, Usage

THREAD = {"type": "thread.started", "thread_id": "t-1"}
TURN = {"type": "turn.started"}


def lines(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def completed_item(id: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": id, "type": kind, **more}}


def started_item(id: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "item.started", "item": {"id": id, "type": kind, **more}}


def turn_completed(sent: int, cached: int = 0, written: int = 0, output: int = 7) -> dict[str, Any]:
    usage = {"input_tokens": sent, "cached_input_tokens": cached, "cache_write_input_tokens": written}
    return {"type": "turn.completed", "usage": {**usage, "output_tokens": output}}


def command_item(id: str, command: str, output: str, code: int = 0) -> dict[str, Any]:
    status = "failed" if code else "completed"
    return completed_item(
        id, "command_execution", command=command, aggregated_output=output, exit_code=code, status=status
    )


def test_responses_and_results_alternate() -> None:
    data = lines(
        THREAD,
        TURN,
        completed_item("i0", "reasoning", text="hm"),
        started_item("i1", "command_execution", command="ls"),
        started_item("i2", "mcp_tool_call", server="wiki", tool="find", arguments={"q": "x"}),
        command_item("i1", "ls", "a\nb", 2),
        completed_item(
            "i2",
            "mcp_tool_call",
            server="wiki",
            tool="find",
            arguments={"q": "x"},
            result={"content": [{"type": "text", "text": "found"}]},
            status="completed",
        ),
        completed_item("i3", "file_change", changes=[{"path": "/a", "kind": "add"}], status="failed"),
        completed_item("i4", "web_search", query="q"),
        completed_item("i5", "agent_message", text="Done."),
        started_item("i6", "command_execution", command="sleep"),
    )
    session = read(FORMAT, data)
    assert shape(session.context()) == [
        (
            "assistant",
            "normal",
            (
                Thinking("hm"),
                ToolUse("i1", "command_execution", {"command": "ls"}),
                ToolUse("i2", "wiki.find", {"q": "x"}),
            ),
        ),
        ("tool", "normal", (ToolResult("i1", (Text("a\nb"),), True), ToolResult("i2", (Text("found"),)))),
        ("assistant", "normal", (ToolUse("i3", "file_change", {"changes": [{"path": "/a", "kind": "add"}]}),)),
        ("tool", "normal", (ToolResult("i3", (Text("failed"),), True),)),
        (
            "assistant",
            "normal",
            (
                Opaque("web_search", {"id": "i4", "type": "web_search", "query": "q"}),
                Text("Done."),
                ToolUse("i6", "command_execution", {"command": "sleep"}),
            ),
        ),
    ]
    assert (session.id, session.title, FORMAT.codec.write) == ("t-1", "Done.", None)
    look = Look.of(data)
    assert [known.id for known in registry.formats() if known.recognise(look)] == ["codex-exec"]
    assert FORMAT.recognise(Look.of(lines(TURN, completed_item("i", "error", message="x")))).startswith(
        "line 2 is an item.comp"
    )


def test_a_turns_usage_belongs_to_its_only_call() -> None:
    one = [TURN, completed_item("i0", "agent_message", text="a"), turn_completed(100, 60, 10)]
    several = [
        TURN,
        command_item("i1", "ls", "x"),
        completed_item("i2", "agent_message", text="b"),
        turn_completed(2_000),
    ]
    last = [TURN, completed_item("i3", "agent_message", text="c"), turn_completed(5)]
    session = read(FORMAT, lines(THREAD, *one, *several, *last))
    assert [message.usage for message in session.context()] == [Usage(30, 7, 60, 10), None, None, None, Usage(5, 7)]
    assert str(session.warnings[1]) == (
        "line 8: a turn's usage is a sum over its calls (2 000 tokens in, 7 out), not the usage of one call"
    )
    assert len(session.warnings) == 2


def test_an_error_is_reported_once() -> None:
    error = {"type": "error", "message": "no network"}
    long = {"type": "turn.failed", "error": {"message": "ran out of room in the model's context window"}}
    talk = [TURN, completed_item("i0", "agent_message", text="a")]
    session = read(
        FORMAT, lines(THREAD, *talk, error, error, completed_item("i1", "error", message="old config"), long)
    )
    assert [str(one) for one in session.warnings[1:]] == [
        "line 4: Codex says: no network",
        "line 6: Codex says: old config",
    ]
    assert [(one.line, one.text) for one in session.facts.overflow_errors] == [(7, long["error"]["message"])]  # type: ignore[index]
    with pytest.raises(BadInput, match="without items"):
        read(FORMAT, lines(THREAD, TURN, error))
