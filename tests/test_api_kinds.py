"""Messages of LangChain and pydantic-ai, where these are installed: given, kept as the same objects, and made anew."""

from __future__ import annotations

from typing import Any

import pytest

import workbench

LONG = "\n".join(f"line {number}" for number in range(900))


def kept(given: list[Any], back: list[Any]) -> list[int | None]:
    """Where each message that came back stood among those that were given, None for a new one."""
    place = {id(one): at for at, one in enumerate(given)}
    return [place.get(id(one)) for one in back]


def test_langchain() -> None:
    lc = pytest.importorskip("langchain_core.messages", reason="langchain-core is not installed")
    call = {"name": "read", "args": {"path": "b.py"}, "id": "c2"}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    messages = [
        lc.SystemMessage("be brief"),
        lc.HumanMessage("Never log the token. Read a.py."),
        lc.AIMessage("", tool_calls=[call | {"id": "c1", "args": {"path": "a.py"}}], usage_metadata=usage),
        lc.ToolMessage(LONG, tool_call_id="c1"),
        lc.AIMessage("Read.", id="run-1"),
        lc.HumanMessage("Now b.py."),
        lc.AIMessage("", tool_calls=[call]),
        lc.ToolMessage(LONG, tool_call_id="c2", id="t2", name="read", artifact={"lines": 900}),
    ]
    done = workbench.compact(messages, budget_tokens=900, pins=lambda message: message.id == "run-1")
    assert done.report.failed == ()
    assert kept(messages, done.messages) == [0, None, 4, 5, 6, None]
    ledger, short = done.messages[1], done.messages[-1]
    assert type(ledger) is lc.HumanMessage
    assert "Never log the token." in ledger.content
    assert (type(short), short.id, short.name, short.artifact) == (lc.ToolMessage, "t2", "read", {"lines": 900})
    assert short.content.startswith("line 0\n")
    assert short.content.endswith("line 899")
    assert done.pins == {"run-1"}
    assert "Never log the token." in workbench.summary(messages)
    state = workbench.compact({"messages": messages}, budget_tokens=900)
    assert kept(messages, state.messages) == [0, None, *range(4, 7), None]


def test_pydantic_ai() -> None:
    ai = pytest.importorskip("pydantic_ai.messages", reason="pydantic-ai is not installed")
    messages = [
        ai.ModelRequest(
            [ai.SystemPromptPart("Brief."), ai.UserPromptPart("Never log the token. Read a.py.")],
            instructions="Mend.",
        ),
        ai.ModelResponse([ai.ToolCallPart("read", {"path": "a.py"}, "c1")]),
        ai.ModelRequest([ai.ToolReturnPart("read", LONG, "c1")], instructions="Mend."),
        ai.ModelResponse([ai.TextPart("Read.")]),
        ai.ModelRequest([ai.UserPromptPart("Now b.py.")], instructions="Mend."),
        ai.ModelResponse([ai.ToolCallPart("read", {"path": "b.py"}, "c2")]),
        ai.ModelRequest([ai.ToolReturnPart("read", LONG, "c2")], instructions="Mend."),
    ]
    done = workbench.compact(messages, budget_tokens=900)
    assert done.report.failed == ()
    assert kept(messages, done.messages) == [None, None, 3, 4, 5, None]
    system, ledger, short = done.messages[0], done.messages[1], done.messages[-1]
    assert [type(part) for part in system.parts] == [ai.SystemPromptPart]
    assert "Never log the token." in ledger.parts[0].content
    (part,) = short.parts
    assert (type(part), part.tool_name, part.tool_call_id) == (ai.ToolReturnPart, "read", "c2")
    assert part.content.startswith("line 0\n")
    assert part.content.endswith("line 899")
    assert (short.instructions, short.timestamp) == ("Mend.", messages[-1].timestamp)
    assert ai.ModelMessagesTypeAdapter.validate_json(ai.ModelMessagesTypeAdapter.dump_json(done.messages))
