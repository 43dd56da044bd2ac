"""OpenAI Chat bodies, bare lists and LiteLLM logs: real ones byte for byte, made ones whole, broken ones refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.conformance.building import session_of
from workbench.conformance.formats import read
from workbench.formats import anthropic_messages
from workbench.formats.kit.document import render
from workbench.formats.look import Look
from workbench.formats.openai_chat import FORMAT
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage, pairs_of

REAL = ("openhands-litellm-log.json", "taubench-airline-entry3-messages.json")
MESSAGES = [
    {"role": "developer", "content": "rules"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "see"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{broken"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c", "name": "f", "content": "one"},
    {"role": "tool", "tool_call_id": "c", "name": "f", "content": [{"type": "text", "text": "two"}]},
    {"role": "assistant", "content": "done", "reasoning_content": "hm", "refusal": None},
]


def body(**changes: object) -> bytes:
    return json.dumps({"model": "gpt-x", "messages": MESSAGES, "seed": 4, **changes}, indent=1).encode()


@pytest.mark.parametrize("name", REAL)
def test_real_document_loses_its_middle_and_nothing_else(shared: Path, name: str) -> None:
    path = shared / "sessions/openai-chat" / name
    data = path.read_bytes()
    session = FORMAT.codec.read(path, data, lambda done, total: None)
    start = next(i for i in range(6, len(session.messages)) if session.messages[i].role == "assistant")
    summary = Message("s", "system", (Text("what happened"),), "summary")
    written = FORMAT.codec.write(session, [*session.messages[:2], summary, *session.messages[start:]])
    assert FORMAT.codec.validate(written.data) == []
    before, after = json.loads(data), json.loads(written.data)
    if isinstance(before, dict):
        changed = {key for key in before if before[key] != after[key]}
        assert changed == {"messages", "response"}
        before, after = [*before["messages"], _answer(before)], after["messages"]
    assert after[:2] + after[3:] == before[:2] + before[start:]
    again = read(FORMAT, written.data)
    assert shape(again.messages)[2] == shape([summary])[0]


def _answer(log: dict[str, Any]) -> dict[str, Any]:
    """The answer of a log as it is written into the list."""
    message = log["response"]["choices"][0]["message"]
    calls = [{"id": c["id"], "type": "function", "function": c["function"]} for c in message["tool_calls"]]
    for call in calls:
        given = json.loads(call["function"]["arguments"])
        call["function"] = {"name": call["function"]["name"], "arguments": render(given).decode()}
    return {"role": "assistant", "content": message["content"], "tool_calls": calls}


def test_a_litellm_log_keeps_its_response_beside_the_context(shared: Path) -> None:
    path = shared / "sessions/openai-chat/openhands-litellm-log.json"
    session = FORMAT.codec.read(path, path.read_bytes(), lambda done, total: None)
    assert "LiteLLM" in FORMAT.recognise(Look.of(body(response={}, cost=1, latency_sec=2, messages=MESSAGES[:1])))
    assert session.model == "litellm_proxy/claude-sonnet-4-20250514"
    assert session.messages[-1].usage == Usage(6729, 199, cost=0.023172)
    assert [message.usage for message in session.messages[:-1]] == [None] * 12


def test_the_answer_of_a_litellm_log_is_a_message_with_its_bill() -> None:
    told = {"prompt_tokens": 90, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 30}}
    response = {"model": "m", "choices": [{"message": {"content": "done"}}], "usage": told}
    log = {"messages": MESSAGES[:1], "response": response, "response_cost": 0.5}
    for mark in (b"", b"\xef\xbb\xbf"):
        session = read(FORMAT, mark + json.dumps(log).encode())
        assert session.messages[1] == Message(
            "m2", "assistant", (Text("done"),), usage=Usage(60, 7, cache_read=30, cost=0.5)
        )
        assert FORMAT.codec.write(session, session.context()).data == session.records.data
        again = read(FORMAT, FORMAT.codec.write(session, session.messages[1:]).data)
        assert (shape(again.messages), again.messages[0].usage, again.model) == (shape(session.messages[1:]), None, "m")


def test_what_a_body_says() -> None:
    session = read(FORMAT, body())
    assert shape(session.messages) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "normal", (Text("see"), Media("image/png", 4))),
        ("assistant", "normal", (ToolUse("c", "f", {"a": 1}), ToolUse("c", "f", "{broken"))),
        ("tool", "normal", (ToolResult("c", (Text("one"),)),)),
        ("tool", "normal", (ToolResult("c", (Text("two"),)),)),
        ("assistant", "normal", (Thinking("hm"), Text("done"))),
    ]
    assert session.system == ""
    assert [(pair.call, pair.result) for pair in pairs_of(session.messages)] == [(2, 3), (2, 4)]


def test_repeated_ids_become_unique_where_an_api_needs_that() -> None:
    session = read(FORMAT, body())
    written = anthropic_messages.FORMAT.codec.write(session, session.context())
    assert anthropic_messages.FORMAT.codec.validate(written.data) == []
    again = read(anthropic_messages.FORMAT, written.data)
    assert [(r.call_id, r.text) for m in again.messages for r in m.results] == [("c", "one"), ("c-2", "two")]


@pytest.mark.parametrize(
    "head",
    [
        b'[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]',
        b'[{"role":"system","content":[{"type":"text","text":"hi"}]},{"role":"user","content":"x"}]',
        b'{"model":"gpt","messages":[{"role":"user","content":"hi"}],"max_tokens":5}',
        b'{"messages":[{"role":"user","content":"' + b"long " * 20000,
        b'{"tools":[{"function":{"name":"f","description":"' + b"long " * 20000 + b'"}}],"model":"m","messages":[]}',
        b'{"model":"m","messages":[]}',
    ],
)
def test_recognised_by_content(head: bytes) -> None:
    assert FORMAT.recognise(Look.of(head))
    assert not anthropic_messages.FORMAT.recognise(Look.of(head))


def test_odd_messages_are_read_with_a_warning() -> None:
    odd = [
        7,
        {"role": "alien", "content": "x"},
        {"role": "tool", "content": "no id"},
        {"role": "assistant", "tool_calls": "none", "content": None},
        {"role": "assistant", "tool_calls": [{"id": 1}], "content": 5},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "[1]"}},
        {"role": "function", "name": "old", "content": None},
        {
            "role": "user",
            "content": [
                {"type": "new", "new": {"x": 1}},
                "loose",
                {"type": "input_audio", "input_audio": {"data": "123", "format": "wav"}},
            ],
        },
    ]
    session = read(FORMAT, body(messages=odd))
    assert len(session.messages) == 8
    assert [str(warning)[:9] for warning in session.warnings] == [f"message {n}" for n in (1, 2, 3, 4, 5)]
    assert session.messages[4].blocks == (Opaque("int", 5), Opaque("tool_call", {"id": 1}))
    assert session.messages[5].blocks == (ToolUse("old", "old", "[1]"),)
    assert session.messages[6].blocks == (ToolResult("old", ()),)
    assert session.messages[7].blocks[1:] == (Text("loose"), Media("audio/wav", 3))
    assert FORMAT.codec.write(session, session.context()).data == body(messages=odd)


def test_another_format_gets_what_the_api_demands() -> None:
    messages = [
        Message("a", "assistant", (ToolUse("x", "bash", {"n": 1}),)),
        Message("t", "tool", (ToolResult("x", (Text("1"),)),)),
        Message("s", "system", (Text("old things"),), "summary"),
    ]
    called, _result, summary = json.loads(FORMAT.codec.write(session_of(messages), messages).data)["messages"]
    assert called["content"] is None
    assert json.loads(called["tool_calls"][0]["function"]["arguments"]) == {"n": 1}
    assert summary["name"] == "summary"


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        ([], ["There are no messages."]),
        (
            [{"role": "robot", "content": "x"}],
            ["Message 1 has a role other than system, developer, user, assistant, tool."],
        ),
        ([{"role": "user", "content": ""}], ["Message 1 has no content."]),
        ([{"role": "assistant", "content": None}], ["Message 1 has no content."]),
        (
            [{"role": "tool", "tool_call_id": "c", "content": "x"}],
            ["Message 1 answers the call c, which is not open."],
        ),
        (
            [MESSAGES[2], {"role": "user", "content": "x"}],
            [
                "Message 1 has two calls with the same id.",
                "Message 2 comes before the result of the call c of message 1.",
                "Message 2 comes before the result of the call c of message 1.",
            ],
        ),
        ([MESSAGES[2]], ["Message 1 has two calls with the same id."]),
        (
            [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {}}}]}],
            ["Message 1 calls f with arguments that are not text."],
        ),
    ],
)
def test_the_validator_finds(messages: list[object], faults: list[str]) -> None:
    assert FORMAT.codec.validate(body(messages=messages)) == faults
