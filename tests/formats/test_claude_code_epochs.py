"""Recorded compactions of Claude Code, and the context after each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.formats.claude_code_build import (
    SESSION,
    assistant,
    boundary,
    call,
    line,
    read,
    read_bytes,
    result,
    summary,
    text,
    user,
)
from workbench.formats import claude_code
from workbench.formats.claude_code import rules
from workbench.formats.claude_code.events import CLEARED
from workbench.formats.files import load
from workbench.session import Session

Line = dict[str, Any]


def saved(id: str) -> str:
    """Return the replacement of a result that Claude Code saved before it cleared it."""
    file = f"~/.claude/projects/-home-me-my-project/{SESSION}/tool-results/{id}.txt"
    return f"<persisted-output>Tool result saved to: {file}\n\nUse Read to view</persisted-output>"


def contexts(session: Session) -> list[list[str]]:
    return [[message.id for message in session.context(epoch.number)] for epoch in session.epochs]


def results(session: Session, epoch: int) -> list[str]:
    return [found.text for message in session.context(epoch) for found in message.results]


def round_of_two() -> list[Line]:
    return [
        user("u1", None, "Read both."),
        assistant("a1", "u1", "m1", call("t1")),
        result("r1", "a1", "t1", "one"),
        assistant("a2", "a1", "m1", call("t2")),
        result("r2", "a2", "t2", "two"),
    ]


def keeping(**about: Any) -> Line:
    recorded = boundary("b1", "r2")
    return {**recorded, "compactMetadata": {**recorded["compactMetadata"], "postTokens": 9_000, **about}}


LISTED = {"preservedMessages": {"anchorUuid": "s1", "uuids": ["a1", "r1", "a2", "r2"]}}
CHAIN = {"preservedSegment": {"headUuid": "a1", "anchorUuid": "s1", "tailUuid": "r2"}}


@pytest.mark.parametrize("about", [LISTED, CHAIN, LISTED | CHAIN], ids=["list", "chain", "both"])
@pytest.mark.parametrize("parent", ["s1", "r2"], ids=["behind the summary", "behind what was kept"])
def test_what_a_boundary_keeps_stands_behind_the_summary(about: Line, parent: str) -> None:
    more = [summary("s1", "b1"), user("u2", parent, "Go on"), assistant("a3", "u2", "m3", text("Done."))]
    session = read(*round_of_two(), keeping(**about), *more)
    assert contexts(session) == [["u1", "a1", "r1", "r2"], ["s1", "a1", "r1", "r2", "u2", "a3"]]
    end = session.epochs[0].ended_by
    assert end is not None
    assert (end.summary, end.kept_ids, end.tokens_before, end.tokens_after) == (
        "s1",
        ("a1", "r1", "r2"),
        155_000,
        9_000,
    )


def test_all_lines_that_a_boundary_lists_stay() -> None:
    about = {"preservedMessages": {"anchorUuid": "s1", "uuids": ["r2"], "allUuids": ["r1", "r2", "elsewhere"]}}
    session = read(*round_of_two(), keeping(**about), summary("s1", "b1"), user("u2", "s1", "Go on"))
    assert contexts(session)[1] == ["s1", "r1", "r2", "u2"]


def test_what_is_kept_behind_a_line_that_is_not_there_stands_behind_the_summary() -> None:
    about = {"preservedMessages": {"anchorUuid": "gone", "uuids": ["r2"]}}
    session = read(*round_of_two(), keeping(**about), summary("s1", "b1"), user("u2", "s1", "Go on"))
    assert contexts(session)[1] == ["s1", "r2", "u2"]


def test_what_is_kept_comes_after_what_the_tool_put_before_the_summary() -> None:
    dated = line("attachment", "x1", "b1", attachment={"type": "date"}, rendered=[{"content": "It is Monday."}])
    session = read(*round_of_two(), keeping(**LISTED), dated, summary("s1", "x1"), user("u2", "s1", "Go on"))
    assert contexts(session)[1] == ["x1", "s1", "a1", "r1", "r2", "u2"]


def test_a_boundary_that_is_its_own_anchor_keeps_at_the_beginning() -> None:
    about = {"preservedMessages": {"anchorUuid": "b1", "uuids": ["r2", "r1", "a1", "a2"]}}
    session = read(*round_of_two(), keeping(**about), user("u2", "b1", "Go on"))
    assert contexts(session)[1] == ["r2", "r1", "a1", "u2"]


@pytest.mark.parametrize(
    "about",
    [
        {"preservedMessages": {"anchorUuid": "s1", "uuids": ["gone"]}},
        {"preservedSegment": {"headUuid": "gone", "anchorUuid": "s1", "tailUuid": "r2"}},
        {"preservedMessages": 7, "preservedSegment": ["r2"]},
    ],
)
def test_lines_that_are_not_there_keep_nothing(about: Line) -> None:
    session = read(*round_of_two(), keeping(**about), summary("s1", "b1"), user("u2", "s1", "Go on"))
    assert contexts(session)[1] == ["s1", "u2"]
    assert session.epochs[0].ended_by is not None
    assert session.epochs[0].ended_by.kept_ids == ()


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"preservedMessages": {"anchorUuid": "s1", "uuids": ["a1", "r1"]}}, []),
        (
            {"preservedMessages": {"anchorUuid": "s1", "uuids": ["a1", "r1", "x", "y"]}},
            ["line 6: 2 of 4 preserved messages are not in this file, so Claude Code keeps none of it on resume"],
        ),
        (
            {"preservedSegment": {"headUuid": "x", "anchorUuid": "s1", "tailUuid": "r2"}},
            [
                "line 6: 1 of 2 ends of the preserved segment is not in this file, "
                "so Claude Code keeps none of it on resume"
            ],
        ),
    ],
)
def test_a32_preserved_messages_that_the_file_lacks_are_told(about: Line, told: list[str]) -> None:
    session = read(*round_of_two(), keeping(**about), summary("s1", "b1"), user("u2", "s1", "Go on"))
    assert [str(warning) for warning in session.warnings] == told
    assert contexts(session)[1] == (["s1", "u2"] if told else ["s1", "a1", "r1", "u2"])


def test_a32_of_the_real_session(shared: Path) -> None:
    session = load(shared / "sessions-new" / "claude-code" / "omp-906611b-2.1.219-preserved.jsonl")
    told = "line 5: 16 of 16 preserved messages are not in this file, so Claude Code keeps none of it on resume"
    assert told in map(str, session.warnings)


def test_a_rewind_after_a_boundary_that_kept_something_leaves_the_summary() -> None:
    more = [summary("s1", "b1"), user("u2", "r2", "Try"), assistant("a3", "u2", "m3", text("Tried."))]
    again = [user("u3", "r2", "Otherwise"), assistant("a4", "u3", "m4", text("Done."))]
    session = read(*round_of_two(), keeping(**LISTED), *more, *again)
    assert contexts(session)[1] == ["s1", "a1", "r1", "r2", "u3", "a4"]


def test_an_unchanged_export_holds_what_was_kept_and_names_no_lines_that_are_gone() -> None:
    more = [summary("s1", "b1"), user("u2", "s1", "Go on"), assistant("a3", "u2", "m3", text("Done."))]
    session = read(*round_of_two(), keeping(**LISTED | CHAIN), *more)
    written = claude_code.FORMAT.codec.write(session, session.context())
    again = read_bytes(written.data)
    assert contexts(again) == [["s1", "a1", "r1", "r2", "u2", "a3"]]
    assert [message.blocks for message in again.context()] == [message.blocks for message in session.context()]
    bound = orjson.loads(written.data.splitlines()[0])
    assert bound["compactMetadata"] == {"trigger": "auto", "preTokens": 155_000, "postTokens": 9_000}
    assert rules.validate(written.data) == []


def micro(uuid: str, parent: str, *ids: str) -> Line:
    about = {"trigger": "auto", "preTokens": 60_000, "tokensSaved": 20_000, "compactedToolIds": list(ids)}
    return line("system", uuid, parent, subtype="microcompact_boundary", microcompactMetadata=about, content="Cleared")


def answered(*more: Line) -> list[Line]:
    return [*round_of_two(), assistant("a3", "r2", "m3", text("Both read.")), *more]


def test_a_microcompaction_empties_results_from_there_on() -> None:
    session = read(*answered(micro("c1", "a3", "t1"), user("u2", "c1", "Go on")))
    assert contexts(session) == [["u1", "a1", "r1", "r2", "a3"], ["u1", "a1", "r1~cleared", "r2", "a3", "u2"]]
    assert (results(session, 1), results(session, 2)) == (["one", "two"], [saved("t1"), "two"])
    end = session.epochs[0].ended_by
    assert end is not None
    assert (end.way, end.trigger, end.tokens_before, end.tokens_after, end.summary) == (
        "clearing",
        "auto",
        60_000,
        40_000,
        None,
    )
    places = [message.id for message in session.messages]
    assert places == ["u1", "a1", "r1", "r1~cleared", "r2", "a3", "c1", "u2"]
    assert session.epochs[1].copies == {places.index("r1~cleared")}


def test_a_microcompaction_that_clears_nothing_new_divides_nothing() -> None:
    session = read(*answered(micro("c1", "a3", "t1"), micro("c2", "c1", "t1", "t9"), micro("c3", "c2", "t2")))
    assert [results(session, epoch.number) for epoch in session.epochs] == [
        ["one", "two"],
        [saved("t1"), "two"],
        [saved("t1"), saved("t2")],
    ]


@pytest.mark.parametrize(
    ("version", "instead"), [("2.0.59", CLEARED), ("2.0.60", saved("t1")), ("2.1.17", saved("t1")), (None, CLEARED)]
)
def test_since_a_version_a_cleared_result_says_where_it_lies(version: str | None, instead: str) -> None:
    session = read(*answered({**micro("c1", "a3", "t1"), "version": version}))
    assert results(session, 2) == [instead, "two"]


def test_what_says_already_where_it_lies_is_not_cleared_again() -> None:
    large = "<persisted-output>\nOutput too large (60 KB). Full output saved to: /x</persisted-output>"
    lines = answered(micro("c1", "a3", "t1"))
    kept = read(lines[0], lines[1], result("r1", "a1", "t1", large), *lines[3:])
    assert [results(kept, epoch.number) for epoch in kept.epochs] == [[large, "two"]]


def test_what_is_older_than_a_microcompaction_lists_was_cleared_before_it() -> None:
    """Only results of the cleared tools are cleared; a task's result is kept."""
    lines = [
        user("u1", None, "Read all."),
        assistant("a1", "u1", "m1", call("t0", "Task"), call("t1"), call("t2", "Grep"), call("t3")),
        result("r0", "a1", "t0", "nought"),
        result("r1", "r0", "t1", "one"),
        result("r2", "r1", "t2", "two"),
        result("r3", "r2", "t3", "three"),
        assistant("a3", "r3", "m3", text("Both read.")),
    ]
    assert results(read(*lines, micro("c1", "a3", "t2")), 2) == ["nought", saved("t1"), saved("t2"), "three"]
    assert len(read(*lines, micro("c1", "a3", "t9")).epochs) == 1


