"""Recorded requests of Claude Code: prompt, tools, attachments, and complete requests."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson

from tests.formats.claude_code_build import assistant, call, line, read, result, text, user
from workbench.formats import claude_code
from workbench.formats.diagnosis import findings
from workbench.formats.loss import Loss, LossKind
from workbench.formats.request_checks import RequestComparison, compare_requests
from workbench.session import Opaque, Session, Text, Tool

Line = dict[str, Any]


def attached(uuid: str, parent: str, sort: str, *texts: str, **more: Any) -> Line:
    rendered = {"rendered": [{"content": words} for words in texts], "renderedRole": "system"} if texts else {}
    return line("attachment", uuid, parent, attachment={"type": sort, **more}, **rendered)


def blob(*blocks: Line) -> Line:
    message = {"role": "user", "content": list(blocks)}
    digest = sha256(orjson.dumps(message, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return {"type": "api-request-blob", "sessionId": "s", "hash": digest, "message": message}


def asked(id: str, *tail: str, base: str = "", keep: int = 0) -> Line:
    return {"type": "api-request", "sessionId": "s", "id": id, "base": base, "keep": keep, "tail": list(tail)}


def outcome(*lines: Line) -> list[RequestComparison]:
    session = read(*lines)
    codec = claude_code.FORMAT.codec
    assert codec.requests is not None
    return list(compare_requests(session, codec.requests(session)))


def two_calls(reminder: str = "\n\n<r>9 left</r>") -> list[Line]:
    first = blob(text("<r>Monday</r>\n"), text("Read it."))
    second = blob({"type": "tool_result", "tool_use_id": "t1", "content": f"one{reminder}"})
    return [
        user("u1", None, "Read it."),
        attached("x1", "u1", "date", "<r>Monday</r>"),
        first,
        asked("q1", first["hash"]),
        assistant("a1", "x1", "m1", call("t1"), requestRef="q1"),
        result("r1", "a1", "t1", "one"),
        attached("x2", "r1", "reminder", "<r>9 left</r>"),
        second,
        asked("q2", "0" * 64, second["hash"], base="q1", keep=1),
        assistant("a2", "x2", "m2", text("Done."), requestRef="q2"),
    ]


def test_requests_are_put_together_and_equal_to_the_contexts() -> None:
    session = read(*two_calls())
    assert claude_code.FORMAT.codec.requests is not None
    sent = list(claude_code.FORMAT.codec.requests(session))
    assert [(one.answer, len(one.messages)) for one in sent] == [("a1", 1), ("a2", 3)]
    assert sent[1].messages[1] == session.messages[2]
    assert outcome(*two_calls()) == [RequestComparison("a1", ""), RequestComparison("a2", "")]


def told(session: Session) -> list[str]:
    return [f"{one.level}: {one.text}" for one in findings(session) if one.what == "sent"]


def test_the_doctor_says_whether_they_are_and_names_the_first_difference() -> None:
    assert told(read(*two_calls())) == ["complete: equal to 2 requests recorded in the file"]
    assert told(read(*two_calls("\n\n<r>9 left</r>\n<r>Be brief</r>"))) == [
        "missing: 1 of 2 requests recorded in the file differ, the first before line 10: "
        "in turn 3 “<r>Be brief</r>” was sent but is not shown; 15 more characters were sent"
    ]
    assert told(read(*two_calls(""))) == [
        "missing: 1 of 2 requests recorded in the file differ, the first before line 10: "
        "in turn 3 “<r>9 left</r>” was not sent"
    ]
    assert told(read(*two_calls()[:2], assistant("a9", "x1", "m9", text("Done.")))) == []


def test_other_calls_and_missing_turns_are_differences() -> None:
    lines = two_calls()
    other = blob({"type": "tool_result", "tool_use_id": "t7", "content": "one\n\n<r>9 left</r>"})
    swapped = [*lines[:7], other, asked("q2", "0" * 64, other["hash"], base="q1", keep=1), lines[9]]
    assert outcome(*swapped)[1].difference == "in turn 3 2 calls and results were sent, 2 different ones are shown"
    shorter = [*lines[:8], asked("q2", lines[7]["hash"], base="q1", keep=1), lines[9]]
    assert outcome(*shorter)[1].difference.endswith("calls and results were sent, 1 different ones are shown")


def test_a_request_keeps_as_much_of_an_earlier_one_as_it_says() -> None:
    lines = two_calls()
    again = [user("u2", "x1", "Otherwise."), assistant("a3", "u2", "m3", text("So."), requestRef="q3")]
    third = blob(text("Otherwise."))
    both = outcome(*lines, third, asked("q3", third["hash"], base="q2", keep=1), *again)
    assert both[-1] == RequestComparison("a3", "")
    none = outcome(*lines, third, asked("q3", third["hash"], base="q2", keep=0), *again)
    assert none[-1].difference == "in turn 1 “<r>Monday</r>” was not sent"


def test_turns_that_are_shown_and_were_not_sent_are_a_difference() -> None:
    lines = two_calls()
    assert outcome(*lines[:8], asked("q2", base="q1", keep=1), lines[9])[1].difference == (
        "1 turns were sent, 3 are shown"
    )


def test_what_was_sent_twice_is_shown_twice() -> None:
    twice = blob(text("Read it."), text("Read it."))
    once = [user("u1", None, "Read it."), twice, asked("q1", twice["hash"])]
    answer = assistant("a1", "u1", "m1", text("Done."), requestRef="q1")
    assert outcome(*once, answer)[0].difference == "in turn 1 “Read it.” was sent but is not shown"
    again = [*once, user("u2", "u1", "Read it."), {**answer, "parentUuid": "u2"}]
    assert outcome(*again) == [RequestComparison("a1", "")]


def test_a_request_that_cannot_be_put_together_is_left_out() -> None:
    lines = two_calls()
    assert [one.answer for one in outcome(*lines[:2], *lines[3:])] == []
    assert [one.answer for one in outcome(*lines[:7], *lines[8:])] == ["a1"]


def test_the_newest_prompt_and_tools_are_the_sessions_and_no_messages() -> None:
    tool = {"name": "Read", "description": "Reads", "input_schema": {"type": "object"}}
    session = read(
        user("u1", None, "Go"),
        attached("x1", "u1", "prompt_snapshot", systemPrompt=["You help.", "Be kind."]),
        attached("x2", "x1", "prompt_snapshot", systemPrompt=["You help."], tools=[{"name": "Read", "schema": tool}]),
        assistant("a1", "x2", "m1", text("Yes")),
    )
    assert session.system == "You help."
    assert session.tools == (Tool("Read", orjson.dumps(tool).decode()),)
    assert [message.id for message in session.messages] == ["u1", "a1"]
    shape = {"system": [{"type": "text", "text": "An agent."}, {"type": "text", "text": "You help."}], "tools": []}
    more = read(
        user("u1", None, "Go"),
        attached("x1", "u1", "prompt_snapshot", systemPrompt=["You help."], tools=[tool]),
        {"type": "api-request-shape", "sessionId": "s", "shape": shape},
    )
    assert (more.system, [known.name for known in more.tools]) == ("An agent.\n\nYou help.", ["Read"])


def test_a_sub_agent_has_a_prompt_of_its_own() -> None:
    mine = attached("x1", "u1", "prompt_snapshot", systemPrompt=["You help.", 7])
    its = {**attached("y2", "y1", "prompt_snapshot", systemPrompt=["You look."]), "isSidechain": True}
    asked_it = user("y1", None, "Look", isSidechain=True)
    lines = [user("u1", None, "Go"), mine, asked_it, its, assistant("a1", "x1", "m1", text("Yes"))]
    assert read(*lines).system == "You help."
    assert read(asked_it, its).system == "You look."


def test_an_export_takes_the_prompt_along_and_no_requests() -> None:
    lines = two_calls()
    prompt = attached("x0", "u1", "prompt_snapshot", systemPrompt=["You help."], tools=[{"name": "Read"}])
    session = read(lines[0], prompt, *lines[1:])
    written = claude_code.FORMAT.codec.write(session, session.context()[-1:])
    kept = [orjson.loads(raw) for raw in written.data.splitlines()]
    assert [value.get("attachment", {}).get("type", value["type"]) for value in kept] == [
        "user",
        "prompt_snapshot",
        "assistant",
    ]
    whole = claude_code.FORMAT.codec.write(session, session.context())
    assert not [raw for raw in whole.data.splitlines() if b"api-request" in raw]
    assert whole.losses == (Loss(LossKind.REQUEST_RECORDS, 4),)


def test_an_attachment_is_what_was_rendered_of_it() -> None:
    session = read(
        user("u1", None, "Go"),
        attached("x1", "u1", "skills", "<r>one</r>", "<r>two</r>", content="not this"),
        attached("x2", "x1", "command_permissions"),
        attached("x3", "x2", "invented", n=1),
    )
    assert [(message.id, message.kind, message.blocks) for message in session.messages[1:]] == [
        ("x1", "meta", (Text("<r>one</r>", injected=True), Text("<r>two</r>", injected=True))),
        ("x3", "meta", (Opaque("attachment", {"type": "invented", "n": 1}),)),
    ]


def test_what_was_typed_while_the_agent_worked_is_the_persons() -> None:
    given = {"prompt": "And the tests.", "commandMode": "prompt"}
    wrapped = "<system-reminder>\nA new message:\nAnd the tests.\n\nDo not ignore it.\n</system-reminder>"
    session = read(
        user("u1", None, "Go"),
        attached("x1", "u1", "queued_command", **given),
        attached("x2", "x1", "queued_command", wrapped, **given, origin={"kind": "human"}),
        attached("x3", "x2", "queued_command", **given, origin={"kind": "coordinator"}),
        attached("x4", "x3", "queued_command", prompt="Done", commandMode="task-notification"),
    )
    assert [(message.kind, message.user_text) for message in session.messages[1:]] == [
        ("normal", "And the tests."),
        ("normal", "And the tests."),
        ("meta", ""),
        ("meta", ""),
    ]
    assert "".join(block.text for block in session.messages[2].blocks if isinstance(block, Text)) == wrapped


def test_what_hooks_say_is_sent_for_some_events_alone() -> None:
    session = read(
        user("u1", None, "Go"),
        attached("x1", "u1", "hook_success", hookName="UserPromptSubmit", hookEvent="UserPromptSubmit", content="Late"),
        attached("x2", "x1", "hook_success", hookName="PreToolUse:Read", hookEvent="PreToolUse", content="ok"),
        attached("x3", "x2", "hook_success", hookName="SessionStart", hookEvent="SessionStart", content=""),
        attached("x4", "x3", "hook_additional_context", hookName="PostToolUse:Edit", content=["Run", "codegen"]),
    )
    assert [(message.id, message.text) for message in session.messages[1:]] == [
        ("x1", "<system-reminder>\nUserPromptSubmit hook success: Late\n</system-reminder>"),
        ("x4", "<system-reminder>\nPostToolUse:Edit hook additional context: Run\ncodegen\n</system-reminder>"),
    ]


def test_of_other_attachments_before_there_was_a_rendered_text_the_data_is_shown() -> None:
    session = read(
        user("u1", None, "Go"),
        attached("x1", "u1", "deferred_tools_delta", addedNames=["A", "B"], addedLines=["A: one", "B: two"]),
        attached("x2", "x1", "skill_listing", content="- sew: mends", names=["sew"]),
        attached("x4", "x2", "skill_listing", content=""),
    )
    assert [(message.kind, message.blocks) for message in session.messages[1:]] == [
        ("meta", (Text("A: one\nB: two", injected=True),)),
        ("meta", (Text("- sew: mends", injected=True),)),
        ("meta", (Opaque("attachment", {"type": "skill_listing", "content": ""}),)),
    ]


def test_a_rule_file_before_there_was_a_rendered_text_is_shown_as_it_was_sent() -> None:
    session = read(
        user("u1", None, "Go"),
        attached("x1", "u1", "nested_memory", content={"path": "/shop/api/CLAUDE.md", "content": "Never on Fridays."}),
        attached("x2", "x1", "nested_memory", content={"path": "/shop/api/CLAUDE.md"}),
    )
    sent = "<system-reminder>\nContents of /shop/api/CLAUDE.md:\n\nNever on Fridays.\n</system-reminder>"
    assert [message.blocks for message in session.messages[1:]] == [(Text(sent, injected=True),)]


def test_a_tasks_notification_is_shown_as_it_was_sent_where_a_request_says_how() -> None:
    said = "<task-notification>\n<task-id>b7</task-id>\n</task-notification>"
    wrapped = f"<system-reminder>\nThis is no person's.\n\n{said}\n</system-reminder>"
    lines = [user("u1", None, said), assistant("a1", "u1", "m1", text("Seen."))]
    assert read(*lines).messages[0].text == said
    shown = read(*lines, blob(text(wrapped))).messages[0]
    assert (shown.kind, shown.blocks) == ("meta", (Text(wrapped, injected=True),))
