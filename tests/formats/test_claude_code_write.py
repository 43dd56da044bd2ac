"""Writing Claude Code sessions, and the rules for written sessions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.formats.claude_code_build import (
    SESSION,
    USAGE,
    assistant,
    boundary,
    call,
    jsonl,
    line,
    read,
    read_bytes,
    result,
    small,
    summary,
    text,
    user,
)
from workbench.formats import claude_code
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Opaque, Records, Session, Text, Thinking, ToolResult, ToolUse


def lines_of(data: bytes) -> list[dict[str, Any]]:
    return [orjson.loads(raw) for raw in data.splitlines()]


def test_kept_lines_change_only_in_session_parent_and_last_usage() -> None:
    odd = b'{"parentUuid":null,  "sessionId":"%s", "type":"user","uuid":"u1","x\\u0041":1.50e0,' % SESSION.encode()
    odd += '"message":{"role":"user","content":"caf\\u00e9 – é"},"version":"2"}'.encode()
    first = assistant("a1", "u1", "m1", text("A"))
    last = assistant("a2", "u2", "m2", text("B"), body={"usage": {**USAGE, "service_tier": "standard"}})
    session = read(odd, first, user("u2", "a1", "More"), last)
    written = claude_code.FORMAT.codec.write(session, session.context())
    raw = written.data.splitlines()
    new = written.id.encode()
    assert raw[0] == odd.replace(SESSION.encode(), new)
    assert raw[1] == orjson.dumps(first).replace(SESSION.encode(), new)
    values = lines_of(written.data)
    assert values[3]["message"]["usage"] == {**dict.fromkeys(USAGE, 0), "service_tier": "standard"}
    assert {**values[3], "message": 0} == {**last, "sessionId": written.id, "message": 0, "workbench_spent": True}
    assert written.name == f"{written.id}.jsonl"
    assert (written.folder, written.commands) == ("/home/me/my_project", (("claude", "--resume", written.id),))
    assert written.home == f"~/.claude/projects/-home-me-my-project/{written.name}"
    assert written.losses == ()


def test_what_is_no_message_survives_from_the_tail_on() -> None:
    session = read(*small())
    written = claude_code.FORMAT.codec.write(session, session.context())
    values = lines_of(written.data)
    assert [value.get("uuid", value["type"]) for value in values] == ["b1", "s1", "u2", "queue-operation", "p2", "a5"]
    assert [value.get("parentUuid") for value in values] == [None, "b1", "s1", None, "u2", "p2"]
    assert {value["sessionId"] for value in values} == {written.id}
    assert claude_code.FORMAT.codec.validate(written.data) == []
    assert shape(read_bytes(written.data).context()) == shape(session.context())


def test_a_merged_message_and_parallel_results_become_one_chain() -> None:
    session = read(*small()[:9])
    written = claude_code.FORMAT.codec.write(session, session.context())
    values = lines_of(written.data)
    assert [value["uuid"] for value in values if "uuid" in value] == ["u1", "a1", "a2", "p1", "a3", "r1", "r2", "a4"]
    assert claude_code.FORMAT.codec.validate(written.data) == []
    again = read_bytes(written.data)
    assert shape(again.context()) == shape(session.context())
    assert again.warnings == ()


def test_a_notification_that_a_request_tells_is_written_as_it_was_sent() -> None:
    said = "<task-notification>\n<task-id>b7</task-id>\n</task-notification>"
    wrapped = f"<system-reminder>\nThis is no person's.\n\n{said}\n</system-reminder>"
    sent = {"type": "api-request-blob", "hash": "h", "message": {"role": "user", "content": [text(wrapped)]}}
    session = read(
        user("u1", None, "Begin"),
        assistant("a1", "u1", "m1", text("A")),
        user("n1", "a1", said),
        sent,
        assistant("a2", "n1", "m2", text("Seen.")),
    )
    assert session.context()[2].text == wrapped
    kept = [replace(session.context()[0], source=()), *session.context()[1:3], Message("m", "user", (Text("Go on"),))]
    written = claude_code.FORMAT.codec.write(session, kept)
    again = read_bytes(written.data).context()
    assert [(one.kind, one.text) for one in again] == [(one.kind, one.text) for one in kept]
    assert claude_code.FORMAT.codec.validate(written.data) == []


def test_a_made_summary_is_a_boundary_and_a_summary_line() -> None:
    session = read(*small()[1:9])
    context = session.context()
    node = Message("new", "user", (Text("What was done before."),), "summary")
    written = claude_code.FORMAT.codec.write(session, [node, *context[-1:]])
    bound, line, kept = lines_of(written.data)
    assert (bound["subtype"], bound["parentUuid"], bound["logicalParentUuid"]) == ("compact_boundary", None, "r2")
    assert bound["compactMetadata"] == {"trigger": "manual", "preTokens": 30_115}
    assert (line["isCompactSummary"], line["isVisibleInTranscriptOnly"]) == (True, True)
    assert (line["parentUuid"], line["message"]["content"]) == (bound["uuid"], "What was done before.")
    assert (line["cwd"], line["version"], line["gitBranch"]) == ("/home/me/my_project", "2.1.37", "main")
    assert (kept["uuid"], kept["parentUuid"], kept["message"]["usage"]["cache_read_input_tokens"]) == (
        "a4",
        line["uuid"],
        0,
    )
    assert claude_code.FORMAT.codec.validate(written.data) == []
    again = read_bytes(written.data)
    assert len(again.epochs) == 1
    assert shape(again.context()) == shape([node, *context[-1:]])
    assert all(message.usage is None for message in again.messages)


def test_made_messages_are_rendered_and_read_back() -> None:
    session = read(*small()[1:9])
    context = session.context()
    made = [
        Message("s", "system", (Text("Before."),), "summary"),
        Message(
            "c", "assistant", (Text("Last step"), ToolUse("t9", "Read", {"a": 1}), ToolUse("t8", "Bash", {})), "summary"
        ),
        Message("r", "tool", (ToolResult("t9", (Text("x"),)), ToolResult("t8", (Text("no"),), is_error=True))),
        Message("m", "user", (Text("Reminder"),), "meta"),
        Message("p", "user", (Text("Pinned"), Text("twice")), time=1.5),
    ]
    written = claude_code.FORMAT.codec.write(session, [*made, context[-1]])
    assert claude_code.FORMAT.codec.validate(written.data) == []
    again = read_bytes(written.data).context()
    assert [message.role for message in again] == ["user", "assistant", "tool", "user", "user", "assistant"]
    assert [message.kind for message in again] == ["summary", "summary", "normal", "meta", "normal", "normal"]
    assert [message.blocks for message in again[1:]] == [message.blocks for message in [*made[1:], context[-1]]]
    assert again[4].time == 1.5
    calls = [value for value in lines_of(written.data) if value["type"] == "assistant"][:3]
    assert all(len(value["message"]["content"]) == 1 for value in calls)
    assert len({value["message"]["id"] for value in calls}) == 1
    assert calls[0]["message"]["model"] == "claude-opus-4-6"


def test_a_moved_pin_is_copied_and_what_lies_between_goes() -> None:
    lines = small()[1:9]
    session = read(*lines)
    context = session.context()
    written = claude_code.FORMAT.codec.write(session, [context[0], context[-1]])
    assert next(value["uuid"] for value in lines_of(written.data)) == "u1"
    node = Message("n", "user", (Text("Short."),), "summary")
    pinned = claude_code.FORMAT.codec.write(session, [node, context[0], node, context[-1]])
    assert [value.get("uuid") for value in lines_of(pinned.data) if value.get("uuid") in ("u1", "p1", "a4")] == [
        "u1",
        "a4",
    ]


def test_what_cannot_be_carried_is_said() -> None:
    lines = small()[1:9]
    session = read(*lines[:-1], b"{broken", b"42", lines[-1])
    made = Message("x", "user", (Media("image/png", 9),))
    written = claude_code.FORMAT.codec.write(session, [*session.context(), made])
    assert written.losses == (Loss(LossKind.MEDIA),)
    kept = claude_code.FORMAT.codec.write(session, session.context())
    assert kept.losses == (Loss(LossKind.DAMAGED_RECORDS, 2),)
    assert claude_code.FORMAT.codec.validate(kept.data) == []


def test_a_session_of_another_format_is_rendered_whole() -> None:
    messages = (
        Message("1", "system", (Text("You are a bot."),)),
        Message("2", "user", (Text("Go"),)),
        Message("3", "assistant", (Thinking("secret"), ToolUse("call:1", "ls", "not json")), source=(2,)),
        Message("4", "tool", (ToolResult("call:1", (Text("files"),)),)),
        Message("5", "assistant", (Text("Done"), Opaque("refusal", {"x": 1}))),
    )
    session = Session("openai-chat", None, messages, Records(b""), model="gpt-5")
    written = claude_code.FORMAT.codec.write(session, messages)
    assert claude_code.FORMAT.codec.validate(written.data) == []
    again = read_bytes(written.data).context()
    assert [message.role for message in again] == ["user", "assistant", "tool", "assistant"]
    assert again[1].calls[0].id == again[2].results[0].call_id
    assert re.fullmatch(r"[\w-]+", again[1].calls[0].id)
    assert written.losses == (
        Loss(LossKind.SYSTEM_MESSAGES, 1, ("Claude Code",)),
        Loss(LossKind.IDS_RENAMED),
        Loss(LossKind.REASONING),
        Loss(LossKind.UNKNOWN_BLOCKS),
    )


def test_a_context_that_begins_with_a_response_gets_a_request_before_it() -> None:
    session = read(*small()[1:9])
    written = claude_code.FORMAT.codec.write(session, session.context()[-1:])
    assert [value["type"] for value in lines_of(written.data)] == ["user", "assistant"]
    assert claude_code.FORMAT.codec.validate(written.data) == []


def test_a_sub_agents_file_becomes_a_session_of_its_own() -> None:
    session = read(user("x1", None, "Look", isSidechain=True), assistant("x2", "x1", "m", text("Y"), isSidechain=True))
    written = claude_code.FORMAT.codec.write(session, session.context())
    assert claude_code.FORMAT.codec.validate(written.data) == []


GOOD = [user("u1", None, "Go"), assistant("a1", "u1", "m1", call("t1")), result("r1", "a1", "t1")]
CALM = {"usage": dict.fromkeys(USAGE, 0)}
END = assistant("a2", "r1", "m2", text("Done"), body=CALM)


def test_the_rules_pass_a_good_file() -> None:
    assert claude_code.FORMAT.codec.validate(jsonl(*GOOD, END)) == []
    assert claude_code.FORMAT.codec.validate(jsonl(boundary("b", None), summary("s", "b"))) == []


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        ([*GOOD, b"{broken", END], ["Line 4 is not a JSON object."]),
        ([*GOOD, {**END, "sessionId": "other"}], ["It has 2 session ids where there must be one."]),
        (
            [*GOOD, {**END, "uuid": "u1"}],
            [
                "Line 4 has the uuid of line 1.",
                "Line 1 is not in the newest line's parent chain, so it would not be loaded.",
                "Line 2 is an assistant message, but the first message must be a user's.",
            ],
        ),
        (
            [*GOOD, {**END, "parentUuid": "gone"}],
            [
                "Line 4 names a parent that is not before it.",
                "Line 1 is not in the newest line's parent chain, so it would not be loaded.",
                "Line 2 is not in the newest line's parent chain, so it would not be loaded.",
                "Line 3 is not in the newest line's parent chain, so it would not be loaded.",
                "Line 4 is an assistant message, but the first message must be a user's.",
            ],
        ),
        (
            [*GOOD, {**END, "parentUuid": None}],
            [
                "Line 1 is not in the newest line's parent chain, so it would not be loaded.",
                "Line 2 is not in the newest line's parent chain, so it would not be loaded.",
                "Line 3 is not in the newest line's parent chain, so it would not be loaded.",
                "Line 4 is an assistant message, but the first message must be a user's.",
            ],
        ),
        ([*GOOD[:2], {**END, "parentUuid": "a1"}], ["The call of line 2 has no result before line 3."]),
        ([GOOD[0], result("r1", "u1", "t1"), END], ["Line 2 has a result without its call before it."]),
        ([*GOOD, user("u2", "r1", ""), {**END, "parentUuid": "u2"}], ["Line 4 has a message without content."]),
        ([*GOOD, user("u2", "r1", [text("")]), {**END, "parentUuid": "u2"}], ["Line 4 has an empty text block."]),
        ([{**END, "parentUuid": None}], ["Line 1 is an assistant message, but the first message must be a user's."]),
        (
            [boundary("b", None), user("u1", None, "Go")],
            ["The newest line's parent chain does not reach the boundary on line 1."],
        ),
        ([line("progress", "p1", None, data={})], ["It holds no user or assistant line."]),
    ],
)
def test_the_rules_find_each_fault(lines: list[Any], faults: list[str]) -> None:
    assert claude_code.FORMAT.codec.validate(jsonl(*lines)) == faults


@pytest.mark.parametrize(("more", "fault"), [(0, False), (1, True)])
def test_the_rules_allow_the_newest_call_no_more_tokens_than_the_loaded_messages_can_be(more: int, fault: bool) -> None:
    """One token per character, and 30 000 for system and tools."""
    ends = assistant("a2", "r1", "m2", text("Done"), body={"usage": {"input_tokens": 30_000}})
    size = sum(len(json.dumps(line["message"])) for line in [*GOOD, ends])
    ends["message"]["usage"] = {"input_tokens": 30_000 + size + more}
    said = [f"Line 4 claims {30_000 + size + 1} tokens, more than the context can have."]
    assert claude_code.FORMAT.codec.validate(jsonl(*GOOD, ends)) == (said if fault else [])


def test_the_rules_look_at_all_lines_of_a_response_and_at_no_bill_from_before_a_boundary() -> None:
    lines = [
        user("u1", None, "Go"),
        assistant("a1", "u1", "m1", call("t1")),
        assistant("a2", "a1", "m1", call("t2")),
        result("r1", "a1", "t1"),
        assistant("a3", "r1", "m2", text("Done"), body=CALM),
    ]
    assert claude_code.FORMAT.codec.validate(jsonl(*lines)) == ["The call of line 3 has no result before line 5."]
    large = assistant("a2", "r1", "m2", text("Done"), body={"usage": {"input_tokens": 900_000}})
    kept = {"preservedMessages": {"anchorUuid": "s1", "uuids": ["a2"]}}
    bound = {**boundary("b1", "a2"), "compactMetadata": kept}
    assert claude_code.FORMAT.codec.validate(jsonl(*GOOD, large, bound, summary("s1", "b1"))) == []


def test_a_newest_answer_that_is_written_anew_notes_that_the_bills_before_are_spent() -> None:
    session = read(*GOOD, assistant("a2", "r1", "m2", text("Done")))
    newest = replace(session.messages[-1], source=())
    written = claude_code.FORMAT.codec.write(session, [*session.context()[:-1], newest])
    assert [value.get("workbench_spent") for value in lines_of(written.data)] == [None, None, None, True]
    assert [message.usage for message in read_bytes(written.data).context()] == [None] * 4


def test_the_rules_know_what_the_loader_recovers_keeps_and_leaves() -> None:
    """The parent of a parallel result is its call; an abandoned branch and a sub-agent's file are valid."""
    parallel = [
        user("u1", None, "Go"),
        assistant("a1", "u1", "m1", call("t1")),
        assistant("a2", "a1", "m1", call("t2")),
        result("r1", "a1", "t1"),
        result("r2", "a2", "t2"),
        assistant("a3", "r2", "m2", text("Done")),
    ]
    assert claude_code.FORMAT.codec.validate(jsonl(*parallel)) == []
    again = [user("u2", "a3", "Left"), user("u3", "a3", "Taken"), assistant("a4", "u3", "m4", text("Done"))]
    assert claude_code.FORMAT.codec.validate(jsonl(*parallel, *again)) == []
    kept = {"preservedSegment": {"headUuid": "a1", "anchorUuid": "s1", "tailUuid": "r2"}}
    bound = {**boundary("b1", "r2"), "compactMetadata": kept}
    for parent in ("s1", "r2"):
        after = [bound, summary("s1", "b1"), assistant("a5", parent, "m5", text("On"), body=CALM)]
        assert claude_code.FORMAT.codec.validate(jsonl(*parallel[:5], *after)) == []
    alone = [user("x1", "elsewhere", "Look", isSidechain=True)]
    assert claude_code.FORMAT.codec.validate(jsonl(*alone)) == []


