"""Calls that a fork has from its parent: each counts for sizes, and costs in the session that made it alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.claude_code_build import assistant, jsonl, text, user
from workbench.analysis.session_cost import session_cost
from workbench.conformance.formats import read
from workbench.formats.claude_code import FORMAT as CLAUDE_CODE
from workbench.formats.claude_code.skim import skim
from workbench.formats.kit.usage import replayed_before
from workbench.formats.opencode import FORMAT as OPENCODE
from workbench.formats.pi import FORMAT as PI
from workbench.session import Message, Session, Text, Usage


def replayed(session: Session) -> list[bool]:
    return [one.usage.replayed for one in session.messages if one.usage]


def test_a15_what_is_before_the_beginning_of_a_fork_is_its_parents() -> None:
    times = (9.9, 10.0, None)
    messages = [Message(str(n), "assistant", (Text("x"),), time=time, usage=Usage(5)) for n, time in enumerate(times)]
    assert [one.usage.replayed for one in replayed_before(messages, 10.0) if one.usage] == [True, False, False]
    assert replayed_before(messages, None) == tuple(messages)


def test_a15_lines_that_claude_code_copied_say_from_where(tmp_path: Path) -> None:
    origin = {"forkedFrom": {"sessionId": "s", "messageUuid": "m"}}
    lines = [
        user("u", None, "go", **origin),
        assistant("a", "u", "m1", text("ok"), **origin),
        user("v", "a", "on"),
        assistant("b", "v", "m2", text("ok")),
    ]
    session = read(CLAUDE_CODE, jsonl(*lines))
    assert replayed(session) == [True, False]
    cost = session_cost(session)
    assert cost is not None
    assert (cost.calls, cost.silent, cost.replayed) == (1, 0, 1)
    assert "without 1 call of the session it was forked from" in str(cost)
    assert skim(tmp_path, jsonl(*lines)) is None
    assert skim(tmp_path, jsonl(*[{k: v for k, v in line.items() if k != "forkedFrom"} for line in lines])) is not None


def pi_line(id: str, parent: str | None, second: int, **body: Any) -> dict[str, Any]:
    stamp = f"2026-01-01T10:00:{second:02}.000Z"
    return {"type": "message", "id": id, "parentId": parent, "timestamp": stamp, "message": body}


@pytest.mark.parametrize(("parent", "expected"), [("/s/parent.jsonl", [True, False]), (None, [False, False])])
def test_a15_a_pi_session_with_a_parent(parent: str | None, expected: list[bool]) -> None:
    usage = {"input": 10, "output": 1, "cacheRead": 0, "cacheWrite": 0}
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T10:00:20.000Z", "cwd": "/w"}
    said = [{"type": "text", "text": "x"}]
    lines = [
        header | ({"parentSession": parent} if parent else {}),
        pi_line("u", None, 5, role="user", content="go"),
        pi_line("a", "u", 6, role="assistant", content=said, usage=usage, model="m"),
        pi_line("v", "a", 30, role="user", content="on"),
        pi_line("b", "v", 31, role="assistant", content=said, usage=usage, model="m"),
    ]
    assert replayed(read(PI, b"\n".join(json.dumps(one).encode() for one in lines))) == expected


@pytest.mark.parametrize(("created", "expected"), [(20_000, [True, False]), (1_000, [False, False])])
def test_a15_an_opencode_session_that_is_younger_than_its_messages(created: int, expected: list[bool]) -> None:
    start = 1_780_000_000_000

    def message(role: str, at: int, **more: Any) -> dict[str, Any]:
        info = {"id": f"msg_{at}", "role": role, "sessionID": "ses_1", "time": {"created": start + at}, **more}
        return {"info": info, "parts": [{"type": "text", "text": "x", "id": f"prt_{at}"}]}

    tokens = {"tokens": {"input": 10, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "modelID": "m"}
    messages = [
        message("user", 5_000),
        message("assistant", 6_000, **tokens),
        message("user", 30_000),
        message("assistant", 31_000, **tokens),
    ]
    export = {"info": {"id": "ses_1", "time": {"created": start + created}}, "messages": messages}
    assert replayed(read(OPENCODE, json.dumps(export).encode())) == expected
