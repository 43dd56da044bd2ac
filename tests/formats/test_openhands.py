"""OpenHands conversations of both generations: views, condensations, and lists of events that end with one."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from workbench.base.errors import BadInput
from workbench.base.secrets import masked_value
from workbench.conformance.building import session_of, user
from workbench.conformance.formats import assert_exact
from workbench.formats.diagnosis import findings
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.formats.openhands import FORMAT, recognise_folder
from workbench.formats.openhands.read import read_folder, read_part, sessions_in
from workbench.formats.read_back import shape
from workbench.session import (
    Compaction,
    ExportNote,
    Media,
    Message,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)

Json = dict[str, Any]


def v1(id: str, kind: str, source: str = "agent", **fields: Any) -> Json:
    return {"id": id, "timestamp": "2026-01-02T03:04:05.500000", "source": source, **fields, "kind": kind}


def text(said: str) -> Json:
    return {"type": "text", "text": said, "cache_prompt": False}


def message(id: str, role: str, *parts: Any, **more: Any) -> Json:
    source = "user" if role == "user" else "agent"
    said = {"role": role, "content": [text(p) if isinstance(p, str) else p for p in parts], "thinking_blocks": []}
    return v1(id, "MessageEvent", source, llm_message=said, **more)


def action(id: str, call: str, answer: str, *thought: str, **more: Any) -> Json:
    made = {"id": call, "name": "terminal", "arguments": '{"command": "ls"}', "origin": "completion"}
    ids = {"tool_call_id": call, "tool_call": made, "tool_name": "terminal", "llm_response_id": answer}
    return v1(id, "ActionEvent", thought=[text(t) for t in thought], thinking_blocks=[], action=None, **ids, **more)


def observed(id: str, call: str, of: str, said: str, **more: Any) -> Json:
    seen = {"content": [text(said)], "is_error": False, "kind": "TerminalObservation", **more}
    return v1(id, "ObservationEvent", "environment", tool_call_id=call, tool_name="t", observation=seen, action_id=of)


PROMPT = v1("s", "SystemPromptEvent", system_prompt=text("Be brief."), tools=[{"title": "terminal", "kind": "T"}])
THINKING = [{"type": "thinking", "thinking": "hm", "signature": "sig"}]
EVENTS = [
    PROMPT,
    message("u1", "user", "go", {"type": "image", "image_urls": ["data:image/png;base64,QUJD", "http://x"]}),
    {**action("a1", "c1", "r1", "I look"), "thinking_blocks": THINKING},
    action("a2", "c2", "r1"),
    observed(
        "o1", "c1", "a1", "one", metadata={"prefix": "", "suffix": "\n[done]", "exit_code": 3, "working_dir": "/w"}
    ),
    v1("o2", "AgentErrorEvent", error="bad", tool_call_id="c2", tool_name="terminal"),
    v1("p", "ConversationStateUpdateEvent", "environment", key="x", value=1),
    message("m1", "assistant", "done"),
    message("u2", "user", "more"),
    message("m2", "assistant", "also done"),
]


def condensation(id: str, forgotten: list[str], summary: str | None, offset: int | None) -> Json:
    about = {"forgotten_event_ids": forgotten, "summary": summary, "summary_offset": offset}
    return v1(id, "Condensation", "environment", **about, llm_response_id="r")


def v0(id: int, source: str = "agent", **fields: Any) -> Json:
    return {"id": id, "timestamp": "2026-01-02T03:04:05", "source": source, "message": "", **fields}


def called(call: str, total: int = 1) -> Json:
    calls = [{"id": c, "function": {"name": "bash", "arguments": '{"command": "ls"}'}} for c in ("t1", "t2")]
    usage = {"prompt_tokens": 90, "completion_tokens": 4, "cache_creation_input_tokens": 20}
    usage |= {"prompt_tokens_details": {"cached_tokens": 50}}
    answer = {"content": [{"type": "text", "text": "I look"}], "tool_calls": calls}
    response = {"id": "r1", "model": "m", "choices": [{"message": answer}], "usage": usage}
    return {"tool_call_id": call, "function_name": "bash", "model_response": response, "total_calls_in_response": total}


OLD = [
    v0(0, "environment", observation="agent_state_changed", content="", extras={}),
    v0(1, action="system", args={"content": "Be brief.", "tools": [{"function": {"name": "bash"}}]}),
    v0(2, "user", action="message", args={"content": "go", "image_urls": []}),
    v0(3, action="recall", args={"query": "go"}),
    v0(4, "environment", observation="recall", content="Added", extras={}, cause=3),
    v0(5, action="run", args={"command": "ls"}, tool_call_metadata=called("t1", 2)),
    v0(6, observation="run", content="a", extras={}, cause=5, tool_call_metadata=called("t1", 2)),
    v0(7, action="run", args={"command": "ls"}, tool_call_metadata=called("t2", 2)),
    v0(8, observation="error", content="b", extras={}, cause=7),
    v0(9, action="message", args={"content": "which?", "image_urls": None}),
    v0(10, "user", action="message", args={"content": "that"}),
    v0(11, action="run", args={"command": "pwd", "thought": "so"}),
    v0(12, observation="run", content="/w", extras={}, cause=11),
    v0(13, action="finish", args={"final_thought": "Finished."}),
]


def old_condensation(id: int, start: int, end: int, summary: str, offset: int) -> Json:
    about = {"forgotten_events_start_id": start, "forgotten_events_end_id": end, "summary": summary}
    return v0(id, action="condensation", args={**about, "summary_offset": offset})


def read(events: list[Any]) -> Session:
    return FORMAT.codec.read(Path("x.json"), json.dumps(events).encode(), no_progress)


def said_in(session: Session) -> list[str]:
    """The texts and results of the context."""
    blocks = [block for message in session.context() for block in message.blocks]
    return [block.text for block in blocks if isinstance(block, Text | ToolResult)]


def texts(session: Session, epoch: int | None = None) -> list[str]:
    return [m.text or "".join(r.text for r in m.results) for m in session.context(epoch)]


def test_a_real_v1_folder(shared: Path, tmp_path: Path) -> None:
    path = shared / "sessions/openhands/v1-conv-cd945624"
    assert recognise_folder(path)
    assert not recognise_folder(path.parent)
    session = read_folder(path, no_progress)
    assert [tool.name for tool in session.tools] == ["terminal", "finish", "think"]
    assert (session.model, session.cwd) == ("openai/gpt-4o-mini", "/workspace/project/software-agent-sdk")
    assert session.messages[3].results[0].text.startswith("\n[The command completed with exit code 0.]\n[Current")
    copy = tmp_path / "c"
    shutil.copytree(path, copy)
    (copy / "base_state.json").chmod(0o600)
    (copy / "base_state.json").write_text("{")
    damaged = read_folder(copy, no_progress)
    assert shape(damaged.context()) == shape(session.context())
    assert "base_state.json cannot be read" in str(damaged.warnings[0])


def test_a_folder_without_events_is_refused(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "base_state.json").write_text("{}")
    (tmp_path / "events" / "event-00000-x.json").symlink_to(tmp_path / "base_state.json")
    with pytest.raises(BadInput, match="has no events"):
        read_folder(tmp_path, no_progress)


def test_what_v1_events_say() -> None:
    session = read(EVENTS)
    assert shape(session.context()) == [
        ("system", "normal", (Text("Be brief."),)),
        ("user", "normal", (Text("go"), Media("image/png", 4), Media("image", 0))),
        (
            "assistant",
            "normal",
            (
                Thinking("hm", "sig"),
                Text("I look"),
                ToolUse("c1", "terminal", {"command": "ls"}),
                ToolUse("c2", "terminal", {"command": "ls"}),
            ),
        ),
        (
            "tool",
            "normal",
            (
                ToolResult(
                    "c1",
                    (Text("one\n[done]\n[Current working directory: /w]\n[Command finished with exit code 3]"),),
                ),
            ),
        ),
        ("tool", "normal", (ToolResult("c2", (Text("bad"),), True),)),
        ("assistant", "normal", (Text("done"),)),
        ("user", "normal", (Text("more"),)),
        ("assistant", "normal", (Text("also done"),)),
    ]
    assert session.messages[2].source == (2, 3)
    assert session.messages[1].time == 1767323045.5


def test_what_v0_events_say() -> None:
    session = read(OLD)
    use = ToolUse("t1", "bash", {"command": "ls"})
    assert shape(session.context()) == [
        ("system", "normal", (Text("Be brief."),)),
        ("user", "normal", (Text("go"),)),
        ("assistant", "normal", (Text("I look"), use, ToolUse("t2", "bash", {"command": "ls"}))),
        ("tool", "normal", (ToolResult("t1", (Text("a"),)),)),
        ("tool", "normal", (ToolResult("t2", (Text("b\n[Error occurred in processing last action]"),), True),)),
        ("assistant", "normal", (Text("which?"),)),
        ("user", "normal", (Text("that"),)),
        ("assistant", "normal", (Text("so"), ToolUse("event-11", "run", {"command": "pwd"}))),
        ("tool", "normal", (ToolResult("event-11", (Text("/w"),)),)),
        ("assistant", "normal", (Text("Finished."),)),
    ]
    assert session.messages[2].usage == Usage(20, 4, 50, 20)
    assert session.messages[2].source == (5, 7)
    assert [tool.name for tool in session.tools] == ["bash"]


@pytest.mark.parametrize(
    "events",
    [
        [*EVENTS[:8], condensation("k", ["a1", "a2", "o1", "o2", "m1"], "in short", 2), *EVENTS[8:]],
        [*OLD[:10], old_condensation(10, 3, 9, "in short", 2), *({**e, "id": e["id"] + 1} for e in OLD[10:11])],
    ],
)
def test_a_condensation_forgets_and_sums_up(events: list[Any]) -> None:
    session = read(events)
    before, _ = session.epochs
    assert len(before.members) == 6
    assert texts(session)[:4] == ["Be brief.", "go", "in short", texts(session)[3]]
    summary = session.context()[2]
    assert (summary.role, summary.kind) == ("user", "summary")
    assert before.ended_by is not None
    assert before.ended_by.summary == summary.id
    assert_exact(FORMAT, session, session.context(1))


def tree(*events: Json) -> list[Json]:
    """Each with the parent that stands under `after`, else the one before."""
    made: list[Json] = []
    for event in events:
        after = event.pop("after", made[-1]["id"] if made else None)
        made.append({**event, "parent_id": after})
    return made


def folder(path: Path, events: list[Json], **state: Any) -> Path:
    (path / "events").mkdir(parents=True)
    (path / "base_state.json").write_text(json.dumps({"id": "c", **state}))
    for number, event in enumerate(events):
        (path / "events" / f"event-{number:05d}-{event['id']}.json").write_text(json.dumps(event))
    return path


TREE = tree(
    PROMPT,
    message("u1", "user", "one"),
    message("m1", "assistant", "done with one"),
    message("u2", "user", "two"),
    condensation("k1", ["u1", "m1"], "one, in short", 1),
    message("m2", "assistant", "done with two"),
    {**message("u3", "user", "three"), "after": "m1"},
    {**v1("state", "ConversationStateUpdateEvent", "environment", key="x", value=1), "after": "u3"},
    {**message("m3", "assistant", "done with three"), "after": "u3"},
)


def test_what_is_sent_is_the_branch_of_the_newest_event() -> None:
    session = read(TREE)
    assert texts(session) == ["Be brief.", "one", "done with one", "three", "done with three"]
    assert len(session.epochs) == 1  # the condensation is another branch's
    assert [m.text for m in session.messages] == [
        "Be brief.",
        "one",
        "done with one",
        "two",
        "done with two",
        "three",
        "done with three",
    ]
    assert list(session.branch) == [0, 1, 2, 5, 6]
    assert [str(w) for w in session.warnings] == ["3 of 9 events are on other branches and not sent"]


def test_a_folder_names_the_event_that_it_goes_on_with(tmp_path: Path) -> None:
    back = read_folder(folder(tmp_path / "a", TREE, leaf_event_id="m2"), no_progress)
    assert texts(back, 1) == ["Be brief.", "one", "done with one", "two"]
    assert texts(back) == ["Be brief.", "one, in short", "two", "done with two"]
    empty = read_folder(folder(tmp_path / "b", TREE, head_is_empty=True), no_progress)
    assert texts(empty) == []
    lost = read_folder(folder(tmp_path / "d", TREE, leaf_event_id="gone"), no_progress)
    assert texts(lost)[-1] == "done with three"
    assert str(lost.warnings[0]) == "the event gone, where the conversation continues, is missing"
    for context in (back.context(), back.context()[1:], back.context(1)):
        written = assert_exact(FORMAT, replace(back, id=""), context)
        events = json.loads(written.data)
        assert {"u3", "m3", "state"}.isdisjoint(e["id"] for e in events)
        assert [e.get("parent_id") for e in events] == [None, *(e["id"] for e in events[:-1])]


def test_a_root_that_begins_anew_and_a_parent_that_is_gone() -> None:
    anew = tree(PROMPT, message("u1", "user", "one"), {**message("u2", "user", "two"), "after": "__root__"})
    assert texts(read(anew)) == ["two"]
    older = read([PROMPT, message("u1", "user", "one"), *tree({**message("m1", "assistant", "yes"), "after": "u1"})])
    assert texts(older) == ["Be brief.", "one", "yes"]  # before there was a tree an event followed the one before it
    cut = read(tree({**message("u1", "user", "one"), "after": "gone"}, message("m1", "assistant", "yes")))
    assert texts(cut) == ["one", "yes"]
    assert str(cut.warnings[0]) == "event 1 follows the missing event gone"


def test_a_call_without_its_result_is_left_out_of_the_view_but_at_its_end() -> None:
    parts = [PROMPT, message("u1", "user", "go"), action("a1", "c1", "r1"), action("a2", "c2", "r1")]
    answered = observed("o1", "c1", "a1", "one")
    session = read([*parts, answered])
    assert [m.role for m in session.context()] == ["system", "user", "assistant", "tool"]
    session = read([*parts, answered, message("u2", "user", "more")])
    assert [m.role for m in session.context()] == ["system", "user", "user"]
    forgotten = read([*parts, answered, observed("o2", "c2", "a2", "two"), condensation("k", ["a2"], None, None)])
    assert [m.role for m in forgotten.context()] == ["system", "user"]
    assert forgotten.epochs[0].ended_by is not None
    assert forgotten.epochs[0].ended_by.way == "removal"


def test_a_summary_of_v1_stands_where_it_says_or_nowhere() -> None:
    session = read([*EVENTS, condensation("k", ["u1"], "lost", None)])
    assert "lost" not in texts(session)
    both = read([*EVENTS, condensation("k1", ["u1"], "one", 1), condensation("k2", ["u2"], "two", 1)])
    assert texts(both)[:3] == ["Be brief.", "two", "one"]


def test_what_the_tool_puts_around_results_and_messages() -> None:
    said = text("a rule of the folder")
    failed = {**observed("o1", "c1", "a1", "no"), "extended_content": [said]}
    failed["observation"]["is_error"] = True
    refused = v1("o2", "UserRejectObservation", "environment", tool_call_id="c2", rejection_reason="too slow")
    blocked = {**refused, "id": "o3", "tool_call_id": "c3", "rejection_source": "hook"}
    events = [
        {**message("u1", "user", "go"), "extended_content": [text("a skill")]},
        *(action(f"a{n}", f"c{n}", f"r{n}") for n in (1, 2, 3)),
        failed,
        refused,
        blocked,
    ]
    messages = read(events).messages
    assert messages[0].blocks == (Text("go"), Text("a skill", injected=True))
    assert messages[0].user_text == "go"
    error = Text("[An error occurred during execution.]\n")
    assert [m.results[0] for m in messages[4:]] == [
        ToolResult("c1", (error, Text("no"), Text("a rule of the folder")), is_error=True),
        ToolResult("c2", (Text("Action rejected: too slow"),), user_text="too slow"),
        ToolResult("c3", (Text("Action rejected: too slow"),)),
    ]


def test_a_v0_terminal_says_where_it_ended_and_how() -> None:
    about = {"exit_code": 0, "working_dir": "/w", "py_interpreter_path": "/py", "prefix": "<", "suffix": ">"}
    events = [
        v0(0, action="run", args={"command": "mkdir a"}),
        v0(1, observation="run", content="", cause=0, extras={"metadata": about}),
        v0(2, action="run", args={"command": "b"}),
        v0(3, observation="run", content="c", cause=2, extras={"command_id": 7, "exit_code": 1}),
        v0(4, action="run", args={"command": "d"}),
        v0(5, observation="user_rejected", content="No.", cause=4),
    ]
    assert [m.results[0].text for m in read(events).messages if m.results] == [
        "<>\n[Current working directory: /w]\n[Python interpreter: /py]\n[Command finished with exit code 0]",
        "c\n[Command 7 finished with exit code 1]",
        "No.\n[Last action has been rejected by the user]",
    ]


@pytest.mark.parametrize("events", [EVENTS, OLD])
def test_a_rewritten_error_keeps_its_words(events: list[Any]) -> None:
    session = read(events)
    context = list(session.context())
    place = next(n for n, m in enumerate(context) if m.results and m.results[0].is_error)
    result = context[place].results[0]
    context[place] = replace(context[place], source=(), blocks=(replace(result, content=(Text("short"),)),))
    written = FORMAT.codec.write(session, context)
    assert FORMAT.codec.validate(written.data) == []
    again = FORMAT.codec.read(Path("x"), written.data, no_progress)
    assert shape(again.context()) == shape(context)
    assert len(json.loads(written.data)) == len(events) + 2, "the old result stays, beside the new one and what forgets"
    shortened = replace(result, content=(Text("short"),))
    assert [r for m in again.context() for r in m.results if r.is_error] == [shortened]


def test_what_was_billed_stands_in_the_state(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "cache_read_tokens": 60, "cache_write_tokens": 10}
    metrics = {"token_usages": [{**usage, "response_id": "r1"}], "costs": [{"cost": 0.25}]}
    session = read_folder(folder(tmp_path / "a", EVENTS, stats={"usage_to_metrics": {"agent": metrics}}), no_progress)
    assert [m.usage for m in session.messages if m.usage] == [Usage(30, 5, 60, 10, cost=0.25)]


def test_events_on_lines_and_what_the_resolver_wrote(tmp_path: Path) -> None:
    lines = tmp_path / "events.jsonl"
    lines.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    assert shape(load(lines).context()) == shape(read(EVENTS).context())
    lines.write_text(json.dumps(EVENTS[0]) + "\n")
    with pytest.raises(BadInput, match="a JSON object with the keys"):
        load(lines)
    history = [
        {"action": "message", "content": "mend it", "images_urls": None},
        {"action": "run", "command": "ls", "thought": "I look"},
        {"observation": "run", "content": "a", "command": "ls", "command_id": -1, "exit_code": 0},
        {"action": "message", "content": "which?"},
        {"action": "message", "content": "that"},
        {"action": "finish", "thought": "Done.", "outputs": {}},
    ]
    issue = {"owner": "o", "repo": "r", "number": 7, "title": "broken"}
    line = {"issue": issue, "git_patch": "", "history": history, "metrics": {"accumulated_cost": 0.5}}
    solved = tmp_path / "output.jsonl"
    solved.write_text(json.dumps(line) + "\n")
    session = load(solved)
    assert (session.id, session.facts.cost) == ("o/r#7", 0.5)
    assert shape(session.context()) == [
        ("user", "normal", (Text("mend it"),)),
        ("assistant", "normal", (Text("I look"), ToolUse("event-1", "run", {"command": "ls"}))),
        ("tool", "normal", (ToolResult("event-1", (Text("a\n[Command -1 finished with exit code 0]"),)),)),
        ("assistant", "normal", (Text("which?"),)),
        ("user", "normal", (Text("that"),)),
        ("assistant", "normal", (Text("Done."),)),
    ]
    assert FORMAT.codec.validate(FORMAT.codec.write(session, session.context()).data) == []


def test_only_the_newest_summary_is_sent() -> None:
    request = v1("q", "CondensationRequest", "environment", reason="manual")
    session = read(
        [
            *EVENTS,
            condensation("k1", ["u1", "a1", "a2", "o1", "o2"], "one", 1),
            request,
            condensation("k2", ["m1", "k1-summary"], "two", 0),
            condensation("k3", ["u2"], None, None),
        ]
    )
    assert [texts(session, n) for n in (2, 3, 4)] == [
        ["Be brief.", "one", "done", "more", "also done"],
        ["two", "Be brief.", "more", "also done"],
        ["two", "Be brief.", "also done"],
    ]
    assert session.epochs[1].ended_by == Compaction("manual", None, "k2", 1767323045.5)


@pytest.mark.parametrize("metadata", ["x", 5, ["t1"], {}, None])
def test_a_result_is_rewritten_whatever_its_call_has_for_metadata(metadata: Any) -> None:
    session = read([{**one, "tool_call_metadata": metadata} if one["id"] == 11 else one for one in OLD])
    shorter = [
        replace(one, blocks=(replace(one.results[0], content=(Text("in short"),)),), source=())
        if one.results and one.results[0].text == "/w"
        else one
        for one in session.context()
    ]
    assert shorter != list(session.context())
    written = assert_exact(FORMAT, session, tuple(shorter))
    assert [one for one in json.loads(written.data) if one.get("content") == "in short"]


@pytest.mark.parametrize("events", [EVENTS, OLD])
def test_the_export_deletes_nothing_and_ends_with_a_condensation(events: list[Any]) -> None:
    session = read(events)
    context = session.context()
    summary = Message("s", "user", (Text("in short"),), "summary")
    reply = Message("r", "assistant", (Text("Ok."), *context[2].calls[1:]), "summary")
    written = assert_exact(FORMAT, session, (context[0], summary, reply, *context[4:]))
    after = json.loads(written.data)
    assert len(after) == len(events) + 2
    about = after[-1].get("args", after[-1])
    assert (about["summary"], about["summary_offset"]) == ("in short", 1)
    if events is EVENTS:
        assert set(about["forgotten_event_ids"]) == {"u1", "a1", "a2", "o1"}
        assert [e for e in after if e["id"] == "m1"] == [EVENTS[7]]
    else:
        assert [e["id"] for e in after] == list(range(len(after)))


def test_new_v0_events_have_what_the_tools_loader_demands() -> None:
    """Its `ToolCallMetadata` has the model's answer, with a text for content, in actions and in observations."""
    session = read(v0_events())
    call = session.context()[1].calls[0]
    again = Message("n", "assistant", (Text("Ok."), Text("Then."), ToolUse("c2", "run", {"command": "pwd"})))
    cleared = Message("r", "tool", (ToolResult(call.id, (Text("cleared"),)),))
    result = Message("r2", "tool", (ToolResult("c2", (Text("/w"),)),))
    orphan = Message("r3", "tool", (ToolResult("c3", (Text("lost"),)),))
    messages = (*session.context()[:2], cleared, again, result, orphan)
    written = FORMAT.codec.write(session, messages).data
    metas = {event["id"]: event["tool_call_metadata"] for event in json.loads(written) if "tool_call_metadata" in event}
    made = [meta for meta in metas.values() if meta["tool_call_id"] == "c2"]
    assert [meta["model_response"]["choices"][0]["message"]["content"] for meta in made] == ["Ok.\n\nThen."] * 2
    assert made[0] == made[1]
    assert len({json.dumps(meta) for meta in metas.values() if meta["tool_call_id"] == call.id}) == 1
    assert [meta["model_response"] for meta in metas.values() if meta["tool_call_id"] == "c3"] == [{"choices": []}]
    assert [r.text for m in read(json.loads(written)).context() for r in m.results] == ["cleared", "/w", "lost"]


