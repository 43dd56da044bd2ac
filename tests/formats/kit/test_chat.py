"""Which API a chat body is of, and that what only looks like one is of neither."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.formats.kit.chat import definitions_for, dialect, tools_of
from workbench.session import Message, Tool, ToolUse

HI = {"role": "user", "content": "hi"}
CALL = {"type": "tool_use", "id": "c", "name": "ls", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c", "content": "a.txt"}


def without(block: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != key}


OWN: list[tuple[Any, str]] = [
    ([HI, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT]}], "anthropic"),
    ([HI, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s"}, CALL]}], "anthropic"),
    ([HI, {"role": "assistant", "content": None, "tool_calls": []}], "openai"),
    ([HI, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}], "openai"),
    ([HI, {"role": "user", "content": [{"type": "video_url", "video_url": {}}]}], "openai"),
    ({"messages": [{"role": "user", "content": [{"type": "text", "text": "", "cache_control": {}}]}]}, "anthropic"),
    ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "openai"),
    ({"messages": [HI], "metadata": {"source": "mine"}}, "openai"),
]


@pytest.mark.parametrize(("document", "api"), OWN, ids=range(len(OWN)))
def test_a_body_is_of_its_api(document: Any, api: str) -> None:
    assert dialect(document)[0] == api


FOREIGN: dict[str, Any] = {
    "a role of neither": [HI, {"role": "model", "content": "ho"}],
    "no role": {"messages": [{"content": "hi"}]},
    "a role that is no word": [HI, {"role": ["user"], "content": "hi"}],
    "a call without a name": [HI, {"role": "assistant", "content": [without(CALL, "name")]}],
    "a call without an id": [HI, {"role": "assistant", "content": [without(CALL, "id")]}],
    "a result of an unnamed call": [{"role": "user", "content": [without(RESULT, "tool_use_id")]}],
    "Amp's keys": [{**HI, "messageId": 0}],
    "Amp's result": [{"role": "user", "content": [{"type": "tool_result", "toolUseID": "c", "run": {}}]}],
    "Bedrock's text": {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "system": [{"text": "x"}]},
    "Bedrock's call": [HI, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "ls"}}]}],
    "AI SDK's call": [HI, {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c"}]}],
    "AI SDK's result": [{"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c"}]}],
    "AI SDK's image": [{"role": "user", "content": [{"type": "image", "image": "AAAA"}]}],
    "AI SDK's file": [{"role": "user", "content": [{"type": "file", "data": "AAAA", "mediaType": "a/b"}]}],
    "AI SDK's parts": [{"id": "1", "role": "user", "content": "hi", "parts": [{"type": "text", "text": "hi"}]}],
    "AutoGen's source": [{"source": "user", "role": "user", "content": "hi"}],
    "pi's call": [HI, {"role": "assistant", "content": [{"type": "toolCall", "id": "c"}]}],
    "Zed's variants": {"messages": [{"User": {"content": [{"Text": "hi"}]}}]},
    "Roo's time": [{**HI, "ts": 1}],
}


@pytest.mark.parametrize("document", FOREIGN.values(), ids=FOREIGN)
def test_what_only_looks_like_a_body_is_of_neither(document: Any) -> None:
    assert dialect(document) == ("", "")


TEXT = {"type": "text", "text": "hi"}
SIGNS: list[tuple[Any, tuple[str, str]]] = [
    ([HI, {"role": "tool", "content": "x"}], ("openai", "messages with tool calls as OpenAI writes them")),
    ([{**HI, "function_call": None}], ("openai", "messages with tool calls as OpenAI writes them")),
    ({"messages": [HI], "tools": [{"input_schema": {}}]}, ("anthropic", "messages and tools with input_schema")),
    ({"messages": [], "tools": [{}, {"input_schema": {}}]}, ("anthropic", "messages and tools with input_schema")),
    ({"messages": [HI], "system": "x"}, ("anthropic", "messages with system or context_management")),
    ({"messages": [HI], "context_management": {}}, ("anthropic", "messages with system or context_management")),
    ([{"role": "user", "content": [{"type": "thinking"}]}], ("anthropic", "messages with typed content blocks")),
    (
        {"messages": [HI], "response": {}, "cost": 0, "latency_sec": 1},
        ("openai", "a LiteLLM log: messages with response, cost and latency_sec"),
    ),
    ({"messages": [HI], "response": {}, "cost": 0}, ("openai", "messages with role and content")),
    ({"messages": [HI], "tools": [{"function": {}}]}, ("openai", "messages and tools with function")),
    ([HI, {"role": "developer", "content": "x"}], ("openai", "a system message among the messages")),
    ([{"role": "user", "content": [{"type": "input_audio"}]}], ("openai", "messages with OpenAI content parts")),
    (
        {"messages": [HI], "max_tokens": 9, "model": "claude-x"},
        ("anthropic", "messages with max_tokens for a Claude model"),
    ),
    ({"messages": [HI], "max_tokens": 9, "model": "gpt"}, ("openai", "messages with role and content")),
    ({"messages": [HI], "model": "claude-x"}, ("openai", "messages with role and content")),
    (
        {"messages": [{"role": "user", "content": [TEXT]}], "max_tokens": 9},
        ("anthropic", "messages with max_tokens for a Claude model"),
    ),
    (
        {"messages": [{"role": "user", "content": [{**TEXT, "cache_control": {}}, 7]}]},
        ("anthropic", "messages with text blocks and cache_control"),
    ),
    ([{"role": "user", "content": [TEXT]}], ("anthropic", "a bare list of messages with text blocks")),
    (
        [{"role": "user", "content": [TEXT, {"type": "image", "source": {}}]}],
        ("anthropic", "a bare list of messages with text blocks"),
    ),
    ([{"role": "user", "content": [TEXT, {"type": "odd"}]}], ("openai", "messages with role and content")),
    ([HI], ("openai", "messages with role and content")),
    ({"messages": [{"role": "user"}], "model": "x"}, ("openai", "model and messages")),
    ({"messages": [{"role": "user"}]}, ("", "")),
    ({"messages": [], "model": "x"}, ("openai", "model and messages")),
    ({"messages": [7, HI]}, ("openai", "messages with role and content")),
    ({"messages": "x", "model": "x"}, ("", "")),
    ({"messages": [HI], "sessionId": "x"}, ("", "")),
    ([], ("", "")),
    ([7], ("", "")),
    (7, ("", "")),
    (None, ("", "")),
]


@pytest.mark.parametrize(("document", "found"), SIGNS, ids=range(len(SIGNS)))
def test_an_api_is_told_by_the_first_sign_of_it(document: Any, found: tuple[str, str]) -> None:
    assert dialect(document) == found


def test_tools_are_named_in_either_form() -> None:
    definitions = [
        {"type": "function", "function": {"name": "ls", "description": "é"}},
        {"name": "cat", "input_schema": {}},
        {"type": "web_search"},
        {"function": "odd", "name": "x"},
        7,
        {},
    ]
    assert tools_of(definitions) == (
        Tool("ls", '{"type":"function","function":{"name":"ls","description":"é"}}'),
        Tool("cat", '{"name":"cat","input_schema":{}}'),
        Tool("web_search", '{"type":"web_search"}'),
        Tool("x", '{"function":"odd","name":"x"}'),
        Tool("None", "{}"),
    )
    assert tools_of({"name": "cat"}) == ()


def test_a_new_body_defines_the_tools_of_the_session_and_all_that_are_called() -> None:
    schema = {"type": "object", "properties": {}}
    tools = [
        Tool("ls", json.dumps({"function": {"description": "lists", "parameters": schema}})),
        Tool("cat", json.dumps({"description": None, "input_schema": schema, "parameters": {}})),
        Tool("odd", json.dumps({"parameters": "x"})),
        Tool("broken", "{"),
        Tool("list", "[1]"),
        Tool("rm", json.dumps({"parameters": schema})),
    ]
    calls = (ToolUse("1", "odd", {}), ToolUse("2", "cat", {}), ToolUse("3", "new", {}), ToolUse("4", "new", {}))
    messages = [Message("a", "assistant", calls[:2]), Message("b", "assistant", calls[2:])]
    assert definitions_for(tools, messages) == [
        ("ls", "lists", schema),
        ("cat", "", schema),
        ("rm", "", schema),
        ("odd", "", {"type": "object"}),
        ("new", "", {"type": "object"}),
    ]
