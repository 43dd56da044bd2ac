"""Gemini CLI sessions of both forms: replacing records, replacing histories, and the context."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.building import agent, session_of, user
from workbench.conformance.formats import assert_exact, read
from workbench.formats.files import load
from workbench.formats.gemini import FORMAT
from workbench.formats.gemini.parts import ACKNOWLEDGED
from workbench.formats.look import Look
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

STAMP = "2026-04-29T21:39:22.319Z"
HEAD = {"sessionId": "old", "projectHash": "abc", "startTime": STAMP, "lastUpdated": STAMP, "kind": "main"}


def record(id: str | None, type: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": STAMP, "type": type, "content": content, **more}


def call(id: str, result: Any, status: str = "success", **args: Any) -> dict[str, Any]:
    return {"id": id, "name": "ls", "args": args, "result": result, "status": status, "timestamp": STAMP}


def response(id: str, **output: Any) -> list[dict[str, Any]]:
    return [{"functionResponse": {"id": id, "name": "ls", "response": output}}]


def counts(total: int) -> dict[str, int]:
    return {"input": total - 5, "output": 3, "cached": 10, "thoughts": 2, "tool": 0, "total": total}


MESSAGES = [
    record("i", "info", "an update is there"),
    record("u1", "user", "look"),
    record("c", "user", "/memory show"),
    record(
        "g1",
        "gemini",
        "I look.",
        thoughts=[{"subject": "Plan", "description": "first", "timestamp": STAMP}],
        toolCalls=[call("t1", response("t1", output="a b"), path="."), call("t2", response("t2", error="no"), "error")],
        tokens=counts(105),
        model="gemini-x",
    ),
    record("u2", "user", [{"text": "and "}, {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]),
    record("g2", "gemini", "Done.", tokens=counts(205), model="gemini-x"),
]
SHAPE = [
    ("user", "normal", (Text("look"),)),
    (
        "assistant",
        "normal",
        (Text("I look."), ToolUse("t1", "ls", {"path": "."}), ToolUse("t2", "ls", {})),
    ),
    ("tool", "normal", (ToolResult("t1", (Text("a b"),)), ToolResult("t2", (Text("no"),), is_error=True))),
    ("user", "normal", (Text("and "), Media("image/png", 4))),
    ("assistant", "normal", (Text("Done."),)),
]


def document(*messages: Any, **more: Any) -> bytes:
    return json.dumps({**HEAD, **more, "messages": list(messages)}, indent=2, ensure_ascii=False).encode()


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.parametrize("data", [document(*MESSAGES), lines(HEAD, *MESSAGES)])
def test_both_forms_are_read_alike(data: bytes) -> None:
    assert FORMAT.recognise(Look.of(data))
    assert FORMAT.codec.validate(data) == []
    session = read(FORMAT, data)
    assert shape(session.context()) == SHAPE
    assert [m.id for m in session.messages] == ["i", "u1", "c", "g1:thoughts", "g1", "g1:results", "u2", "g2"]
    assert [(m.role, m.kind) for m in session.messages if m not in session.context()] == [
        ("system", "meta"),
        ("user", "meta"),
        ("assistant", "meta"),
    ]
    assert session.messages[3].blocks == (Thinking("**Plan** first"),)
    assert [m.usage for m in session.messages if m.usage] == [Usage(90, 5, 10), Usage(190, 5, 10)]
    assert (session.id, session.title, session.model) == ("old", "look", "gemini-x")
    assert session.facts.project == "abc"
    again = FORMAT.codec.write(session, session.context())
    assert len(session.records) == 0 or (again.data, again.id) == (data, "old")


def test_a_record_appended_again_replaces_the_first() -> None:
    early = record("g1", "gemini", "I look.")
    session = read(FORMAT, lines(HEAD, MESSAGES[1], early, MESSAGES[4], MESSAGES[3], MESSAGES[5]))
    assert shape(session.context()) == SHAPE
    assert len(session.messages) == 6


def test_rewound_messages_are_off_the_branch() -> None:
    wrong = [record("x", "user", "wrong"), record("y", "gemini", "so be it")]
    session = read(FORMAT, lines(HEAD, *MESSAGES, *wrong, {"$rewindTo": "x"}, record("z", "user", "right")))
    assert [m.text for m in session.context()][-2:] == ["Done.", "right"]
    assert len(session.messages) - len(session.branch) == 2
    everything = read(FORMAT, lines(HEAD, *MESSAGES, {"$rewindTo": "unknown"}, record("z", "user", "right")))
    assert [m.text for m in everything.context()] == ["right"]


def test_records_that_change_the_history_are_not_exported() -> None:
    """So are unknown records of that kind."""
    session = read(FORMAT, lines(HEAD, *MESSAGES[:4], {"$patch": {"id": "g1"}}, *MESSAGES[4:]))
    (appended,) = FORMAT.codec.forms
    for write in (FORMAT.codec.write, appended.write):
        assert write is not None
        written = write(session, session.context()[1:])
        assert FORMAT.codec.validate(written.data) == []
        last = written.data.splitlines()[-1]
        assert b"$patch" not in (last if write is appended.write else written.data)


COMPRESSED = [
    record("s", "user", [{"text": "<state_snapshot>\nwe looked\n</state_snapshot>"}]),
    record("k", "gemini", [{"text": ACKNOWLEDGED}]),
    {
        **MESSAGES[3],
        "content": [{"text": "I look."}, {"functionCall": {"id": "t1", "name": "ls", "args": {"path": "."}}}],
    },
    record("g1_response", "user", response("t1", output="a b")),
    MESSAGES[5],
]


def test_a_new_history_ends_an_epoch() -> None:
    data = lines(HEAD, *MESSAGES, {"$set": {"messages": COMPRESSED, "lastUpdated": STAMP}}, record("n", "user", "next"))
    session = read(FORMAT, data)
    first = session.epochs[0]
    assert first.ended_by is not None
    assert (first.ended_by.tokens_before, first.ended_by.summary) == (205, "s")
    assert [m.kind for m in session.context()] == ["summary", "summary", "normal", "normal", "normal", "normal"]
    assert session.context()[2].id == "g1#11"
    assert session.context()[4] is session.messages[7], "an unchanged record is the one of before"
    assert [r.call_id for m in session.context() for r in m.results] == ["t1", "t2"]
    written = assert_exact(FORMAT, session, session.context()[1:])
    assert json.dumps(COMPRESSED[2]).encode() in written.data
    updated = {"$set": {"messages": [{**MESSAGES[1], "content": "looks"}, *MESSAGES[2:]], "summary": "A title"}}
    masked = read(FORMAT, lines(HEAD, *MESSAGES, updated))
    assert len(masked.epochs) == 1
    assert (masked.context()[0].text, masked.title) == ("looks", "A title")


def test_parts_with_calls_or_thoughts_take_precedence() -> None:
    parts = [{"text": "hm", "thought": True}, {"functionCall": {"name": "ls", "args": {}}}, {"strange": 1}, "bare"]
    messages = [
        MESSAGES[1],
        record("g", "gemini", parts, thoughts=[{"subject": "", "description": "not this"}]),
        record("r", "user", [{"functionResponse": {"name": "ls", "response": {"n": 1}}}]),
        record("s", "user", {"text": "one part"}),
    ]
    session = read(FORMAT, lines(HEAD, *messages))
    assert shape(session.context())[1:] == [
        (
            "assistant",
            "normal",
            (ToolUse("ls-g-1", "ls", {}), Opaque("strange", parts[2]), Text("bare")),
        ),
        ("tool", "normal", (ToolResult("ls-g-1", (Text('{"n":1}'),)),)),
        ("user", "normal", (Text("one part"),)),
    ]
    assert_exact(FORMAT, session, session.context()[:-1])


@pytest.mark.parametrize("form", [document, lambda *messages: lines(HEAD, *messages)])
def test_results_can_be_rewritten_in_their_record(form: Any) -> None:
    session = read(FORMAT, form(*MESSAGES))
    request, response, results, *rest = session.context()
    short = Message("m", "tool", (ToolResult("t1", (Text("a"), Text("…"))), results.results[1]))
    written = assert_exact(FORMAT, session, (request, response, short, *rest))
    records = [json.loads(raw) for raw in written.data.splitlines()[1:]]
    written_record = next(each for each in records if each["id"] == "g1")
    assert written_record["thoughts"] == MESSAGES[3]["thoughts"]
    swapped = Message("m", "tool", results.results[::-1])
    assert_exact(FORMAT, session, (request, response, swapped, *rest))
    assert_exact(FORMAT, session, (request, Message("n", "assistant", (Text("x"), Text("y")), "summary"), *rest))


def test_kept_records_are_unchanged_and_the_last_count_is_zero() -> None:
    raws = [json.dumps(message).encode() for message in MESSAGES]
    data = b"\n".join([json.dumps(HEAD).encode(), *raws, b'{"odd": 1}', b'{"$set":{"summary":"T"}}'])
    session = read(FORMAT, data)
    node = Message("n", "user", (Text("Short."),), "summary")
    written = assert_exact(FORMAT, session, (node, *session.context()[1:]))
    head, summary, *records = written.data.splitlines()
    assert json.loads(summary)["workbench_kind"] == "summary"
    zero = dict.fromkeys(counts(0), 0)
    assert [records[0], records[1], records[3]] == [raws[3], raws[4], b'{"odd": 1}']
    assert json.loads(records[2]) == {**MESSAGES[5], "tokens": zero, "workbench_spent": True}
    assert {**json.loads(head), "lastUpdated": 0} == {**HEAD, "sessionId": written.id, "lastUpdated": 0, "summary": "T"}
    assert written.name.endswith(f"-{written.id[:8]}.jsonl")
    assert not [m for m in read(FORMAT, written.data).messages if m.usage]


def test_requests_that_gemini_would_ignore_are_prefixed() -> None:
    messages = [Message("1", "user", (Text("/tmp is full"),)), Message("2", "assistant", (Text("I see"),))]
    written = FORMAT.codec.write(session_of(messages), messages)
    assert [m.text for m in read(FORMAT, written.data).context()] == ["Request: /tmp is full", "I see"]
    assert written.losses == (Loss(LossKind.REQUESTS_PREFIXED, 1, ("Gemini CLI",), "Request: "),)


def test_odd_records_are_warned_of() -> None:
    session = read(FORMAT, lines(HEAD, *MESSAGES, 7, {"$set": {"messages": [{}, MESSAGES[1]]}}) + b"{broken")
    assert [str(warning)[:8] for warning in session.warnings] == ["line 8: ", "line 9: ", "line 10:"]
    assert len(read(FORMAT, document("x", *MESSAGES)).warnings) == 1
    for data in (lines(HEAD), document(), json.dumps({**HEAD, "messages": 1}).encode()):
        with pytest.raises(BadInput):
            read(FORMAT, data)


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        ([MESSAGES[0], MESSAGES[2]], ["It holds no message that Gemini CLI would send."]),
        ([MESSAGES[1], record("x", "robot", "x")], ["Message 2 has a type that Gemini CLI does not know."]),
        ([MESSAGES[1], {**MESSAGES[1], "id": ""}], ["Message 2 has no id."]),
        (
            [MESSAGES[1], record("g", "gemini", "", toolCalls=[{"id": "t"}])],
            ["Message 2 has a call without an id or a name."],
        ),
        (
            [MESSAGES[1], record("g", "gemini", "", toolCalls=[call("t", [{"text": "x"}])])],
            ["Message 2 has a result of ls without a functionResponse."],
        ),
        (
            [MESSAGES[1], record("g", "gemini", "", toolCalls=[call("t", response("u", a=1))])],
            ["Message 2 has a result of ls that answers another call."],
        ),
        (
            [MESSAGES[1], record("g", "gemini", "", toolCalls=[call("t", None)]), MESSAGES[5]],
            ["A call of message 2 has no response before message 3."],
        ),
        (
            [record("r", "user", response("t", output="x"))],
            ["Message 1 has a response without its call before it."],
        ),
        (
            [MESSAGES[1], record("g", "gemini", "x", tokens=counts(90_000))],
            ["Message 2 claims 90000 tokens, more than the context can have."],
        ),
    ],
)
def test_the_rules_find_each_fault(messages: list[Any], faults: list[str]) -> None:
    for data in (document(*messages), lines(HEAD, *messages)):
        assert FORMAT.codec.validate(data) == faults


def test_the_rules_find_faults_around_the_messages() -> None:
    unowned = json.dumps({"sessionId": "x", "messages": MESSAGES}).encode()
    assert FORMAT.codec.validate(unowned) == ["It has no projectHash as text."]
    broken = lines(HEAD, *MESSAGES) + b"{broken"
    assert FORMAT.codec.validate(broken) == ["Line 8 is not a JSON object, so Gemini CLI would skip it."]


ENVIRONMENT = record("env", "user", [{"text": "<session_context>\nToday is Monday.\n</session_context>"}])
CALL_RECORD = {**MESSAGES[3], "toolCalls": MESSAGES[3]["toolCalls"][:1], "thoughts": []}
COPIED = [
    ENVIRONMENT,
    record("s", "user", [{"text": "<scratchpad>x</scratchpad><state_snapshot>we looked</state_snapshot>"}]),
    record("k", "gemini", [{"text": ACKNOWLEDGED}]),
    record("u1b", "user", [{"text": "look"}]),
    record("g1b", "gemini", [{"text": "I look."}, {"functionCall": {"id": "t1", "name": "ls", "args": {"path": "."}}}]),
    record("r1b", "user", response("t1", output="a b")),
]


def test_results_that_a_compression_kept_are_kept() -> None:
    """The new history holds results in records of their own; those in the calls are dropped."""
    loaded = lines(HEAD, ENVIRONMENT, MESSAGES[1], CALL_RECORD, record("r", "user", response("t1", output="a b")))
    session = read(FORMAT, loaded + lines({"$set": {"messages": COPIED}}, MESSAGES[5]))
    assert [m.id for m in session.context(1)] == ["env", "u1", "g1", "g1:results"]
    assert [m.id for m in session.context(2)] == ["env", "s", "k", "u1b", "g1b", "r1b", "g2"]
    assert [r.call_id for m in session.context() for r in m.results] == ["t1"]
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.way, compaction.summary, compaction.tokens_before) == ("summary", "s", 105)
    assert {session.messages[n].id for n in session.epochs[1].copies} == {"g1b", "r1b"}
    written = FORMAT.codec.forms[0].write(session, session.context()[:-1])
    assert FORMAT.codec.validate(written.data) == []


def test_a_result_that_a_resume_repeated_is_read_once() -> None:
    """Gemini CLI 0.61 writes it so on a resume: the call's own result, then a record of it. An id that is called again
    gets a new result."""
    answered = record("r", "user", response("t1", output="a b"))
    resumed = [ENVIRONMENT, MESSAGES[1], COPIED[4], COPIED[5], answered]
    later = [record("g2", "gemini", COPIED[4]["content"]), record("r2", "user", response("t1", output="c"))]
    session = read(FORMAT, lines(HEAD, {"$set": {"messages": resumed}}, *later, MESSAGES[4]))
    assert [m.id for m in session.context()] == ["env", "u1", "g1b", "r1b", "g2", "r2", "u2"]
    assert_exact(FORMAT, session, session.context()[1:])


def test_a_result_that_a_compression_merged_is_read_once() -> None:
    twice = record("r", "user", [*response("t1", output="a b"), *response("t1", output="a b"), {"text": "look"}])
    session = read(FORMAT, lines(HEAD, MESSAGES[1], COPIED[4], twice))
    assert session.context()[-1].blocks == (ToolResult("t1", (Text("a b"),)), Text("look"))
    written = FORMAT.codec.write(session, session.context()[1:])
    assert json.loads(written.data.splitlines()[-1])["content"] == [*response("t1", output="a b"), {"text": "look"}]


def test_a_result_of_another_agent_is_one_text() -> None:
    """A separate text part would be sent as the user's."""
    two = Message("r", "tool", (ToolResult("t1", (Text("a b"), Text("agent 7"))),))
    session = session_of([user("u", "look"), agent("a", "", ToolUse("t1", "ls", {})), two])
    written = FORMAT.codec.write(session, session.context())
    assert json.loads(written.data.splitlines()[-1])["toolCalls"][0]["result"] == response("t1", output="a b\nagent 7")


