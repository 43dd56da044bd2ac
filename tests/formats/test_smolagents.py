"""smolagents' steps: tasks, plans, actions with what was observed."""

import json
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import read
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.formats.smolagents import FORMAT
from workbench.session import Media, Text, ToolResult, ToolUse, Usage

Json = dict[str, Any]


def call(id: str, **given: Any) -> Json:
    return {"id": id, "type": "function", "function": {"name": "look", "arguments": given}}


ASKED = [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}]
STEPS: list[Json] = [
    {"task": "look around", "task_images": ["QUJD"]},
    {"plan": "First, look.", "model_output_message": {}, "model_input_messages": [{"role": "user", "content": []}]},
    {
        "step_number": 1,
        "timing": {"start_time": 1_700_000_000.0, "end_time": 1_700_000_005.5},
        "model_input_messages": ASKED,
        "tool_calls": [call("a", x=1), call("b")],
        "model_output": "I look.",
        "observations": "two rooms",
        "observations_images": None,
        "token_usage": {"input_tokens": 50, "output_tokens": 7},
    },
    {
        "step_number": 2,
        "tool_calls": [],
        "model_output_message": {"role": "assistant", "tool_calls": [call("c")]},
        "model_output": [{"type": "text", "text": "again"}],
        "error": {"type": "E", "message": "dark"},
        "observations": None,
    },
    {"step_number": 3, "model_output": "nothing to call", "error": {"message": "no code"}, "observations": None},
]


def body(*steps: Any) -> bytes:
    return json.dumps(steps or STEPS).encode()


def test_what_steps_say() -> None:
    session = read(FORMAT, body())
    assert shape(session.context()) == [
        ("user", "normal", (Text("New task:\n", injected=True), Text("look around"), Media("image", 4))),
        ("assistant", "normal", (Text("First, look."),)),
        ("assistant", "normal", (Text("I look."), ToolUse("a", "look", {"x": 1}), ToolUse("b", "look", {}))),
        ("tool", "normal", (ToolResult("a", (Text("Observation:\ntwo rooms"),)), ToolResult("b", ()))),
        ("assistant", "normal", (Text("again"), ToolUse("c", "look", {}))),
        ("tool", "normal", (ToolResult("c", (Text("Error:\ndark"),), is_error=True),)),
        ("assistant", "normal", (Text("nothing to call"),)),
        ("user", "meta", (Text("Error:\nno code", injected=True),)),
    ]
    assert (session.system, session.title) == ("Be brief.", "look around")
    assert (session.messages[2].usage, session.messages[2].time) == (Usage(50, 7), 1_700_000_005.5)


def test_succinct_steps_and_what_is_none() -> None:
    succinct = [{k: v for k, v in step.items() if k != "model_input_messages"} for step in STEPS]
    assert FORMAT.recognise(Look.of(body(*succinct)))
    assert read(FORMAT, body(*succinct)).system == ""
    odd = read(FORMAT, body(*STEPS, 7))
    assert str(odd.warnings[0]) == "step 6 is not a task, plan or action; not shown"
    for other in ([], [{"task": "x"}], [{"role": "user", "content": "x", "task": 1}], {"task": "x"}):
        assert not FORMAT.recognise(Look.of(json.dumps(other).encode()))
    with pytest.raises(BadInput, match="is not a list of steps"):
        read(FORMAT, b"{}")


def test_the_sample_lost_the_unit() -> None:
    session = read(FORMAT, (SAMPLES / "smolagents-well.json").read_bytes())
    assert [m.role for m in session.context()] == ["user", *["assistant", "tool"] * 3]
    assert "41.2 feet" in session.context()[2].results[0].text
