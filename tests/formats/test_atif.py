"""ATIF trajectories: steps that become two messages, a summarisation that ends an epoch, numbers without gaps."""

import json
from dataclasses import replace
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.formats import SOMEWHERE, assert_exact, read
from workbench.formats.atif import FORMAT
from workbench.formats.format import no_progress
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]


def call(id: str) -> Json:
    return {"tool_call_id": id, "function_name": "f", "arguments": {"a": 1}}


PICTURE: Json = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
STEPS: list[Json] = [
    {"source": "system", "message": "rules"},
    {"source": "user", "message": [{"type": "text", "text": "see"}, PICTURE], "timestamp": "2026-01-01T00:00:00Z"},
    {
        "source": "agent",
        "message": "I look.",
        "reasoning_content": "hm",
        "tool_calls": [call("c1"), call("c2")],
        "observation": {
            "results": [{"content": "one"}, {"source_call_id": "c2", "content": [{"type": "text", "text": "2"}]}]
        },
        "metrics": {"prompt_tokens": 50, "cached_tokens": 20, "completion_tokens": 7},
        "model_name": "m",
    },
    {"source": "agent", "message": "done"},
]


def body(steps: Any = STEPS, **more: Any) -> bytes:
    numbered = [{"step_id": n, **step} for n, step in enumerate(steps, 1)] if isinstance(steps, list) else steps
    agent = {"name": "a", "version": "1", "model_name": "m"}
    return json.dumps(
        {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent, "steps": numbered, **more}
    ).encode()


def test_steps_become_messages() -> None:
    session = read(FORMAT, body())
    assert shape(session.messages) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "normal", (Text("see"), Media("image/png", 0))),
        (
            "assistant",
            "normal",
            (Thinking("hm"), Text("I look."), ToolUse("c1", "f", {"a": 1}), ToolUse("c2", "f", {"a": 1})),
        ),
        ("tool", "normal", (ToolResult("c1", (Text("one"),)), ToolResult("c2", (Text("2"),)))),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert session.messages[2].usage == Usage(30, 7, cache_read=20)
    assert session.messages[1].time == 1_767_225_600


def test_half_a_step_is_written_again() -> None:
    session = read(FORMAT, body())
    short = Message("x", "tool", (ToolResult("c1", (Text("o"),)), ToolResult("c2", ())))
    assert_exact(FORMAT, session, (*session.messages[1:3], short, session.messages[4]))
    assert_exact(FORMAT, session, (*session.messages[:3], session.messages[4]))


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"steps": []}, ["There are no steps."]),
        ({"schema_version": "2"}, ["The schema_version is 2, not one of ATIF-v1."]),
        ({"session_id": None}, ["There is no session_id."]),
        ({"agent": {}}, ["The agent has no name or no version."]),
        ({"steps": [{"step_id": 2, "source": "user", "message": "x"}]}, ["Step 1 has the step_id 2."]),
        (
            {"steps": [{"step_id": 1, "source": "robot", "message": "x"}]},
            ["Step 1 is from neither user, agent nor system."],
        ),
        (
            {"steps": [{"step_id": 1, "source": "user", "message": None}]},
            ["Step 1 has a message that is neither text nor a list of parts."],
        ),
        (
            {"steps": [{"step_id": 1, "source": "user", "message": "x", "metrics": {}}]},
            ["Step 1 has metrics, which only agent steps may have."],
        ),
        (
            {"steps": [{"step_id": 1, **STEPS[2], "tool_calls": [call("c1")]}]},
            ["Step 1 answers the call c2, which it did not make."],
        ),
    ],
)
def test_the_validator_finds(changes: Json, faults: list[str]) -> None:
    assert FORMAT.codec.validate(body(**changes) if "steps" not in changes else _raw(changes)) == faults


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"schema_version": "ATIF-v1.7", "session_id": None}, []),
        ({"schema_version": "ATIF-v1.8", "session_id": None, "trajectory_id": "t"}, []),
        ({"schema_version": "ATIF-v1.8", "session_id": 7}, ["There is no session_id."]),
        (
            {"subagent_trajectories": [{"trajectory_id": "a"}, {"trajectory_id": "a"}, {}]},
            [
                "The trajectory 2 inside it has no trajectory_id of its own.",
                "The trajectory 3 inside it has no trajectory_id of its own.",
            ],
        ),
    ],
)
def test_a_trajectory_may_have_an_id_of_its_own(changes: Json, faults: list[str]) -> None:
    assert FORMAT.codec.validate(_raw(changes)) == faults


def test_a_reminder_in_a_user_step_is_not_user_text() -> None:
    steps = [{"source": "user", "message": "<system-reminder>\nbe quick\n</system-reminder>\ngo on"}]
    session = read(FORMAT, body(steps))
    assert session.messages[0].user_text == "go on"
    assert_exact(FORMAT, session, [replace(session.messages[0], source=())])


def test_sub_agents_have_nested_trajectories() -> None:
    inside = json.loads(body(STEPS[1:2], session_id=None, trajectory_id="t2", agent={"name": "helper", "version": "1"}))
    data = body(subagent_trajectories=[inside])
    outer = read(FORMAT, data)
    assert len(outer.messages) == 5
    assert [str(w) for w in outer.warnings] == ["holds 2 trajectories, including sub-agents; shown: the outer one"]
    assert [(p.id, p.title, p.messages) for p in FORMAT.codec.sessions_in(SOMEWHERE, data)] == [
        ("s", "a", 4),
        ("t2", "helper", 1),
    ]
    part = FORMAT.codec.read_part(SOMEWHERE, data, "t2", no_progress)
    assert (part.id, [m.text for m in part.context()]) == ("t2", ["see"])
    assert FORMAT.codec.sessions_in(SOMEWHERE, body()) == ()
    with pytest.raises(BadInput, match="no trajectory 'x'"):
        FORMAT.codec.read_part(SOMEWHERE, data, "x", no_progress)


def test_a_copied_step_and_a_sum_of_calls_have_no_usage() -> None:
    billed = {"prompt_tokens": 50, "cost_usd": 0.5}
    steps = [
        {"source": "agent", "message": "one", "metrics": billed},
        {"source": "agent", "message": "two", "metrics": billed, "is_copied_context": True},
        {"source": "agent", "message": "three", "metrics": billed, "llm_call_count": 2},
        {"source": "agent", "message": "four", "metrics": billed, "llm_call_count": 1},
    ]
    session = read(FORMAT, body(steps, final_metrics={"total_cost_usd": 2.0}))
    assert [m.usage for m in session.messages] == [Usage(50, cost=0.5), None, None, Usage(50, cost=0.5)]
    assert session.facts.cost == 2.0


def _raw(changes: Json) -> bytes:
    return json.dumps(json.loads(body()) | changes).encode()


def test_usage_of_kept_steps_is_stale_in_an_export() -> None:
    """Usage of later steps is not stale."""
    session = read(FORMAT, body())
    assert FORMAT.codec.write is not None
    document = json.loads(FORMAT.codec.write(session, session.context()[1:]).data)
    assert [message.usage for message in read(FORMAT, json.dumps(document).encode()).messages] == [None] * 4
    later = {
        "step_id": 4,
        "source": "agent",
        "message": "more",
        "metrics": {"prompt_tokens": 9, "completion_tokens": 1},
    }
    document["steps"].append(later)
    assert read(FORMAT, json.dumps(document).encode()).messages[-1].usage == Usage(9, 1)
