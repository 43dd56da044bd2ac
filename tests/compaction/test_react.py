"""A conversation in ReAct form."""

from __future__ import annotations

from hypothesis import given

from workbench.base.values import json_text
from workbench.compaction.assembled.prompt import react
from workbench.compaction.shape import Shape
from workbench.conformance.drawn import conversations
from workbench.session import Message


@given(conversations())
def test_every_call_and_every_result_is_there(messages: tuple[Message, ...]) -> None:
    text = "\n\n".join(react(Shape(messages)))
    for message in messages:
        for one in message.calls:
            assert f"Action: {one.name}[{json_text(one.input)}]" in text
    assert text.count("[tool] {") >= sum(len(message.results) for message in messages)
