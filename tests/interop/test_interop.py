"""The parts of interop that need no tool: units, comparison, the server's script, the page."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from interop import server, table
from interop.__main__ import every_tool
from interop.compare import Allowance, Compared, by_unit, compare, results_in_order
from interop.server.script import Asked, Call, Turn, turn_for
from interop.tools import cline
from interop.trial import Column, Trial, Verdict
from interop.units import Protocol, Unit, of_request

USER, ANSWER = Unit("user", "text", "hello"), Unit("assistant", "text", "yes")
NOTE = Unit("user", "text", "<note>it rains</note>")


def is_note(unit: Unit) -> bool:
    return unit.text.startswith("<note>")


def loud(unit: Unit) -> Unit:
    return Unit(unit.role, unit.kind, unit.text.upper())


BESIDE = Allowance("notes", "Notes come by themselves.", beside=is_note)
SPOKEN = Allowance("loud", "All is sent loud.", shown=by_unit(loud))


def test_what_is_equal_needs_no_allowance() -> None:
    assert compare((USER, ANSWER), (USER, ANSWER), (BESIDE,)) == Compared("")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ((USER,), (USER, ANSWER)),
        ((USER, ANSWER, ANSWER), (USER, ANSWER)),
        ((ANSWER, USER), (USER, ANSWER)),
        ((USER, Unit("user", "text", "yes")), (USER, ANSWER)),
        ((USER, Unit("assistant", "text", "yes ")), (USER, ANSWER)),
    ],
)
def test_less_more_another_order_speaker_or_character_is_a_difference(
    sent: tuple[Unit, ...], shown: tuple[Unit, ...]
) -> None:
    assert compare(sent, shown, (BESIDE,)).difference.startswith("unit ")


def test_what_may_be_sent_beside_must_be_sent_where_it_is_shown() -> None:
    assert compare((NOTE, USER, NOTE), (USER,), (BESIDE,)) == Compared("", ("notes",))
    assert compare((NOTE, USER, NOTE), (USER, NOTE), (BESIDE,)) == Compared("", ("notes",))
    assert compare((USER,), (NOTE, USER), (BESIDE,)).difference != ""


def test_only_the_allowances_that_it_took_are_named() -> None:
    assert compare((loud(USER),), (USER,), (SPOKEN, BESIDE)) == Compared("", ("loud",))


def test_results_stand_in_the_order_of_their_calls() -> None:
    first, second = Unit("tool", "result", "a", 1), Unit("tool", "result", "b", 2)
    assert results_in_order((USER, second, first, ANSWER, second)) == (USER, first, second, ANSWER, second)


CALLED = (
    Unit("user", "text", "look"),
    Unit("assistant", "reasoning", "where?"),
    Unit("assistant", "call", 'read {"path": "a"}'),
    Unit("assistant", "call", 'read {"path": "b"}'),
    Unit("tool", "result", "B", 2),
    Unit("tool", "result", "A", 1),
)
"""The same conversation, as each protocol has it."""
BODIES: dict[Protocol, dict[str, Any]] = {
    "anthropic": {
        "system": "be kind",
        "messages": [
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "where?", "signature": "x"},
                    {"type": "tool_use", "id": "1", "name": "read", "input": {"path": "a"}},
                    {"type": "tool_use", "id": "2", "name": "read", "input": {"path": "b"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text", "text": "B"}]},
                    {"type": "tool_result", "tool_use_id": "1", "content": "A"},
                ],
            },
        ],
    },
    "responses": {
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "look"}]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "where?"}]},
            {"type": "function_call", "call_id": "1", "name": "read", "arguments": '{"path":"a"}'},
            {"type": "function_call", "call_id": "2", "name": "read", "arguments": '{"path":"b"}'},
            {"type": "function_call_output", "call_id": "2", "output": "B"},
            {"type": "function_call_output", "call_id": "1", "output": "A"},
        ]
    },
    "chat": {
        "messages": [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "where?",
                "tool_calls": [
                    {"id": "1", "function": {"name": "read", "arguments": '{"path":"a"}'}},
                    {"id": "2", "function": {"name": "read", "arguments": '{"path":"b"}'}},
                ],
            },
            {"role": "tool", "tool_call_id": "2", "content": "B"},
            {"role": "tool", "tool_call_id": "1", "content": "A"},
        ]
    },
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": "look"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "where?", "thought": True},
                    {"functionCall": {"id": "1", "name": "read", "args": {"path": "a"}}},
                    {"functionCall": {"id": "2", "name": "read", "args": {"path": "b"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "2", "name": "read", "response": {"output": "B"}}},
                    {"functionResponse": {"id": "1", "name": "read", "response": {"output": "A"}}},
                ],
            },
        ]
    },
}


@pytest.mark.parametrize("protocol", BODIES)
def test_a_conversation_is_the_same_units_in_every_protocol(protocol: Protocol) -> None:
    assert of_request(protocol, BODIES[protocol]) == CALLED


PROMPT = 'See. [[think hm]] [[call read {"path": "[[a]]"}]][[call read {"path": "b"}]] [[then]] [[say Done.]]'
CALLS = (Call("read", {"path": "[[a]]"}), Call("read", {"path": "b"}))


@pytest.mark.parametrize(
    ("asked", "turn"),
    [
        (Asked(PROMPT, 0, 4, True), Turn("", CALLS, "hm")),
        (Asked(PROMPT, 1, 4, True), Turn("Done.")),
        (Asked(PROMPT, 2, 4, True), Turn("Answer 7.")),
        (Asked(PROMPT, 0, 4, False), Turn("Answer 5.")),
        (Asked("Hello.", 0, 0, True), Turn("Answer 1.")),
        (Asked("Make a summary.", 0, 9, True), Turn("SUM")),
        (Asked(f"Make a summary of: {PROMPT}", 0, 0, False), Turn("SUM")),
        (Asked("[[tokens 170]] [[too long 6]]", 0, 0, True), Turn("Answer 1.", tokens=170, most=6)),
    ],
)
def test_the_prompt_says_what_is_answered(asked: Asked, turn: Turn) -> None:
    assert turn_for(asked, "SUM") == turn


PATHS: dict[Protocol, str] = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/m:generateContent",
}


@pytest.mark.parametrize("protocol", PATHS)
def test_the_server_keeps_what_it_is_asked_and_answers_it(protocol: Protocol) -> None:
    with server.running() as one:
        data = json.dumps({**BODIES[protocol], "tools": [{}]}).encode()
        with urllib.request.urlopen(urllib.request.Request(one.url + PATHS[protocol], data)) as response:
            said = response.read().decode()
    (request,) = one.requests
    assert (request.protocol, of_request(protocol, request.body)) == (protocol, CALLED)
    assert request.answer == Turn("Answer 2.")
    assert "Answer 2." in said


def test_a_prompt_is_refused_while_too_much_stands_before_it() -> None:
    def status(answers: int) -> int:
        said = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}] * answers
        body = {"messages": [*said, {"role": "user", "content": "[[too long 1]]"}], "tools": [{}]}
        asked = urllib.request.Request(one.url + "/v1/messages", json.dumps(body).encode())
        try:
            with urllib.request.urlopen(asked) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    with server.running() as one:
        assert [status(answers) for answers in (0, 1, 2)] == [200, 200, 400]


def test_a_run_replaces_its_tools_row_and_leaves_the_others(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    codex, claude = every_tool()["codex"], every_tool()["claude-code"]
    good, none = Verdict("a session", "", ("prompt",)), Column(not_tried="it does not compact")
    whole = Trial(Column((good,)), none, Column((good, good)), Column((good, Verdict("other", "unit 1"))))
    table.update(codex, whole, "2026-01-01", page)
    table.update(claude, "npm is not on this machine", "2026-01-02", page)
    before = page.read_text(encoding="utf-8")
    table.update(claude, "npm is not on this machine", "2026-01-02", page)
    assert page.read_text(encoding="utf-8") == before
    rows = [line for line in before.splitlines() if line.startswith("| C")]
    assert rows == [
        f"| Claude Code | {claude.package.version} | 2026-01-02 | not tried: npm is not on this machine "
        "|  |  |  |  |  |",
        f"| Codex | {codex.package.version} | 2026-01-01 "
        "| equal | it does not compact | 2 of 2 | 1 of 2 | only of libraries | not tried |",
    ]
    assert "- other: unit 1\n" in before


@pytest.mark.parametrize(
    ("kept", "sent"),
    [
        ('{"query":"a.txt","result":"Oars."}', '[{"query":"a.txt","result":"Oars."}]'),
        (
            '{"query":"a.txt","result":"Oa\n[… left out …]\nrs."}',
            '{"query":"a.txt","result":"Oa\n[… left out …]\nrs."}',
        ),
    ],
)
def test_cline_puts_a_result_into_a_list_that_is_an_object(kept: str, sent: str) -> None:
    (allowance,) = (one for one in cline.TOOL.allowances if one.name == "results in a list")
    assert [unit.text for unit in allowance.shown((Unit("user", "result", kept),))] == [sent]