def test_a_microcompaction_on_a_branch_that_was_left_clears_nothing() -> None:
    left = [micro("c1", "a3", "t1"), user("u2", "c1", "Try"), assistant("a4", "u2", "m4", text("Tried."))]
    session = read(*answered(*left, user("u3", "a3", "Otherwise"), assistant("a5", "u3", "m5", text("Done."))))
    assert contexts(session) == [["u1", "a1", "r1", "r2", "a3", "u3", "a5"]]


def test_what_was_cleared_stays_so_when_a_boundary_keeps_it() -> None:
    bound = {**keeping(**LISTED), "logicalParentUuid": "c1"}
    more = [micro("c1", "a3", "t1"), bound, summary("s1", "b1"), user("u2", "s1", "Go on")]
    session = read(*answered(*more))
    assert contexts(session)[2] == ["s1", "a1", "r1~cleared", "r2", "u2"]


def test_an_export_of_a_cleared_context_holds_the_cleared_results() -> None:
    session = read(*answered(micro("c1", "a3", "t1"), user("u2", "c1", "Go on")))
    written = claude_code.FORMAT.codec.write(session, session.context())
    again = read_bytes(written.data)
    assert results(again, 1) == [saved("t1"), "two"]
    assert len(again.epochs) == 1
    assert rules.validate(written.data) == []


