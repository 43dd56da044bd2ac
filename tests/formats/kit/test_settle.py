"""Messages made fit for another format: what is there afterwards, whole, and what the notes say."""

from __future__ import annotations

import pytest

from workbench.conformance.building import agent, call, user
from workbench.formats.kit.settle import NO_RESULT, settled
from workbench.session import Message, Text, ToolResult, ToolUse

ORPHAN = "[Result of a tool call that is not part of this session]\nok"
GO, ASKS, ON = user("u", "go"), agent("a", "", call("x")), user("v", "on")
BOUNDARY = Message("b", "system", (), kind="boundary")
LATE = "results that came later were moved to their calls"
UNANSWERED, LOST = "calls without a result were answered as having none", "results without a call were written as text"


def got(*ids: str, role: str = "tool", words: str = "") -> Message:
    blocks = (*(ToolResult(id, (Text("ok"),)) for id in ids), *((Text(words),) if words else ()))
    return Message(f"r{ids[0]}", role, blocks)  # type: ignore[arg-type]


def told(message: Message) -> str:
    """A message in one line: its id, its role, and a word for each block."""
    words = []
    for block in message.blocks:
        match block:
            case ToolUse(id):
                words.append(f"{id}()")
            case ToolResult(id):
                words.append(f"{id}={block.text}{'!' * block.is_error}")
            case Text(text):
                words.append(text)
    return f"{message.id} {message.role} {message.kind}: {' '.join(words)}"


START, CALL, MORE = "u user normal: go", "a assistant normal: x()", "v user normal: on"


@pytest.mark.parametrize(
    ("messages", "expected", "notes"),
    [
        ([GO, ASKS], [START, CALL], []),
        ([GO, ASKS, BOUNDARY], [START, CALL], []),
        ([GO, ASKS, ON], [START, CALL, f"a:results tool normal: x={NO_RESULT}!", MORE], [f"1 {UNANSWERED}"]),
        ([GO, ASKS, ON, got("x")], [START, CALL, "a:results tool normal: x=ok", MORE], [f"1 {LATE}"]),
        (
            [ASKS, agent("b", "", call("y"), call("z")), got("y"), got("x"), got("z")],
            [CALL, "a:results tool normal: x=ok", "b assistant normal: y() z()", "b:results tool normal: y=ok z=ok"],
            [f"1 {LATE}"],
        ),
        (
            [GO, ASKS, got("x", role="user", words="and")],
            [START, CALL, "a:results tool normal: x=ok", "rx user normal: and"],
            [],
        ),
        ([GO, got("x")], [START, f"rx user meta: {ORPHAN}"], [f"1 {LOST}"]),
        (
            [got("x"), ASKS, got("x", "x")],
            [
                f"rx user meta: {ORPHAN}",
                CALL,
                "a:results tool normal: x=ok",
                f"rx user meta: {ORPHAN}",
            ],
            [f"2 {LOST}"],
        ),
        (
            [agent("a", "", call("x"), call("x"), call("x.y"), call("")), got("x", "", "x", "x.y"), ON],
            [
                "a assistant normal: x() x-2() x_y() call()",
                "a:results tool normal: x=ok x-2=ok x_y=ok call=ok",
                MORE,
            ],
            ["3 tool call ids were renamed, because the format needs each id once"],
        ),
    ],
)
def test_what_is_settled(messages: list[Message], expected: list[str], notes: list[str]) -> None:
    out, said = settled(messages)
    assert ([told(message) for message in out], said) == (expected, notes)
