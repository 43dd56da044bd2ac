"""Google content parts: calls and responses with and without ids, media, and a rejected plan."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.formats.kit.google_parts import Calls, model_block, name_and_args, parts_of, tool_result, user_block
from workbench.session import Block, Media, Opaque, Text, ToolResult, ToolUse


@pytest.mark.parametrize(
    ("content", "parts"),
    [(None, []), ("", []), ("a", ["a"]), ([], []), (["a", 1], ["a", 1]), ({"text": "a"}, [{"text": "a"}]), (0, [0])],
)
def test_content_is_a_list_of_parts(content: Any, parts: list[Any]) -> None:
    assert parts_of(content) == parts


@pytest.mark.parametrize(
    ("part", "block"),
    [
        ("a", Text("a")),
        ({"text": "a", "thought": True}, Text("a")),
        ({"text": ""}, Text("")),
        ({"text": 7}, Opaque("text", {"text": 7})),
        ({"inlineData": {"mimeType": "audio/wav", "data": "abcd"}}, Media("audio/wav", 4)),
        ({"inlineData": {"mimeType": "", "data": "abcd"}}, Media("file", 4)),
        ({"fileData": {"fileUri": "x"}}, Media("file", 0)),
        ({"inlineData": 7, "fileData": {"mimeType": "a/b"}}, Media("a/b", 0)),
        ({"executableCode": {}, "x": 1}, Opaque("executableCode", {"executableCode": {}, "x": 1})),
        ({}, Opaque("", {})),
        (7, Opaque("int", 7)),
        (None, Opaque("NoneType", None)),
        ({"functionCall": 7}, Opaque("functionCall", {"functionCall": 7})),
        ({"functionResponse": []}, Opaque("functionResponse", {"functionResponse": []})),
    ],
)
def test_a_part_of_either_role(part: Any, block: Block) -> None:
    assert model_block(part, "m", 0, Calls()) == block
    assert user_block(part, Calls()) == block


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"name": "ls", "args": {"a": 1}}, ("ls", {"a": 1})),
        ({"name": "ls"}, ("ls", "")),
        ({"args": [1]}, ("", "[1]")),
        ({"name": 7, "args": "x"}, ("7", "x")),
    ],
)
def test_the_name_and_arguments_of_a_call(call: dict[str, Any], expected: tuple[str, Any]) -> None:
    assert name_and_args(call) == expected
    part = {"functionCall": {**call, "id": "c1"}}
    assert model_block(part, "m", 0, Calls()) == ToolUse("c1", *expected)


def response(name: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "ok"}, **more}}


def test_calls_without_ids_wait_for_the_responses_of_their_name_in_order() -> None:
    calls = Calls()
    names = ["ls", "cat", "ls"]
    made = [model_block({"functionCall": {"name": name, "id": ""}}, "m", n, calls) for n, name in enumerate(names)]
    assert made == [ToolUse("ls-m-0", "ls", ""), ToolUse("cat-m-1", "cat", ""), ToolUse("ls-m-2", "ls", "")]
    assert model_block({"functionCall": {"name": "ls", "id": "own"}}, "m", 3, calls) == ToolUse("own", "ls", "")
    given = [response("ls"), response("ls", id="own"), response("ls", id=""), response("cat"), response("ls", id=7)]
    found = [user_block(part, calls) for part in given]
    assert [block.call_id for block in found if isinstance(block, ToolResult)] == [
        "ls-m-0",
        "own",
        "ls-m-2",
        "cat-m-1",
        "ls",
    ]
    assert user_block(response(None), calls) == ToolResult("null", (Text("ok"),))
    assert user_block(response(["x"]), calls) == ToolResult('["x"]', (Text("ok"),))


@pytest.mark.parametrize(
    ("fields", "content", "failed"),
    [
        ({"response": {"output": "ok"}}, (Text("ok"),), False),
        ({"response": {"output": ""}}, (), False),
        ({"response": {"output": {"a": 1}}}, (Text('{"a":1}'),), False),
        ({"response": {"error": "no"}}, (Text("no"),), True),
        ({"response": {"output": "ok", "error": "no"}}, (Text('{"output":"ok","error":"no"}'),), False),
        ({"response": {"result": 1}}, (Text('{"result":1}'),), False),
        ({"response": "ok"}, (Text("ok"),), False),
        ({"response": None}, (), False),
        ({}, (), False),
        ({"response": {"output": "ok"}, "parts": [{"text": "a"}]}, (Text("ok"), Text("a")), False),
        (
            {"parts": [{"inlineData": {"mimeType": "image/png", "data": "ab"}}, {"x": 1}]},
            (Media("image/png", 2), Text('{"x":1}')),
            False,
        ),
        ({"parts": {"text": "a"}}, (), False),
    ],
)
def test_a_response(fields: dict[str, Any], content: tuple[Any, ...], failed: bool) -> None:
    assert tool_result("c1", [{"functionResponse": fields}], failed=False) == ToolResult("c1", content, failed)
    assert tool_result("c1", [{"functionResponse": fields}], failed=True) == ToolResult("c1", content, True)


def test_a_result_of_several_parts_failed_if_one_did() -> None:
    parts = ["a", {"functionResponse": {"response": {"error": "no"}}}, 7, {"functionResponse": 8}, response("x")]
    assert tool_result("c1", parts, failed=False) == ToolResult(
        "c1", (Text("a"), Text("no"), Text("7"), Text('{"functionResponse":8}'), Text("ok")), True
    )


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("exit_plan_mode", "Plan rejected. User feedback: Not so.\n\nThe plan is stored at /x", "Not so."),
        ("exit_plan_mode", "Plan rejected. User feedback:  One.\n\nTwo. ", "One.\n\nTwo."),
        ("exit_plan_mode", "Plan approved.", ""),
        ("exit_plan_mode", "So: Plan rejected. User feedback: Not so.", ""),
        ("read", "Plan rejected. User feedback: Not so.", ""),
    ],
)
def test_feedback_on_a_rejected_plan_is_the_users(name: str, text: str, words: str) -> None:
    part = {"functionResponse": {"name": name, "response": {"output": text}}}
    assert tool_result("c1", [part], failed=False) == ToolResult("c1", (Text(text),), False, words)