def test_the_session_context_is_sent_once() -> None:
    late = record("late", "user", [{"text": "<session_context>\nToday is Tuesday.\n</session_context>"}])
    session = read(FORMAT, lines(HEAD, ENVIRONMENT, MESSAGES[1], MESSAGES[5], late))
    assert [(m.id, m.kind) for m in session.context()] == [("env", "meta"), ("u1", "normal"), ("g2", "normal")]
    assert session.context()[0].blocks == (Text("<session_context>\nToday is Monday.\n</session_context>", True),)
    anew = tuple(replace(message, source=()) for message in session.context())
    assert_exact(FORMAT, session, anew)
    assert FORMAT.codec.validate(lines(HEAD, ENVIRONMENT)) == ["It holds no message that Gemini CLI would send."]


def test_a_call_with_the_responses_of_its_entire_turn_has_its_own() -> None:
    turn = [*response("t1", output="one"), {"text": "with it"}, *response("t2", output="two")] * 2
    both = record("g", "gemini", "", toolCalls=[call("t1", turn), call("t2", turn)])
    session = read(FORMAT, lines(HEAD, MESSAGES[1], both))
    assert session.context()[-1].results == (
        ToolResult("t1", (Text("one"), Text("with it"))),
        ToolResult("t2", (Text("two"),)),
    )