def test_a_new_v0_result_of_a_call_without_metadata_is_known_by_its_cause() -> None:
    session = read(OLD)
    context = session.context()
    cleared = Message("r", "tool", (ToolResult("event-11", (Text("cleared"),)),))
    messages = tuple(cleared if "event-11" in [r.call_id for r in m.results] else m for m in context)
    written = assert_exact(FORMAT, session, messages)
    made = [event for event in json.loads(written.data) if event.get("content") == "cleared"]
    assert ["tool_call_metadata" in event for event in made] == [False]


SUMMARY = Message("n", "user", (Text("one, in short"),), "summary")
RUN = {"command": "ls", "kind": "TerminalAction"}


def unanswered(events: list[Json]) -> list[str]:
    """The actions that the SDK would run when it goes on: those that can be run and that no event behind them names."""
    seen: set[str] = set()
    found: list[str] = []
    for event in reversed(events):
        if event["kind"] in ("ObservationEvent", "UserRejectObservation"):
            seen.add(event["action_id"])
        elif event["kind"] == "AgentErrorEvent":
            seen.add(event["tool_call_id"])
        elif event["kind"] == "ActionEvent" and event["action"] and not seen & {event["id"], event["tool_call_id"]}:
            found.append(event["id"])
    return found


def test_a_call_that_is_written_anew_leaves_no_action_that_the_sdk_would_run_again() -> None:
    """Its result goes on naming the action that ran, which is forgotten; what is sent pairs by the call's id."""
    events = [PROMPT, message("u1", "user", "go"), action("a1", "c1", "r1"), observed("o1", "c1", "a1", "one")]
    events[2]["action"] = RUN
    session = read(events)
    prompt, _, asked, result = session.context()
    joined = Message("n", "assistant", (Text("Ok."), *asked.calls), "summary")
    written = assert_exact(FORMAT, session, (prompt, SUMMARY, joined, result))
    after = json.loads(written.data)
    assert unanswered(after) == []
    assert FORMAT.codec.validate(written.data) == []
    assert [e["action_id"] for e in after if e["kind"] == "ObservationEvent"] == ["a1"]


