"""Responses bodies: items of one answer are one message, compaction items stay closed, lists come back as they were."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.conformance.building import session_of
from workbench.conformance.formats import assert_exact, read
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.formats.openai_responses import FORMAT
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

COMPACTION = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
ITEMS: list[dict[str, Any]] = [
    {"role": "developer", "content": "rules"},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "see"},
            {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
        ],
    },
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"},
    {
        "type": "message",
        "id": "msg_a",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    },
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
    {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{broken"},
    {"type": "function_call_output", "call_id": "c1", "output": "one"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "two"}]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    {"role": "assistant", "content": "and more"},
    {"type": "item_reference", "id": "x"},
]


def body(items: Any = ITEMS, **more: Any) -> bytes:
    return json.dumps({"model": "gpt-x", "instructions": "base", "input": items, "store": False, **more}).encode()


def test_a_compaction_item_replaces_what_the_agent_did_before_it(shared: Path) -> None:
    path = shared / "sessions/openai-responses/pydantic-compact-stateful-4-request.json"
    session = FORMAT.codec.read(path, path.read_bytes(), no_progress)
    before, _now = session.epochs
    assert list(before.members) == list(range(6))
    assert before.ended_by is not None
    assert before.ended_by.summary == session.messages[6].id
    summary = session.context()[0]
    assert (summary.kind, summary.role) == ("summary", "assistant")
    assert isinstance(summary.blocks[0], Opaque)
    assert len(summary.blocks[0].raw["encrypted_content"]) > 100
    written = FORMAT.codec.write(session, [summary])
    assert json.loads(written.data)["input"] == [json.loads(path.read_bytes())["input"][6]]


def test_what_a_compact_endpoint_kept_is_still_sent(shared: Path) -> None:
    path = shared / "sessions/openai-responses/pydantic-responses-compact-endpoint-response.json"
    session = FORMAT.codec.read(path, path.read_bytes(), no_progress)
    assert [(m.role, m.kind) for m in session.context()] == [
        ("user", "normal"),
        ("user", "normal"),
        ("assistant", "summary"),
    ]


def test_what_a_body_says() -> None:
    session = read(FORMAT, body())
    assert shape(session.messages) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "normal", (Text("see"), Media("image/png", 4))),
        (
            "assistant",
            "normal",
            (Thinking("hm", "e"), Text("I look."), ToolUse("c1", "f", {"a": 1}), ToolUse("c2", "f", "{broken")),
        ),
        ("tool", "normal", (ToolResult("c1", (Text("one"),)),)),
        ("tool", "normal", (ToolResult("c2", (Text("two"),)),)),
        ("assistant", "normal", (Opaque("web_search_call", ITEMS[8]),)),
        ("assistant", "normal", (Text("done"),)),
        ("assistant", "normal", (Text("and more"),)),
        ("user", "meta", (Opaque("item_reference", ITEMS[11]),)),
    ]
    assert session.messages[2].source == (2, 3, 4, 5)
    assert (session.system, session.model) == ("base", "gpt-x")
    assert_exact(FORMAT, session, (*session.messages[:1], *session.messages[2:]))


def test_reasoning_stays_whole_with_its_answer() -> None:
    session = read(FORMAT, body())
    made = json.loads(FORMAT.codec.write(session, session.messages[2:5]).data)["input"]
    assert made == ITEMS[2:8]


def test_a_string_is_a_users_message() -> None:
    session = read(FORMAT, body("hello"))
    assert shape(session.messages) == [("user", "normal", (Text("hello"),))]
    more = (*session.messages, Message("s", "user", (Text("old"),), "summary"))
    assert_exact(FORMAT, session, more)


def test_a_response_has_its_usage_and_a_bare_list_has_items() -> None:
    usage = {"input_tokens": 50, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 7}
    answer = {"object": "response", "id": "resp_1", "created_at": 1_700_000_000, "output": ITEMS[2:4], "usage": usage}
    session = read(FORMAT, json.dumps(answer).encode())
    assert session.messages[-1].usage == Usage(30, 7, cache_read=20)
    assert (session.messages[-1].time, session.id) == (1_700_000_000, "resp_1")
    bare = json.dumps(ITEMS).encode()
    assert FORMAT.recognise(Look.of(bare))
    assert_exact(FORMAT, read(FORMAT, bare), read(FORMAT, bare).messages[5:])


ANSWER = {"type": "function_call_output", "call_id": "c9", "output": "nine"}
ELSEWHERE = ["1 result of calls that are not in the file"]
OLDER = "only the server knows: older items are not in the file"


@pytest.mark.parametrize(
    ("more", "items", "told", "faults"),
    [
        ({}, ITEMS[:8], [], []),
        ({"truncation": "disabled", "previous_response_id": None, "conversation": None}, ITEMS[:8], [], []),
        ({"previous_response_id": "resp_0"}, [ANSWER], [f"continues a response that {OLDER}", *ELSEWHERE], []),
        ({"conversation": {"id": "conv_0"}}, [ANSWER], [f"is part of a conversation that {OLDER}", *ELSEWHERE], []),
        ({}, [ANSWER], ELSEWHERE, ["Item 1 answers the call c9, which no item before it made."]),
        (
            {"prompt": {"id": "pmpt_0"}, "truncation": "auto"},
            ITEMS[:2],
            [
                "takes its instructions from a prompt that only the server knows",
                "lets the API drop items from its middle or start (truncation: auto); the file does not say which",
            ],
            [],
        ),
        ({}, ITEMS[-1:], ["1 item only referenced: their content is not in the file"], []),
    ],
)
def test_what_is_at_the_server_is_told(more: Any, items: Any, told: list[str], faults: list[str]) -> None:
    session = read(FORMAT, body(items, **more))
    assert [warning.text for warning in session.warnings] == told
    assert FORMAT.codec.validate(body(items, **more)) == faults


def test_what_a_tool_put_into_the_persons_text_is_told_from_it() -> None:
    text = "<environment_context>\n/w\n</environment_context>\ngo on"
    session = read(FORMAT, body(text))
    assert session.messages[0].blocks == (
        Text("<environment_context>\n/w\n</environment_context>\n", injected=True),
        Text("go on"),
    )
    assert (session.messages[0].user_text, session.title) == ("go on", "go on")


def test_another_format_gets_what_the_api_demands() -> None:
    messages = [
        Message("a", "assistant", (ToolUse("x", "bash", {"n": 1}), Opaque("compaction", {"type": "compaction"}))),
        Message("t", "tool", (ToolResult("x", (Text("1"),)),)),
    ]
    made = json.loads(FORMAT.codec.write(session_of(messages, system="base"), messages).data)
    assert [item["type"] for item in made["input"]] == ["function_call", "function_call_output"]
    assert (made["instructions"], made["tools"][0]["name"]) == ("base", "bash")


KINDS = [
    Message("r", "system", (Text("be brief"),), "meta"),
    Message("s", "user", (Text("old things"),), "summary"),
    Message("u", "user", (Text("go"), Text("on"))),
    Message("a", "assistant", (Text("one"), Text("two"))),
    Message("n", "user", (Text("by the way"),), "meta"),
    Message("t", "assistant", (Text("old"),), "summary"),
]
KEYS = {"role", "content", "type"}
OUTPUT_KEYS = {"id", "role", "content", "status", "type"}


def test_items_have_the_keys_that_the_api_knows_and_kinds_find_their_way_back() -> None:
    """Only what the model said may have an id, and needs one: kinds of the others stand in the body's metadata."""
    written = FORMAT.codec.write(session_of(KINDS), KINDS).data
    made = json.loads(written)
    assert [set(item) for item in made["input"]] == [KEYS, KEYS, KEYS, OUTPUT_KEYS, KEYS, OUTPUT_KEYS]
    assert made["metadata"] == {"workbench_kind": "0=meta 1=summary 4=meta"}
    session = read(FORMAT, written)
    assert shape(session.context()) == shape(KINDS)
    fewer = FORMAT.codec.write(session, session.context()[1:5]).data
    assert json.loads(fewer)["metadata"] == {"workbench_kind": "0=summary 3=meta"}
    assert_exact(FORMAT, session, session.context()[1:5])
    assert json.loads(FORMAT.codec.write(session, session.context()[2:4]).data)["metadata"] == {}