def test_an_export_holds_each_result_once_and_only_the_new_id() -> None:
    """Gemini CLI would send every response stored with a call, and use the id that was set last."""
    turn = [*response("t1", output="one"), *response("t2", output="two")]
    both = record("g", "gemini", "", toolCalls=[call("t1", turn), call("t2", turn)])
    session = read(FORMAT, lines(HEAD, MESSAGES[1], both, {"$set": {"sessionId": "old", "x": 1}}, MESSAGES[4]))
    written = assert_exact(FORMAT, session, session.context()[1:])
    written_record = next(value for raw in written.data.splitlines() if (value := json.loads(raw)).get("id") == "g")
    assert [one["result"] for one in written_record["toolCalls"]] == [turn[:1], turn[1:]]
    appended = FORMAT.codec.forms[0].write(session, session.context()[1:])
    values = [json.loads(raw) for raw in appended.data.splitlines()]
    named = [value.get("$set", value).get("sessionId") for value in values]
    assert [id for id in named if id] == [appended.id, appended.id]
    assert values[3] == {"$set": {"sessionId": appended.id, "x": 1}}


def test_a_history_that_is_emptied_and_filled_again_is_no_compaction() -> None:
    """Gemini CLI 0.61 writes that when it resumes. A history that stays empty is a compaction."""
    emptied = {"$set": {"messages": [ENVIRONMENT]}}
    filled = {"$set": {"messages": [ENVIRONMENT, *MESSAGES[1:]]}}
    session = read(FORMAT, lines(HEAD, *MESSAGES[1:], emptied, filled, record("n", "user", "next")))
    assert [epoch.ended_by for epoch in session.epochs] == [None]
    assert [m.id for m in session.context()] == ["env", "u1", "g1", "g1:results", "u2", "g2", "n"]
    still_empty = read(FORMAT, lines(HEAD, *MESSAGES[1:], emptied, record("n", "user", "next"), filled))
    assert [(len(e.members), e.ended_by and e.ended_by.way) for e in still_empty.epochs] == [
        (5, "removal"),
        (2, "removal"),
        (6, None),
    ]