def test_a_snip_takes_lines_out() -> None:
    snip = line("system", "c1", "a3", subtype="snip_boundary", snipMetadata={"removedUuids": ["a1", "r1", "r2", "zz"]})
    session = read(*answered(snip, user("u2", "c1", "Go on")))
    assert contexts(session) == [["u1", "a1", "r1", "r2", "a3"], ["u1", "a3", "u2"]]
    assert session.epochs[0].ended_by is not None
    assert session.epochs[0].ended_by.way == "removal"


def replaced(**texts: str) -> Line:
    listed = [{"kind": "tool-result", "toolUseId": id, "replacement": words} for id, words in texts.items()]
    return {"type": "content-replacement", "sessionId": "s", "replacements": listed}


def test_a_replacement_before_anything_was_sent_is_no_event_and_one_after_is() -> None:
    short = "<persisted-output>one…</persisted-output>"
    before = read(*round_of_two(), replaced(t1=short), assistant("a3", "r2", "m3", text("Both read.")))
    assert [results(before, epoch.number) for epoch in before.epochs] == [[short, "two"]]
    assert before.epochs[0].copies == frozenset()
    after = read(*answered(replaced(t1=short), user("u2", "a3", "Go on")))
    assert [results(after, epoch.number) for epoch in after.epochs] == [["one", "two"], [short, "two"]]