def test_a_forgotten_call_that_was_never_answered_is_answered_and_that_is_forgotten() -> None:
    """Else the SDK would run it when it goes on, and send nothing of it."""
    events = [PROMPT, message("u1", "user", "go"), action("a1", "c1", "r1")]
    events[2]["action"] = RUN
    session = read(events)
    written = assert_exact(FORMAT, session, (session.context()[0], SUMMARY))
    after = json.loads(written.data)
    assert unanswered(after) == []
    answer = next(event for event in after if event["kind"] == "AgentErrorEvent")
    assert set(after[-1]["forgotten_event_ids"]) == {"u1", "a1", answer["id"]}


def thought(id: str, call: str, answer: str) -> Json:
    return {**action(id, call, answer), "thinking_blocks": THINKING}


LOOP = [
    PROMPT,
    message("u1", "user", "go"),
    thought("a1", "c1", "r1"),
    observed("o1", "c1", "a1", "one"),
    action("a2", "c2", "r2"),
    observed("o2", "c2", "a2", "two"),
    message("m1", "assistant", "done"),
]
"""A tool loop: from an action with thinking up to the next message, or the next action with thinking."""
UPDATE = v1("p", "ConversationStateUpdateEvent", "environment", key="x", value=1)


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ([*LOOP, condensation("k", ["a1", "o1"], None, None)], ["Be brief.", "go", "done"]),
        ([*LOOP, condensation("k", ["a2", "o2"], None, None)], ["Be brief.", "go", "done"]),
        ([*LOOP, condensation("k", ["m1"], None, None)], ["Be brief.", "go", "one", "two"]),
        (
            [*LOOP[:4], thought("a2", "c2", "r2"), *LOOP[5:], condensation("k", ["a1", "o1"], None, None)],
            ["Be brief.", "go", "two", "done"],
        ),
        (
            [*LOOP[:2], action("a1", "c1", "r1"), *LOOP[3:], condensation("k", ["a1", "o1"], None, None)],
            ["Be brief.", "go", "two", "done"],
        ),
        (
            [*LOOP[:4], UPDATE, *LOOP[4:], condensation("k", ["a1", "o1"], None, None)],
            ["Be brief.", "go", "two", "done"],
        ),
    ],
    ids=["first", "last", "behind it", "another thought", "no thought", "an update between"],
)
def test_a_tool_loop_of_which_a_part_is_forgotten_is_not_sent(events: list[Json], left: list[str]) -> None:
    """As the SDK's views are since 1.8: what is left of a loop without its thinking an API may refuse."""
    assert said_in(read(events)) == left