SYNTHETIC = {"model": "<synthetic>", "usage": dict.fromkeys(USAGE, 0)}


def test_c_the_last_real_usage_is_reset_though_a_synthetic_answer_stands_behind_it() -> None:
    """Claude Code uses the newest usage of a model; its own messages do not hide it."""
    session = read(
        *GOOD,
        assistant("a2", "r1", "m2", text("Done")),
        user("u2", "a2", "More"),
        assistant("a3", "u2", "m3", text("No response requested."), body=SYNTHETIC),
        user("u3", "a3", "Again"),
    )
    node = Message("n", "user", (Text("Short."),), "summary")
    written = claude_code.FORMAT.codec.write(session, [node, *session.context()[3:]])
    used = [
        (value["uuid"], value["message"]["usage"]["cache_read_input_tokens"], value.get("workbench_spent"))
        for value in lines_of(written.data)
        if value["type"] == "assistant"
    ]
    assert used == [("a2", 0, True), ("a3", 0, True)]
    assert claude_code.FORMAT.codec.validate(written.data) == []


def test_c_a_made_message_of_which_nothing_can_be_sent_is_noted() -> None:
    session = read(*GOOD, END)
    nothing = [Message(f"x{n}", "user", (Text("  "),)) for n in range(2)]
    written = claude_code.FORMAT.codec.write(session, [*session.context(), *nothing])
    assert written.losses == (Loss(LossKind.EMPTY_MESSAGES, 2),)
    assert shape(read_bytes(written.data).context()) == shape(session.context())