def test_masked_outputs_are_cleared_from_the_new_history_on() -> None:
    masked = {
        **CALL_RECORD,
        "toolCalls": [call("t1", response("t1", output="<tool_output_masked>\nin a file"), path=".")],
    }
    data = lines(HEAD, MESSAGES[1], CALL_RECORD, {"$set": {"messages": [MESSAGES[1], masked]}}, MESSAGES[5])
    session = read(FORMAT, data)
    assert [[r.text for m in session.context(n) for r in m.results] for n in (1, 2)] == [
        ["a b"],
        ["<tool_output_masked>\nin a file"],
    ]
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.way, compaction.summary) == ("clearing", None)
    assert [m.usage is None for m in session.messages if m.role == "assistant"] == [False, True, False]
    again = {"$set": {"messages": [MESSAGES[1], masked, {**MESSAGES[5], "content": [{"text": "Done."}]}]}}
    assert len(read(FORMAT, data + lines(again)).epochs) == 2, "what is masked already is not masked once more"


def test_a_shorter_history_without_a_summary_is_a_removal() -> None:
    session = read(FORMAT, lines(HEAD, *MESSAGES, {"$set": {"messages": MESSAGES[4:]}}))
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.way, [m.id for m in session.context()]) == ("removal", ["u2", "g2"])


