"""Amp threads, as their public readers describe them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import read
from workbench.formats import anthropic_messages
from workbench.formats.amp import FORMAT
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.session import Media, Text, ToolResult, Usage


def thread(*messages: Any, **more: Any) -> bytes:
    return json.dumps({"v": 3, "id": "T-1", "created": 1, "messages": messages, **more}).encode()


def test_the_sample() -> None:
    data = (SAMPLES / "amp-bells.json").read_bytes()
    session = read(FORMAT, data)
    assert (session.cwd, session.title, session.model) == (
        "/home/ringer/belfry",
        "Practice on seven bells",
        "claude-opus-4-5",
    )
    assert [message.role for message in session.messages] == [
        *("user", "assistant", "tool", "assistant", "user", "user", "assistant", "tool", "assistant")
    ]
    assert [message.kind for message in session.messages][4] == "summary"
    assert [[*epoch.members] for epoch in session.epochs] == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    assert [epoch.window for epoch in session.epochs] == [168_000, 168_000]
    assert session.epochs[0].ended_by is not None
    assert session.epochs[0].ended_by.summary == "m5"
    assert session.messages[1].usage == Usage(9, 60, 11_200, 140)
    assert session.messages[2].results[0].text.startswith("tenor = 'E flat'")
    assert not anthropic_messages.FORMAT.recognise(Look.of(data))


@pytest.mark.parametrize(
    ("run", "text", "failed"),
    [
        ({"status": "done", "result": "x"}, "x", False),
        ({"status": "done", "result": {"output": "x", "exitCode": 1}}, "x", False),
        ({"status": "done", "result": {"content": "x"}}, "x", False),
        ({"status": "done", "result": {"a": 1}}, '{"a":1}', False),
        ({"status": "done", "result": [{"type": "text", "text": "x"}]}, "x", False),
        ({"status": "error", "error": {"message": "x"}}, "x", True),
        ({"status": "rejected-by-user", "reason": "x"}, "x", True),
        ({"status": "cancelled"}, "cancelled", True),
        ({"status": "in-progress", "progress": "x"}, "x", False),
        (None, "", False),
    ],
)
def test_the_result_of_a_call(run: Any, text: str, failed: bool) -> None:
    session = read(FORMAT, thread({"role": "user", "content": [{"type": "tool_result", "toolUseID": "c", "run": run}]}))
    reason = "x" if run and run["status"] == "rejected-by-user" else ""
    assert session.messages[0].blocks == (ToolResult("c", (Text(text),), failed, reason),)
    assert session.messages[0].role == "tool"


def test_messages_of_sub_agents_and_notices_are_in_no_epoch() -> None:
    session = read(
        FORMAT,
        thread(
            {"role": "user", "content": "hi"},
            {"role": "user", "content": "look there", "parentToolUseId": "c"},
            {"role": "info", "content": [{"type": "manual_bash_invocation"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "ho"}]},
        ),
    )
    assert [message.text for message in session.context()] == ["hi", "ho"]
    assert [*session.branch] == [0, 2, 3]


def test_the_reason_of_a_refusal_is_user_text() -> None:
    run = {"status": "rejected-by-user", "reason": "Ring the tenor first."}
    session = read(FORMAT, thread({"role": "user", "content": [{"type": "tool_result", "toolUseID": "c", "run": run}]}))
    assert session.messages[0].user_text == "Ring the tenor first."


def test_folder_branch_and_mentioned_files() -> None:
    tree = {"uri": "file:///home/a%20b", "repository": {"type": "git", "ref": "refs/heads/bells"}}
    env = {"initial": {"trees": [tree], "platform": {"client": "CLI", "clientVersion": "0.0.1"}}}
    image = {"type": "image", "source": {"type": "base64", "mediaType": "image/png", "data": "AAAA"}}
    session = read(FORMAT, thread({"role": "parent"}, {"role": "user", "content": [image]}, env=env))
    assert (session.cwd, session.facts.version, session.facts.git_branch) == ("/home/a b", "0.0.1", "bells")
    assert [message.blocks for message in session.context()] == [(Media("image/png", 4),)]
    assert session.warnings == ()


def test_a_continued_thread_begins_with_a_summary() -> None:
    info = {"role": "info", "content": [{"type": "summary", "summary": {"type": "message", "summary": "They sail."}}]}
    session = read(FORMAT, thread(info, {"role": "user", "content": "hi"}))
    assert [[*epoch.members] for epoch in session.epochs] == [[0, 1]]


def test_oddities_are_warned_of() -> None:
    session = read(FORMAT, thread({"role": "robot", "content": "hi"}, {"role": "user", "fileMentions": {"files": []}}))
    assert [str(one) for one in session.warnings] == ["message 1 has the role robot; read as user"]
    session = read(FORMAT, thread({"role": "user", "content": "hi", "fileMentions": {"files": [{}]}}))
    assert "Amp also sent their contents, which are not in the file" in str(session.warnings[0])


def test_a_thread_without_a_message_is_refused() -> None:
    with pytest.raises(BadInput, match="no message yet"):
        FORMAT.codec.read(Path("x"), thread(), no_progress)
