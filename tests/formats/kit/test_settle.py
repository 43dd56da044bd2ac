"""Messages made fit for another format: what is there afterwards, whole, and the losses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.conformance.building import agent, call, session_of, user
from workbench.formats.kit.settle import NO_RESULT, settled, system_prompt
from workbench.formats.loss import Loss, LossKind
from workbench.formats.roles import Api
from workbench.session import Message, Opaque, Text, ToolResult, ToolUse, Usage

ORPHAN = "[Result of a tool call that is not part of this session]\nok"
GO, ASKS, ON = user("u", "go"), agent("a", "", call("x")), user("v", "on")
BOUNDARY = Message("b", "system", (), kind="boundary")
LATE, UNANSWERED = Loss(LossKind.RESULTS_MOVED), Loss(LossKind.UNANSWERED_CALLS)


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
    ("messages", "expected", "losses"),
    [
        ([GO, ASKS], [START, CALL], []),
        ([GO, ASKS, BOUNDARY], [START, CALL], []),
        ([GO, ASKS, ON], [START, CALL, f"a:results tool normal: x={NO_RESULT}!", MORE], [UNANSWERED]),
        ([GO, ASKS, ON, got("x")], [START, CALL, "a:results tool normal: x=ok", MORE], [LATE]),
        (
            [ASKS, agent("b", "", call("y"), call("z")), got("y"), got("x"), got("z")],
            [CALL, "a:results tool normal: x=ok", "b assistant normal: y() z()", "b:results tool normal: y=ok z=ok"],
            [LATE],
        ),
        (
            [GO, ASKS, got("x", role="user", words="and")],
            [START, CALL, "a:results tool normal: x=ok", "rx user normal: and"],
            [],
        ),
        ([GO, got("x")], [START, f"rx user meta: {ORPHAN}"], [Loss(LossKind.ORPHAN_RESULTS)]),
        (
            [got("x"), ASKS, got("x", "x")],
            [
                f"rx user meta: {ORPHAN}",
                CALL,
                "a:results tool normal: x=ok",
                f"rx user meta: {ORPHAN}",
            ],
            [Loss(LossKind.ORPHAN_RESULTS, 2)],
        ),
        (
            [agent("a", "", call("x"), call("x"), call("x.y"), call("")), got("x", "", "x", "x.y"), ON],
            [
                "a assistant normal: x() x-2() x_y() call()",
                "a:results tool normal: x=ok x-2=ok x_y=ok call=ok",
                MORE,
            ],
            [Loss(LossKind.IDS_RENAMED, 3)],
        ),
        (
            [GO, replace(ASKS, blocks=(Text("so"), *ASKS.blocks, Text("seen"))), got("x"), ON],
            [START, "a assistant normal: so x()", "a:results tool normal: x=ok", "a:2 assistant normal: seen", MORE],
            [],
        ),
        ([GO, replace(ASKS, blocks=(*ASKS.blocks, Text("seen")))], [START, "a assistant normal: x() seen"], []),
    ],
)
def test_what_is_settled(messages: list[Message], expected: list[str], losses: list[Loss]) -> None:
    out, said = settled(messages, None)
    assert ([told(message) for message in out], said) == (expected, losses)


RULES = Message("s", "system", (Text("Be kind."),))
SEEN = Message("o", "system", (Opaque("tools", {}),))
LEFT = Message("l", "system", (Text("in short"),), "summary")
OPENED, JOINED = (
    Loss(LossKind.USER_INSERTED, 1, ("the API allows no assistant message there",), "[…]"),
    Loss(LossKind.ANSWERS_JOINED),
)
PUT, BE, SHORT = "gap-a user meta: […]", "s system normal: Be kind.", "l system summary: in short"
AS_USERS, IN_SHORT = (
    "s user meta: [System message]\nBe kind.",
    "l user summary: [Summary of the conversation so far]\nin short",
)
HI = agent("h", "hi")
Told = tuple[list[str], list[Loss]]


@pytest.mark.parametrize(
    ("messages", "chat", "anthropic", "gemini"),
    [
        ([ASKS], ([CALL], []), ([PUT, CALL], [OPENED]), ([PUT, CALL], [OPENED])),
        ([RULES, GO], ([BE, START], []), ([BE, START], []), ([BE, START], [])),
        ([RULES, ASKS], ([BE, CALL], []), ([BE, PUT, CALL], [OPENED]), ([BE, PUT, CALL], [OPENED])),
        ([GO, RULES], ([START, BE], []), ([START, AS_USERS], []), ([START, AS_USERS], [])),
        ([LEFT, ASKS], ([SHORT, CALL], []), ([IN_SHORT, CALL], []), ([IN_SHORT, CALL], [])),
        (
            [GO, HI, ASKS],
            ([START, "h assistant normal: hi", CALL], []),
            ([START, "h assistant normal: hi", CALL], []),
            ([START, "h assistant normal: hi x()"], [JOINED]),
        ),
        (
            [GO, replace(HI, kind="summary"), ASKS],
            ([START, "h assistant summary: hi", CALL], []),
            ([START, "h assistant summary: hi", CALL], []),
            ([START, "h assistant summary: hi", PUT, CALL], [OPENED]),
        ),
    ],
)
def test_roles_are_settled_by_the_api(messages: list[Message], chat: Told, anthropic: Told, gemini: Told) -> None:
    expected: dict[Api, Told] = {"openai-chat": chat, "anthropic-messages": anthropic, "gemini": gemini}
    for api, wanted in expected.items():
        out, losses = settled(messages, api)
        assert ([told(message) for message in out], losses) == wanted, api


def test_what_stands_before_all_is_the_prompt_and_what_only_its_format_knows_is_told_of() -> None:
    session = session_of([], system="Own.")
    mixed = replace(RULES, blocks=(*RULES.blocks, *SEEN.blocks))
    prompt, rest = system_prompt(session, [RULES, mixed, SEEN, GO, SEEN])
    assert prompt == "Own.\n\nBe kind.\n\nBe kind."
    out, losses = settled(rest, "anthropic-messages")
    assert [told(message) for message in out] == [START]
    assert losses == [Loss(LossKind.UNKNOWN_BLOCKS)] * 3


def test_an_answer_that_became_two_was_billed_once() -> None:
    usage = Usage(input=7)
    out, _ = settled([GO, replace(ASKS, blocks=(*ASKS.blocks, Text("seen")), usage=usage), got("x"), ON], None)
    assert [message.usage for message in out] == [None, usage, None, None, None]