FILES = ["\n--- Content from referenced files ---", "\nContent from @a.md:\n", "# A", "\n--- End of content ---"]
WARNED = "System: Potential loop detected. Details: x"


@pytest.mark.parametrize(
    ("content", "own"),
    [
        ([{"text": text} for text in ("read @a.md", *FILES)], ["read @a.md"]),
        (["read @a.md", *FILES[:-1]], ["read @a.md"]),
        ("read @a.md" + "".join(FILES) + " and hurry", ["read @a.md", " and hurry"]),
        ("what is\n--- End of content ---?", ["what is\n--- End of content ---?"]),
        (["go", "<hook_context>a hook</hook_context>"], ["go"]),
        (
            "User hints:\n<user_input>\n- use tabs\n</user_input>\n\nInternal instruction: hm",
            ["- use tabs"],
        ),
        (WARNED, []),
        ("Here is the user's editor context as a JSON object. x\n```json\n{}\n```", []),
        ("Why did you say " + WARNED, ["Why did you say " + WARNED]),
    ],
)
def test_user_text_is_separated_from_added_text(content: Any, own: list[str]) -> None:
    (message,) = read(FORMAT, lines(HEAD, record("u", "user", content))).context()
    assert [block.text for block in message.blocks if isinstance(block, Text) and not block.injected] == own
    assert message.kind == ("normal" if own else "meta")
    texts = (
        [content]
        if isinstance(content, str)
        else [part["text"] if isinstance(part, dict) else part for part in content]
    )
    assert "".join(block.text for block in message.blocks if isinstance(block, Text)) == "".join(texts)


