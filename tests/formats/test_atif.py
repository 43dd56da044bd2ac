"""ATIF trajectories: steps that are two messages, a hand-over that ends an epoch, numbers without gaps."""

import json
from typing import Any

import pytest

from workbench.conformance.formats import assert_exact, read
from workbench.formats.atif import FORMAT
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


def test_what_steps_say() -> None:
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


def test_half_a_step_is_written_anew() -> None:
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
            ["Step 1 is neither the user's, the agent's nor the system's."],
        ),
        (
            {"steps": [{"step_id": 1, "source": "user", "message": None}]},
            ["Step 1 has a message that is neither text nor a list of parts."],
        ),
        (
            {"steps": [{"step_id": 1, "source": "user", "message": "x", "metrics": {}}]},
            ["Step 1 has metrics, which is for the agent's steps alone."],
        ),
        (
            {"steps": [{"step_id": 1, **STEPS[2], "tool_calls": [call("c1")]}]},
            ["Step 1 answers the call c2, which it did not make."],
        ),
    ],
)
def test_the_validator_finds(changes: Json, faults: list[str]) -> None:
    assert FORMAT.codec.validate(body(**changes) if "steps" not in changes else _raw(changes)) == faults


def _raw(changes: Json) -> bytes:
    return json.dumps(json.loads(body()) | changes).encode()
