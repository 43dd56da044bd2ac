"""AutoGen's states and messages: each agent's own context."""

import json
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import SOMEWHERE, read
from workbench.formats.autogen import FORMAT
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Media, Opaque, Session, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]

CALL = {"id": "c1", "name": "look", "arguments": '{"a": 1}'}
RESULT = {"call_id": "c1", "name": "look", "content": "fog", "is_error": False}
CONTEXT: list[Json] = [
    {"type": "UserMessage", "source": "user", "content": "look"},
    {"type": "AssistantMessage", "source": "chief", "content": [CALL], "thought": "hm"},
    {"type": "FunctionExecutionResultMessage", "content": [RESULT]},
    {"type": "UserMessage", "source": "mate", "content": ["I see", {"data": "QUJD"}, 7]},
    {"type": "AssistantMessage", "source": "chief", "content": "Done.", "thought": None},
]


def message(kind: str, source: str, content: Any, sent: int = 0) -> Json:
    usage = {"prompt_tokens": sent, "completion_tokens": 2} if sent else None
    return {"type": kind, "source": source, "content": content, "models_usage": usage, "metadata": {}}


THREAD = [
    message("TextMessage", "user", "look"),
    message("ThoughtEvent", "chief", "hm"),
    message("ToolCallRequestEvent", "chief", [CALL], 50),
    message("ToolCallExecutionEvent", "chief", [RESULT]),
    message("ToolCallSummaryMessage", "chief", "fog"),
    message("ModelClientStreamingChunkEvent", "mate", "I"),
    message("TextMessage", "mate", "I see", 60),
    message("StructuredMessage[Answer]", "chief", {"done": True}, 70),
]


def state(**agents: list[Json]) -> bytes:
    states: Json = {
        name: {"type": "ChatAgentContainerState", "agent_state": {"llm_context": {"messages": messages}}}
        for name, messages in agents.items()
    }
    states["manager"] = {"type": "RoundRobinManagerState", "message_thread": THREAD}
    return json.dumps({"type": "TeamState", "version": "1.0.0", "agent_states": states}).encode()


def read_agent(data: bytes, agent: str) -> Session:
    return FORMAT.codec.read_part(SOMEWHERE, data, agent, no_progress)


def test_a_state_has_each_agents_context() -> None:
    data = state(chief=CONTEXT, mate=CONTEXT[:1])
    assert [(p.id, p.messages) for p in FORMAT.codec.sessions_in(SOMEWHERE, data)] == [("chief", 5), ("mate", 1)]
    session = read(FORMAT, data)
    assert str(session.warnings[0]) == "2 agents in the file; shown: the context of chief, the last active one"
    assert shape(session.context()) == [
        ("user", "normal", (Text("look"),)),
        ("assistant", "normal", (Thinking("hm"), ToolUse("c1", "look", {"a": 1}))),
        ("tool", "normal", (ToolResult("c1", (Text("fog"),)),)),
        ("user", "meta", (Text("I see", injected=True), Media("image", 4), Opaque("int", 7))),
        ("assistant", "normal", (Text("Done."),)),
    ]
    assert len(read_agent(data, "mate").context()) == 1
    with pytest.raises(BadInput, match="no agent 'manager'"):
        read_agent(data, "manager")
    alone = json.dumps(
        {"type": "AssistantAgentState", "llm_context": {"messages": [*CONTEXT, {"type": "new"}]}}
    ).encode()
    assert FORMAT.recognise(Look.of(alone))
    assert (read(FORMAT, alone).id, read(FORMAT, alone).warnings) == ("chief", ())
    assert read(FORMAT, alone).messages[-1].blocks == (Opaque("new", {"type": "new"}),)


def test_each_agent_is_sent_its_part_of_a_thread() -> None:
    data = json.dumps({"messages": THREAD, "stop_reason": None}).encode()
    assert FORMAT.recognise(Look.of(data))
    chief = read(FORMAT, data)
    assert shape(chief.context()) == [
        ("user", "normal", (Text("look"),)),
        ("assistant", "normal", (Thinking("hm"), ToolUse("c1", "look", {"a": 1}))),
        ("tool", "normal", (ToolResult("c1", (Text("fog"),)),)),
        ("user", "meta", (Text("I see", injected=True),)),
        ("assistant", "normal", (Text('{"done":true}'),)),
    ]
    assert [m.usage for m in chief.context() if m.usage] == [Usage(50, 2), Usage(70, 2)]
    mate = read_agent(data, "mate")
    assert shape(mate.context()) == [
        ("user", "normal", (Text("look"),)),
        ("user", "meta", (Text("fog", injected=True),)),
        ("assistant", "normal", (Text("I see"),)),
        ("user", "meta", (Text('{"done":true}', injected=True),)),
    ]
    assert [m.usage for m in mate.context() if m.usage] == [Usage(60, 2)]
    assert len(mate.messages) == len(THREAD)


def test_a_thread_of_the_user_alone_and_other_lists() -> None:
    data = json.dumps(THREAD[:1]).encode()
    assert FORMAT.recognise(Look.of(data))
    assert shape(read(FORMAT, data).context()) == [("user", "normal", (Text("look"),))]
    for other in ([], [{"type": "text", "source": "x"}], [{"type": "TextMessage"}], {"agent_states": []}):
        assert not FORMAT.recognise(Look.of(json.dumps(other).encode()))
    with pytest.raises(BadInput, match="neither an agent's context"):
        read(FORMAT, b"{}")


def test_the_sample_hides_the_cellars_results_from_the_cook() -> None:
    data = (SAMPLES / "autogen-cellar.json").read_bytes()
    assert not any("corked" in m.text for m in read(FORMAT, data).context()[1:])
    assert any("corked" in r.text for m in read_agent(data, "cellar").context() for r in m.results)


def test_f10_a_type_that_nests_deeper_than_python_calls_is_no_fault() -> None:
    """A file is recognised before its depth is checked."""
    deep = b'{"a":' * 1_000 + b"1" + b"}" * 1_000
    assert FORMAT.recognise(Look.of(b'{"agent_states":{},"type":' + deep + b"}")) == "a saved state: agent_states"