def test_answers_through_tools_are_user_text() -> None:
    def answered(id: str, name: str, output: str) -> dict[str, Any]:
        content = [{"functionResponse": {"id": id, "name": name, "response": {"output": output}}}]
        return {**call(id, content), "name": name}

    record_of_calls = record(
        "g",
        "gemini",
        "",
        toolCalls=[
            answered("t1", "ask_user", '{"answers":{"0":"green","1":"large"}}'),
            answered(
                "t2", "exit_plan_mode", "Plan rejected. User feedback: smaller\n\nsteps\n\nThe plan is stored at: x"
            ),
            answered("t3", "exit_plan_mode", "Plan rejected. No feedback provided.\n\nThe plan is stored at: x"),
        ],
    )
    session = read(FORMAT, lines(HEAD, MESSAGES[1], record_of_calls))
    assert [result.user_text for result in session.context()[-1].results] == ["green\nlarge", "smaller\n\nsteps", ""]


def test_stale_usage_is_recognised_by_its_mark_and_not_by_zeros() -> None:
    zeros = record("z", "gemini", "…", tokens=dict.fromkeys(counts(0), 0))
    interrupted = read(FORMAT, lines(HEAD, *MESSAGES, zeros))
    assert [m.usage for m in interrupted.messages if m.usage] == [Usage(90, 5, 10), Usage(190, 5, 10)]
    summary = Message("n", "user", (Text("Short."),), "summary")
    appended = FORMAT.codec.forms[0].write(interrupted, (summary, *interrupted.context()[3:]))
    session = read(FORMAT, appended.data)
    assert [m.usage for m in session.context()] == [None] * 4
    assert [m.usage for m in session.context(1) if m.usage] == [Usage(90, 5, 10)], "its own bill, in its own epoch"


