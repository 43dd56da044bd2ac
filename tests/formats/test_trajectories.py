"""Trajectories of SWE-agent and mini-swe-agent: what is sent, what a message is, and lists written back."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.conformance.formats import assert_exact
from workbench.formats import mini_swe_agent, openai_chat, swe_agent
from workbench.formats.format import Format, no_progress
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Compaction, Message, Session, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
MINI, SWE = mini_swe_agent.FORMAT, swe_agent.FORMAT


def call(id: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}


RESPONSE = {
    "model": "m/x",
    "created": 1_700_000_000,
    "usage": {"prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 20}},
}
MINI_MESSAGES = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "<pr_description>\nFix it\n</pr_description>"},
    {
        "role": "assistant",
        "content": "I list.",
        "tool_calls": [call("c")],
        "extra": {"response": RESPONSE, "actions": []},
    },
    {"role": "tool", "content": "a b", "tool_call_id": "c", "extra": {"returncode": 0, "timestamp": 1_700_000_005.5}},
    {"role": "assistant", "content": "no call"},
    {"role": "user", "content": "<returncode>1</returncode>"},
    {"role": "user", "content": "The user added a new task: more"},
    {"role": "assistant", "content": "done"},
    {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
]
SWE_HISTORY = [
    {"role": "system", "content": "You help.", "agent": "main", "message_type": "system_prompt"},
    {"role": "assistant", "content": "demo", "agent": "main", "is_demo": True},
    {"role": "user", "content": "demo output", "agent": "main", "is_demo": True},
    {"role": "user", "content": "Fix it", "agent": "main", "message_type": "observation"},
    {
        "role": "assistant",
        "content": "I list.",
        "agent": "main",
        "thought": "I list.",
        "action": "ls",
        "tool_calls": [call("c")],
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    },
    {"role": "tool", "content": "a b", "agent": "main", "tool_call_ids": ["c"], "message_type": "observation"},
    {"role": "user", "content": "a summarizer's", "agent": "other"},
    {"role": "assistant", "content": "ls", "agent": "main", "thought": "", "action": "ls"},
    {"role": "user", "content": "OBSERVATION: a b", "agent": "main", "message_type": "observation"},
    {"role": "assistant", "content": "done", "agent": "main"},
]


def mini(messages: Any = MINI_MESSAGES, **more: Any) -> bytes:
    info = {"exit_status": "", "config": {"environment": {"cwd": "/w"}}, "mini_version": "2"}
    return json.dumps({"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1", **more}).encode()


def swe(history: Any = SWE_HISTORY, **more: Any) -> bytes:
    steps = [{"action": "ls", "observation": "a b", "state": {"working_dir": "/w"}}]
    return json.dumps({"environment": "e", "trajectory": steps, "history": history, "info": {}, **more}).encode()


def read(format: Format, data: bytes) -> Session:
    return format.codec.read(Path("x.traj.json"), data, no_progress)


def test_real_history_processors_are_told(shared: Path) -> None:
    path = shared / "sessions/swe-agent/marshmallow-1867-fc-replace.traj"
    session = SWE.codec.read(path, path.read_bytes(), no_progress)
    (warning,) = session.warnings
    assert str(warning) == ("a history processor shortens messages per call; shown: the newest call, 8 shortened")
    assert [(len(e.members), len(e.copies)) for e in session.epochs] == [(14, 0), (28, 8)]
    assert session.epochs[0].ended_by == Compaction("history processor", way="clearing")
    prompt = json.loads(path.read_bytes())["trajectory"][-1]["messages"]
    told = [m.text or "\n".join(r.text for r in m.results) for m in session.context()]
    assert told == [item["content"] for item in prompt]


def test_what_a_mini_trajectory_says() -> None:
    session = read(MINI, mini())
    assert shape(session.context()) == [
        ("system", "normal", (Text("You help."),)),
        ("user", "normal", (Text("<pr_description>\nFix it\n</pr_description>"),)),
        ("assistant", "normal", (Text("I list."), ToolUse("c", "bash", {"command": "ls"}))),
        ("tool", "normal", (ToolResult("c", (Text("a b"),)),)),
        ("assistant", "normal", (Text("no call"),)),
        ("user", "meta", (Text("<returncode>1</returncode>"),)),
        ("user", "normal", (Text("The user added a new task: more"),)),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert len(session.messages) == 9
    assert not session.warnings
    assert session.messages[2].usage == Usage(30, 5, cache_read=20)
    assert [m.time for m in session.messages[2:4]] == [1_700_000_000, 1_700_000_005.5]
    assert (session.title, session.cwd) == ("Fix it </pr_description>", "/w")


@pytest.mark.parametrize(
    ("last", "submission", "sent"),
    [
        ({"role": "user", "content": "diff --git a b"}, "diff --git a b", 2),
        ({"role": "user", "content": "diff --git a b"}, "diff --git a", 3),
        ({"role": "user", "content": "diff --git a b"}, "", 3),
        ({"role": "assistant", "content": "diff --git a b"}, "diff --git a b", 3),
        ({"role": "exit", "content": "any"}, "", 2),
    ],
)
def test_what_was_submitted_went_to_no_model(last: Json, submission: str, sent: int) -> None:
    """It can be a patch of any size, and would be the largest of the context."""
    messages = [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}, last]
    session = read(MINI, mini(messages, info={"exit_status": "Submitted", "submission": submission}))
    assert [*session.epochs[0].members] == [*range(sent)]


def test_what_a_swe_agent_history_says() -> None:
    session = read(SWE, swe())
    assert shape(session.context()) == [
        ("system", "normal", (Text("You help."),)),
        ("assistant", "meta", (Text("demo"),)),
        ("user", "meta", (Text("demo output"),)),
        ("user", "normal", (Text("Fix it"),)),
        ("assistant", "normal", (Thinking("hm", "s"), Text("I list."), ToolUse("c", "bash", {"command": "ls"}))),
        ("tool", "normal", (ToolResult("c", (Text("a b"),)),)),
        ("assistant", "normal", (Text("ls"),)),
        ("user", "meta", (Text("OBSERVATION: a b"),)),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert session.messages[6].text == "a summarizer's"
    assert (session.title, session.cwd) == ("Fix it", "/w")


@pytest.mark.parametrize(
    ("format", "data"), [(MINI, mini()), (MINI, json.dumps(MINI_MESSAGES[:-1]).encode()), (SWE, swe())]
)
def test_kinds_survive_wherever_a_message_ends_up(format: Format, data: bytes) -> None:
    session = read(format, data)
    context = session.context()
    summary = Message("s", "user", (Text("in short"),), "summary")
    reply = Message("r", "assistant", (Text("Ok."),), "summary")
    for at in range(1, len(context)):
        if context[at].role != "tool":
            assert_exact(format, session, (context[0], summary, reply, *context[at:]))
            kept = (context[0], *context[at:])
            assert shape(read(format, format.codec.write(session, kept).data).context()) == shape(kept)
    task = next(m for m in context if m.starts_round)
    written = assert_exact(format, session, (context[0], summary, reply, task, *context[-1:]))
    assert b'"name"' not in written.data.replace(b'"name": "bash"', b"")


def test_an_export_keeps_everything_around_the_list() -> None:
    session = read(SWE, swe(extra=[1]))
    context = session.context()
    written = json.loads(SWE.codec.write(session, context[:1] + context[3:]).data)
    assert written["trajectory"] == json.loads(swe())["trajectory"]
    assert written["extra"] == [1]
    assert written["history"] == [SWE_HISTORY[n] for n in (0, 3, 4, 5, 7, 8, 9)]


def test_calls_before_a_compaction_were_billed_for_another_context() -> None:
    session = read(MINI, mini())
    summary = Message("s", "user", (Text("in short"),), "summary")
    again = read(MINI, MINI.codec.write(session, (summary, *session.context()[2:])).data)
    assert again.messages[0].time is not None
    assert again.messages[0].time > 1_700_000_005.5


def test_a_processor_that_is_configured_is_told_where_no_prompt_is_recorded() -> None:
    def told(*types: str) -> list[str]:
        config = {"agent": {"history_processors": [{"type": one} for one in types]}}
        return [str(w) for w in read(SWE, swe(replay_config=json.dumps(config))).warnings]

    assert told("cache_control") == []
    assert told("last_n_observations", "cache_control") == [
        "history processors are configured (last_n_observations): the context sent was shorter than the history shown"
    ]
    old = swe(replay_config={"agent": {"config": {"history_processor": "Last5Observations"}}})
    assert "(Last5Observations)" in str(read(SWE, old).warnings[0])


def test_no_warning_of_a_processor_if_each_prompt_is_the_history_so_far() -> None:
    """A processor of the newest observations shortens nothing in a short session."""

    def warned(*steps: Json) -> bool:
        config = {"agent": {"history_processors": [{"type": "last_n_observations"}]}}
        return bool(read(SWE, swe(trajectory=steps, replay_config=config)).warnings)

    first, second = {"messages": SWE_HISTORY[:4]}, {"messages": SWE_HISTORY[:6]}
    assert not warned(first, second)
    assert not warned(first, {"query": SWE_HISTORY[:6]})
    assert warned(first, {"action": "ls"})  # this call's prompt may have been shorter
    assert warned({"action": "ls"}, second)
    assert warned(first, {"messages": [*SWE_HISTORY[:3], *SWE_HISTORY[4:6]]})
    assert warned(first, {"messages": [{**SWE_HISTORY[0], "content": [{"type": "text", "text": "less"}]}]})
    own = [item for item in SWE_HISTORY if item["agent"] == "main"]
    assert not warned({"messages": own})
    assert warned({"messages": [*own, {"role": "user", "content": "of another history"}]})
    assert warned()


@pytest.mark.parametrize(
    "prompt",
    [
        [*SWE_HISTORY[:5], {**SWE_HISTORY[5], "role": "user", "content": "gone"}],
        [{**SWE_HISTORY[0], "content": "another prompt"}],
        [*SWE_HISTORY, SWE_HISTORY[0]],
        SWE_HISTORY[:5],
    ],
)
def test_a_prompt_of_another_history_clears_nothing(prompt: list[Json]) -> None:
    session = read(SWE, swe(trajectory=[{"action": "ls", "observation": "x", "messages": prompt}]))
    assert len(session.epochs) == 1
    assert session.warnings == ()


def test_a_shortened_observation_stands_in_the_newest_context() -> None:
    shorter = [*SWE_HISTORY[:5], {**SWE_HISTORY[5], "content": "gone"}]
    steps = [{"messages": SWE_HISTORY[:4]}, {"messages": shorter}, {"messages": shorter}]
    session = read(SWE, swe(trajectory=steps))
    assert session.context(1)[-1] == session.messages[5]
    again = session.context()[5]
    assert (again.results, again.source) == ((ToolResult("c", (Text("gone"),)),), ())
    assert session.epochs[1].copies == {len(SWE_HISTORY)}
    for context in (session.context(), session.context(1), session.context()[3:]):
        assert_exact(SWE, session, context)


def test_recognised_though_cut() -> None:
    long = {"info": {"exit_status": "Submitted", "submission": "+" * 70_000}, "messages": MINI_MESSAGES}
    assert MINI.recognise(Look.of(json.dumps(long).encode()))
    steps = [{"action": "ls", "observation": "x" * 70_000}]
    assert SWE.recognise(Look.of(json.dumps({"trajectory": steps, "history": []}).encode()))
    told = {"role": "system", "content": "x", "agent": "main", "message_type": "system_prompt"}
    assert "demonstrations" in SWE.recognise(Look.of(json.dumps({"history": [told]}).encode()))
    assert len(read(SWE, json.dumps({"history": [told]}).encode()).messages) == 1
    for data in (b"[1,2]", json.dumps({"history": [{"role": "user", "content": "x"}]}).encode()):
        assert not SWE.recognise(Look.of(data))
    for data in (b"[1,2]", json.dumps([{"role": "user", "content": "hi"}] * 5).encode(), b'{"info":{"id":"ses_1"}}'):
        assert not MINI.recognise(Look.of(data))
        assert not SWE.recognise(Look.of(data))
    bare = json.dumps(MINI_MESSAGES).encode()
    assert MINI.recognise(Look.of(bare))
    assert not openai_chat.FORMAT.recognise(Look.of(bare))
    open_end = json.dumps(MINI_MESSAGES[:-1]).encode()
    assert openai_chat.FORMAT.recognise(Look.of(open_end))  # so that mini-swe-agent has to be asked first


@pytest.mark.parametrize(
    ("format", "data", "faults"),
    [
        (MINI, mini([]), ["There are no messages."]),
        (MINI, mini(trajectory_format="x"), ["The trajectory_format x is not mini-swe-agent's."]),
        (MINI, mini(info=None), ["There is no info."]),
        (
            MINI,
            mini([*MINI_MESSAGES[:2], MINI_MESSAGES[3]]),
            ["Message 3 answers the call c, which is not open."],
        ),
        (
            MINI,
            mini([MINI_MESSAGES[8], MINI_MESSAGES[1]]),
            ["Message 1 has a role other than system, developer, user, assistant, tool."],
        ),
        (SWE, swe([]), ["There are no messages in its history."]),
        (SWE, b'{"history":[{"role":"user","content":"x","agent":"a"}]}', []),
        (SWE, swe([{"role": "user", "content": "x"}]), ["Message 1 names no agent."]),
        (
            SWE,
            swe([{"role": "tool", "content": "x", "agent": "a"}]),
            ["Message 1 is a tool message without tool_call_ids."],
        ),
        (
            SWE,
            swe([*SWE_HISTORY[:4], SWE_HISTORY[5]]),
            ["Message 5 answers the call c, which is not open."],
        ),
        (
            SWE,
            swe([{"role": "assistant", "content": None, "agent": "a"}]),
            ["Message 1 has content that is neither text nor a list of parts."],
        ),
    ],
)
def test_the_validators_find(format: Format, data: bytes, faults: list[str]) -> None:
    assert format.codec.validate(mini() if format is MINI else swe()) == []
    assert format.codec.validate(data) == faults


def answered(number: int, text: str, *calls: str) -> dict[str, Any]:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    made = [{"type": "function_call", "call_id": id, "name": "bash", "arguments": '{"command":"ls"}'} for id in calls]
    usage = {"input_tokens": 90, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 30}}
    about = {"object": "response", "model": "m", "created_at": number, "usage": usage, "extra": {"cost": 0.5}}
    return about | {"output": [thought, said, *made]}


RESPONSES: list[Any] = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "fix it"},
    answered(1, "I look.", "a", "b"),
    {"type": "function_call_output", "call_id": "a", "output": "one", "extra": {"timestamp": 2}},
    {"type": "function_call_output", "call_id": "b", "output": "two", "extra": {"timestamp": 3}},
    answered(4, "Once more.", "c"),
    {"type": "function_call_output", "call_id": "c", "output": "three", "extra": {}},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "The user interrupted: stop"}]},
    {"role": "exit", "content": "", "extra": {}},
]


def test_a_mini_trajectory_of_the_responses_api() -> None:
    session = read(MINI, mini(RESPONSES))
    assert session.warnings == ()
    assert shape(session.context()) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "normal", (Text("fix it"),)),
        (
            "assistant",
            "normal",
            (
                Thinking("hm"),
                Text("I look."),
                ToolUse("a", "bash", {"command": "ls"}),
                ToolUse("b", "bash", {"command": "ls"}),
            ),
        ),
        ("tool", "normal", (ToolResult("a", (Text("one"),)),)),
        ("tool", "normal", (ToolResult("b", (Text("two"),)),)),
        ("assistant", "normal", (Thinking("hm"), Text("Once more."), ToolUse("c", "bash", {"command": "ls"}))),
        ("tool", "normal", (ToolResult("c", (Text("three"),)),)),
        ("user", "normal", (Text("The user interrupted: stop"),)),
    ]
    answer = session.messages[2]
    assert (answer.usage, answer.time, answer.model) == (Usage(60, 5, cache_read=30, cost=0.5), 1.0, "m")
    assert MINI.codec.validate(mini(RESPONSES)) == []
    made = [
        Message("n", "assistant", (Text("short"), ToolUse("b", "bash", {"command": "ls"}))),
        Message("r", "tool", (ToolResult("b", (Text("2"),)),)),
        Message("s", "user", (Text("so far"),), "summary"),
    ]
    written = assert_exact(MINI, session, (*session.messages[:2], *made, *session.messages[5:7]))
    items = json.loads(written.data)["messages"]
    assert [item.get("object") or item.get("type") or item["role"] for item in items] == [
        "system", "user", "response", "function_call_output", "user", "response", "function_call_output",
    ]  # fmt: skip
    assert items[2]["output"][1] == {
        "type": "function_call",
        "call_id": "b",
        "name": "bash",
        "arguments": '{"command":"ls"}',
    }


@pytest.mark.parametrize(("told", "cost"), [({"instance_cost": 0.5}, 0.5), ({"instance_cost": 0}, None), (None, None)])
def test_the_cost_of_a_run_is_its_own_where_its_calls_do_not_tell(told: Any, cost: float | None) -> None:
    assert read(MINI, mini(info={"mini_version": "1", "model_stats": told})).facts.cost == cost
    responses = mini(RESPONSES, info={"mini_version": "2", "model_stats": told})
    assert read(MINI, responses).facts.cost is None
