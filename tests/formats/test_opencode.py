"""opencode exports: what the model is sent of them, recorded compactions, and new sessions that the import takes."""

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from workbench.conformance.formats import assert_exact
from workbench.conformance.formats import read as reread
from workbench.formats.format import no_progress
from workbench.formats.loss import Loss, LossKind
from workbench.formats.opencode import FORMAT
from workbench.formats.read_back import shape
from workbench.session.message import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import ApiError, Compaction, Session

Json = dict[str, Any]

START = 1_700_000_000_000
TOKENS = {"input": 10, "output": 3, "reasoning": 4, "cache": {"read": 20, "write": 30}}


def user(id: str, *parts: Json, at: int = 0, **more: Any) -> Json:
    model = {"providerID": "p", "modelID": "claude-x"}
    info = {"id": id, "sessionID": "ses_1", "role": "user", "time": {"created": START + at}, "agent": "build"}
    return {"info": {**info, "model": model, **more}, "parts": _parts(id, parts)}


def agent(id: str, parent: str, *parts: Json, at: int = 0, **more: Any) -> Json:
    info = {"id": id, "sessionID": "ses_1", "role": "assistant", "parentID": parent, "time": {"created": START + at}}
    info |= {"mode": "build", "agent": "build", "path": {"cwd": "/w", "root": "/w"}, "cost": 0, "tokens": TOKENS}
    info |= {"modelID": "claude-x", "providerID": "p", "finish": "stop", "custom": {"kept": 1}}
    return {"info": {**info, **more}, "parts": _parts(id, parts)}


def _parts(id: str, parts: tuple[Json, ...]) -> list[Json]:
    links = {"sessionID": "ses_1", "messageID": id}
    return [{**part, "id": f"prt_{id}_{number:02d}", **links} for number, part in enumerate(parts)]


def text(said: str, **more: Any) -> Json:
    return {"type": "text", "text": said, **more}


def tool(id: str, status: str = "completed", **state: Any) -> Json:
    state = {"status": status, "input": {"a": 1}, "time": {"start": 1, "end": 2}, "title": "", "metadata": {}, **state}
    return {"type": "tool", "callID": id, "tool": "bash", "state": state}


def export(*messages: Json, **info: Any) -> bytes:
    about = {"id": "ses_1", "projectID": "g", "directory": "/w", "title": "T", "version": "1.4.3", "time": {}}
    return json.dumps({"info": {**about, **info}, "messages": messages, "extra": [1]}, indent=1).encode()


def read(*messages: Json, **info: Any) -> Session:
    return FORMAT.codec.read(Path("export.json"), export(*messages, **info), no_progress)


COMPACTED = (
    user("msg_1", text("first"), at=1),
    agent("msg_2", "msg_1", text("one"), tool("c1", output="out"), at=2),
    user("msg_3", text("second"), at=3),
    agent("msg_4", "msg_3", text("two"), at=4),
    user("msg_5", {"type": "compaction", "auto": True, "tail_start_id": "msg_3"}, at=5),
    agent("msg_6", "msg_5", text("the summary"), at=6, summary=True, mode="compaction"),
    user("msg_7", text("Continue", synthetic=True), at=7),
    agent("msg_8", "msg_7", text("three"), at=8),
)


def test_a_real_record_keeps_its_bytes_but_for_ids(shared: Path) -> None:
    path = shared / "sessions/opencode/bestcodes-d2f55b0.json"
    session = FORMAT.codec.read(path, path.read_bytes(), no_progress)
    before = json.loads(path.read_bytes())["messages"]
    after = json.loads(FORMAT.codec.write(session, session.context()).data)["messages"]

    def without_links(record: Json) -> Json:
        gone = ("id", "sessionID", "messageID", "parentID")
        return {
            "info": {k: v for k, v in record["info"].items() if k not in gone},
            "parts": [{k: v for k, v in part.items() if k not in gone} for part in record["parts"]],
        }

    assert list(map(without_links, after)) == list(map(without_links, before))
    assert {r["info"]["id"] for r in after}.isdisjoint(r["info"]["id"] for r in before)
    for records in (before, after):
        parents = [
            next(i for i, r in enumerate(records) if r["info"]["id"] == parent["info"]["parentID"])
            for parent in records
            if parent["info"]["role"] == "assistant"
        ]
        assert parents[0] == 0
    assert all(a < b for a, b in pairwise(r["info"]["id"] for r in after))


