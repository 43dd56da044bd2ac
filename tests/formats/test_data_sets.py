"""Chat JSONL, OpenAI JSONL and ShareGPT: what a line or an entry says, and which of several is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import read
from workbench.formats import chat_jsonl, files, openai_jsonl, registry, sharegpt
from workbench.formats.look import Look
from workbench.session import Text, ToolResult, ToolUse, Usage

HI = {"role": "user", "content": "hi"}
HO = {"role": "assistant", "content": "ho"}


def lines(*values: Any) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def test_a_message_a_line_is_a_context() -> None:
    session = read(chat_jsonl.FORMAT, (SAMPLES / "chat-wind.jsonl").read_bytes())
    assert [message.role for message in session.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "user", "assistant")
    ]
    assert session.messages[2].calls == (ToolUse("c1", "gauge", {"hour": 6}),)
    assert [message.source for message in session.messages] == [(index,) for index in range(7)]
    assert [session.records.lines[index] for index in range(7)] == [*range(1, 8)]


def test_lines_of_the_other_api_are_read_too_and_odd_ones_told() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]}
    session = read(chat_jsonl.FORMAT, lines(HI, call, 3, result))
    assert [message.role for message in session.messages] == ["user", "assistant", "tool"]
    assert [message.source for message in session.messages] == [(0,), (1,), (3,)]
    assert [str(one) for one in session.warnings] == ["line 3: not a JSON object; kept in the file, not shown"]


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        (lines(HI, HO), "chat-jsonl"),
        (lines(HI), ""),
        (lines(HI, {**HO, "role": "model"}), ""),
        (lines({"messages": [HI]}, {"messages": [HO]}), "openai-jsonl"),
        (lines({"messages": [HI]}), "openai-chat"),
        (lines({"custom_id": "1", "body": {"messages": [HI]}}), "openai-jsonl"),
        (lines({"custom_id": "1", "error": None}), ""),
        (lines({"input": {"messages": [HI]}, "preferred_output": [HO]}) * 2, "openai-jsonl"),
        (lines({"conversations": [{"from": "human", "value": "hi"}]}), "sharegpt"),
        (lines({"conversations": [HI]}) * 2, "sharegpt"),
        (lines([{"conversations": [HI]}]), "sharegpt"),
        (lines([{"conversations": []}]), ""),
    ],
)
def test_each_is_taken_for_what_it_is(data: bytes, taken: str) -> None:
    look = Look.of(data)
    assert [known.id for known in registry.formats() if known.recognise(look)] == [taken] * bool(taken)


def test_each_line_of_examples_is_a_conversation(tmp_path: Path) -> None:
    path = SAMPLES / "openai-examples.jsonl"
    assert [(part.id, part.title, part.messages) for part in files.parts_of(path)] == [
        ("1", "Mill Lane 4", 5),
        ("2", "Mill Road 4", 3),
    ]
    assert "holds 2 conversations; this is the first" in str(files.load(path).warnings[0])
    second = files.load(path, part="2")
    assert (second.messages[-1].text, second.messages[-1].source) == ("Round 3.", (1,))
    with pytest.raises(BadInput, match=r"no conversation 0; choose one of 1 to 2\.$"):
        files.load(path, part="0")


def test_the_lines_of_batches() -> None:
    answer = {"choices": [{"message": HO}], "model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
    claude = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "ho"}]}
    told = {
        "body": {"model": "m", "messages": [HI, HO], "tools": [{"type": "function", "function": {"name": "f"}}]},
        "params": {"model": "m", "max_tokens": 5, "system": "Be kind.", "messages": [HI]},
        "response": {"status_code": 200, "body": answer},
        "result": {"type": "succeeded", "message": claude},
    }
    said = {"body": ["hi", "ho"], "params": ["Be kind.", "hi"], "response": ["ho"], "result": ["ho"]}
    for key, value in told.items():
        session = read(openai_jsonl.FORMAT, lines({"custom_id": "r", key: value}))
        assert [message.text for message in session.messages] == said[key]
        assert session.id == "r"
        assert ("has only the answer" in str(session.warnings)) == (key in ("response", "result"))
    billed = read(openai_jsonl.FORMAT, lines({"custom_id": "r", "response": told["response"]}))
    assert (billed.messages[0].usage, billed.model) == (Usage(5, 1), "m")
    preferred = {"input": {"messages": [HI]}, "preferred_output": [HO], "non_preferred_output": [HI]}
    assert [message.text for message in read(openai_jsonl.FORMAT, lines(preferred)).messages] == ["hi", "ho"]


def test_a_line_that_failed_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(lines({"custom_id": "r", "response": {"body": {"error": {}}}}))
    with pytest.raises(BadInput, match="line 1 holds no readable conversation"):
        files.load(path)


def test_a_turn_may_be_a_call_or_a_result() -> None:
    session = read(sharegpt.FORMAT, (SAMPLES / "sharegpt-pass.json").read_bytes())
    assert [(message.role, message.blocks) for message in session.messages] == [
        ("user", (Text("Is the pass open? Tell me only what the road office says."),)),
        ("assistant", (ToolUse("call-2", "road_office", {"pass": "Furka"}),)),
        ("tool", (ToolResult("call-2", (Text("Furka: closed above the lower bend"),)),)),
        ("assistant", (Text("The road office says that it is closed above the lower bend."),)),
    ]
    assert (session.system, session.id, [tool.name for tool in session.tools]) == (
        "You answer drivers.",
        "pass-1",
        ["road_office"],
    )


def turns(*said: tuple[str, Any]) -> bytes:
    return json.dumps({"conversations": [{"from": who, "value": what} for who, what in said]}).encode()


def test_the_turns_of_older_and_odder_data_sets() -> None:
    calls = json.dumps([{"name": "f", "arguments": {}}, {"name": "g", "arguments": "{}"}])
    session = read(
        sharegpt.FORMAT,
        turns(("Human", "a"), ("function-call", calls), ("tool", 1), ("tool", "2"), ("tool", "3"), ("narrator", None)),
    )
    assert [call.id for call in session.messages[1].calls] == ["call-2-1", "call-2-2"]
    assert [message.results[0].call_id for message in session.messages[2:5]] == ["call-2-1", "call-2-2", ""]
    assert session.messages[5].blocks == ()
    assert [str(one) for one in session.warnings] == ["turn 6 has the role narrator; read as user"]
    broken = read(sharegpt.FORMAT, turns(("tool_call", "{no json")))
    assert broken.messages[0].blocks == (Text("{no json"),)


def test_entries_on_lines_are_parts(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(turns(("human", "a")) + b"\n" + turns(("human", "b")) + b"\n")
    assert [(part.id, part.title) for part in files.parts_of(path)] == [("1", "a"), ("2", "b")]
    assert files.load(path, part="2").messages[0].text == "b"
