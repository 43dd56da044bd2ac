"""Letta's agent files: which messages are in the context, whose words they are, and what was taken out."""

import json
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import SOMEWHERE, read
from workbench.formats.format import no_progress
from workbench.formats.letta import FORMAT
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Compaction, Media, Opaque, Text, Thinking, ToolResult, ToolUse

Json = dict[str, Any]


def said(role: str, *parts: Any, **more: Any) -> Json:
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "content": content, "created_at": "2026-01-02T03:04:05+00:00", **more}


def envelope(kind: str, **more: Any) -> str:
    return json.dumps({"type": kind, **more, "time": "now"})


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
MESSAGES = [
    said("system", "Be kind.", id="m0"),
    said("user", envelope("user_message", message="hello"), id="m1"),
    said(
        "assistant", {"type": "reasoning", "reasoning": "hm", "signature": "s"}, "I look.", tool_calls=[CALL], id="m2"
    ),
    said("tool", '{"status": "Failed", "message": "dark"}', tool_call_id="c1", id="m3"),
    said("user", envelope("heartbeat", reason="go on"), id="m4"),
    said("assistant", "It is dark.", id="m5", model="m-1"),
]


def agent(messages: list[Json] = MESSAGES, **more: Any) -> Json:
    model = {"model": "m", "context_window": 8192}
    return {"id": "agent-0", "name": "ann", "system": "Be kind.", "messages": messages, "llm_config": model, **more}


def body(*agents: Json, **more: Any) -> bytes:
    return json.dumps({"agents": agents or [agent()], "blocks": [], "tools": [], **more}).encode()


def test_what_messages_say() -> None:
    session = read(FORMAT, body(agent(in_context_message_ids=[f"m{n}" for n in range(6)])))
    assert shape(session.context()) == [
        ("system", "normal", (Text("Be kind."),)),
        (
            "user",
            "normal",
            (
                Text('{"type": "user_message", "message": "', injected=True),
                Text("hello"),
                Text('", "time": "now"}', injected=True),
            ),
        ),
        ("assistant", "normal", (Thinking("hm", "s"), Text("I look."), ToolUse("c1", "look", {"a": 1}))),
        ("tool", "normal", (ToolResult("c1", (Text('{"status": "Failed", "message": "dark"}'),), is_error=True),)),
        ("user", "meta", (Text(envelope("heartbeat", reason="go on"), injected=True),)),
        ("assistant", "normal", (Text("It is dark."),)),
    ]
    assert (session.messages[1].user_text, session.messages[5].model, session.messages[0].time) == (
        "hello",
        "m-1",
        1767323045,
    )
    assert (session.id, session.title, session.model, session.system) == ("agent-0", "ann", "m", "")
    assert [(epoch.ended_by, epoch.window) for epoch in session.epochs] == [(None, 8192)]


def test_what_is_not_in_the_context_was_taken_out() -> None:
    told = "Note: prior messages (3 of 4) have been hidden from view.\nA summary."
    summary = said("user", envelope("system_alert", message=told), id="s")
    prompt = said("system", "Be kinder.", id="m9")
    held = {"in_context_message_ids": ["m9", "s", "m5", "gone", 7]}
    session = read(FORMAT, body(agent([*MESSAGES, summary, prompt], **held)))
    assert [[m.id for m in session.context(n)] for n in (1, 2)] == [
        ["m9", "m1", "m2", "m3", "m4"],
        ["m9", "s", "m5"],
    ]
    assert session.context()[1].kind == "summary"
    assert session.epochs[0].ended_by == Compaction(summary="s", time=session.context()[1].time)
    renewed = read(
        FORMAT, body(agent([*MESSAGES, prompt], in_context_message_ids=["m9", *(f"m{n}" for n in range(1, 6))]))
    )
    assert len(renewed.epochs) == 1, "an older system prompt was replaced, nothing was taken out"
    without = read(FORMAT, body(agent(in_context_message_ids=["m0", "m4", "m5"])))
    assert without.epochs[0].ended_by == Compaction(way="removal")


@pytest.mark.parametrize(
    ("more", "flags", "held"),
    [
        ({"in_context_message_indices": [0, 5, 99, "x"]}, {}, ["m0", "m5"]),
        ({}, {0: True, 1: False, 5: True}, ["m0", "m5"]),
        ({}, {}, ["m0", "m1", "m2", "m3", "m4", "m5"]),
        ({"message_ids": ["m0"]}, {}, ["m0"]),
    ],
)
def test_earlier_versions_name_the_context_by_place_or_flag(
    more: Json, flags: dict[int, bool], held: list[str]
) -> None:
    items = [{**item, **({"in_context": flags[n]} if n in flags else {})} for n, item in enumerate(MESSAGES)]
    alone = {**agent(items, **more), "core_memory": [], "agent_type": "memgpt_agent"}
    data = json.dumps(alone).encode()
    assert FORMAT.recognise(Look.of(data))
    assert [m.id for m in read(FORMAT, data).context()] == held


def test_several_agents_and_their_tools() -> None:
    tools = [{"id": "t1", "name": "look", "json_schema": {"a": 1}}, {"id": "t2", "name": "go"}]
    data = body(agent(tool_ids=["t1"]), agent(MESSAGES[:1], id="agent-1", name="bob"), tools=tools)
    assert [(p.id, p.title, p.messages) for p in FORMAT.codec.sessions_in(SOMEWHERE, data)] == [
        ("agent-0", "ann", 6),
        ("agent-1", "bob", 1),
    ]
    first = read(FORMAT, data)
    assert "holds 2 agents" in str(first.warnings[0])
    assert [(tool.name, tool.schema) for tool in first.tools] == [("look", '{"a":1}')]
    assert FORMAT.codec.read_part(SOMEWHERE, data, "agent-1", no_progress).title == "bob"
    with pytest.raises(BadInput, match="no agent 'x'"):
        FORMAT.codec.read_part(SOMEWHERE, data, "x", no_progress)
    with pytest.raises(BadInput, match="has no agent"):
        read(FORMAT, b'{"agents": [], "blocks": []}')


def test_odd_parts() -> None:
    returns = [
        {"tool_call_id": "a", "func_response": "1"},
        {"tool_call_id": "b", "func_response": "2", "status": "error"},
    ]
    items = [
        said("user", "bare words"),
        said("user", {"type": "image", "source": {"media_type": "image/png", "data": "QUJD"}}, {"type": "new"}),
        said("tool", tool_returns=returns),
        said("robot", "x"),
        {"role": "user", "content": '{"type": "user_message", "message": "two\\nlines"}'},
        {"role": "user", "content": "{broken"},
    ]
    session = read(FORMAT, body(agent(items)))
    assert [m.blocks for m in session.messages[:3]] == [
        (Text("bare words"),),
        (Media("image/png", 4), Opaque("new", {"type": "new"})),
        (ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),), is_error=True)),
    ]
    assert [m.kind for m in session.messages[3:]] == ["meta", "normal", "normal"]
    assert [m.user_text for m in session.messages[4:]] == ["two\nlines", "{broken"]


def test_the_sample_lost_the_allergy() -> None:
    session = read(FORMAT, (SAMPLES / "letta-florist.af").read_bytes())
    assert [len(epoch.members) for epoch in session.epochs] == [5, 6]
    assert "allergic" in session.context(1)[1].user_text
    assert not any("allergic" in m.text for m in session.context())
