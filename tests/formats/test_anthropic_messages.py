"""Anthropic Messages bodies: real ones byte for byte, new ones complete, broken ones refused in one sentence."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.building import session_of
from workbench.conformance.formats import read
from workbench.formats import openai_chat
from workbench.formats.agent_texts import CONTINUATION
from workbench.formats.anthropic_messages import FORMAT
from workbench.formats.anthropic_messages.read import CLEARED, apply_edits
from workbench.formats.files import load
from workbench.formats.look import Look
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    Message,
    Opaque,
    SessionFacts,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
)

BODY = {
    "model": "claude-x",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
    "metadata": {"user_id": "someone"},
    "temperature": 1.0,
    "tools": [{"name": "read", "description": "reads", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "héllo", "extra": 1},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}, {"type": "text", "text": "go on"}],
        },
        {"role": "assistant", "content": "done"},
    ],
}


def body(**changes: object) -> bytes:
    return json.dumps({**BODY, **changes}, indent=1).encode()


def test_a_body_becomes_a_session() -> None:
    session = read(FORMAT, body())
    assert shape(session.messages) == [
        ("user", "normal", (Text("héllo"),)),
        ("assistant", "normal", (ToolUse("a", "read", {}),)),
        ("tool", "normal", (ToolResult("a", (Text("x"),)), Text("go on"))),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert [message.id for message in session.messages] == ["m1", "m2", "m3", "m4"]
    assert session.system == "be brief"
    assert session.model == "claude-x"
    assert [tool.name for tool in session.tools] == ["read"]


def test_tools_become_functions_of_another_dialect() -> None:
    session = read(FORMAT, body())
    written = openai_chat.FORMAT.codec.write(session, session.context())
    (tool,) = read(openai_chat.FORMAT, written.data).tools
    assert (tool.name, '"reads"' in tool.schema) == ("read", True)


COMPACTED = {"type": "compaction", "content": "old"}
TALK = [
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": [COMPACTED, {"type": "text", "text": "hi"}]},
    {"role": "user", "content": "second"},
]


def test_a_compaction_block_ends_an_epoch_and_holds_the_summary() -> None:
    session = read(FORMAT, body(messages=TALK, context_management={"edits": [{"type": "compact_20260112"}]}))
    assert [(m.id, m.source) for m in session.messages] == [("m1", (0,)), ("m2", (1,)), ("m2.2", (1,)), ("m3", (2,))]
    assert shape(session.context()) == [
        ("assistant", "summary", (Text("old"),)),
        ("assistant", "normal", (Text("hi"),)),
        ("user", "normal", (Text("second"),)),
    ]
    assert session.epochs == (Epoch(1, range(1), Compaction("auto", summary="m2")), Epoch(2, range(1, 4)))
    assert read(FORMAT, body(messages=TALK)).epochs[0].ended_by == Compaction("", summary="m2")


def test_each_of_several_compaction_blocks_ends_an_epoch() -> None:
    session = read(FORMAT, body(messages=[*TALK, {"role": "assistant", "content": [COMPACTED]}]))
    assert [list(epoch.members) for epoch in session.epochs] == [[0], [1, 2, 3], [4]]
    assert [epoch.members for epoch in read(FORMAT, body(messages=TALK[1:])).epochs] == [range(3)]


def test_a_failed_compaction_is_ignored_and_an_encrypted_one_not_read() -> None:
    for content in (None, ""):
        failed = read(
            FORMAT, body(messages=[TALK[0], {"role": "assistant", "content": [COMPACTED | {"content": content}]}])
        )
        assert (len(failed.epochs), failed.messages[1].kind) == (1, "normal")
    sealed = {"type": "compaction", "content": None, "encrypted_content": "x"}
    session = read(FORMAT, body(messages=[TALK[0], {"role": "assistant", "content": [sealed]}]))
    assert shape(session.context()) == [("assistant", "summary", (Opaque("compaction", sealed),))]


def test_another_format_gets_the_summary_only() -> None:
    session = read(FORMAT, body(messages=TALK))
    chat = json.loads(openai_chat.FORMAT.codec.write(session, session.context()).data)["messages"]
    assert [item["content"] for item in chat] == ["be brief", "old", "hi", "second"]


def test_a_part_of_an_element_is_written_without_the_rest() -> None:
    session = read(FORMAT, body(messages=TALK))
    first, summary, answer, second = session.messages

    def written(*messages: Message) -> list[object]:
        data = FORMAT.codec.write(session, messages).data
        return [item["content"] for item in json.loads(data)["messages"]]

    hi = {"type": "text", "text": "hi"}
    assert written(summary, answer) == [[COMPACTED, hi]]
    assert written(summary, second) == [[COMPACTED], "second"]
    assert written(answer, second) == ["[…]", [hi], "second"]
    assert written(first, summary, answer) == ["first", [{"type": "text", "text": "old"}, hi]]
    assert written(first, summary) == ["first", [{"type": "text", "text": "old"}]]
    assert FORMAT.codec.write(session, [first, summary]).losses == (Loss(LossKind.SUMMARIES_AS_TEXT),)
    assert FORMAT.codec.write(session, session.context()).data == session.records.data


LONG = b"long " * 20_000


@pytest.mark.parametrize(
    "head",
    [
        b'[{"role":"user","content":[{"type":"text","text":"hi"}]}]',
        b'[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}]',
        b'{"model":"claude-3","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}',
        b'{"messages":[],"system":"x","model":"y"}',
        b'{"max_tokens":4096,"context_management":{},"messages":[{"role":"user","content":[{"type":"text","text":"'
        + LONG,
        b'{"model":"m","system":"' + LONG + b'","messages":[]}',
    ],
)
def test_recognised_by_content(head: bytes) -> None:
    assert FORMAT.recognise(Look.of(head))
    assert not openai_chat.FORMAT.recognise(Look.of(head))


@pytest.mark.parametrize(
    "head",
    [
        b'"text"',
        b'{"messages":[]}',
        b'{"sessionId":"1","projectHash":"2","messages":[{"role":"user","content":"x"}]}',
        b'{"type":"user","uuid":"1"}\n{"type":"user","uuid":"2"}',
        b'{"messages":[{"role":"user","content":"x"}]}\n{"messages":[{"role":"user","content":"x"}]}',
        b'{"type":"message","role":"assistant","content":[{"type":"text","text":"an answer"}]}',
        b"\xff\xfe\x00binary",
        b"[" * 60000,
    ],
    ids=lambda head: head[:20].decode("latin-1"),
)
def test_not_recognised(head: bytes) -> None:
    assert not FORMAT.recognise(Look.of(head))
    assert not openai_chat.FORMAT.recognise(Look.of(head))


def test_a_body_from_another_format_has_the_required_fields() -> None:
    messages = [
        Message("s", "system", (Text("rules"),)),
        Message("s2", "system", (Text("old things"),), "summary"),
        Message("u", "user", (Text("do"),)),
        Message("a", "assistant", (Thinking("hm"), Text(" "), ToolUse("x", "bash", {}), ToolUse("y", "bash", {}))),
        Message("u2", "user", (Text("wait"),)),
        Message("t", "tool", (ToolResult("y", (Text("2"),)),)),
        Message("t2", "tool", (ToolResult("x", (Text("1"),)),)),
        Message("b", "user", (), "boundary"),
        Message("a2", "assistant", (ToolUse("x", "bash", {}),)),
        Message("t3", "tool", (ToolResult("orphan", (Text("?"),)),)),
    ]
    written = FORMAT.codec.write(session_of(messages, system="base"), messages)
    new_body = json.loads(written.data)
    assert FORMAT.codec.validate(written.data) == []
    assert new_body["system"] == "base\n\nrules"
    assert [m["role"] for m in new_body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert new_body["messages"][0]["content"][0]["text"].endswith("\nold things")
    assert [(b["type"], b.get("tool_use_id")) for b in new_body["messages"][2]["content"]] == [
        ("tool_result", "x"),
        ("tool_result", "y"),
        ("text", None),
    ]
    assert new_body["messages"][3]["content"][0]["id"] == "x-2"
    assert new_body["messages"][4]["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "x-2",
        "content": "No result was recorded for this call.",
        "is_error": True,
    }
    assert new_body["tools"] == [{"name": "bash", "description": "", "input_schema": {"type": "object"}}]
    assert written.losses == (
        Loss(LossKind.IDS_RENAMED),
        Loss(LossKind.RESULTS_MOVED, 2),
        Loss(LossKind.UNANSWERED_CALLS),
        Loss(LossKind.ORPHAN_RESULTS),
        Loss(LossKind.REASONING),
    )


def test_an_assistant_first_gets_a_user_before_it() -> None:
    session = read(FORMAT, body())
    for messages in (session.messages[3:], [replace(session.messages[3], source=())]):
        written = FORMAT.codec.write(session, messages)
        assert FORMAT.codec.validate(written.data) == []
        assert written.losses == (Loss(LossKind.USER_INSERTED, 1, ("the API requires one at the start",), "[…]"),)


def test_functions_of_another_dialect_become_tools() -> None:
    schema = (
        '{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}}'
    )
    messages = [Message("u", "user", (Text("do"),))]
    new_body = json.loads(FORMAT.codec.write(session_of(messages, tools=(Tool("f", schema),)), messages).data)
    assert new_body["tools"] == [
        {"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}}
    ]


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        ([{"role": "assistant", "content": "a"}], ["Message 1 is not a user message; the first must be."]),
        ([{"role": "user", "content": ""}], ["Message 1 has an empty text block."]),
        ([{"role": "user", "content": []}], ["Message 1 has no content."]),
        (
            [{"role": "system", "content": "a"}],
            [
                "Message 1 is not a user message; the first must be.",
                "Message 1 is neither a user nor an assistant message.",
            ],
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "z", "content": ""}]}],
            ["Message 1 has the result z, which answers no call of the turn before it."],
        ),
        (
            [
                BODY["messages"][0],
                BODY["messages"][1],
                {"role": "user", "content": "and?"},
                BODY["messages"][2],
            ],
            [
                "Message 3 has no result for the call a of message 2.",
                "Message 4 has the result a, which answers no call of the turn before it.",
            ],
        ),
        (
            [BODY["messages"][0], {"role": "assistant", "content": [{"type": "thinking", "thinking": "a"}]}],
            ["Message 2 has a thinking block without a signature."],
        ),
        (
            [
                *BODY["messages"][:2],
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "a"}],
                },
            ],
            ["Message 3 has a tool_result block after other blocks; results must come first."],
        ),
        (
            [*BODY["messages"][:3], *BODY["messages"][1:3]],
            ["Message 4 has a call with the id a, which was used before."],
        ),
    ],
)
def test_the_validator_finds(messages: list[object], faults: list[str]) -> None:
    assert FORMAT.codec.validate(body(messages=messages)) == faults


def test_odd_files() -> None:
    odd = read(
        FORMAT, b'\xef\xbb\xbf{"system":"s","messages":[7,{"role": "robot","content":{}},{"role":"user"}],"n":NaN}'
    )
    assert len(odd.messages) == 3
    assert len(odd.warnings) == 5
    assert FORMAT.codec.write(odd, odd.context()).data.startswith(b"\xef\xbb\xbf")
    output = FORMAT.codec.write(odd, odd.messages[1:]).data
    assert output == b'\xef\xbb\xbf{"system":"s","messages":[{"role": "robot","content":{}},{"role":"user"}],"n":NaN}'
    surrogate = read(FORMAT, b'{"system":"s","messages":[{"role":"user","content":"\\ud800 \xff"}]}')
    assert surrogate.messages[0].text == "\ufffd \ufffd"
    assert [str(warning) for warning in surrogate.warnings] == [
        "line 1: holds bytes that are not UTF-8; shown as � and kept unchanged",
        "holds lone surrogates; shown as � and kept unchanged",
    ]
    assert b'"\\ud800 \xff"' in FORMAT.codec.write(surrogate, surrogate.context()).data


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "line 1, column 1"),
        (b'{"system":"s",\n"messages":[{"role":"us', "line 2, column 21"),
        (b'{"system":"s"}', "no list of messages"),
        (b"7", "no list of messages"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_refused_in_one_sentence(data: bytes, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        FORMAT.codec.read(Path("dir/s.json"), data, lambda done, total: None)
    assert says in str(refused.value)
    assert "s.json" in str(refused.value)


BLOCK = {"type": "compaction", "content": "old", "signature": "sig==", "new": [1, {"z": 1.5}]}


def summary_of(raw: object) -> Message:
    return Message("s", "assistant", (Opaque("compaction", raw),), "summary")


@pytest.mark.parametrize("format", ["anthropic-messages", "codex"])
def test_the_servers_block_is_first_and_unchanged_in_every_export(format: str) -> None:
    session = read(FORMAT, body())
    if format != FORMAT.id:
        session = replace(session, format=format)
    written = FORMAT.codec.write(session, [summary_of(BLOCK), *session.messages[1:]])
    first, *_ = json.loads(written.data)["messages"]
    assert (first["role"], first["content"][0]) == ("assistant", BLOCK)
    assert json.dumps(BLOCK["new"]).replace(" ", "") in written.data.decode().replace(" ", "")
    assert "[…]" not in written.data.decode()
    faults = FORMAT.codec.validate(written.data)
    assert not [fault for fault in faults if "the first must be" in fault]


def test_a_body_that_begins_with_the_servers_block_is_unchanged() -> None:
    compacted_messages = [
        {"role": "user", "content": "before"},
        {"role": "assistant", "content": [BLOCK]},
        *BODY["messages"][:1],
    ]
    session = read(FORMAT, body(messages=compacted_messages))
    assert FORMAT.codec.write(session, session.messages[1:]).data == session.records.data
    written = FORMAT.codec.write(session, session.messages[1:2])
    assert json.loads(written.data)["messages"] == compacted_messages[1:2]
    assert FORMAT.codec.validate(written.data) == []
    without = FORMAT.codec.write(session, [Message("a", "assistant", (Text("hello"),)), *session.messages[2:]])
    assert json.loads(without.data)["messages"][0] == {"role": "user", "content": "[…]"}


def test_a_block_of_another_format_is_not_taken_for_the_servers() -> None:
    session = replace(read(FORMAT, body()), format="codex")
    summary = replace(summary_of(BLOCK), source=(0,))
    assert b"compaction" not in FORMAT.codec.write(session, [summary, *session.messages[1:]]).data


def test_a_bodys_own_keys_are_not_taken_for_facts_of_the_session() -> None:
    session = read(FORMAT, body(overflow_errors=["x"], exit_status="too long", tokens_now=1, part="2"))
    assert session.facts == SessionFacts()


def test_a_real_body_is_read_from_its_newest_compaction_block_on(shared: Path) -> None:
    """The provider billed 239 tokens for this request."""
    session = load(shared / "sessions-more/anthropic-api/pydantic-compaction-2-request.json")
    assert [(m.role, m.kind, len(m.text)) for m in session.context()] == [
        ("assistant", "summary", 499),
        ("assistant", "normal", 8),
        ("user", "normal", 25),
    ]
    assert [len(session.context(1)), len(session.context(1)[0].text)] == [1, 225039]


CAPTURED = [
    {"type": "text", "text": "<system-reminder>\nfiles\n</system-reminder>\n"},
    {"type": "text", "text": f"{CONTINUATION}. We sorted tiles."},
    {"type": "text", "text": "The user opened the file /t.md in the IDE."},
    {"type": "text", "text": 'Called the Read tool with the following input: {"file_path":"/t.md"}'},
    {"type": "text", "text": 'Result of calling the Read tool: "tiles"'},
    {"type": "text", "text": "Caveat: The messages below were generated by the user while running local commands."},
    {"type": "text", "text": "now the grout"},
]


def test_text_that_claude_code_added_is_not_user_text() -> None:
    session = read(FORMAT, body(messages=[{"role": "user", "content": CAPTURED}]))
    assert [(m.id, m.kind, m.user_text, m.source) for m in session.messages] == [
        ("m1", "meta", "", (0,)),
        ("m1.2", "summary", "", (0,)),
        ("m1.3", "normal", "now the grout", (0,)),
    ]
    assert [block.injected for m in session.messages for block in m.blocks][2:] == [*[True] * 4, False]
    summary = Message("s", "user", (Text(f"{CONTINUATION}. Tiles."),), "summary")
    written = FORMAT.codec.write(session, [summary, session.messages[2]])
    contents = [item["content"] for item in json.loads(written.data)["messages"]]
    assert contents == [[{"type": "text", "text": f"{CONTINUATION}. Tiles."}], CAPTURED[2:]]
    assert shape(read(FORMAT, written.data).context()) == shape([summary, session.messages[2]])


def test_answers_to_a_question_tool_are_user_text() -> None:
    question = {
        "type": "tool_use",
        "id": "q",
        "name": "AskUserQuestion",
        "input": {"questions": [{"question": "Which?"}]},
    }
    answer = 'User has answered: "Which?"="Slate". You can now continue with the answers in mind.'
    answered = {"type": "tool_result", "tool_use_id": "q", "content": answer}
    talk = [BODY["messages"][0], {"role": "assistant", "content": [question]}, {"role": "user", "content": [answered]}]
    assert [message.user_text for message in read(FORMAT, body(messages=talk)).messages] == ["héllo", "", "Slate"]


def call_message(id: str, name: str, *before: Block) -> Message:
    return Message(f"m{id}", "assistant", (*before, ToolUse(id, name, {"x": 1})))


def result_message(*ids: str) -> Message:
    return Message(f"r{ids}", "tool", tuple(ToolResult(id, (Text(id),)) for id in ids))


GO = Message("go", "user", (Text("go"),))
WORK = [
    GO,
    call_message("a", "look", Thinking("1", "s")),
    result_message("a"),
    call_message("b", "memory", Thinking("2", "s")),
    result_message("b"),
    GO,
    call_message("c", "look", Thinking("3", "s")),
    result_message("c"),
    call_message("d", "look"),
    result_message("d"),
]


def edited(requested: object, applied: object) -> tuple[Message, ...]:
    answer = {"context_management": {"applied_edits": [applied]}}
    return apply_edits(WORK, {"context_management": {"edits": [requested]}}, answer)


USES = "clear_tool_uses_20250919"


@pytest.mark.parametrize(
    ("count", "requested", "cleared", "emptied"),
    [
        (0, {}, "", ""),
        (1, {}, "a", ""),
        (3, {}, "abc", ""),
        (9, {}, "abcd", ""),
        (2, {"exclude_tools": ["memory"]}, "ac", ""),
        (2, {"clear_tool_inputs": True}, "ab", "ab"),
        (2, {"clear_tool_inputs": ["memory"]}, "ab", "b"),
    ],
)
def test_the_oldest_results_were_cleared(count: int, requested: dict[str, object], cleared: str, emptied: str) -> None:
    found = edited({"type": USES, **requested}, {"type": USES, "cleared_tool_uses": count, "cleared_input_tokens": 1})
    assert [result.call_id for m in found for result in m.results if result.text == CLEARED] == list(cleared)
    assert [call.id for message in found for call in message.calls if not call.input] == list(emptied)
    assert [message.id for message in found] == [message.id for message in WORK]


@pytest.mark.parametrize(("turns", "expected"), [(0, "123"), (1, "3"), (2, "")])
def test_the_oldest_turns_lost_their_thinking(turns: int, expected: str) -> None:
    kind = "clear_thinking_20251015"
    found = edited({"type": kind}, {"type": kind, "cleared_thinking_turns": turns, "cleared_input_tokens": 1})
    assert [b.text for message in found for b in message.blocks if isinstance(b, Thinking)] == list(expected)


def test_a_response_without_edits_changes_nothing() -> None:
    for answer in (
        None,
        {},
        {"context_management": None},
        {"context_management": {"applied_edits": [7, {"type": "x"}]}},
    ):
        assert apply_edits(WORK, {}, answer) == tuple(WORK)
