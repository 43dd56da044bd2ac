"""Output of `claude -p` with stream-json, read as a session."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.formats.claude_code_build import call, jsonl, read, read_bytes, text
from workbench.formats import claude_code
from workbench.formats.claude_code import rules
from workbench.formats.diagnosis import findings
from workbench.formats.look import Look
from workbench.session import Tool

Line = dict[str, Any]
BILL = {"input_tokens": 1_000, "output_tokens": 1, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 0}


def printed(type: str, uuid: str, content: Any = None, agent: str | None = None, **more: Any) -> Line:
    body = {"role": type, "content": content}
    if type == "assistant":
        body |= {"id": more.pop("api_id"), "model": "claude-haiku-9", "usage": BILL, "stop_reason": None}
    return {
        "type": type,
        "message": body,
        "parent_tool_use_id": agent,
        "session_id": "s1",
        "uuid": uuid,
        "timestamp": "2026-11-22T10:00:00.000Z",
        **more,
    }


INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "s1",
    "cwd": "/srv/yard",
    "model": "claude-haiku-9",
    "tools": ["Read", "Task"],
    "claude_code_version": "2.1.330",
}


def done(cost: float) -> Line:
    used = {"claude-haiku-9": {"contextWindow": 150_000, "costUSD": cost}}
    return {"type": "result", "subtype": "success", "session_id": "s1", "total_cost_usd": cost, "modelUsage": used}


def lines() -> list[Line]:
    return [
        INIT,
        printed("user", "u1", "Look around.", isReplay=True),
        {"type": "stream_event", "session_id": "s1", "event": {"type": "message_start"}, "parent_tool_use_id": None},
        printed("assistant", "a1", [text("I ask.")], api_id="m1"),
        printed("assistant", "a2", [call("t1", "Task")], api_id="m1"),
        printed("user", "x1", "Find it.", agent="t1"),
        printed("assistant", "x2", [text("Found.")], agent="t1", api_id="m2"),
        printed("user", "r1", [{"type": "tool_result", "tool_use_id": "t1", "content": "Found."}]),
        printed("assistant", "a3", [text("Here.")], api_id="m3"),
        done(0.25),
    ]


@pytest.mark.parametrize("data", [jsonl(*lines()), orjson.dumps(lines())], ids=["lines", "list"])
def test_what_was_printed_is_a_session(data: bytes) -> None:
    assert "claude -p" in claude_code.FORMAT.recognise(Look.of(data))
    session = read_bytes(data)
    assert [(message.id, message.role) for message in session.context()] == [
        ("u1", "user"),
        ("a1", "assistant"),
        ("r1", "tool"),
        ("a3", "assistant"),
    ]
    assert len(session.messages) == 6
    assert (session.id, session.model, session.cwd, session.title) == (
        "s1",
        "claude-haiku-9",
        "/srv/yard",
        "Look around.",
    )
    assert (session.facts.cost, session.facts.version) == (0.25, "2.1.330")
    assert [epoch.window for epoch in session.epochs] == [150_000]
    assert session.messages[1].usage is not None
    assert session.messages[1].usage.context == 1_200
    assert session.warnings == ()
    assert rules.validate(data) == []


def test_the_names_of_the_tools_are_no_definitions() -> None:
    session = read(*lines())
    assert session.tools == (Tool("Read", '{"name":"Read"}'), Tool("Task", '{"name":"Task"}'))
    told = [one.text for one in findings(session) if one.what == "tool definitions"]
    assert told == ["only the names of 2 tools"]


def test_the_newest_result_tells_the_cost_and_a_missing_question_is_told() -> None:
    session = read(lines()[0], *lines()[3:], done(0.75))
    assert session.facts.cost == 0.75
    assert [str(warning) for warning in session.warnings] == [
        "user messages are missing: Claude Code prints them only with --replay-user-messages"
    ]


def test_a_compaction_that_was_printed_ends_an_epoch() -> None:
    about = {
        "trigger": "manual",
        "pre_tokens": 9_000,
        "post_tokens": 700,
        "preserved_messages": {"anchor_uuid": "s1", "uuids": ["a3"], "all_uuids": ["a3"]},
    }
    bound = {
        "type": "system",
        "subtype": "compact_boundary",
        "session_id": "s1",
        "uuid": "b1",
        "compact_metadata": about,
    }
    told = "This session is being continued from a previous conversation that ran out of context. It was found."
    session = read(*lines(), bound, printed("user", "s1", told), printed("assistant", "a4", [text("On.")], api_id="m4"))
    assert [[message.id for message in session.context(epoch.number)] for epoch in session.epochs] == [
        ["u1", "a1", "r1", "a3"],
        ["s1", "a3", "a4"],
    ]
    end = session.epochs[0].ended_by
    assert end is not None
    assert (end.trigger, end.tokens_before, end.tokens_after, end.summary, end.kept_ids) == (
        "manual",
        9_000,
        700,
        "s1",
        ("a3",),
    )


def test_a_sub_agent_that_speaks_last_is_not_the_conversation() -> None:
    late = [
        printed("user", "x3", "More.", agent="t1"),
        printed("assistant", "x4", [text("y")], agent="t1", api_id="m9"),
    ]
    session = read(*lines(), *late)
    assert [message.id for message in session.context()] == ["u1", "a1", "r1", "a3"]
    assert session.facts.agent == ""


def test_it_goes_back_as_a_session_that_can_be_resumed() -> None:
    session = read(*lines())
    written = claude_code.FORMAT.codec.write(session, session.context())
    assert rules.validate(written.data) == []
    assert {orjson.loads(raw)["sessionId"] for raw in written.data.splitlines()} == {written.id}
    again = read_bytes(written.data)
    assert [message.blocks for message in again.context()] == [message.blocks for message in session.context()]


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        (INIT, True),
        (done(0.1), True),
        (printed("user", "u1", "Hi"), True),
        ({**printed("user", "u1", "Hi"), "sessionId": "s1"}, False),
        ({"type": "result", "session_id": "s1"}, False),
        ({"type": "user", "session_id": "s1", "role": "user", "content": "Hi"}, False),
        ({"type": "system", "session_id": "s1"}, False),
        ({"type": "session", "session_id": "s1", "total_cost_usd": 1}, False),
    ],
)
def test_by_what_it_is_known(line: Line, is_one: bool) -> None:
    assert bool(claude_code.FORMAT.recognise(Look.of(jsonl(line)))) is (is_one or "sessionId" in line)
