"""Messages in each form that traces contain, complete: roles, blocks in order, and values of another type."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.formats.agent_texts import CONTINUATION
from workbench.formats.kit.trace_messages import answer_of, decoded, message_of, messages_of
from workbench.session import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse

HI = Message("", "user", (Text("Hi"),))
HELLO = Message("", "assistant", (Text("Hello"),))
LOOK = ToolUse("c1", "look", {"at": "Rye"})
NINE = ToolResult("c1", (Text("nine"),))
ARGUMENTS = '{"at": "Rye"}'
FUNCTION = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": ARGUMENTS}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("[1", "[1"),
        ("7", "7"),
        ('"a"', '"a"'),
        (" [1]", " [1]"),
        ("", ""),
        ({"a": "[1]"}, {"a": "[1]"}),
        (None, None),
    ],
)
def test_only_texts_that_begin_as_json_are_decoded(value: Any, expected: Any) -> None:
    assert decoded(value) == expected


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("human", "user"),
        ("assistant", "assistant"),
        ("ai", "assistant"),
        ("model", "assistant"),
        ("tool", "tool"),
        ("function", "tool"),
        ("AI", "assistant"),
        ("HumanMessage", "user"),
        ("AIMessageChunk", "assistant"),
        ("SystemMessage", "system"),
        ("critic", "user"),
        ("", "user"),
        (7, "user"),
    ],
)
def test_a_role_by_each_of_its_names(name: Any, role: Role) -> None:
    assert message_of({"role": name, "content": "Hi"}) == Message("", role, (Text("Hi"),))
    assert message_of({"type": name, "content": "Hi"}) == Message("", role, (Text("Hi"),))
    assert message_of({"lc": 1, "id": ["langchain", name], "kwargs": {"content": "Hi"}}) == Message(
        "", role, (Text("Hi"),)
    )


def test_an_unknown_role_is_that_of_the_list() -> None:
    assert message_of({"role": "critic", "content": "Hello"}, "assistant") == HELLO
    assert message_of("Hello", "assistant") == HELLO
    assert message_of({"kwargs": {"type": "human", "content": "Hi"}, "id": ["x", "AIMessage"]}, "assistant") == HI
    assert message_of({"type": "human", "data": {"content": "Hi"}}, "assistant") == HI
    assert message_of({"lc": 1, "id": [], "kwargs": {"content": "Hello"}}, "assistant") == HELLO
    assert message_of({"role": "user", "type": "ai", "content": "Hi"}, "assistant") == HI


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("Hi", "normal"),
        (f"{CONTINUATION}. It was late.", "summary"),
        ({"role": "user", "content": f"{CONTINUATION}. It was late."}, "summary"),
    ],
)
def test_a_message_has_the_kind_of_its_text(item: Any, kind: str) -> None:
    message = message_of(item)
    assert message is not None
    assert message.kind == kind


@pytest.mark.parametrize(
    ("item", "blocks"),
    [
        ({"reasoning_content": "Hm.", "content": "Hello"}, (Thinking("Hm."), Text("Hello"))),
        ({"reasoning": "So.", "content": "Hello"}, (Thinking("So."), Text("Hello"))),
        ({"reasoning_content": "Hm.", "reasoning": "So.", "content": None}, (Thinking("Hm."),)),
        ({"reasoning_content": "", "reasoning": {"effort": "low"}, "content": ""}, ()),
        ({"content": ["Hello", {"type": "text", "text": "you"}]}, (Text("Hello"), Text("you"))),
        ({"content": '["Hello", {"text": "you"}]'}, (Text("Hello"), Text("you"))),
        ({"content": '[{"type": "output_text", "text": "Hello"}]'}, (Text("Hello"),)),
        ({"content": "[1, 2]"}, (Text("[1, 2]"),)),
        ({"content": '{"a": 1}'}, (Text('{"a": 1}'),)),
        ({"content": '["cut'}, (Text('["cut'),)),
        ({"content": 7}, (Opaque("int", 7),)),
        ({"content": {"type": "text", "text": "Hello"}}, (Text("Hello"),)),
        ({"parts": [{"text": "Hello"}], "content": "not read"}, (Text("Hello"),)),
        ({"content": [{"message_content": {"type": "text", "text": "Hello"}}]}, (Text("Hello"),)),
        ({"content": [{"type": "text", "content": "Hello", "text": "not read"}]}, (Text("Hello"),)),
        ({"content": [{"type": "text", "content": 7, "text": "Hello"}]}, (Text("Hello"),)),
        ({"content": [{"type": "input_text", "text": "Hello"}]}, (Text("Hello"),)),
        ({"content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]}, (Thinking("Hm.", "s"),)),
        ({"content": [{"type": "reasoning", "text": "Hm."}]}, (Thinking("Hm."),)),
        ({"content": [{"type": "thinking", "content": "", "thinking": "So."}]}, (Thinking(""),)),
        (
            {"content": [{"type": "reasoning", "encrypted": "x"}]},
            (Opaque("reasoning", {"type": "reasoning", "encrypted": "x"}),),
        ),
        ({"content": [FUNCTION]}, (LOOK,)),
        (
            {"content": [{"type": "function", "function": {}}]},
            (Opaque("function", {"type": "function", "function": {}}),),
        ),
        ({"content": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": ARGUMENTS}]}, (LOOK,)),
        (
            {"content": [{"type": "tool_call", "name": "look", "args": {"at": "Rye"}}]},
            (ToolUse("look", "look", {"at": "Rye"}),),
        ),
        ({"content": [{"functionCall": {"id": "c1", "name": "look", "args": {"at": "Rye"}}}]}, (LOOK,)),
        ({"content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"at": "Rye"}}]}, (LOOK,)),
        ({"content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "Rye"}}]}, (LOOK,)),
        ({"content": [{"type": "image_url", "image_url": {"url": "x"}}]}, (Media("image", 0),)),
        ({"content": [{"type": "blob", "mime_type": "audio/wav", "content": "abcd"}]}, (Media("audio/wav", 4),)),
        ({"content": [{"type": "input_image"}, {"type": "uri"}, {"type": "file"}]}, (Media("image", 0),) * 3),
        ({"content": None, "tool_calls": [FUNCTION]}, (LOOK,)),
        ({"content": "", "tool_calls": [{"tool_call": FUNCTION}]}, (LOOK,)),
        ({"content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {"at": "Rye"}}]}, (LOOK,)),
        ({"content": "", "tool_calls": [{"id": "c1", "name": "look", "input": {"at": "Rye"}}]}, (LOOK,)),
        ({"content": "", "tool_calls": [{"id": "c1", "function": {"name": ""}}, 7]}, ()),
        ({"content": "", "additional_kwargs": {"tool_calls": [FUNCTION]}}, (LOOK,)),
        ({"content": "", "tool_calls": [], "additional_kwargs": {"tool_calls": [FUNCTION]}}, (LOOK,)),
        (
            {"content": "I look.", "tool_calls": [FUNCTION, FUNCTION, {**FUNCTION, "id": "c2"}]},
            (Text("I look."), LOOK, ToolUse("c2", "look", {"at": "Rye"})),
        ),
        (
            {"content": "", "tool_calls": [{"name": "look", "args": {}}, {"name": "look", "args": {}}]},
            (ToolUse("", "look", {}), ToolUse("", "look", {})),
        ),
    ],
)
def test_what_an_answer_holds(item: dict[str, Any], blocks: tuple[Block, ...]) -> None:
    assert message_of({"role": "assistant", **item}) == Message("", "assistant", blocks)
    assert message_of(json.dumps({"role": "assistant", **item})) == Message("", "assistant", blocks)


@pytest.mark.parametrize(
    ("item", "result"),
    [
        ({"role": "tool", "tool_call_id": "c1", "content": "nine"}, NINE),
        ({"role": "function", "tool_call_id": "c1", "content": ["nine"]}, NINE),
        (
            {"role": "tool", "tool_call_id": "c1", "content": "nine", "status": "error"},
            ToolResult("c1", NINE.content, True),
        ),
        ({"role": "tool", "tool_call_id": "c1", "content": "nine", "status": "success"}, NINE),
        ({"lc": 1, "kwargs": {"type": "tool", "tool_call_id": "c1", "content": "nine"}}, NINE),
        ({"role": "tool", "tool_call_id": "c1", "content": ""}, ToolResult("c1", ())),
        ({"role": "tool", "tool_call_id": "c1", "content": None}, ToolResult("c1", ())),
        (
            {"role": "tool", "tool_call_id": "c1", "content": [{"text": "a"}, {"type": "image", "content": "xy"}]},
            ToolResult("c1", (Text("a"), Media("image", 2))),
        ),
        ({"role": "user", "content": [{"type": "tool_call_response", "id": "c1", "result": "nine"}]}, NINE),
        ({"role": "user", "content": [{"type": "tool_call_response", "name": "c1", "response": "nine"}]}, NINE),
        ({"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "look", "response": "nine"}}]}, NINE),
        ({"role": "user", "content": [{"type": "tool-result", "toolCallId": "c1", "result": "nine"}]}, NINE),
        ({"role": "user", "content": [{"type": "tool-result", "toolCallId": "c1", "output": "nine"}]}, NINE),
    ],
)
def test_a_result_in_each_form(item: dict[str, Any], result: ToolResult) -> None:
    assert message_of(item) == Message("", "tool", (result,))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"type": "function_call", "call_id": "c1", "name": "look", "arguments": ARGUMENTS}, ("assistant", (LOOK,))),
        (
            {"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": "Rye"},
            ("assistant", (ToolUse("c1", "look", "Rye"),)),
        ),
        ({"toolCallId": "c1", "toolName": "look", "args": {"at": "Rye"}}, ("assistant", (LOOK,))),
        ({"type": "function_call_output", "call_id": "c1", "output": "nine"}, ("tool", (NINE,))),
        (
            {"type": "custom_tool_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "nine"}]},
            ("tool", (NINE,)),
        ),
        (
            {"toolCallId": "c1", "output": {"type": "json", "value": {"a": 1}}},
            ("tool", (ToolResult("c1", (Text('{"a":1}'),)),)),
        ),
        ({"toolCallId": "c1", "output": {"type": "text", "value": "nine"}}, ("tool", (NINE,))),
        (
            {"toolCallId": "c1", "output": {"type": "content", "value": [{"type": "text", "text": "nine"}]}},
            ("tool", (NINE,)),
        ),
        (
            {"toolCallId": "c1", "output": {"type": "text", "text": "nine", "value": "ten"}},
            ("tool", (NINE,)),
        ),
        (
            {"type": "reasoning", "summary": [{"text": "One."}, {"text": ""}, {"text": 2}, {"text": "Two."}]},
            ("assistant", (Thinking("One.\n\nTwo."),)),
        ),
        ({"type": "reasoning", "summary": []}, None),
        ({"type": "reasoning", "summary": "One."}, None),
        ({"type": "function_call", "call_id": "c1", "name": ""}, None),
        ({"type": "function_call_output", "output": "nine"}, None),
        ({"type": "web_search_call", "name": "look"}, None),
        ({"type": "message", "text": "Hi"}, None),
        ([1], None),
        (True, None),
    ],
)
def test_an_item_without_a_role(item: Any, message: tuple[Role, tuple[Block, ...]] | None) -> None:
    assert message_of(item) == (Message("", *message) if message else None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Hi", [HI]),
        ("", []),
        (None, []),
        (7, []),
        ({}, []),
        ({"messages": "Hi"}, []),
        ({"messages": ["Hi", 7, "", "Hi"]}, [HI, HI]),
        ({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}, [HI]),
        ({"input": ["Hi"], "instructions": "Short."}, [Message("system", "system", (Text("Short."),)), HI]),
        ({"messages": [], "contents": ["not read"], "system": ""}, []),
        ({"messages": None, "input": ["Hi"], "system": None}, [HI]),
        (
            {"messages": ["Hi"], "system": '["One.", "Two."]'},
            [Message("system", "system", (Text("One."), Text("Two."))), HI],
        ),
        ([["Hi", {"role": "assistant", "content": "Hello"}]], [HI, HELLO]),
        ([["Hi"], ["Hi"]], []),
        ({"role": "user", "content": "Hi"}, [HI]),
        ('[{"role": "user", "content": "Hi"}]', [HI]),
    ],
)
def test_the_messages_of_a_request(value: Any, expected: list[Message]) -> None:
    assert [*messages_of(value)] == expected


SAYS = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
CALLS = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": ARGUMENTS}
THINKS = {"type": "reasoning", "summary": [{"text": "Hm."}]}
CAME = {"type": "function_call_output", "call_id": "c1", "output": "nine"}


def test_items_of_one_answer_are_one_message_and_whole_messages_are_not_joined() -> None:
    assert [(one.role, one.blocks) for one in messages_of([THINKS, CALLS, CAME, THINKS, SAYS, "Hi", SAYS])] == [
        ("assistant", (Thinking("Hm."), LOOK)),
        ("tool", (NINE,)),
        ("assistant", (Thinking("Hm."), Text("Hello"))),
        ("user", (Text("Hi"),)),
        ("assistant", (Text("Hello"),)),
    ]
    whole = {"role": "assistant", "content": "Hello"}
    assert [one.blocks for one in messages_of([SAYS, whole, SAYS, {"type": "reasoning"}, CALLS])] == [
        (Text("Hello"),),
        (Text("Hello"),),
        (Text("Hello"), LOOK),
    ]


def test_results_that_only_a_role_names_belong_to_the_oldest_open_calls() -> None:
    second = {**FUNCTION, "id": "c2"}
    other = {"id": "c3", "function": {"name": "list", "arguments": "{}"}}
    items = [
        {"role": "assistant", "content": "", "tool_calls": [FUNCTION, second, other]},
        {"role": "list", "content": "a b"},
        {"role": "tool", "tool_call_id": "c1", "content": "nine"},
        {"role": "look", "content": [{"text": "ten"}, {"type": "image", "content": "xy"}, {"type": "odd"}]},
        {"role": "look", "content": "eleven"},
        {"role": "tool", "content": "twelve"},
    ]
    assert [(one.role, one.blocks) for one in messages_of(items)][1:] == [
        ("tool", (ToolResult("c3", (Text("a b"),)),)),
        ("tool", (NINE,)),
        ("tool", (ToolResult("c2", (Text("ten"), Media("image", 2))),)),
        ("user", (Text("eleven"),)),
        ("tool", (Text("twelve"),)),
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"role": "assistant"},
        {"parts": []},
        {"lc": 1},
        {"content": None},
        {"kwargs": {}},
        {"tool_calls": []},
        {"data": {"content": ""}},
    ],
)
def test_each_key_of_a_message_makes_one(item: dict[str, Any]) -> None:
    assert message_of(item, "assistant") == Message("", "assistant", ())
    assert message_of({"x": 1, "data": {}}) is None


def test_a_call_without_an_id_gets_no_result_by_role() -> None:
    items = [{"role": "assistant", "tool_calls": [{"name": "look", "args": {}}]}, {"role": "look", "content": "nine"}]
    assert [(one.role, one.blocks) for one in messages_of(items)] == [
        ("assistant", (ToolUse("", "look", {}),)),
        ("user", (Text("nine"),)),
    ]


def test_calls_in_a_message_of_a_tool_are_those_of_the_assistant() -> None:
    again = {"role": "tool", "content": [{**FUNCTION, "id": "c2"}]}
    items = [{"role": "tool", "content": [FUNCTION]}, again, {"role": "tool", "content": "nine"}]
    assert [(one.role, one.blocks) for one in messages_of(items)] == [
        ("assistant", (LOOK,)),
        ("assistant", (ToolUse("c2", "look", {"at": "Rye"}),)),
        ("tool", (NINE,)),
    ]


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        ("Hello", (Text("Hello"),)),
        ({"choices": [{"message": {"role": "assistant", "content": "Hello"}}, {"message": "no"}]}, (Text("Hello"),)),
        ({"choices": [{"text": "Hello"}]}, None),
        ({"choices": [7]}, None),
        ({"output": [THINKS, SAYS, CALLS]}, (Thinking("Hm."), Text("Hello"), LOOK)),
        ({"output": []}, None),
        ({"output": ["Hello"]}, None),
        ({"output": "Hello"}, None),
        ([{"role": "assistant", "content": "Hello"}, "no"], (Text("Hello"),)),
        ([THINKS, CALLS], (Thinking("Hm."), LOOK)),
        ([["Hello"], "no"], (Text("Hello"),)),
        ([], None),
        (None, None),
        ('{"role": "assistant", "content": "Hello"}', (Text("Hello"),)),
    ],
)
def test_an_answer_is_one_message(value: Any, blocks: tuple[Block, ...] | None) -> None:
    found = answer_of(value)
    assert found == (None if blocks is None else Message("", "assistant", blocks))