def test_the_metadata_of_a_body_stay_and_are_no_longer_than_the_api_takes() -> None:
    session = read(FORMAT, body(metadata={"team": "red"}))
    notes = [Message(f"n{n}", "user", (Text("by the way"),), "meta") for n in range(80)]
    summary = Message("s", "user", (Text("old"),), "summary")
    made = json.loads(FORMAT.codec.write(session, (summary, *notes, session.context()[0])).data)["metadata"]
    assert (made["team"], len(made["workbench_kind"])) == ("red", 512)
    assert made["workbench_kind"].startswith("0=summary 1=meta 2=meta ")
    assert made["workbench_kind"].endswith(" 64=meta")


@pytest.mark.parametrize("value", [7, None, "x", "0=odd 1=", "9=meta -1=meta x=meta", ["0=meta"]])
def test_kinds_that_say_nothing_are_passed_over(value: Any) -> None:
    session = read(FORMAT, body([{"role": "user", "content": "go"}], metadata={"workbench_kind": value}))
    assert shape(session.context()) == [("user", "normal", (Text("go"),))]


@pytest.mark.parametrize(
    ("items", "faults"),
    [
        ([], ["There are no items."]),
        ("", ["The input is empty."]),
        (
            [{"role": "robot", "content": "x"}],
            ["Item 1 has a role other than user, assistant, system, developer."],
        ),
        (
            [{"role": "user", "content": ""}],
            ["Item 1 has no content, or one that is neither text nor a list of parts."],
        ),
        (
            [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
            ["Item 1 has a part of type input_text, which is invalid for role assistant."],
        ),
        ([ITEMS[6]], ["Item 1 answers the call c1, which no item before it made."]),
        ([ITEMS[4], ITEMS[4]], ["Item 2 repeats the open call c1."]),
        ([ITEMS[4], {"role": "user", "content": "x"}], ["Item 1 makes the call c1, which has no output."]),
        ([ITEMS[2]], ["Item 1 is reasoning without the item that must follow."]),
        ([{"type": "compaction"}], ["Item 1 is a compaction without encrypted_content."]),
        (
            [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}],
            ["Item 1 calls f with arguments that are not text."],
        ),
    ],
)
def test_the_validator_finds(items: Any, faults: list[str]) -> None:
    assert FORMAT.codec.validate(body(items)) == faults