def test_an_export_takes_along_what_stands_for_results_that_were_too_large() -> None:
    lines = [*round_of_two(), replaced(t1="one…"), assistant("a3", "r2", "m3", text("Both read."))]
    session = read(*lines, {"type": "mode", "mode": "plan"}, user("u2", "a3", "Go on"))
    written = claude_code.FORMAT.codec.write(session, session.context()[-1:])
    assert [orjson.loads(raw)["type"] for raw in written.data.splitlines()] == ["content-replacement", "user"]


@pytest.mark.parametrize(
    ("edits", "left"),
    [
        ([], None),
        ([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 0}], None),
        ([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}], [CLEARED, "two"]),
        ([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 9}], [CLEARED, CLEARED]),
    ],
)
def test_what_the_api_cleared_for_a_call_is_cleared_before_it(edits: list[Line], left: list[str] | None) -> None:
    told = {"context_management": {"applied_edits": edits}}
    session = read(*answered(user("u2", "a3", "Go on"), assistant("a4", "u2", "m4", text("Done."), body=told)))
    assert [results(session, epoch.number) for epoch in session.epochs] == [["one", "two"], *([left] if left else [])]
    assert contexts(session)[-1][-1] == "a4"


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "abc="}
THOUGHTS_CLEARED = {
    "context_management": {"applied_edits": [{"type": "clear_thinking_20251015", "cleared_thinking_turns": 1}]}
}
THINKING = (
    user("u1", None, "Go"),
    assistant("a1", "u1", "m1", THOUGHT, text("One.")),
    user("u2", "a1", "More"),
    assistant("a2", "u2", "m2", THOUGHT, text("Two."), body=THOUGHTS_CLEARED),
)


def test_thoughts_that_the_api_cleared_are_gone_and_the_copy_is_no_call() -> None:
    session = read(*THINKING)
    assert contexts(session) == [["u1", "a1", "u2"], ["u1", "a1~cleared", "u2", "a2"]]
    copy = session.context()[1]
    assert (copy.text, len(copy.blocks), copy.usage, copy.source) == ("One.", 1, None, ())


def test_what_the_api_clears_again_for_the_next_call_is_no_event() -> None:
    session = read(
        *THINKING,
        user("u3", "a2", "More"),
        assistant("a3", "u3", "m3", THOUGHT, text("Three."), body=THOUGHTS_CLEARED),
    )
    assert contexts(session) == [["u1", "a1", "u2"], ["u1", "a1~cleared", "u2", "a2", "u3", "a3"]]