def test_the_compaction_of_a_real_session(shared: Path) -> None:
    path = shared / "sessions/opencode/sbridge-13dddd4-compaction.json"
    session = FORMAT.codec.read(path, path.read_bytes(), no_progress)
    first, second = session.epochs
    assert first.ended_by == Compaction("auto", 98608, "msg_d883a0c34001CAhfI12hNovc9Z", 1776106998.836)
    assert len(first.members) == 85
    summary, go_on = session.context()[:2]
    assert (summary.role, summary.kind, summary.source) == ("user", "summary", (44, 45))
    assert go_on.kind == "meta"
    assert second.members[0] == 85


def test_what_is_sent() -> None:
    attached = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,QUJD"}
    session = read(
        user("msg_1", text("look"), text("hidden", ignored=True), attached, {"type": "agent", "name": "x"}, at=1),
        agent(
            "msg_2",
            "msg_1",
            {"type": "step-start"},
            {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "sig"}}, "time": {"start": 1}},
            text("I try"),
            tool("c1", output="o", attachments=[attached]),
            tool("c2", "error", error="no"),
            {"type": "step-start"},
            tool("c3", output="gone", time={"start": 1, "end": 2, "compacted": 3}),
            tool("c4", "running"),
            tool("c5", "error", error="x", metadata={"interrupted": True, "output": "half"}),
            {"type": "patch", "hash": "h", "files": []},
            {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": TOKENS},
            {"type": "hologram", "depth": 3},
            at=2,
        ),
        agent("msg_3", "msg_1", text("refused"), at=3, error={"name": "APIError", "data": {"message": "no"}}),
        agent("msg_4", "msg_1", text("half"), at=4, error={"name": "MessageAbortedError", "data": {}}),
        agent("msg_5", "msg_1", at=5, error={"name": "ContextOverflowError", "data": {"message": "too long"}}),
    )
    assert shape(session.context()) == [
        ("user", "normal", (Text("look"), Media("image/png", 4))),
        (
            "assistant",
            "normal",
            (Thinking("hm", "sig"), Text("I try"), ToolUse("c1", "bash", {"a": 1}), ToolUse("c2", "bash", {"a": 1})),
        ),
        (
            "tool",
            "normal",
            (ToolResult("c1", (Text("o"), Media("image/png", 4))), ToolResult("c2", (Text("no"),), True)),
        ),
        (
            "assistant",
            "normal",
            (
                *(ToolUse(f"c{n}", "bash", {"a": 1}) for n in (3, 4, 5)),
                Opaque("hologram", {"type": "hologram", "depth": 3}),
            ),
        ),
        (
            "tool",
            "normal",
            (
                ToolResult("c3", (Text("[Old tool result content cleared]"),)),
                ToolResult("c4", (Text("[Tool execution was interrupted]"),), True),
                ToolResult("c5", (Text("half"),)),
            ),
        ),
        ("assistant", "normal", (Text("half"),)),
    ]
    assert len(session.messages) == 9
    assert [m.usage for m in session.messages if m.role == "assistant"][:2] == [None, Usage(10, 7, 20, 30)]
    assert session.facts.overflow_errors == (
        ApiError("msg_5", "too long", START / 1000 + 0.005, kind="ContextOverflowError"),
    )
    written = FORMAT.codec.write(session, session.context())
    assert shape(reread(FORMAT, written.data).context()) == shape(session.context())


def test_a_compaction_keeps_its_tail_behind_the_summary() -> None:
    session = read(*COMPACTED)
    assert [[session.messages[i].id for i in epoch.members] for epoch in session.epochs] == [
        ["msg_1", "msg_2", "msg_2:results", "msg_3", "msg_4"],
        ["msg_6", "msg_3", "msg_4", "msg_7", "msg_8"],
    ]
    assert session.context()[0].text == "the summary"
    assert session.epochs[0].ended_by == Compaction(
        "auto", 60, "msg_6", START / 1000 + 0.006, kept_ids=("msg_3", "msg_4")
    )
    assert_exact(FORMAT, session, session.context())
    assert_exact(FORMAT, session, session.context(1))