def test_the_context_equals_a_recorded_request(shared: Path) -> None:
    """A session of 0.61, compressed four times, and the request that followed its resume."""
    path = shared / "agents/files/gemini/0.61-after-compress.jsonl"
    sent = shared / "agents/sent/gemini/0.61-after-compress.json"
    if not sent.exists():
        pytest.skip("what the agents sent is not here")
    parts = [part for content in json.loads(sent.read_bytes())["contents"] for part in content["parts"]]
    theirs = [
        part.get("text") or part.get("functionCall", {}).get("args") or part["functionResponse"]["response"]["output"]
        for part in parts
    ]
    ours = [
        block.text if isinstance(block, Text | ToolResult) else block.input
        for message in load(path).context()
        for block in message.blocks
        if isinstance(block, Text | ToolResult | ToolUse)
    ]
    assert ours == theirs[:-1], "the last is what was asked then"


def _in_project(folder: Path, monkeypatch: pytest.MonkeyPatch, **names: str) -> str:
    """Make `folder` the current one, with `projects` known to Gemini CLI; return its hash."""
    monkeypatch.chdir(folder)
    known = Path.home() / ".gemini/projects.json"
    known.parent.mkdir(exist_ok=True)
    known.write_text(json.dumps({"projects": names}))
    return hashlib.sha256(str(folder).encode()).hexdigest()


def test_an_export_goes_to_gemini_clis_name_of_the_folder(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = _in_project(tmp_path, monkeypatch, **{"/w/boats": "boats", str(tmp_path): "here"})
    boats = hashlib.sha256(b"/w/boats").hexdigest()
    for recorded, folder, name in ((boats, "/w/boats", "boats"), (here, str(tmp_path), "here"), ("abc", "", "abc")):
        session = read(FORMAT, lines({**HEAD, "projectHash": recorded}, *MESSAGES))
        written = FORMAT.codec.write(session, session.context()[:1])
        assert (written.folder, written.commands) == (folder, (("gemini", "--resume", written.id),))
        assert written.home == f"~/.gemini/tmp/{name}/chats/{written.name}"
        assert (Loss(LossKind.UNKNOWN_FOLDER) in written.losses) == (not folder)
    foreign = session_of([Message("u", "user", (Text("hi"),))])
    assert FORMAT.codec.write(foreign, foreign.messages).home.startswith("~/.gemini/tmp/here/chats/")


def test_a_home_set_by_a_variable_holds_projects_and_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _in_project(tmp_path, monkeypatch, **{str(tmp_path): "old"})
    moved = tmp_path / "moved"
    (moved / ".gemini").mkdir(parents=True)
    (moved / ".gemini/projects.json").write_text(json.dumps({"projects": {str(tmp_path): "new"}}))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(moved))
    foreign = session_of([Message("u", "user", (Text("hi"),))])
    assert FORMAT.codec.write(foreign, foreign.messages).home.startswith(f"{moved}/.gemini/tmp/new/chats/")


