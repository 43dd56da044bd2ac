"""Bedrock Converse: bodies, bare lists and logs of invocations; blocks identified by their only key."""

import json
from typing import Any

import pytest

from workbench.conformance.formats import read
from workbench.formats import anthropic_messages, openai_chat
from workbench.formats.bedrock import FORMAT
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Block, Media, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
RESULT: Json = {
    "toolUseId": "t",
    "status": "error",
    "content": [{"json": {"a": 1}}, {"text": "two"}, {"image": {"format": "png", "source": {"bytes": "QUJD"}}}],
}
MESSAGES: list[Json] = [
    {
        "role": "user",
        "content": [{"text": "see"}, {"document": {"format": "pdf", "name": "d", "source": {"bytes": "QQ"}}}],
    },
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"text": "I look."},
            {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}},
        ],
    },
    {"role": "user", "content": [{"toolResult": RESULT}, {"cachePoint": {"type": "default"}}]},
]
BODY: Json = {
    "modelId": "m/x",
    "system": [{"text": "rules"}, {"cachePoint": {"type": "default"}}, {"text": "more"}],
    "messages": MESSAGES,
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}}}]
    },
}
SHOWN: list[tuple[str, str, tuple[Block, ...]]] = [
    ("user", "normal", (Text("see"), Media("application/pdf", 2))),
    ("assistant", "normal", (Thinking("hm", "s"), Text("I look."), ToolUse("t", "f", {"a": 1}))),
    ("tool", "normal", (ToolResult("t", (Text('{"a":1}'), Text("two"), Media("image/png", 4)), is_error=True),)),
]


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_body_becomes_a_session() -> None:
    session = read(FORMAT, as_bytes(BODY))
    assert shape(session.messages) == SHOWN
    assert (session.system, session.model, session.warnings) == ("rules\n\nmore", "m/x", ())
    exported = anthropic_messages.FORMAT.codec.write(session, session.context()).data
    assert json.loads(exported)["tools"] == [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]
    assert shape(read(FORMAT, as_bytes(MESSAGES)).messages) == SHOWN


def test_the_log_of_an_invocation_has_the_answer_and_its_usage() -> None:
    usage = {"inputTokens": 9, "outputTokens": 2, "cacheReadInputTokens": 5, "cacheWriteInputTokens": 1}
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": "done"}]}}, "usage": usage}
    log = {
        "schemaType": "ModelInvocationLog",
        "modelId": "m/y",
        "requestId": "r",
        "timestamp": "1970-01-01T00:01:00Z",
        "input": {"inputBodyJson": {"messages": MESSAGES}},
        "output": {"outputBodyJson": answer},
    }
    assert FORMAT.recognise(Look.of(as_bytes(log)))
    session = read(FORMAT, as_bytes(log))
    assert shape(session.messages) == [*SHOWN, ("assistant", "normal", (Text("done"),))]
    last = session.messages[-1]
    assert (last.usage, last.time, last.model, session.id) == (Usage(9, 2, 5, 1), 60.0, "m/y", "r")


@pytest.mark.parametrize(
    ("raw", "block"),
    [
        ({"reasoningContent": {"redactedContent": "eA=="}}, Thinking("", "eA==")),
        ({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/v"}}}}, Media("video/mp4", 0)),
        ({"guardContent": {"text": {"text": "checked"}}}, Text("checked")),
        ({"citationsContent": {"content": [{"text": "one"}, {"text": "two"}]}}, Text("one\ntwo")),
        ({"toolUse": {"toolUseId": "t", "name": "f", "input": None}}, ToolUse("t", "f", "")),
        ({"new": 1}, Opaque("new", {"new": 1})),
    ],
)
def test_other_blocks(raw: Json, block: Block) -> None:
    assert read(FORMAT, as_bytes([{"role": "assistant", "content": [raw]}])).messages[0].blocks == (block,)


TYPED = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


@pytest.mark.parametrize(
    "document", [TYPED, [{"role": "user", "content": "hi"}], [{"role": "user", "parts": [{"text": "hi"}]}]]
)
def test_bodies_of_other_apis_are_not_recognised(document: Any) -> None:
    assert not FORMAT.recognise(Look.of(as_bytes(document)))
    for other in (anthropic_messages.FORMAT, openai_chat.FORMAT):
        assert not other.recognise(Look.of(as_bytes(BODY)))
    assert FORMAT.recognise(Look.of(as_bytes(BODY)))


@pytest.mark.parametrize("block", [{"text": "hi", "toolUse": {}}, {"hologram": {}}, {}, 7])
def test_every_block_must_be_one_of_its_own(block: Any) -> None:
    for blocks, expected in (([{"text": "hi"}], True), ([{"text": "hi"}, block], False)):
        document = {"messages": [{"role": "user", "content": blocks}]}
        assert bool(FORMAT.recognise(Look.of(as_bytes(document)))) is expected
