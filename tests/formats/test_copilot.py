"""Copilot CLI events: the context, compactions in the background, and the chain of a written file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.formats import assert_exact, read
from workbench.formats.copilot import FORMAT
from workbench.formats.look import Look
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.tokens import Basis, Counter, session_sizes

STAMP = "2026-07-24T16:40:24.313Z"
REAL = ("agentv-6a6787e-short", "starcar-84e7f6f-compaction")
Event = tuple[str, dict[str, Any], dict[str, Any]]


def event(kind: str, more: dict[str, Any] | None = None, /, **data: Any) -> Event:
    return kind, data, more or {}


def chain(*events: Event) -> bytes:
    lines = []
    for number, (kind, data, more) in enumerate(events, 1):
        parent = f"id-{number - 1}" if number > 1 else None
        value = {"type": kind, "data": data, "id": f"id-{number}", "timestamp": STAMP, "parentId": parent, **more}
        lines.append(json.dumps(value).encode() + b"\n")
    return b"".join(lines)


def request(id: str, **arguments: Any) -> dict[str, Any]:
    return {"toolCallId": id, "name": "ls", "arguments": arguments, "type": "function"}


def response_event(*requests: Any, text: str = "", **more: Any) -> Event:
    return event("assistant.message", messageId="m", content=text, toolRequests=list(requests), model="m-1", **more)


def result_event(id: str, text: str, **more: Any) -> Event:
    return event("tool.execution_complete", toolCallId=id, success=True, result={"content": text}, **more)


REMINDER = "<system_reminder>\nmind\n</system_reminder>"
START = event(
    "session.start",
    sessionId="old",
    producer="copilot-agent",
    version=1,
    copilotVersion="1",
    startTime=STAMP,
    context={"cwd": "/w"},
)
EVENTS = [
    START,
    event("session.model_change", newModel="m-0"),
    event("system.message", role="system", content="You are old."),
    event("system.message", role="system", content="You are Copilot."),
    event("user.message", content="look", transformedContent="<now>\n\nlook"),
    event("hook.start", hookType="x"),
    event("user.message", content="", transformedContent=REMINDER, source="system", delivery="steering"),
    event("user.message", content=REMINDER, source="system"),
    response_event(request("t1", path="."), request("t2"), reasoningText="hm", reasoningOpaque="sig"),
    event("tool.execution_start", toolCallId="t1", toolName="ls"),
    event("user.message", {"agentId": "sub"}, content="sub task"),
    response_event(request("s1"), text="sub", parentToolCallId="t1"),
    result_event("t2", "two"),
    event("tool.execution_complete", toolCallId="t1", success=False, error={"message": "no such file"}),
    event("system.notification", content="an agent is idle", kind={"type": "agent_idle"}),
    response_event(text="Done."),
    result_event("own", "of the person's own", isUserRequested=True),
    response_event(),
]


def test_the_context() -> None:
    session = read(FORMAT, chain(*EVENTS))
    assert FORMAT.codec.validate(chain(*EVENTS)) == []
    assert FORMAT.recognise(Look.of(chain(*EVENTS))) == "line 1 is the session.start event of Copilot CLI"
    assert shape(session.context()) == [
        ("user", "normal", (Text("<now>\n\n", injected=True), Text("look"))),
        ("user", "meta", (Text(REMINDER),)),
        (
            "assistant",
            "normal",
            (Thinking("hm", "sig"), ToolUse("t1", "ls", {"path": "."}), ToolUse("t2", "ls", {})),
        ),
        ("tool", "normal", (ToolResult("t1", (Text("no such file"),), is_error=True),)),
        ("tool", "normal", (ToolResult("t2", (Text("two"),)),)),
        ("user", "meta", (Text("an agent is idle"),)),
        ("assistant", "normal", (Text("Done."),)),
    ]
    assert (len(session.messages), len(session.branch)) == (11, 9)
    assert (session.id, session.cwd, session.model, session.title) == ("old", "/w", "m-1", "look")
    assert session.system == "You are Copilot."


COMPACTION = [
    event("session.compaction_start", systemTokens=1, conversationTokens=20, toolDefinitionsTokens=300),
    response_event(request("t3"), text="meanwhile"),
    result_event("t3", "three"),
]


def summary_frame(summary: str, *prompts: str) -> str:
    """Return the text that Copilot CLI 1.0.102 sent when it resumed such files."""
    lead = "You were originally given instructions from a user over one or more turns. Here were the user messages:\n"
    quoted = "".join(f"<user_message>\n{prompt}\n</user_message>\n" for prompt in prompts)
    return (
        "Some of the conversation history has been summarized to free up context.\n\n"
        + (f"{lead}{quoted}\n" if prompts else "")
        + f"Here is a summary of the prior context:\n<summary>\n{summary}\n</summary>"
    )


def compaction_event(summary: str, **more: Any) -> Event:
    return event("session.compaction_complete", success=True, summaryContent=summary, **more)


def test_a_compaction_replaces_the_messages_before_its_start() -> None:
    completion = compaction_event("We looked.", preCompactionTokens=321, postCompactionTokens=45, trigger="auto")
    session = read(FORMAT, chain(*EVENTS, *COMPACTION, completion, response_event(text="on")))
    first, second = session.epochs
    assert first.ended_by is not None
    assert (len(first.members), first.ended_by.tokens_before, first.ended_by.summary) == (9, 321, "id-22")
    assert (first.ended_by.tokens_after, first.ended_by.trigger, session.facts.tokens_now) == (45, "auto", 45)
    assert first.ended_by.kept_ids == tuple(message.id for message in session.context()[1:3])
    assert [(m.kind, m.text) for m in session.context()] == [
        ("summary", summary_frame("We looked.", "look")),
        ("normal", "meanwhile"),
        ("normal", ""),
        ("normal", "on"),
    ]
    assert len(second.members) == 4
    written = assert_exact(FORMAT, session, session.context()[:-1])
    assert b'"preCompactionTokens": 321' in written.data
    assert b"We looked." in written.data
    failed = event("session.compaction_complete", success=False, error="no")
    assert len(read(FORMAT, chain(*EVENTS, *COMPACTION, failed)).epochs) == 1


@pytest.mark.parametrize(("start", "stop", "seconds"), [(0, 0, None), (1, 21, 20.0), (20, 1, None)])
def test_a_compaction_lasts_from_its_start_to_its_end(start: int, stop: int, seconds: float | None) -> None:
    """Also if the agent continued meanwhile. Times that run backwards give no duration."""
    times = [{"timestamp": f"2026-05-01T10:00:{second:02}.000Z"} for second in (start, stop)]
    start_event = event("session.compaction_start", times[0])
    completion = event("session.compaction_complete", times[1], success=True, summaryContent="We looked.")
    (first, _) = read(
        FORMAT, chain(*EVENTS, start_event, response_event(text="meanwhile"), completion, response_event(text="on"))
    ).epochs
    assert first.ended_by is not None
    assert first.ended_by.seconds == seconds


def test_a_summary_quotes_only_text_that_the_user_typed_before_its_end() -> None:
    start = event("session.compaction_start")
    events = [
        START,
        event(
            "user.message", content="  one \n", transformedContent="<current_datetime>x</current_datetime>\n\n  one \n"
        ),
        event("user.message", content=REMINDER, source="system"),
        event("user.message", content="a skill", source="skill-x"),
        event("user.message", {"agentId": "sub"}, content="sub task"),
        event("user.message", content=""),
        response_event(text="so"),
        start,
        event("user.message", content="two"),
        compaction_event("S1"),
        response_event(text="on"),
    ]
    session = read(FORMAT, chain(*events))
    assert [m.text for m in session.context()] == [summary_frame("S1", "  one \n", "two"), "two", "on"]
    assert session.context()[0].source == (9, 1, 8)
    assert_exact(FORMAT, session, session.context()[:2])
    again = [*events, start, compaction_event("S2"), event("user.message", content="three")]
    assert [m.text for m in read(FORMAT, chain(*again)).context()] == [summary_frame("S2", "  one \n", "two"), "three"]
    cleared = [*events, event("session.context_cleared"), event("user.message", content="new"), compaction_event("S3")]
    assert [m.text for m in read(FORMAT, chain(*cleared)).context()] == [summary_frame("S3", "new")]
    rewound = [*events[:7], event("session.snapshot_rewind", upToEventId="id-2"), start, compaction_event("S4")]
    assert [m.text for m in read(FORMAT, chain(*rewound)).context()] == [summary_frame("S4")]


def test_user_text_and_text_that_the_cli_adds() -> None:
    sent = "<current_datetime>x</current_datetime>\n\nlook\n\n<tools_changed_notice>\nx\n</tools_changed_notice>"
    tagged = {"type": "file", "path": "/a", "taggedFilesEntry": "* /a (2 lines)"}
    ask = {**request("q1", question="Which?"), "name": "ask_user"}
    answers = [
        "User selected: the red one",
        "User responded: none",
        "User responded: The user is not available to respond",
    ]
    talk = [
        START,
        event("user.message", content="look", transformedContent=sent, attachments=[tagged]),
        event("user.message", content="<reminder>\nx\n</reminder>\nsteer"),
        event("user.message", content="2026", transformedContent="<current_datetime>2026</current_datetime>\n\n2026"),
        *(one for text in answers for one in (response_event(ask), result_event("q1", text))),
    ]
    session = read(FORMAT, chain(*talk))
    assert session.context()[0].blocks == (
        Text("<current_datetime>x</current_datetime>\n\n", injected=True),
        Text("look"),
        Text(sent.partition("look")[2], injected=True),
        Text("\n\n\n\n<tagged_files>\n* /a (2 lines)\n</tagged_files>", injected=True),
    )
    assert session.context()[2].blocks == (
        Text("<current_datetime>2026</current_datetime>\n\n", injected=True),
        Text("2026"),
    )
    assert [m.user_text for m in session.context() if m.user_text] == ["look", "steer", "2026", "the red one", "none"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The user rejected this tool call. User feedback: not on a Friday", "not on a Friday"),
        ("Plan not approved. User feedback:\nsmaller\nplease\n", "smaller\nplease"),
        ("The user rejected this tool call.", ""),
        ("Plan not approved. User feedback: ", ""),
        ("grep: The user rejected this tool call. User feedback: x", ""),
    ],
)
def test_the_reason_of_a_refusal_is_user_text(text: str, reason: str) -> None:
    refused = event(
        "tool.execution_complete", toolCallId="t1", success=False, error={"message": text, "code": "rejected"}
    )
    session = read(FORMAT, chain(START, event("user.message", content="go"), response_event(request("t1")), refused))
    assert session.context()[-1].blocks == (ToolResult("t1", (Text(text),), is_error=True, user_text=reason),)


def test_an_attached_image_is_sent_after_its_name() -> None:
    image = {"mimeType": "image/png", "path": "/a.png", "displayName": "a.png"}
    asset = event("session.binary_asset", assetId="sha256:1", mimeType="image/png", data="QUJDRA==")
    attached = [image | {"assetId": "sha256:1"}, {"mimeType": "image/png", "displayName": "b.png", "data": "QUJD"}]
    attached += [{"mimeType": "application/pdf", "data": "QQ=="}, image | {"assetId": "gone"}]
    attached += [image | {"data": "QQ==", "taggedFilesEntry": "* /a.png"}]
    session = read(FORMAT, chain(START, asset, event("user.message", content="see", attachments=attached)))
    assert session.context()[0].blocks == (
        Text("see"),
        Text("\n\n\n\n<tagged_files>\n* /a.png\n</tagged_files>", injected=True),
        Text("Image file at path /a.png", injected=True),
        Media("image/png", 8),
        Text("b.png", injected=True),
        Media("image/png", 4),
        Media("application/pdf", 4),
    )
    assert session.context()[0].user_text == "see"


def usage_record(id: str, sent: int, read: int = 0, written: int = 0) -> Event:
    tokens = {"inputTokens": sent, "outputTokens": 20, "cacheReadTokens": read, "cacheWriteTokens": written}
    return event("session.usage_record", usage={**tokens, "apiCallId": id, "maxPromptTokens": 168_000})


def test_a_call_has_the_usage_of_its_record() -> None:
    """`inputTokens` is the entire prompt: the sums of a real session are 6 598 288 = 6 954 + 6 079 080 + 512 254."""
    talk = [
        START,
        EVENTS[4],
        usage_record("a", 900, 500, 100),
        usage_record("b", 7),
        response_event(text="so", apiCallId="a"),
    ]
    session = read(FORMAT, chain(*talk, response_event(text="?", apiCallId="c"), response_event(text="no id")))
    assert [m.usage for m in session.context()] == [None, Usage(300, 20, 500, 100), None, None]
    assert session.epochs[0].window == 168_000


def test_text_before_a_request_is_written_unchanged() -> None:
    sent_text = "<current_datetime>2026-11-22T17:21:58.623+00:00</current_datetime>\n\nlook"
    session = read(FORMAT, chain(START, event("user.message", content=sent_text), EVENTS[4]))
    new_messages = tuple(replace(message, source=()) for message in session.context())
    events = [json.loads(raw) for raw in FORMAT.codec.write(session, new_messages).data.splitlines()]
    assert next(each["data"]["content"] for each in events if each["type"] == "user.message") == sent_text


def test_an_export_drops_usage_of_the_old_context() -> None:
    talk = [
        START,
        EVENTS[4],
        usage_record("a", 900),
        response_event(text="so", apiCallId="a"),
        event("user.message", content="?"),
    ]
    session = read(FORMAT, chain(*talk, usage_record("b", 950), response_event(text="yes", apiCallId="b")))
    node = Message("n", "user", (Text("Short."),), "summary")
    written = assert_exact(FORMAT, session, (node, *session.context()[1:]))
    assert b"usage_record" not in written.data


def test_the_overhead_is_copilots_count_of_prompt_and_tools() -> None:
    start = event("session.compaction_start", systemTokens=300, conversationTokens=20, toolDefinitionsTokens=1)
    session = read(FORMAT, chain(*EVENTS, start, compaction_event("S")))
    assert (session.facts.overhead, session.facts.tokens_now) == (301, None)
    sizes = session_sizes(session, len(session.epochs), Counter())
    assert (sizes.overhead, sizes.overhead_basis) == (301, Basis.CALIBRATED)
    stopped = event("session.shutdown", currentTokens=500, systemTokens=310, conversationTokens=180)
    facts = read(FORMAT, chain(*EVENTS, start, compaction_event("S"), stopped)).facts
    assert (facts.overhead, facts.tokens_now) == (310, 500)
    assert read(FORMAT, chain(*EVENTS)).facts.overhead is None


def test_a_rewind_a_truncation_and_a_cleared_context() -> None:
    back = event("session.snapshot_rewind", upToEventId="id-15", eventsRemoved=4)
    session = read(FORMAT, chain(*EVENTS, back, event("user.message", content="again")))
    assert [m.text for m in session.context()][-2:] == ["", "again"]
    assert len(session.branch) == len(session.messages) - 4
    cut = read(FORMAT, chain(*EVENTS, event("session.truncation", messagesRemovedDuringTruncation=3)))
    assert str(cut.warnings[0]) == ("line 19: 3 messages were not sent; the file does not say which")
    cleared = read(FORMAT, chain(*EVENTS, event("session.context_cleared", messagesCleared=7, initialMessage="new")))
    assert [m.text for m in cleared.context()] == ["new"]
    assert cleared.epochs[0].ended_by is not None
    assert cleared.epochs[0].ended_by.trigger == "clear"


def test_kept_events_change_only_in_their_place() -> None:
    session = read(FORMAT, chain(*EVENTS, event("session.shutdown", currentTokens=77)))
    assert session.facts.tokens_now == 77
    node = Message("n", "user", (Text("Short."),), "summary")
    written = assert_exact(FORMAT, session, (node, *session.context()[2:]))
    events = [json.loads(raw) for raw in written.data.splitlines()]
    assert [each["type"] for each in events] == [
        "session.start",
        "system.message",
        "user.message",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_complete",
        "system.notification",
        "assistant.message",
    ]
    assert events[0]["data"] == {**START[1], "sessionId": written.id, "startTime": events[0]["data"]["startTime"]}
    assert (events[1]["data"]["content"], events[2]["data"]["content"]) == ("You are Copilot.", "Short.")
    assert events[2]["data"]["source"] == "system", "no later summary quotes it as the person's words"
    assert [each["data"] for each in events[3:]] == [EVENTS[n][1] for n in (8, 9, 12, 13, 14, 15)]
    assert [each["parentId"] for each in events] == [None, *(each["id"] for each in events[:-1])]
    assert written.losses == (Loss(LossKind.SUBAGENT_EVENTS, 2),)
    assert written.home == f"~/.copilot/session-state/{written.id}/events.jsonl"


def test_written_messages_are_read_again() -> None:
    session = read(FORMAT, chain(*EVENTS))
    new_messages = [
        Message("a", "assistant", (Text("first"),), "summary"),
        Message("b", "user", (Text("a reminder"),), "meta"),
        Message("c", "user", (Text("late summary"),), "summary"),
        Message("d", "assistant", (Thinking("so", "s"), Text("I"), ToolUse("z", "ls", {"a": 1}))),
        Message("e", "tool", (ToolResult("z", (Text("x"), Text("y")), is_error=True),)),
    ]
    assert_exact(FORMAT, session, (*new_messages, *session.context()[-2:]))


def test_a_file_of_a_sub_agent_alone_is_a_session() -> None:
    sub = {"agentId": "sub"}
    session = read(
        FORMAT, chain(EVENTS[0], event("user.message", sub, content="do"), (*response_event(text="ok")[:2], sub))
    )
    assert [m.text for m in session.context()] == ["do", "ok"]


def test_a_real_compaction_has_the_count_of_copilot(shared: Path) -> None:
    """The event counts 150 messages before it: ours up to its start, and the system prompt."""
    data = (shared / f"sessions/copilot-cli/{REAL[1]}.jsonl").read_bytes()
    assert b'"preCompactionMessagesLength":150' in data
    session = read(FORMAT, data)
    assert session.warnings == ()
    first, second = session.epochs
    meanwhile = set(second.members) & set(first.members)
    assert len(set(first.members) - meanwhile) + 1 == 150
    assert len(meanwhile) == 8


SENT = Path("agents/sent/copilot-cli/1.0.102-compacted.json")


def test_the_context_equals_a_recorded_request(shared: Path) -> None:
    """Equal except the text of the turn that the request began."""
    sent = json.loads((shared / SENT).read_bytes())["messages"]
    session = read(FORMAT, (shared / "agents/files/copilot-cli/1.0.102-compacted.jsonl").read_bytes())
    assert [(m.role, m.text) for m in session.context()] == [("user", sent[0]["content"][0]["text"])]


def test_the_context_before_the_compaction_equals_its_request(shared: Path) -> None:
    """The file has the request for the summary: the context and the instruction."""
    data = (shared / "agents/files/copilot-cli/1.0.102-compacted.jsonl").read_bytes()
    request = next(json.loads(raw) for raw in data.splitlines() if b"requestMessages" in raw)["data"]
    *sent, _ = [one for one in json.loads(request["requestMessages"]) if one["role"] != "system"]
    shown = read(FORMAT, data).context(1)
    turns = [(one["role"], one.get("content") or "") for one in sent if one["role"] != "tool"]
    assert [(m.role, "".join(b.text for b in m.blocks if isinstance(b, Text))) for m in shown if not m.results] == turns
    results = [(one["tool_call_id"], one["content"].rstrip()) for one in sent if one["role"] == "tool"]
    assert [(r.call_id, r.text.rstrip()) for m in shown for r in m.results] == results


def test_odd_lines_are_warned_of() -> None:
    odd = event("user.message", content="x", attachments=[{"data": "QUJD", "mimeType": "image/png"}, 3])
    data = chain(*EVENTS, odd, response_event("strange", text="y")) + b"7\n{broken"
    session = read(FORMAT, data)
    assert [str(warning)[:8] for warning in session.warnings] == ["line 21:", "line 22:"]
    assert session.context()[-2].blocks == (Text("x"), Text("Attached image", injected=True), Media("image/png", 4))
    assert session.context()[-1].blocks == (Text("y"), Opaque("toolRequest", "strange"))
    with pytest.raises(BadInput):
        read(FORMAT, chain(*EVENTS[:3]))


@pytest.mark.parametrize(
    ("events", "faults"),
    [
        (EVENTS[1:], ["Line 1 is not a session.start event."]),
        (EVENTS[:4], ["There is no message that Copilot CLI would send."]),
        ([*EVENTS, event("user.message", {"id": "id-1"}, content="x")], ["Line 19 has no id of its own."]),
        (
            [*EVENTS, event("user.message", {"parentId": None}, content="x")],
            ["Line 19 does not name the event before it as its parent."],
        ),
        ([*EVENTS, event("user.message", {"timestamp": 1}, content="x")], ["Line 19 has no timestamp."]),
        ([*EVENTS, event("user.message")], ["Line 19 has no content, which a user.message event requires."]),
        ([*EVENTS, result_event("t9", "x")], ["Line 19 has a result without its call before it."]),
        (
            [*EVENTS, response_event(request("t9")), response_event(text="x")],
            ["A call of line 19 has no result before line 20."],
        ),
        ([*EVENTS, response_event({"toolCallId": 1})], ["Line 19 has a call without an id or a name."]),
        ([*EVENTS, event("session.compaction_complete", success=True)], ["Line 19 is a compaction without a summary."]),
        ([*EVENTS, event("model.message", {"parentId": None})], []),
        (
            [*EVENTS, event("subagent.started", toolCallId="t", agentName="a", agentDescription="d")],
            ["Line 19 has no agentDisplayName, which a subagent.started event requires."],
        ),
    ],
)
def test_the_rules_find_each_fault(events: list[Event], faults: list[str]) -> None:
    assert FORMAT.codec.validate(chain(*events)) == faults
    assert "not an event" in FORMAT.codec.validate(chain(*EVENTS) + b"{broken")[0]


@pytest.mark.parametrize(
    ("content", "parts", "sent"),
    [
        ("one\ntwo", ["one", "two"], ["one", "two"]),
        ("one\ntwo", ["one", "2"], ["one\ntwo"]),
        ("one", ["on the screen"], ["one"]),
        ("one", [], ["one"]),
        ("", ["one", "two"], []),
    ],
)
def test_a_result_has_only_the_parts_of_its_content(content: str, parts: list[str], sent: list[str]) -> None:
    result = {"content": content, "contents": [{"type": "text", "text": text} for text in parts]}
    answer = event("tool.execution_complete", toolCallId="t1", success=True, result=result)
    session = read(FORMAT, chain(EVENTS[0], event("user.message", content="go"), response_event(request("t1")), answer))
    assert session.context()[-1].blocks == (ToolResult("t1", tuple(map(Text, sent))),)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("session.compaction_complete", "tokenLimit"),
        ("session.truncation", "tokenLimit"),
        ("session.usage_info", "tokenLimit"),
    ],
)
def test_the_window_is_recorded_by_an_event(kind: str, field: str) -> None:
    talk = [event("user.message", content="look"), response_event(text="so")]
    completion = event("session.compaction_complete", summaryContent="Short.", success=True)
    session = read(FORMAT, chain(*talk, event(kind, **{field: 168_000}), completion, *talk))
    assert [epoch.window for epoch in session.epochs] == [168_000, 168_000]
    absurd = read(FORMAT, chain(*talk, event(kind, **{field: 0}), completion, *talk))
    assert [epoch.window for epoch in absurd.epochs] == [None, None]
    assert "line 3: an impossible context window of 0 tokens is recorded; ignored" in map(str, absurd.warnings)