@pytest.mark.parametrize(
    "projects", ["", "[1]", pytest.param("[" * 100_000, id="deep"), '{"projects": 7}', '{"projects": {"HERE": 7}}']
)
def test_a_folder_without_a_name_uses_its_hash(
    projects: str, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = _in_project(tmp_path, monkeypatch)
    (Path.home() / ".gemini/projects.json").write_text(projects.replace("HERE", str(tmp_path)))
    foreign = session_of([Message("u", "user", (Text("hi"),))])
    assert FORMAT.codec.write(foreign, foreign.messages).home.startswith(f"~/.gemini/tmp/{here}/chats/")


def test_a_document_becomes_lines_even_if_nothing_changed() -> None:
    """Gemini CLI 0.61 turns a document into lines itself, and sends each result twice from the second resume on."""
    session = read(FORMAT, document(*MESSAGES))
    written = FORMAT.codec.write(session, session.context())
    assert written.name.endswith(".jsonl")
    assert written.id != session.id
    assert [sorted(json.loads(line))[:1] for line in written.data.splitlines()[:1]] == [["kind"]]
    assert "messages" not in json.loads(written.data.splitlines()[0])
    assert shape(read(FORMAT, written.data).context()) == shape(session.context())
    session = read(FORMAT, written.data)
    again = FORMAT.codec.write(session, session.context())
    assert (again.data, again.id) == (written.data, written.id)
    assert again.losses[:2] == (Loss(LossKind.UNCHANGED), Loss(LossKind.DELETED_WHEN_OLD))


def test_messages_of_a_document_without_a_unique_id_are_kept() -> None:
    records = [record(id, "user", text) for id, text in ((None, "a"), ("1", "b"), ("1", "c"))]
    before = read(FORMAT, document(*records))
    after = read(FORMAT, FORMAT.codec.write(before, before.context()).data).context()
    assert [(one.id, one.text) for one in after] == [("message-1", "a"), ("1", "b"), ("message-3", "c")]


def test_a_session_without_sent_messages_reports_that_it_cannot_be_resumed() -> None:
    before = read(FORMAT, document(record("1", "info", "an update is there")))
    losses = FORMAT.codec.write(before, before.context()).losses
    assert Loss(LossKind.NO_MESSAGE) in losses


@pytest.mark.parametrize(
    ("tokens", "usage"),
    [
        ({"input": 100, "output": 3, "cached": 10, "thoughts": 2, "tool": 0}, Usage(90, 5, 10)),
        ({"input": 100, "output": 3, "cached": 10, "thoughts": 2, "tool": 7}, Usage(97, 5, 10)),
        ({"input": 0, "output": 3, "cached": 0, "thoughts": 0, "tool": 1}, Usage(1, 3)),
        ({"input": 0, "output": 3, "cached": 0, "thoughts": 0, "tool": 0}, None),
    ],
)
def test_c_tokens_of_tool_prompts_are_part_of_the_prompt(tokens: dict[str, int], usage: Usage | None) -> None:
    """Gemini counts the prompts of its own tools separately from `input`; both are part of the billed prompt."""
    answer = record("g", "gemini", "Done.", tokens=tokens, model="gemini-x")
    session = read(FORMAT, lines(HEAD, record("u", "user", "look"), answer))
    assert session.context()[-1].usage == usage