def test_an_update_of_the_state_that_hangs_on_the_tree_ends_no_tool_loop() -> None:
    """It is on no path to the head; what an event names as its parent is."""
    whole = tree(*LOOP, condensation("k", ["a1", "o1"], None, None))
    hanging = {**UPDATE, "parent_id": "o1"}
    assert said_in(read([*whole[:4], hanging, *whole[4:]])) == ["Be brief.", "go", "done"]
    between = [*whole[:4], hanging, {**whole[4], "parent_id": "p"}, *whole[5:]]
    assert said_in(read(between)) == ["Be brief.", "go", "two", "done"]


@pytest.mark.parametrize("shape_of", [tree, lambda *events: list(events)], ids=["a tree", "a list"])
@pytest.mark.parametrize("left_out", [[2, 3], [4, 5], [3], [5]], ids=["first", "last", "first result", "last result"])
def test_an_export_parts_what_is_forgotten_of_a_tool_loop_from_the_rest(shape_of: Any, left_out: list[int]) -> None:
    session = read(shape_of(*LOOP))
    places = {index: message for message in session.context() for index in message.source}
    messages = [message for index, message in places.items() if index not in left_out]
    for index in left_out:
        if message_results := places[index].results:
            cleared = Message("n", "tool", (ToolResult(message_results[0].call_id, (Text("cleared"),)),))
            messages = messages if len(left_out) > 1 else [*messages[:index], cleared, *messages[index:]]
    written = assert_exact(FORMAT, session, messages)
    assert FORMAT.codec.validate(written.data) == []


