"""`--full`: everything about every message, for programs."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from tests.commands import cwb, document, session_lines, write_lines
from tests.paths import SAMPLES
from workbench.formats.files import load

OVERFLOW = SAMPLES / "claude-code-overflow.jsonl"
CHAT = SAMPLES / "openai-chat-tools.json"
PRESETS = ("claude-code", "clear-tool-results", "trim")


@pytest.mark.parametrize(
    ("preset", "sample"),
    [
        *product(PRESETS, ["openai-chat-tools.json", "gemini-rewind-and-compression.jsonl", "small.jsonl"]),
        pytest.param("claude-code", OVERFLOW.name, marks=pytest.mark.full),  # as long as all others together
    ],
)
def test_what_is_told_of_messages_adds_up(sample: str, preset: str, tmp_path: Path) -> None:
    file = write_lines(tmp_path / sample, session_lines()) if sample == "small.jsonl" else SAMPLES / sample
    told = document("compact", file, "--preset", preset, "--full", code=None)
    session = load(file)
    messages, result = told["message_list"], told["result_list"]
    assert [message["id"] for message in messages] == [message.id for message in session.context(told["epoch"])]
    assert [message["number"] for message in messages] == [*range(1, len(messages) + 1)]
    fates = [message["fate"] for message in messages]
    assert {fate: fates.count(fate) for fate in told["fates"]} == told["fates"]
    for listed, size in ((messages, told["before"]), (result, told["after"])):
        assert (len(listed), sum(message["chars"] for message in listed)) == (size["messages"], size["chars"])
    kept = {message["id"]: message for message in messages if message["fate"] == "kept"}
    for message in result:
        if message["id"] in kept:
            (first, last), *_ = message["replaces"]
            assert first == last == kept[message["id"]]["number"]
            assert message["blocks"] == kept[message["id"]]["blocks"]
    if told["split"] is not None:
        assert messages[told["split"] - 1]["id"] == told["split_message"]
        assert set(fates[told["split"] - 1 :]) <= {"kept", "compressed", "pinned", "dropped"}
    inspected = document("inspect", file, "--full")["message_list"]
    assert inspected == [{k: v for k, v in m.items() if k not in ("fate", "sent_to_summarizer")} for m in messages]


def test_requests_are_told_as_they_would_be_sent() -> None:
    messages = ("--strategy", "user-messages", "--set", "request_shape=messages")
    (asked,) = document("compact", CHAT, *messages, "--full")["requests"]
    assert asked["shape"] == "messages"
    assert {block["type"] for message in asked["messages"] for block in message["blocks"]} >= {"text", "call", "result"}
    (asked,) = document("compact", CHAT, "--strategy", "context-reset", "--full")["requests"]
    assert (asked["shape"], asked["messages"]) == ("text", [])
    assert len(asked["text"]) > 10_000


def test_secrets_are_masked_wherever_they_stand(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab1" * 20
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"env": [{"PASSWORD": "hunter2hunter2"}], "c": key}}
    results = [{"type": "tool_result", "tool_use_id": "c", "content": f"key {key}"}]
    messages = [
        {"role": "user", "content": f"use {key}"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": f"so {key}", "signature": "s"}, call]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": "done"},
    ]
    path = tmp_path / "x.json"
    tools = [{"name": "Bash", "description": f"as {key}", "input_schema": {"type": "object"}}]
    body = {"model": "m", "max_tokens": 1, "system": f"with {key}", "tools": tools, "messages": messages}
    path.write_text(json.dumps(body))
    for words in (["inspect", path], ["compact", path, "--strategy", "context-reset"]):
        said = cwb(*words, "--json", "--full").stdout
        assert json.loads(said)["message_list"][1]["blocks"][1]["input"]["env"] == [{"PASSWORD": "[masked]"}]
        assert key not in said
        assert "hunter2" not in said


def test_full_is_for_json_alone() -> None:
    for command in ("inspect", "compact"):
        refused = cwb(command, OVERFLOW, "--full")
        assert refused.exit_code == 2
        assert "--full extends --json" in refused.stderr