@pytest.mark.parametrize("broken", [{"finish": None}, {"error": {"name": "APIError"}}, {"parentID": "msg_3"}])
def test_a_compaction_that_failed_is_none(broken: Json) -> None:
    changed = [*COMPACTED[:5], agent("msg_6", "msg_5", text("x"), at=6, summary=True, **broken), *COMPACTED[6:]]
    session = read(*changed)
    assert len(session.epochs) == 1
    assert session.context()[5].text == "What did we do so far?"


def test_undone_messages_leave_the_branch() -> None:
    session = read(*COMPACTED[:4], revert={"messageID": "msg_3"})
    assert [m.id for m in session.context()] == ["msg_1", "msg_2", "msg_2:results"]
    assert list(session.branch) == [0, 1, 2]
    assert len(session.messages) == 5
    assert "undone" in str(session.warnings[0])
    assert "revert" not in json.loads(assert_exact(FORMAT, session, session.context()).data)["info"]


def test_the_export_of_a_compaction_is_opencodes_own_idiom() -> None:
    session = read(*COMPACTED)
    summary = Message("s", "user", (Text("in short"),), "summary", time=START / 1000 + 0.004)
    reply = Message("r", "assistant", (Text("Ok."),), "summary", time=START / 1000 + 0.004)
    tail = session.messages[3:5]
    written = assert_exact(FORMAT, session, (summary, reply, *tail))
    document = json.loads(written.data)
    assert document["extra"] == [1]
    asked, answered, ok, *kept = document["messages"]
    assert [part["type"] for part in asked["parts"]] == ["compaction"]
    assert answered["info"]["summary"] is True
    assert answered["info"]["parentID"] == asked["info"]["id"] == ok["info"]["parentID"]
    assert answered["parts"][0]["text"] == "in short"
    assert "summary" not in ok["info"]
    assert kept[-1]["info"]["tokens"] == {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    assert kept[-1]["info"]["custom"] == {"kept": 1}
    assert reread(FORMAT, written.data).messages[-1].usage is None


ZEROS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


def billed(session: Session) -> list[int | None]:
    return [m.usage.context if m.usage else None for m in session.messages if m.role == "assistant"]


def test_an_unfinished_answer_takes_no_usage_away() -> None:
    session = read(*COMPACTED[:3], agent("msg_4", "msg_3", text("tw"), at=4, tokens=ZEROS, finish=None))
    assert billed(session) == [60, None]
    assert billed(read(*COMPACTED[:3], agent("msg_4", "msg_3", text("two"), at=4, tokens={**ZEROS, "input": 1}))) == [
        60,
        1,
    ]


@pytest.mark.parametrize(
    "newest", [text("two"), tool("c2", output="o"), {"type": "reasoning", "text": "hm", "time": {"start": 1}}]
)
def test_an_export_says_that_its_usage_is_of_another_context(newest: Json) -> None:
    step = {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": TOKENS}
    image = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,QUJD"}
    many = agent("msg_4", "msg_3", {"type": "step-start"}, newest, step, {"type": "step-start"}, image, step, at=4)
    session = read(*COMPACTED[:3], many)
    assert set(billed(session)) == {60}
    context = session.context()
    assert set(billed(reread(FORMAT, FORMAT.codec.write(session, context).data))) == {60}
    for shorter in (context[:-1], (*context[:3], *context[4:])):  # of the newest record a part, and all of it
        written = FORMAT.codec.write(session, shorter)
        assert FORMAT.codec.validate(written.data) == []
        assert set(billed(reread(FORMAT, written.data))) == {None}
    go_on = json.loads(written.data)
    go_on["messages"] += [agent("msg_9", go_on["messages"][0]["info"]["id"], text("more"), at=9)]
    assert billed(reread(FORMAT, json.dumps(go_on).encode()))[-2:] == [None, 60]


def test_a_result_that_was_shortened_takes_the_old_ones_place() -> None:
    session = read(*COMPACTED[:4])
    context = session.context()
    for id in ("x", context[2].id):
        short = Message(id, "tool", (ToolResult("c1", (Text("o…"),), True),))
        written = assert_exact(FORMAT, session, (*context[:2], short, *context[3:]))
        state = json.loads(written.data)["messages"][1]["parts"][1]["state"]
        assert (state["status"], state["error"], state["time"]) == ("error", "o…", {"start": 1, "end": 2})


def test_results_without_their_calls_become_text() -> None:
    session = read(*COMPACTED[:4])
    written = FORMAT.codec.write(session, [session.messages[0], *session.messages[2:]])
    assert FORMAT.codec.validate(written.data) == []
    assert "out" in reread(FORMAT, written.data).context()[1].text
    assert written.losses == (Loss(LossKind.ORPHAN_RESULTS),)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"info": {"id": "x"}}, ["The info has no id that begins with ses_."]),
        (
            {0: {"id": "m1"}},
            [
                "Message 1 has the id m1, which does not begin with msg_.",
                "Message 1 has a text part that belongs to another message.",
                "Message 2 has the parent msg_1, which is no user's message before it.",
            ],
        ),
        (
            {1: {"id": "msg_1"}},
            [
                "Message 2 has the id msg_1, which an earlier record has.",
                "Message 2 has a text part that belongs to another message.",
                "Message 2 has a tool part that belongs to another message.",
            ],
        ),
        ({1: {"parentID": "msg_9"}}, ["Message 2 has the parent msg_9, which is no user's message before it."]),
        ({1: {"sessionID": "ses_2"}}, ["Message 2 belongs to another session."]),
        ({1: {"time": {"created": 5}}}, ["Message 2 was created before the previous message."]),
        ({1: {"tokens": None}}, ["Message 2 has no tokens of the right type."]),
        ({3: {"summary": True}}, ["Message 4 is a summary, but its parent does not request one."]),
        (
            {0: {"role": "tool"}},
            [
                "Message 1 is neither a user nor an assistant message.",
                "Message 2 has the parent msg_1, which is no user's message before it.",
            ],
        ),
        ({0: {"model": {}}}, ["Message 1 has a model without a provider or name."]),
    ],
)
def test_the_validator_finds(change: dict[Any, Json], faults: list[str]) -> None:
    document = json.loads(export(*COMPACTED))
    assert FORMAT.codec.validate(export(*COMPACTED)) == []
    for place, fields in change.items():
        (document["info"] if place == "info" else document["messages"][place]["info"]).update(fields)
    assert FORMAT.codec.validate(json.dumps(document).encode()) == faults