@pytest.mark.parametrize(("events", "way"), [(EVENTS, "into an existing folder"), (OLD, "nothing resumes")])
def test_how_to_go_on_is_told_of_each_generation(events: list[Json], way: str) -> None:
    session = read(events)
    for messages in (session.context(), session.context()[:-1]):
        assert way in FORMAT.codec.write(session, messages).by_hand


def test_a_summary_of_which_nothing_can_be_written_is_none() -> None:
    """The SDK would send an empty text for an empty summary."""
    other = session_of((user("u", "go"), Message("k", "user", (Opaque("compaction", {"encrypted": "x"}),), "summary")))
    written = FORMAT.codec.write(other, other.context())
    assert [event["kind"] for event in json.loads(written.data)] == ["MessageEvent"]
    assert written.losses != ()


@pytest.mark.parametrize(
    ("events", "faults"),
    [
        (
            [{**EVENTS[2], "action": RUN}, condensation("k", ["a1"], None, None)],
            ["Event 1 is forgotten and has no result: OpenHands would run it again."],
        ),
        (
            [
                {**EVENTS[2], "action": RUN},
                {**EVENTS[5], "tool_call_id": "c1"},
                condensation("k", ["a1", "o2"], None, None),
            ],
            [],
        ),
        ([EVENTS[2], {**EVENTS[2], "id": "again"}, EVENTS[4], condensation("k", ["a1"], None, None)], []),
        (
            [EVENTS[2], EVENTS[4], {**EVENTS[2], "id": "again"}, condensation("k", ["a1"], None, None)],
            ["Event 2 answers a forgotten call."],
        ),
        ([], ["There are no events."]),
        ([{**OLD[1], "id": "--1"}, OLD[2]], ["Event 1 has an id that is not a number."]),
        ([{**OLD[1], "id": "²"}, OLD[2]], ["Event 1 has an id that is not a number."]),
        ([7], ["Event 1 is from neither user, agent nor environment."]),
        ([EVENTS[0], EVENTS[0]], ["Event 2 has the id s of an earlier event."]),
        (
            [v1("x", "ActionEvent")],
            [
                "Event 1 has no tool_call.",
                "Event 1 has no tool_call_id.",
                "Event 1 has no tool_name.",
                "Event 1 has no llm_response_id.",
            ],
        ),
        ([EVENTS[4]], ["Event 1 answers the call c1, which no earlier event makes."]),
        (
            [EVENTS[2], {**EVENTS[4], "action_id": "other"}],
            ["Event 2 answers the call c1, but names another event than a1."],
        ),
        ([EVENTS[2], EVENTS[4], condensation("k", ["a1"], None, None)], ["Event 2 answers a forgotten call."]),
        ([EVENTS[0], condensation("k", ["gone"], None, None)], ["Event 2 forgets gone, which no earlier event has."]),
        ([EVENTS[0], condensation("k", [], "sum", None)], ["Event 2 has a summary without an offset."]),
        (
            [EVENTS[0], condensation("k", [], "sum", 99)],
            ["Event 2 has a summary offset past the last message kept."],
        ),
        ([OLD[1], OLD[1]], ["Event 2 has the id 1, which does not increase."]),
        ([{**OLD[1], "id": "x"}], ["Event 1 has an id that is not a number."]),
    ],
)
def test_the_validator_finds(events: list[Any], faults: list[str]) -> None:
    assert FORMAT.codec.validate(json.dumps(EVENTS).encode()) == []
    assert FORMAT.codec.validate(json.dumps(OLD).encode()) == []
    found = FORMAT.codec.validate(json.dumps(events).encode())
    assert found == faults


