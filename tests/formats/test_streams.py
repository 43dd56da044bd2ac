"""A streamed response is read as the document that its API sends without streaming."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.formats.bodies import request_in, response_in
from workbench.formats.streams import response_of
from workbench.session import Text, Thinking, ToolResult, ToolUse, Usage


def sse(*pieces: Any, named: bool = False, ends: str = "\n") -> str:
    lines = []
    for piece in pieces:
        lines += [f"event: {piece['type']}"] if named else []
        lines += [f"data: {json.dumps(piece)}", ""]
    return ends.join([*lines, "data: [DONE]", "", ""])


def piece(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


ANTHROPIC = (
    piece(
        "message_start", message={"role": "assistant", "model": "m", "usage": {"input_tokens": 7, "output_tokens": 1}}
    ),
    piece("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""}),
    piece("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "h"}),
    piece("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "m"}),
    piece("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "s"}),
    piece("ping"),
    piece("content_block_start", index=1, content_block={"type": "text", "text": ""}),
    piece("content_block_delta", index=1, delta={"type": "text_delta", "text": "I "}),
    piece("content_block_start", index=2, content_block={"type": "tool_use", "id": "c", "name": "f", "input": {}}),
    piece("content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": '{"a":'}),
    piece("content_block_delta", index=1, delta={"type": "text_delta", "text": "look."}),
    piece("content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": "1}"}),
    piece("content_block_start", index=3, content_block={"type": "tool_use", "id": "d", "name": "g", "input": {}}),
    piece("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 30, "input_tokens": None}),
)
BILLED = {"prompt_tokens": 9, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 2}}
CHAT: tuple[dict[str, Any], ...] = (
    {"model": "m", "choices": [{"delta": {"role": "assistant", "content": "I "}}]},
    {"model": "m", "choices": [{"delta": {"content": "look."}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 1, "id": "d", "function": {"name": "g", "arguments": "{}"}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}}]},
    {
        "choices": [],
        "usage": {"prompt_tokens": 9, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 2}},
    },
)
RESPONSES = (
    piece("response.created", response={"object": "response", "output": []}),
    piece("response.output_text.delta", delta="I "),
    piece(
        "response.completed",
        response={
            "object": "response",
            "model": "m",
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'},
                {"type": "function_call", "call_id": "d", "name": "g", "arguments": "{}"},
            ],
            "usage": {"input_tokens": 9, "output_tokens": 30, "input_tokens_details": {"cached_tokens": 2}},
        },
    ),
)
USED = (ToolUse("c", "f", {"a": 1}), ToolUse("d", "g", {}))


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_each_api_streams(ends: str) -> None:
    answer = response_in(response_of(sse(*ANTHROPIC, named=True, ends=ends)))
    assert answer is not None
    assert answer.blocks == (Thinking("hm", "s"), Text("I look."), *USED)
    assert (answer.model, answer.usage) == ("m", Usage(7, 30))
    for pieces in (CHAT, RESPONSES):
        answer = response_in(response_of(sse(*pieces, ends=ends)))
        assert answer is not None
        assert answer.blocks == (Text("I look."), *USED)
        assert (answer.role, answer.model, answer.usage) == ("assistant", "m", Usage(7, 30, 2))


def candidate(*parts: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}}]}


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_gemini_streams_with_events_or_as_a_list(wrapped: bool) -> None:
    told = {"promptTokenCount": 9, "cachedContentTokenCount": 2, "candidatesTokenCount": 20, "thoughtsTokenCount": 10}
    call = candidate({"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}})
    pieces: list[dict[str, Any]] = [
        candidate({"text": "I "}),
        candidate({"text": "look."}),
        {
            **call,
            "usageMetadata": told,
            "modelVersion": "m",
        },
    ]
    if wrapped:
        pieces = [{"response": one} for one in pieces]
    for text in (sse(*pieces), json.dumps(pieces)):
        answer = response_in(response_of(text))
        assert answer is not None
        assert answer.blocks == (Text("I look."), USED[0])
        assert (answer.model, answer.usage) == ("m", Usage(7, 30, 2))


def test_pieces_of_a_thought_are_joined_and_apart_from_the_text() -> None:
    thought = [candidate({"text": text, "thought": True}) for text in ("h", "m")]
    whole = response_of(json.dumps([*thought, candidate({"text": "I look."})]))
    assert whole["candidates"][0]["content"]["parts"] == [{"text": "hm", "thought": True}, {"text": "I look."}]


def test_a_call_of_gemini_without_an_id_has_the_one_that_the_next_request_gives_it() -> None:
    asked = {"role": "user", "parts": [{"text": "hi"}]}
    call = {"functionCall": {"name": "f", "args": {}}}
    came = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]}
    first = request_in({"contents": [asked]})
    then = request_in({"contents": [asked, {"role": "model", "parts": [call]}, came]})
    assert first is not None
    assert then is not None
    answer = response_in(candidate(call), first.items)
    assert answer is not None
    assert [one.id for one in answer.calls] == [one.id for one in then.messages[1].calls]
    assert then.messages[2].results[0].call_id == answer.calls[0].id


NO_ANSWERS = (
    *("", "no events", "data: {", "data: 1\n\n", "[]", "{}", "null", "[" * 100_000),
    *('{"error": {"message": "overloaded"}}', '{"content": null, "type": "message"}', '{"choices": [{"message": []}]}'),
    *('{"choices": [3]}', '{"output": 3}', '{"candidates": [[]]}'),
    *(sse(*ANTHROPIC[1:3]), sse(piece("message_start", message=None))),
)


@pytest.mark.parametrize("text", NO_ANSWERS, ids=range(len(NO_ANSWERS)))
def test_what_is_no_answer_stops_nothing(text: str) -> None:
    found = response_in(response_of(text))
    assert found is None or not found.blocks


CALLED = {"name": "f", "arguments": '{"a":1}'}
CAME = {"id": "c", "name": "f", "response": {"output": "x"}}


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (
            "anthropic-messages",
            {
                "model": "m",
                "system": "Be kind.",
                "messages": [
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
                ],
                "tools": [{"name": "f", "input_schema": {}}],
            },
        ),
        (
            "openai-chat",
            {
                "model": "m",
                "messages": [
                    {"role": "system", "content": "Be kind."},
                    {"role": "user", "content": "hi"},
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}],
                    },
                    {"role": "tool", "tool_call_id": "c", "content": "x"},
                ],
                "tools": [{"type": "function", "function": {"name": "f"}}],
            },
        ),
        (
            "openai-responses",
            {
                "model": "m",
                "instructions": "Be kind.",
                "input": [
                    {"role": "user", "content": "hi"},
                    {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'},
                    {"type": "function_call_output", "call_id": "c", "output": "x"},
                ],
                "tools": [{"type": "function", "name": "f"}],
            },
        ),
        (
            "gemini",
            {
                "model": "m",
                "request": {
                    "systemInstruction": {"parts": [{"text": "Be kind."}]},
                    "contents": [
                        {"role": "user", "parts": [{"text": "hi"}]},
                        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}]},
                        {
                            "role": "user",
                            "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"output": "x"}}}],
                        },
                    ],
                    "tools": [{"functionDeclarations": [{"name": "f"}]}],
                },
            },
        ),
    ],
    ids=["anthropic", "chat", "responses", "gemini"],
)
def test_what_a_request_asks(api: str, body: Any) -> None:
    asked = request_in(body)
    assert asked is not None
    assert (asked.api, asked.model, [tool.name for tool in asked.tools]) == (api, "m", ["f"])
    assert [(message.role, message.blocks) for message in asked.messages] == [
        ("system", (Text("Be kind."),)),
        ("user", (Text("hi"),)),
        ("assistant", (USED[0],)),
        ("tool", (ToolResult("c", (Text("x"),)),)),
    ]


@pytest.mark.parametrize(
    "body", [None, "x", [], {}, {"contents": 3}, {"messages": []}, {"input": "x"}, {"messages": [{"role": "x"}]}]
)
def test_what_is_no_request_asks_nothing(body: Any) -> None:
    assert request_in(body) is None
