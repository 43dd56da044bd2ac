"""Messages made fit for another format: what is there afterwards, whole, and the losses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.conformance.building import agent, call, session_of, user
from workbench.formats.kit.settle import NO_RESULT, adopted, has_content, is_from_the_server, settled, system_prompt
from workbench.formats.loss import Loss, LossKind
from workbench.formats.roles import Api
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

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


IMAGE, HM = Media("image/png", 9), Thinking("Hm.")
OWN = Opaque("compaction", {"type": "compaction", "content": "x"})


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ((), False),
        ((Text(""),), False),
        ((Text(" \n"),), False),
        ((Text("a"),), True),
        ((HM,), False),
        ((Opaque("x", {}),), False),
        ((HM, Text(""), IMAGE), True),
        ((call("x"),), True),
        ((ToolResult("x", ()),), True),
        ((OWN,), False),
    ],
)
def test_content_is_what_another_format_can_be_sent(blocks: tuple[Block, ...], content: bool) -> None:
    assert has_content(Message("m", "user", blocks)) is content


@pytest.mark.parametrize(
    ("message", "own"),
    [
        (Message("s", "assistant", (OWN, Text("a")), "summary"), True),
        (Message("s", "assistant", (Opaque("items", [{"type": "message"}, OWN.raw]),), "summary"), True),
        (Message("s", "assistant", (Text("a"), OWN), "summary"), False),
        (Message("s", "assistant", (OWN,), "normal"), False),
        (Message("s", "assistant", (OWN,), "summary", source=(1,)), False),
        (Message("s", "assistant", (), "summary"), False),
    ],
)
def test_a_summary_by_an_api_begins_with_its_block(message: Message, own: bool) -> None:
    assert is_from_the_server(message) is own
    assert has_content(message) is (own or Text("a") in message.blocks)
    if own:
        assert settled([message, GO], "anthropic-messages") == ([message, GO], [])


def test_a_system_message_is_text_and_names_its_attachments() -> None:
    blocks = (Text("See."), IMAGE, HM, Opaque("x", {}), call("x"))
    out, losses = settled([replace(RULES, blocks=blocks), replace(RULES, id="n", blocks=(HM,)), GO], None)
    assert out == [replace(RULES, blocks=(Text("See."), Text("[image/png, 9 bytes]"))), GO]
    assert losses == [Loss(kind) for kind in (
        LossKind.MEDIA, LossKind.REASONING, LossKind.UNKNOWN_BLOCKS, LossKind.REASONING
    )]  # fmt: skip


def test_messages_without_content_are_left_and_part_no_turns() -> None:
    empty = Message("e", "user", (Text(" "),))
    out, losses = settled([empty, ASKS], "anthropic-messages")
    assert [told(message) for message in out] == ["e user normal:  ", PUT, CALL]
    assert losses == [OPENED]
    out, losses = settled([GO, HI, empty, ASKS], "gemini")
    assert [told(message) for message in out] == [START, "h assistant normal: hi", "e user normal:  ", PUT, CALL]
    assert losses == [OPENED]


def test_a_joined_answer_has_the_id_of_the_first_and_no_record() -> None:
    first, second = replace(HI, source=(1,), usage=Usage(3)), replace(ASKS, source=(2,), usage=Usage(5))
    out, _ = settled([GO, first, second], "gemini")
    assert out == [GO, replace(first, blocks=(*first.blocks, *second.blocks), source=())]


def test_an_inserted_user_message_has_the_time_of_what_follows() -> None:
    out, _ = settled([replace(ASKS, time=5.0)], "gemini")
    assert out[0] == Message("gap-a", "user", (Text("[…]"),), "meta", 5.0)


def test_results_have_the_newest_time_or_that_of_the_calls() -> None:
    asks = replace(ASKS, blocks=(call("x"), call("y")), time=1.0)
    results = [replace(got("x"), time=3.0), replace(got("y"), time=2.0)]
    for given, time in ((results, 3.0), ([replace(one, time=None) for one in results], 1.0), ([], 1.0)):
        out, _ = settled([GO, asks, *given, ON], None)
        assert out[2] == Message("a:results", "tool", out[2].blocks, time=time)
        assert len(out[2].blocks) == 2


def test_a_message_whose_results_moved_keeps_the_rest_as_a_new_record() -> None:
    mixed = replace(got("x", words="and"), source=(4,))
    out, _ = settled([GO, ASKS, mixed, ON], None)
    assert [told(message) for message in out] == [START, CALL, "a:results tool normal: x=ok", "rx user meta: and", MORE]
    assert out[3].source == ()
    kept = replace(ON, source=(5,))
    assert settled([kept], None)[0] == [kept]


def test_two_texts_behind_calls_split_an_answer_twice() -> None:
    mixed = replace(ASKS, blocks=(call("x"), HM, Text(" "), Text("seen"), call("y"), Text("so")))
    out, losses = settled([GO, mixed, got("x"), got("y"), ON], None)
    assert [told(message) for message in out] == [
        START,
        "a assistant normal: x()  ",
        "a:results tool normal: x=ok",
        "a:3 assistant normal: seen y()",
        "a:3:results tool normal: y=ok",
        "a:3:5 assistant normal: so",
        MORE,
    ]
    assert (out[1].blocks[1], losses) == (HM, [])


def test_a_call_in_a_message_of_the_user_waits_for_nothing() -> None:
    asks = replace(ASKS, role="user")
    out, losses = settled([asks, got("x"), ON], None)
    assert [told(message) for message in out] == ["a user normal: x()", f"rx user meta: {ORPHAN}", MORE]
    assert losses == [Loss(LossKind.ORPHAN_RESULTS)]


def test_a_result_behind_another_result_has_not_moved_and_one_behind_a_question_has() -> None:
    asks = replace(ASKS, blocks=(call("x"), call("y")))
    assert settled([asks, got("x"), got("y"), ON], None)[1] == []
    assert settled([asks, got("x"), ON, got("y"), ON], None)[1] == [LATE]
    assert settled([asks, ON, got("x"), got("y"), ON], None)[1] == [replace(LATE, count=2)]


def test_an_agent_with_a_prompt_of_its_own_is_told_what_it_loses() -> None:
    session = session_of([], system="Own.")
    out, losses = adopted(session, [RULES, replace(RULES, id="t"), SEEN, GO], "Kit", "anthropic-messages")
    assert [told(message) for message in out] == [START]
    assert losses == [
        Loss(LossKind.SYSTEM_PROMPT, 1, ("Kit",)),
        Loss(LossKind.SYSTEM_MESSAGES, 2, ("Kit",)),
        Loss(LossKind.UNKNOWN_BLOCKS),
    ]
    assert adopted(session_of([]), [GO], "Kit", "anthropic-messages") == ([GO], [])
    out, losses = adopted(session_of([]), [ASKS], "Kit", "gemini")
    assert ([told(message) for message in out], losses) == ([PUT, CALL], [OPENED])


def test_the_prompt_of_a_session_without_one_is_that_of_its_messages() -> None:
    assert system_prompt(session_of([]), [GO, RULES]) == ("", [GO, RULES])
    assert system_prompt(session_of([]), [RULES, GO]) == ("Be kind.", [GO])
    assert system_prompt(session_of([], system="Own."), []) == ("Own.", [])