@pytest.mark.parametrize(
    ("stamp", "tokens", "stale"),
    [
        ("2026-02-08T10:30:50.234Z", 30_000, True),
        ("2026-02-08T10:30:50.235Z", 30_000, False),
        ("2026-02-08T10:30:50.236Z", 30_000, False),
        ("2026-02-08T10:30:50.234Z", 1, True),
        ("2026-02-08T10:30:50.234Z", 0, False),
        ("no time", 30_000, False),
    ],
)
def test_c_the_rules_know_usage_from_before_a_compaction(stamp: str, tokens: int, stale: bool) -> None:
    """The boundary is from 10:30:50.235; usage from before it counts the removed messages."""
    kept = assistant("a2", "s", "m2", text("Done"), body={"usage": {"input_tokens": tokens}})
    kept["timestamp"] = stamp
    lines = jsonl(boundary("b", None), summary("s", "b"), kept)
    said = [f"Line 3 counts {tokens} tokens from before the compaction in line 1."] if stale else []
    assert claude_code.FORMAT.codec.validate(lines) == said
    later = assistant("a3", "u2", "m3", text("More"), body={"usage": {"input_tokens": 30_000}})
    again = jsonl(boundary("b", None), summary("s", "b"), kept, user("u2", "a2", "On"), later)
    assert claude_code.FORMAT.codec.validate(again) == []