def v0_events() -> list[dict[str, Any]]:
    """Asked, looked, answered."""
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"command": "ls"}'}}
    answer = {"id": "r1", "model": "m", "choices": [{"message": {"content": "I look.", "tool_calls": [call]}}]}
    meta = {"tool_call_id": "c1", "function_name": "run", "model_response": answer, "total_calls_in_response": 1}
    common = {"timestamp": "2025-03-01T10:00:00", "message": ""}
    return [
        {**common, "id": 0, "source": "user", "action": "message", "args": {"content": "what is here?"}},
        {**common, "id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}, "tool_call_metadata": meta},
        {
            **common,
            "id": 2,
            "source": "agent",
            "observation": "run",
            "content": "a b",
            "cause": 1,
            "tool_call_metadata": meta,
        },
        {**common, "id": 3, "source": "agent", "action": "message", "args": {"content": "a and b"}},
    ]


def test_a_v0_folder_is_read_by_the_numbers_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "abc123"
    (folder / "events").mkdir(parents=True)
    filler = {"timestamp": "2025-03-01T10:00:01", "source": "user", "action": "message"}
    events = v0_events() + [{**filler, "id": n, "args": {"content": f"and {n}?"}} for n in range(4, 12)]
    for event in events:
        (folder / "events" / f"{event['id']}.json").write_text(json.dumps(event))
    (folder / "events" / "12.json").symlink_to(tmp_path / "elsewhere.json")
    (folder / "events" / "notes.txt").write_text("not an event")
    assert "V0" in recognise_folder(folder)
    session = load(folder)
    assert session.id == "abc123"
    assert [m.role for m in session.context()[:4]] == ["user", "assistant", "tool", "assistant"]
    assert [m.text for m in session.context()[4:]] == [f"and {n}?" for n in range(4, 12)]
    written = FORMAT.codec.write(session, session.context())
    assert shape(FORMAT.codec.read(folder, written.data, no_progress).context()) == shape(session.context())
    for file in (folder / "events").glob("*.json"):
        file.unlink()
    with pytest.raises(BadInput, match="has no events"):
        read_folder(folder, no_progress)
    assert recognise_folder(folder) == ""


def test_an_evaluation_holds_a_conversation_on_each_line(tmp_path: Path) -> None:
    config = {"agent_class": "CodeActAgent", "llm_config": {"model": "claude"}}
    events = v0_events()
    lines: list[dict[str, Any]] = [
        {"instance_id": "task-0", "metadata": config, "history": None, "error": "it never began"},
        {"instance_id": "task-1", "metadata": config, "history": events, "error": None},
        {"instance_id": "task-2", "metadata": config, "history": [events[:1], events[1:3], [events[3], {}]]},
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path = tmp_path / "output.jsonl"
    path.write_bytes(data)
    assert [(part.id, part.title, part.messages) for part in sessions_in(path, data)] == [
        ("2", "task-1", 4),
        ("3", "task-2", 4),
    ]
    first, old = load(path), read_part(path, data, "3", no_progress)
    assert (first.format, first.id, first.model) == ("openhands", "task-1", "m")
    assert "holds 2 runs" in str(first.warnings[0])
    assert shape(first.context()) == shape(old.context())
    assert len(first.context()) == 4
    assert json.loads(FORMAT.codec.write(first, first.context()).data) == events
    with pytest.raises(BadInput, match="no run '1'"):
        read_part(path, data, "1", no_progress)
    path.write_text(json.dumps(lines[0]))
    with pytest.raises(BadInput, match="no line of this evaluation has a history"):
        load(path)


def test_an_evaluation_is_known_by_a_first_line_longer_than_the_head() -> None:
    for history in ({"history": []}, {"metadata": {"agent_class": "A"}}):
        line = {"instance_id": "x", "instruction": "a" * 70_000, **history}
        assert "evaluations" in FORMAT.recognise(Look.of(json.dumps(line).encode()))


@pytest.mark.parametrize("key", ["function_name", "model_response", "tool_call_id", "total_calls_in_response"])
def test_what_v0_demands_of_a_call_is_asked_for(key: str) -> None:
    """V0's loader builds a `ToolCallMetadata` and stops at the first event that lacks one of its fields."""
    events = json.loads(json.dumps(OLD))
    place = next(n for n, event in enumerate(events) if "tool_call_metadata" in event)
    del events[place]["tool_call_metadata"][key]
    faults = FORMAT.codec.validate(json.dumps(events).encode())
    assert f"Event {place + 1} has tool_call_metadata without a {key}." in faults


def test_what_v0_observed_is_text() -> None:
    events = json.loads(json.dumps(OLD))
    place, seen = next((n, event) for n, event in enumerate(events) if "observation" in event)
    seen["content"] = []
    assert f"Event {place + 1} has content that is not text." in FORMAT.codec.validate(json.dumps(events).encode())


def kept(path: Path, **state: Any) -> Path:
    """A conversation's folder as the SDK writes one: ids that it takes in names, usage and head in the state."""
    prompt = {**PROMPT, "id": "00000001"}
    said = [("user", "one"), ("assistant", "done with one"), ("user", "two"), ("assistant", "done with two")]
    events = [message(f"0000000{n}", role, words) for n, (role, words) in enumerate(said, 2)]
    return folder(path, tree(prompt, *events) if state else [prompt, *events], **(state or {"agent": {}}))


BILLS = {"usage_to_metrics": {"agent": {"accumulated_cost": 0.5, "token_usages": [{"response_id": "r"}]}}}


def test_an_export_into_a_folder_is_one_that_openhands_goes_on_with(tmp_path: Path) -> None:
    given = kept(tmp_path / "given", leaf_event_id="00000005", head_is_empty=False, stats=BILLS)
    session = load(given)
    prompt, *_, two, last = session.context()
    export_note = ExportNote("m", 1000, 7, 1.5)
    made = export(session, [prompt, SUMMARY, two, last], export_note=export_note)
    assert made.problems == ()
    out = tmp_path / "out"
    out.mkdir()
    where = save(made, out).where
    state = json.loads((where / "base_state.json").read_text())
    assert (where.parent, UUID(state["id"]).hex) == (out, where.name)
    files = sorted(path.name for path in (where / "events").iterdir())
    events = [json.loads((where / "events" / name).read_text()) for name in files]
    assert files == [f"event-{n:05d}-{event['id']}.json" for n, event in enumerate(events)]
    *before, condensed, noted = events
    assert before == [json.loads(path.read_text()) for path in sorted((given / "events").iterdir())]
    assert (condensed["kind"], condensed["forgotten_event_ids"]) == ("Condensation", ["00000002", "00000003"])
    assert (condensed["parent_id"], condensed["summary_offset"]) == ("00000005", 1)
    assert (noted["kind"], noted["key"], noted["parent_id"]) == (
        "ConversationStateUpdateEvent",
        "workbench_carried",
        condensed["id"],
    )
    assert state["leaf_event_id"] == condensed["id"]
    assert state["stats"]["usage_to_metrics"] == {"agent": {"accumulated_cost": 0.5, "token_usages": []}}
    again = load(where)
    assert shape(again.context()) == shape([prompt, SUMMARY, two, last])
    assert (again.id, again.facts.export_note) == (state["id"], export_note)
    assert list(out.iterdir()) == [where]


def test_a_folder_without_a_tree_has_no_head(tmp_path: Path) -> None:
    session = load(kept(tmp_path / "given"))
    state = json.loads((save(export(session, session.context()[1:]), tmp_path).where / "base_state.json").read_text())
    assert "leaf_event_id" not in state


def test_an_export_that_is_no_whole_folder_is_a_list(tmp_path: Path) -> None:
    """Without a state nobody knows agent and workspace; ids that could lead elsewhere are in no name."""
    (tmp_path / "out").mkdir()
    no_state = kept(tmp_path / "a")
    (no_state / "base_state.json").write_text("{}")
    foul = load(folder(tmp_path / "b", [{**EVENTS[1], "id": "no such id"}], agent={}))
    for session in (load(no_state), read(EVENTS), foul):
        assert save(export(session, session.context()), tmp_path / "out", overwrite=True).where.suffix == ".json"


def test_a_folder_that_does_not_hold_what_was_promised_is_not_there(tmp_path: Path) -> None:
    session = load(kept(tmp_path / "given"))
    made = export(session, session.context()[1:])
    (tmp_path / "out").mkdir()
    with pytest.raises(BadInput, match="would lose content"):
        save(replace(made, messages=(*made.messages, SUMMARY)), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_no_event_of_v1_gets_a_key_that_the_sdk_refuses() -> None:
    session = read(EVENTS)
    made = export(session, session.context()[:-1], export_note=ExportNote("m", 1000, 7, 1.5))
    events = json.loads(made.written.data)
    assert [key for event in events for key in event if key.startswith("workbench")] == []
    assert events[-1]["value"] == {"model": "m", "window": 1000, "prompt": 7, "scale": 1.5, "spent": 0}


@pytest.mark.parametrize(("forgotten", "way"), [([], "empty"), (["u1"], "removal")])
def test_a12_a_condensation_that_forgets_nothing_is_an_empty_compaction(
    tmp_path: Path, forgotten: list[str], way: str
) -> None:
    request = v1("q", "CondensationRequest", "environment")
    nothing = {"forgotten_event_ids": [], "summary": None, "summary_offset": None}
    events = [message("u1", "user", "Go."), message("a1", "assistant", "Yes."), request]
    events += [v1("c1", "Condensation", "environment", **nothing | {"forgotten_event_ids": forgotten})]
    events += [v1("c2", "Condensation", "environment", **nothing), message("u2", "user", "More.")]
    (tmp_path / "events.json").write_text(json.dumps(events))
    session = load(tmp_path / "events.json")
    assert [epoch.ended_by and epoch.ended_by.way for epoch in session.epochs] == [way, "empty", None]
    told = [(one.what, one.text) for one in findings(session) if one.what.startswith("epoch")]
    if forgotten:
        assert told == [
            ("epoch 1", "ended by a recorded removal: messages removed without a replacement"),
            ("epoch 2", "ended by a recorded compaction that removed nothing"),
        ]
    else:
        assert told == [("epochs 1 to 2", "2 recorded compactions in a row that removed nothing")]


def test_a12_of_the_case(shared: Path) -> None:
    session = load(shared / "cases" / "37-openhands-empty-condensations.json")
    assert [epoch.ended_by and epoch.ended_by.way for epoch in session.epochs] == [*["empty"] * 12, None]


@pytest.mark.parametrize("before", range(170, 200))
def test_f06_the_preview_of_a_v0_event_is_cut_from_the_masked_text(before: int) -> None:
    """An export that is masked afterwards cannot tell a secret whose end was cut off."""
    said = f"{'x' * before} password='brass-Heron-77' {'y' * 40}"
    session = read(v0_events())
    call = Message("m", "assistant", (Text("Yes."), ToolUse("c", "run", {})))
    result = Message("r", "tool", (ToolResult("c", (Text(said),)),))
    messages = (*session.context()[:2], Message("n", "user", (Text(said),)), call, result)
    written = masked_value(json.loads(FORMAT.codec.write(session, messages).data))
    assert sum(said[:100] in event.get("message", "") for event in written) == 2
    assert "brass-" not in json.dumps(written)
