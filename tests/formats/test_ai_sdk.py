"""AI SDK messages, stored and sent, as one conversation."""

import json
from typing import Any

import pytest

from workbench.conformance.formats import read
from workbench.formats import anthropic_messages, openai_chat
from workbench.formats.ai_sdk import FORMAT
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Block, Media, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
IMAGE = "data:image/png;base64,QUJD"
STORED: list[Json] = [
    {
        "id": "u",
        "role": "user",
        "parts": [{"type": "text", "text": "see"}, {"type": "file", "mediaType": "image/png", "url": IMAGE}],
    },
    {
        "id": "a",
        "role": "assistant",
        "metadata": {"usage": {"inputTokens": 90}},
        "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "hm"},
            {"type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {"a": 1}, "output": {"b": 2}},
            {"type": "text", "text": "I look."},
            {"type": "data-chart", "data": [1]},
            {"type": "source-url", "url": "https://x.example"},
            {"type": "step-start"},
            {"type": "text", "text": "done"},
        ],
    },
]
SENT: list[Json] = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "see"}, {"type": "image", "image": "QUJD", "mediaType": "image/png"}],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "hm"},
            {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {"a": 1}},
            {"type": "text", "text": "I look."},
        ],
    },
    {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "c", "toolName": "f", "output": {"type": "json", "value": {"b": 2}}}
        ],
    },
    {"role": "assistant", "content": "done"},
]
SHOWN: list[tuple[str, str, tuple[Block, ...]]] = [
    ("user", "normal", (Text("see"), Media("image/png", 4))),
    ("assistant", "normal", (Thinking("hm"), ToolUse("c", "f", {"a": 1}), Text("I look."))),
    ("tool", "normal", (ToolResult("c", (Text('{"b":2}'),)),)),
    ("assistant", "normal", (Text("done"),)),
]


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("document", [STORED, {"id": "chat", "messages": STORED}, SENT, {"messages": SENT}])
def test_stored_messages_are_read_as_they_are_sent(document: Any) -> None:
    look = Look.of(as_bytes(document))
    assert FORMAT.recognise(look)
    assert not anthropic_messages.FORMAT.recognise(look)
    assert not openai_chat.FORMAT.recognise(look)
    session = read(FORMAT, as_bytes(document))
    assert shape(session.messages) == SHOWN
    assert len({message.id for message in session.messages}) == 4
    assert {message.usage for message in session.messages} == {None}  # the usage of two steps belongs to no single call


def test_display_only_parts_are_warned_of() -> None:
    assert [str(warning) for warning in read(FORMAT, as_bytes(STORED)).warnings] == [
        "2 parts of type data or source are for display and not sent"
    ]


def test_an_answer_of_one_step_has_its_stored_usage() -> None:
    for usage in (
        {"inputTokens": 90, "outputTokens": 7, "inputTokenDetails": {"cacheReadTokens": 30, "cacheWriteTokens": 20}},
        {"inputTokens": 70, "outputTokens": 7, "cachedInputTokens": 30},
        {"promptTokens": 40, "completionTokens": 7},
    ):
        item = {"role": "assistant", "metadata": {"usage": usage}, "parts": [{"type": "text", "text": "hi"}]}
        (answer,) = read(FORMAT, as_bytes([item])).messages
        assert answer.usage is not None
        assert (answer.usage.input, answer.usage.output) == (40, 7)
    assert answer.usage == Usage(40, 7)


def part(kind: str, **more: Any) -> Json:
    return {"type": kind, "toolCallId": "c", "input": {}, **more}


CALL = ToolUse("c", "f", {})
REFUSED = "Ask first."
ENDS: list[tuple[Json, tuple[Block, ...]]] = [
    (part("tool-f", state="input-available"), (CALL,)),
    (part("tool-f", state="output-error", errorText="late"), (CALL, ToolResult("c", (Text("late"),), is_error=True))),
    (
        part("dynamic-tool", toolName="f", state="output-denied", approval={"reason": REFUSED}),
        (CALL, ToolResult("c", (Text(REFUSED),), is_error=True, user_text=REFUSED)),
    ),
    (
        part("tool-f", state="output-denied"),
        (CALL, ToolResult("c", (Text("Tool execution denied."),), is_error=True)),
    ),
    (
        {
            "type": "tool-invocation",
            "toolInvocation": {"toolCallId": "c", "toolName": "f", "args": {}, "state": "result", "result": "ok"},
        },
        (CALL, ToolResult("c", (Text("ok"),))),
    ),
]


@pytest.mark.parametrize(("stored", "blocks"), ENDS)
def test_a_stored_call_has_its_result(stored: Json, blocks: tuple[Block, ...]) -> None:
    session = read(FORMAT, as_bytes([{"role": "assistant", "parts": [stored]}]))
    assert tuple(block for message in session.messages for block in message.blocks) == blocks
    assert [message.role for message in session.messages] == ["assistant", "tool"][: len(blocks)]


OUTPUTS: list[tuple[Json, ToolResult]] = [
    ({"output": {"type": "text", "value": "ok"}}, ToolResult("c", (Text("ok"),))),
    ({"output": {"type": "error-json", "value": [1]}}, ToolResult("c", (Text("[1]"),), is_error=True)),
    (
        {"output": {"type": "content", "value": [{"type": "text", "text": "a"}, {"type": "media", "data": "Q"}]}},
        ToolResult("c", (Text("a"), Text('{"type":"media","data":"Q"}'))),
    ),
    (
        {"output": {"type": "execution-denied", "reason": REFUSED}},
        ToolResult("c", (Text(REFUSED),), is_error=True, user_text=REFUSED),
    ),
    ({"result": {"b": 2}, "isError": True}, ToolResult("c", (Text('{"b":2}'),), is_error=True)),
]


@pytest.mark.parametrize(("fields", "result"), OUTPUTS)
def test_a_result_has_the_content_that_is_sent(fields: Json, result: ToolResult) -> None:
    sent = {"type": "tool-result", "toolCallId": "c", "toolName": "f", **fields}
    assert read(FORMAT, as_bytes([{"role": "tool", "content": [sent]}])).messages[0].blocks == (result,)


def test_calls_of_version_four_and_unknown_parts() -> None:
    invoked = [{"toolCallId": "c", "toolName": "f", "args": {}, "state": "result", "result": "ok"}]
    items = [{"role": "assistant", "content": "I look.", "toolInvocations": invoked}]
    assert shape(read(FORMAT, as_bytes(items)).messages) == [
        ("assistant", "normal", (Text("I look."), CALL)),
        ("tool", "normal", (ToolResult("c", (Text("ok"),)),)),
    ]
    odd = {"type": "hologram", "x": 1}
    assert read(FORMAT, as_bytes([{"role": "user", "parts": [odd]}])).messages[0].blocks == (Opaque("hologram", odd),)


@pytest.mark.parametrize("parts", ["text", [{"text": "gemini"}], [], None])
def test_not_recognised(parts: Any) -> None:
    assert not FORMAT.recognise(Look.of(as_bytes([{"role": "model", "parts": parts}])))
    assert not FORMAT.recognise(Look.of(as_bytes([{"role": "user", "parts": parts}]))) or parts == []
