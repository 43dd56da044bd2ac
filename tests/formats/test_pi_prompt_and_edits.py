"""pi 1.x: system messages, context edits, usage entries, and compactions with a system message or that keep nothing.

Every context here was compared with the one that pi 1.6.0's own SessionManager builds of the same lines.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.pi_build import HEADER, call, edit, entry, lines, response, result, said, text, usage
from workbench.conformance.formats import assert_exact, read
from workbench.formats.diagnosis import findings
from workbench.formats.pi import FORMAT
from workbench.repairs.engine import repair_bytes
from workbench.session import Message, Session, Text, Tool, Usage

SHORT = Message("n", "user", (Text("Short."),), "summary", time=1779280000)
READ = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}
BASH = {"name": "bash", "description": "Run a command", "parameters": {"type": "object"}}


def system(id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return said(id, parent, "system", "", **more)


PROMPT = system("s1", None, sections={"preamble": "You bake.", "cwd": "<cwd>/w/x</cwd>"}, toolsAdded=[READ, BASH])
TURN = [
    PROMPT,
    said("u1", "s1", "user", "Which flour?"),
    response("a1", "u1", call("c1"), total=100, stop="toolUse"),
    result("r1", "a1", "c1", text("rye, rye, rye")),
    response("a2", "r1", text("Rye."), total=120),
]


def context(session: Session) -> list[tuple[str, str]]:
    return [(m.role, m.text or "".join(r.text for r in m.results)) for m in session.context()]


def test_the_system_message_is_the_prompt_and_declares_the_tools() -> None:
    session = read(FORMAT, lines(HEADER, *TURN))
    assert context(session)[0] == ("system", "You bake.\n\n<cwd>/w/x</cwd>")
    assert session.context()[0].is_own_system
    assert [tool.name for tool in session.tools] == ["read", "bash"]
    assert session.tools[0] == Tool("read", json.dumps(READ, separators=(",", ":")))
    assert [(one.level, one.text) for one in findings(session)[:2]] == [
        ("complete", "26 characters"),
        ("complete", "2 tools"),
    ]
    assert FORMAT.codec.validate(lines(HEADER, *TURN)) == []


def test_a_later_system_message_says_what_changes_and_its_tools_are_replayed() -> None:
    change = system("s2", "a2", sections={"cwd": None, "skills": "knead"}, toolsRemoved=[{"name": "read"}])
    silent = system("s3", "u2", toolsAdded=[{**BASH, "description": "Run"}])
    session = read(FORMAT, lines(HEADER, *TURN, change, said("u2", "s2", "user", "And salt?"), silent))
    assert context(session)[-2:] == [
        ("system", 'Removed system prompt section "cwd".\n\nUpdated system prompt section "skills":\n\nknead'),
        ("user", "And salt?"),
    ]
    assert [json.loads(tool.schema) for tool in session.tools] == [{**BASH, "description": "Run"}]


def test_an_export_keeps_the_system_message_with_its_sections_and_tools() -> None:
    session = read(FORMAT, lines(HEADER, *TURN, said("u2", "a2", "user", "And salt?")))
    lead, *rest = session.context()
    for write in (FORMAT.codec.write, FORMAT.codec.forms[0].write):
        assert write is not None
        written = write(session, (lead, SHORT, *rest[-1:]))
        again = read(FORMAT, written.data)
        assert (again.tools, context(again)[0]) == (session.tools, context(session)[0])
        assert FORMAT.codec.validate(written.data) == []
    carried = [json.loads(line) for line in written.data.splitlines()][-1]
    assert carried["systemMessage"] == PROMPT["message"]
    assert_exact(FORMAT, session, (lead, SHORT, *rest[-1:]))
    anew = assert_exact(FORMAT, session, (Message("x", "system", (Text("Be short."),)), *rest))
    assert b'"role":"system","content":"Be short."' in anew.data


TURN_ANSWERED = [("assistant", ""), ("tool", "rye, rye, rye"), ("assistant", "Rye.")]
CHECKPOINT = {"role": "system", "content": "You bake well.", "toolsAdded": [READ], "timestamp": 1}
COMPACTED = entry(
    "compaction", "k1", "a2", summary="rye", firstKeptEntryId="a1", tokensBefore=9, systemMessage=CHECKPOINT
)


@pytest.mark.parametrize(("first", "kept"), [("a1", TURN_ANSWERED), ("k1", [])])
def test_a_compaction_leads_with_the_system_message_that_it_carries(first: str, kept: list[tuple[str, str]]) -> None:
    """One that keeps nothing names itself as the first entry that it keeps."""
    newer = system("s2", "k1", sections={"skills": "knead"})
    data = lines(HEADER, *TURN, {**COMPACTED, "firstKeptEntryId": first}, newer, said("u2", "s2", "user", "Go on."))
    session = read(FORMAT, data)
    assert len(session.epochs) == 2
    assert [(m.role, m.kind) for m in session.context()[:2]] == [("system", "normal"), ("user", "summary")]
    assert context(session)[0] == ("system", "You bake well.")
    assert context(session)[2:] == [
        *kept,
        ("system", 'Updated system prompt section "skills":\n\nknead'),
        ("user", "Go on."),
    ]
    assert [tool.name for tool in session.tools] == ["read"]
    whole = assert_exact(FORMAT, session, session.context()[:-1])
    assert b'"systemMessage"' in whole.data
    apart = assert_exact(FORMAT, session, (session.context()[0], SHORT, session.context()[-1]))
    assert b'"You bake well."' in apart.data
    assert b'"compaction"' not in apart.data


def test_what_a_compaction_kept_has_no_system_message() -> None:
    """Also where the compaction carries none itself: pi drops those of the kept range."""
    plain = {key: value for key, value in COMPACTED.items() if key != "systemMessage"}
    session = read(FORMAT, lines(HEADER, *TURN, {**plain, "firstKeptEntryId": "s1"}))
    assert [message.role for message in session.context()] == ["user", "user", "assistant", "tool", "assistant"]


def test_an_edited_result_is_sent_as_the_edit_says() -> None:
    data = lines(HEADER, *TURN, edit("e1", "a2", "r1", {"content": "[pruned]"}), said("u2", "e1", "user", "On."))
    session = read(FORMAT, data)
    assert context(session)[1:] == [
        ("user", "Which flour?"),
        ("assistant", ""),
        ("tool", "[pruned]"),
        ("assistant", "Rye."),
        ("user", "On."),
    ]
    assert [m.results[0].text for m in session.messages if m.results] == ["rye, rye, rye", "[pruned]"]
    first, second = session.epochs
    assert first.ended_by is not None
    assert (first.ended_by.trigger, first.ended_by.way, len(second.copies)) == ("context edit", "clearing", 1)
    assert session.context(1)[3].results[0].text == "rye, rye, rye"
    assert session.warnings == ()
    written = assert_exact(FORMAT, session, session.context()[:-1])
    assert b"pruned" in written.data
    assert b"context_edit" not in written.data
    assert b"rye, rye" not in written.data


@pytest.mark.parametrize(
    ("edits", "shown"),
    [
        ([edit("e1", "a2", "r1", None)], ["Which flour?", "", "Rye."]),
        ([edit("e1", "a2", "u1", {"content": [text("Which?")]})], ["Which?", "", "rye, rye, rye", "Rye."]),
        ([edit("e1", "a2", "a2", {"content": "Wheat."})], ["Which flour?", "", "rye, rye, rye", "Wheat."]),
        # The last edit of an entry holds, also one that takes an omission back.
        (
            [edit("e1", "a2", "r1", None), edit("e2", "e1", "r1", {"content": "back"})],
            ["Which flour?", "", "back", "Rye."],
        ),
        # A system message is not edited, but can be left out.
        ([edit("e1", "a2", "s1", {"content": "x"})], ["Which flour?", "", "rye, rye, rye", "Rye."]),
    ],
)
def test_edits_omit_and_replace(edits: list[dict[str, Any]], shown: list[str]) -> None:
    session = read(FORMAT, lines(HEADER, *TURN, *edits))
    assert [said for role, said in context(session) if role != "system"] == shown
    assert context(session)[0][0] == "system"


def test_edits_in_a_row_end_one_epoch_and_those_that_change_nothing_end_none() -> None:
    failed = response("a3", "a2", text("half"), stop="error")
    nothing = [failed, edit("e1", "a3", "a3", None), edit("e2", "e1", "gone", None)]
    session = read(FORMAT, lines(HEADER, *TURN, *nothing))
    assert len(session.epochs) == 1
    assert [str(warning) for warning in session.warnings] == ["line 9: edits an entry that is not in the file"]
    two = [edit("e1", "a2", "r1", {"content": "1"}), edit("e2", "e1", "u1", {"content": "2"})]
    assert [epoch.ended_by.way for epoch in read(FORMAT, lines(HEADER, *TURN, *two)).epochs if epoch.ended_by] == [
        "clearing"
    ]


def test_an_edit_holds_on_its_own_branch_alone() -> None:
    fork = [edit("e1", "a2", "r1", None), said("u2", "a2", "user", "elsewhere")]
    assert ("tool", "rye, rye, rye") in context(read(FORMAT, lines(HEADER, *TURN, *fork)))


def test_an_edit_before_what_a_compaction_kept_is_over() -> None:
    after = [edit("e1", "a2", "r1", {"content": "[pruned]"}), {**COMPACTED, "parentId": "e1", "firstKeptEntryId": "a1"}]
    assert ("tool", "[pruned]") in context(read(FORMAT, lines(HEADER, *TURN, *after)))
    gone = [edit("e1", "a2", "r1", {"content": "[pruned]"}), {**COMPACTED, "parentId": "e1", "firstKeptEntryId": "e1"}]
    assert [role for role, _ in context(read(FORMAT, lines(HEADER, *TURN, *gone)))] == ["system", "user"]


@pytest.mark.parametrize(
    ("replacement", "warning", "fault"),
    [
        (
            {"replacement": "[pruned]"},
            "line 7: its replacement has no `content`, so pi sends the edited message empty",
            "Line 7 is an edit whose replacement has no content: pi sends the edited message empty.",
        ),
        (
            {},
            "line 7: edits an entry and has no `replacement`, so pi cannot open the session; ignored",
            "Line 7 is an edit without a replacement: pi cannot open the session.",
        ),
    ],
)
def test_an_edit_that_pi_does_not_read_as_it_was_meant_is_told(
    replacement: dict[str, Any], warning: str, fault: str
) -> None:
    data = lines(HEADER, *TURN, entry("context_edit", "e1", "a2", targetId="r1", **replacement))
    session = read(FORMAT, data)
    assert [str(one) for one in session.warnings] == [warning]
    assert FORMAT.codec.validate(data) == [fault]
    assert context(session)[3] == ("tool", "" if replacement else "rye, rye, rye")


@pytest.mark.parametrize("wrong", [["r1"], {"r1": 1}, 7, None, ""])
def test_an_id_that_is_no_text_edits_nothing(wrong: object) -> None:
    """The validator asked a table for a list, and raised."""
    data = lines(HEADER, *TURN, {**edit("e1", "a2", "r1", None), "targetId": wrong})
    assert FORMAT.codec.validate(data) == []
    last = {**response("a3", "e1", text("x")), "id": wrong}
    assert all(isinstance(fault, str) for fault in FORMAT.codec.validate(data + lines(last)))


def test_usage_entries_and_usage_of_summaries_are_no_messages() -> None:
    spent = {**usage(50), "cost": {"total": 0.25}}
    warm = {**entry("usage", "w1", "a2", usage=spent), "kind": "cache_warm"}
    branch = entry("branch_summary", "b1", "w1", fromId="a2", summary="was elsewhere", usage=spent)
    session = read(FORMAT, lines(HEADER, *TURN, warm, branch, {**COMPACTED, "parentId": "b1", "usage": spent}))
    assert session.warnings == ()
    assert [m.usage for m in session.messages if m.usage] == [Usage(85, 5, 10, 0), Usage(105, 5, 10, 0)]
    assert session.facts.cost == 0.75


def test_an_edit_after_the_last_answer_makes_its_usage_stale_for_pi() -> None:
    huge = response("a3", "a2", text("x"), total=90_000)
    assert FORMAT.codec.validate(lines(HEADER, *TURN, huge)) != []
    assert FORMAT.codec.validate(lines(HEADER, *TURN, huge, edit("e1", "a3", "r1", {"content": "[pruned]"}))) == []


def test_a_result_that_was_edited_is_not_repaired_as_a_missing_one() -> None:
    data = lines(HEADER, *TURN, edit("e1", "a2", "r1", {"content": "[pruned]"}), said("u2", "e1", "user", "On."))
    assert repair_bytes(Path("x.jsonl"), data).fixes == ()
    lost = lines(HEADER, *TURN[:3], edit("e1", "a1", "u1", {"content": "Which?"}), said("u2", "e1", "user", "On."))
    assert len(repair_bytes(Path("x.jsonl"), lost).fixes) == 1
