"""LangChain dumps: both forms, calls that stand twice, usage with its cache, lists written back."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from workbench.conformance.formats import assert_exact, read
from workbench.formats.langchain import FORMAT, form_of, items_of
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
IMAGE = "data:image/png;base64,QUJD"
CALL: Json = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
BAD: Json = {"name": "f", "args": "{broken", "id": "c2", "error": None, "type": "invalid_tool_call"}
USAGE: Json = {"input_tokens": 90, "output_tokens": 7, "input_token_details": {"cache_read": 30, "cache_creation": 20}}
FIELDS: list[tuple[str, Json]] = [
    ("system", {"content": "rules"}),
    (
        "human",
        {
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": IMAGE}},
            ]
        },
    ),
    (
        "ai",
        {
            "id": "run-1",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
            ],
            "tool_calls": [CALL],
            "invalid_tool_calls": [BAD],
            "usage_metadata": USAGE,
            "response_metadata": {"model_name": "m"},
        },
    ),
    ("tool", {"content": "one", "tool_call_id": "c1", "status": "success"}),
    ("tool", {"content": [{"type": "text", "text": "two"}], "tool_call_id": "c2", "status": "error"}),
    ("human", {"content": "Here is a summary", "additional_kwargs": {"lc_source": "summarization"}}),
    ("ai", {"content": "done", "id": "run-1"}),
]


def dumped(fields: Any = FIELDS) -> list[Json]:
    names = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessageChunk", "tool": "ToolMessage"}
    where = ["langchain_core", "messages"]
    return [
        {"lc": 1, "type": "constructor", "id": [*where, names.get(n, n)], "kwargs": f | {"type": n}} for n, f in fields
    ]


def plain(fields: Any = FIELDS) -> list[Json]:
    return [{"type": name, "data": given} for name, given in fields]


def flat(fields: Any = FIELDS) -> list[Json]:
    return [given | {"type": name} for name, given in fields]


DOCUMENTS: dict[str, Any] = {
    "dumpd": dumped(),
    "type and data": plain(),
    "flat": flat(),
    "state": {"messages": dumped(), "todos": [1]},
    "thread": {"values": {"todos": [1], "messages": flat()}, "next": [], "checkpoint": {"thread_id": "t"}},
    "checkpoint": {"v": 1, "channel_values": {"messages": dumped(), "todos": [1]}},
    "saved": {"checkpoint": {"channel_values": {"todos": [1], "messages": plain()}}, "metadata": {}},
}


@pytest.mark.parametrize("form", DOCUMENTS)
def test_what_a_dump_says(form: str) -> None:
    data = json.dumps(DOCUMENTS[form], indent=1).encode()
    assert FORMAT.recognise(Look.of(data))
    session = read(FORMAT, data)
    assert shape(session.messages) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "normal", (Text("see"), Media("image/png", 4))),
        (
            "assistant",
            "normal",
            (Thinking("hm", "s"), Text("I look."), ToolUse("c1", "f", {"a": 1}), ToolUse("c2", "f", "{broken")),
        ),
        ("tool", "normal", (ToolResult("c1", (Text("one"),)),)),
        ("tool", "normal", (ToolResult("c2", (Text("two"),), is_error=True),)),
        ("user", "summary", (Text("Here is a summary"),)),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert session.messages[2].usage == Usage(40, 7, 30, 20)

    assert len({m.id for m in session.messages}) == 7
    written = assert_exact(FORMAT, session, session.messages[5:])
    assert ("todos" in str(DOCUMENTS[form])) is (b'"todos": [\n' in written.data)


REASONED: Json = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Two."}],
    "encrypted_content": "x",
}
IN_CONTENT: list[tuple[str, Json, list[Json], list[Block]]] = [
    ("ai", {"type": "tool_call", "id": "c", "name": "f", "args": {"a": 1}}, [], []),
    ("ai", {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'}, [], []),
    ("AIMessageChunk", {"type": "tool_use", "id": "c", "name": "f", "input": {}}, [], []),
    ("ai", {"type": "tool_call", "id": "c", "name": "f", "args": {"a": 1}}, [REASONED], [Thinking("Two.", "x")]),
]


@pytest.mark.parametrize(("type", "part", "before", "shown"), IN_CONTENT)
@pytest.mark.parametrize("beside", [True, False])
def test_a_call_in_the_content_is_one_call(
    type: str, part: Json, before: list[Json], shown: list[Block], beside: bool
) -> None:
    if part["type"] == "tool_use" and not beside:
        part = part | {"input": {"a": 1}}
    given = {"content": [*before, {"type": "text", "text": "I look."}, part]}
    given |= {"tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}]} if beside else {}
    for items in ([{"type": type, "data": given}], [given | {"type": type}]):
        session = read(FORMAT, json.dumps(items).encode())
        blocks = (*shown, Text("I look."), ToolUse("c", "f", {"a": 1}))
        assert shape(session.messages) == [("assistant", "normal", blocks)]


def test_a_providers_usage_is_read_where_langchain_has_none() -> None:
    told = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    items = flat([("human", {"content": "go"}), ("ai", {"content": "", "response_metadata": {"token_usage": told}})])
    assert read(FORMAT, json.dumps(items).encode()).messages[1].usage == Usage(5, 2, cache_read=4)


@pytest.mark.parametrize("more", [{"type": "system"}, {"role": "user"}, {"content": None, "type": "robot"}])
def test_what_is_not_taken_for_messages_as_they_are(more: Json) -> None:
    assert FORMAT.recognise(Look.of(json.dumps([{"type": "human", "content": "x"}]).encode()))
    assert not FORMAT.recognise(Look.of(json.dumps([{"type": "human", "content": "x"} | more]).encode()))


def test_calls_of_openai_stand_beside_the_content() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 2}'}}
    session = read(
        FORMAT, json.dumps(plain([("ai", {"content": "", "additional_kwargs": {"tool_calls": [call]}})])).encode()
    )
    assert session.messages[0].blocks == (ToolUse("c", "f", {"a": 2}),)


FORMS = {"dumpd": "constructor", "type and data": "type and data", "flat": "flat", "thread": "flat"}


@pytest.mark.parametrize("form", FORMS)
def test_changed_messages_are_rendered_as_the_file_writes_them(form: str) -> None:
    session = read(FORMAT, json.dumps(DOCUMENTS[form]).encode())
    blocks = (Text("a"), ToolUse("c1", "f", {"a": 1}), Text("b"), Opaque("new", {"type": "new", "x": 1}))
    made = Message("n", "assistant", (*blocks, Thinking("hm"), ToolUse("c2", "f", "{broken")))
    meta = Message("x", "user", (Text("a reminder"),), "meta")
    written = assert_exact(FORMAT, session, (*session.messages[:2], made, *session.messages[3:5], meta))
    assert {form_of(item) for item in items_of(json.loads(written.data)) or ()} == {FORMS[form]}


def test_removals_are_told_and_kept() -> None:
    removal = {"lc": 1, "type": "constructor", "id": ["x", "RemoveMessage"], "kwargs": {"id": "z", "content": ""}}
    items = [*dumped(FIELDS[:2]), removal]
    session = read(FORMAT, json.dumps(items).encode())
    assert len(session.messages) == 2
    assert "removes another" in str(session.warnings[0])
    assert json.loads(FORMAT.codec.write(session, session.messages[1:]).data) == items[1:]


@pytest.mark.parametrize(
    ("items", "faults"),
    [
        ([], ["There are no messages."]),
        ([7], ["Message 1 is not an object."]),
        (
            [{"lc": 1, "type": "not_implemented", "id": ["HumanMessage"], "kwargs": {}}],
            ["Message 1 is not a message constructor."],
        ),
        ([{"type": "robot", "data": {}}], ["Message 1 has no known type or no data."]),
        (plain([("human", {"content": None})]), ["Message 1 has content that is neither text nor a list of blocks."]),
        (plain(FIELDS[3:4]), ["Message 1 answers the call c1, which is not open."]),
        (
            plain([FIELDS[2], FIELDS[6]]),
            [
                "Message 2 comes before the result of the call c1.",
                "Message 2 comes before the result of the call c2.",
            ],
        ),
        (
            plain([("ai", {"content": "", "tool_calls": [CALL | {"args": "x"}]})]),
            ["Message 1 calls f with args that are not an object."],
        ),
        (
            plain([("ai", {"content": "", "invalid_tool_calls": [CALL | {"type": "invalid_tool_call", "args": {}}]})]),
            ["Message 1 calls f with args that are not text."],
        ),
    ],
)
def test_the_validator_finds(items: Any, faults: list[str]) -> None:
    assert FORMAT.codec.validate(json.dumps(items).encode()) == faults


BLOCK: Json = {"type": "compaction", "content": "so far"}


def test_a_compaction_of_the_messages_api_ends_an_epoch() -> None:
    answer = {"content": [BLOCK, {"type": "text", "text": "done"}], "usage_metadata": USAGE}
    before = [("system", {"content": "rules"}), ("human", {"content": "go"})]
    items = flat([*before, ("ai", answer), ("human", {"content": "on"})])
    session = read(FORMAT, json.dumps(items).encode())
    assert [list(epoch.members) for epoch in session.epochs] == [[0, 1], [0, 2, 3, 4]]
    assert [(m.id, m.source, m.usage is not None) for m in session.context()[1:]] == [
        ("m3", (2,), False),
        ("m3.2", (2,), True),
        ("m4", (3,), False),
    ]
    assert shape(session.context())[1:3] == [
        ("assistant", "summary", (Text("so far"),)),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert FORMAT.codec.write(session, session.context()).data == session.records.data
    assert_exact(FORMAT, session, session.context()[:2])
    assert_exact(FORMAT, session, (session.context()[0], *session.context()[2:]))


def test_a_sealed_compaction_is_a_summary_that_nobody_can_read_and_a_failed_one_is_nothing() -> None:
    for block, kinds in (({"encrypted_content": "x"}, ["summary", "normal"]), ({"content": None}, ["normal"])):
        content = [{"type": "compaction", **block}, {"type": "text", "text": "done"}]
        session = read(FORMAT, json.dumps(flat([("ai", {"content": content})])).encode())
        assert [message.kind for message in session.messages] == kinds


def test_a_summary_of_this_programs_ends_none() -> None:
    marked = {"content": "so far", "additional_kwargs": {"workbench_kind": "summary"}}
    session = read(FORMAT, json.dumps(flat([("human", {"content": "go"}), ("ai", marked)])).encode())
    assert ([message.kind for message in session.messages], len(session.epochs)) == (["normal", "summary"], 1)


@pytest.mark.parametrize("form", [dumped, plain, flat])
def test_what_kept_messages_were_billed_is_no_bill_of_an_export(form: Callable[[Any], list[Json]]) -> None:
    """But what a later message was billed is one."""
    session = read(FORMAT, json.dumps({"messages": form(FIELDS)}).encode())
    assert FORMAT.codec.write is not None
    state = json.loads(FORMAT.codec.write(session, session.context()[1:]).data)
    assert [m.usage for m in read(FORMAT, json.dumps(state).encode()).messages] == [None] * (len(FIELDS) - 1)
    state["messages"] += form([("ai", {"content": "more", "usage_metadata": USAGE})])
    assert read(FORMAT, json.dumps(state).encode()).messages[-1].usage == Usage(40, 7, 30, 20)