def test_the_validator_finds_faulty_parts() -> None:
    bad = agent("msg_2", "msg_1", {"type": "text"}, {"type": "odd"}, tool("c", "done"), tool("d", output=3))
    assert FORMAT.codec.validate(export(user("msg_1", tool("e", output="")), bad)) == [
        "Message 1 is a user message with a tool call.",
        "Message 2, in a text part, has no text of the right type.",
        "Message 2 has a part of a type that the import rejects.",
        "Message 2 has the call c with the status done.",
        "Message 2, in the state of the call d, has no output of the right type.",
    ]


PRUNED = (
    user("msg_1", text("first"), at=1_000),
    agent(
        "msg_2",
        "msg_1",
        tool("c1", output="one", time={"start": 1, "end": 2, "compacted": START + 5_500}),
        tool("c2", output="two", time={"start": 1, "end": 2, "compacted": START + 8_500}),
        text("ok"),
        at=2_000,
    ),
    agent(
        "msg_3",
        "msg_1",
        tool("c3", output="three", time={"start": 1, "end": 2, "compacted": START + 5_501}),
        at=3_000,
    ),
    user("msg_4", text("second"), at=6_000),
    agent("msg_5", "msg_4", text("done"), at=7_000),
    user("msg_6", text("third"), at=9_000),
)
CLEARED = "[Old tool result content cleared]"


def test_what_opencode_cleared_ends_an_epoch_where_it_did() -> None:
    session = read(*PRUNED)
    assert [[r.text for m in session.context(e.number) for r in m.results] for e in session.epochs] == [
        ["one", "two", "three"],
        [CLEARED, "two", CLEARED],
        [CLEARED, CLEARED, CLEARED],
    ]
    assert [len(epoch.members) for epoch in session.epochs] == [5, 7, 8]
    ends = [epoch.ended_by for epoch in session.epochs]
    context = 60 + 7
    assert ends == [
        Compaction("prune", context, time=START / 1000 + 5.5, way="clearing"),
        Compaction("prune", context, time=START / 1000 + 8.5, way="clearing"),
        None,
    ]
    assert [sorted(session.messages[n].id for n in epoch.copies) for epoch in session.epochs] == [
        [],
        ["msg_2:results~cleared", "msg_3:results~cleared"],
        ["msg_2:results~cleared", "msg_2:results~cleared2", "msg_3:results~cleared"],
    ]
    assert [m.source for m in session.messages if "~" in m.id] == [()] * 3
    assert len(session.branch) == 8
    assert [len(epoch.members) for epoch in read(*PRUNED[:-1]).epochs] == [5, 7, 7], "cleared behind the newest answer"


def states_of(records: Iterable[Json]) -> list[Json]:
    return [part["state"] for record in records for part in record["parts"] if "state" in part]


def test_an_export_has_the_outputs_as_its_epoch_had_them() -> None:
    session = read(*PRUNED)
    states = [
        [
            part["state"]
            for record in json.loads(written.data)["messages"]
            for part in record["parts"]
            if "state" in part
        ]
        for written in (assert_exact(FORMAT, session, session.context(number)) for number in (1, 3))
    ]
    loaded = [part["state"] for record in PRUNED for part in record["parts"] if "state" in part]
    assert states[1] == loaded, "the outputs are still in the file, and marked"
    assert [state["output"] for state in states[0]] == ["one", "two", "three"]
    assert all(state["time"] == {"start": 1, "end": 2} for state in states[0])


def test_what_a_compaction_has_left_out_is_cleared_from_nothing() -> None:
    asked, answer = PRUNED[0], PRUNED[2]
    summary = agent("msg_4", "msg_s", text("so far"), at=4_500, summary=True, mode="compaction")
    session = read(asked, answer, user("msg_s", {"type": "compaction", "auto": True}, at=4_000), summary, PRUNED[3])
    assert [epoch.ended_by and epoch.ended_by.way for epoch in session.epochs] == ["summary", None]


def test_recorded_dollars_are_read() -> None:
    asked = user("msg_1", text("first"))
    session = read(asked, agent("msg_2", "msg_1", text("one"), cost=0.25), cost=0.25)
    assert (session.messages[1].usage, session.facts.cost) == (Usage(10, 7, 20, 30, cost=0.25), None)
    without = read(asked, agent("msg_2", "msg_1", text("one")), cost=0.5)
    assert without.facts.cost == 0.5
    finish = {"type": "step-finish", "tokens": TOKENS}
    steps = [tool("c1"), {**finish, "cost": 0.5}, {"type": "step-start"}, text("one"), {**finish, "cost": 0.75}]
    billed = read(asked, agent("msg_2", "msg_1", *steps, cost=1.25)).messages
    assert [m.usage.cost for m in billed if m.usage] == [0.5, 0.75]


def test_whose_words_a_text_is() -> None:
    asked = user("msg_1", text("look at it"), text("<path>a</path>", synthetic=True), text("a note", synthetic=True))
    refused = "The user rejected permission to use this specific tool call with the following feedback: use make"
    answers = (
        'User has answered your questions: "Which?"="the blue one". You can now continue with the user\'s answers.'
    )
    question = {**tool("c2", output=answers), "tool": "question"}
    question["state"]["input"] = {"questions": [{"question": "Which?"}]}
    session = read(asked, agent("msg_2", "msg_1", tool("c1", "error", error=refused), question))
    assert session.messages[0].user_text == "look at it"
    results = [(one.user_text, one.text) for one in session.messages[2].results]
    assert results == [("use make", refused), ("the blue one", answers)]


def test_reasoning_in_several_parts_is_sent_with_its_opaque_half_once() -> None:
    signed = {"metadata": {"openai": {"itemId": "i", "reasoningEncryptedContent": "blob"}}}
    parts = [{"type": "reasoning", "text": said, "time": {"start": 1, "end": 2}, **signed} for said in ("one", "two")]
    session = read(user("msg_1", text("look")), agent("msg_2", "msg_1", *parts, text("done")))
    assert session.messages[1].blocks == (Thinking("one", "blob"), Thinking("two"), Text("done"))
    assert_exact(FORMAT, session, session.context())
