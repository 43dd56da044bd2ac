"""Claude Code sessions with missing parents: the resumed branch, and all branches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.formats.claude_code_build import assistant, boundary, jsonl, line, read, read_bytes, summary, text, user
from workbench.base.errors import BadInput
from workbench.bench import open_bench
from workbench.formats import claude_code
from workbench.formats.claude_code import rules
from workbench.formats.diagnosis import relatives
from workbench.formats.export import export
from workbench.formats.files import load, parts_of
from workbench.formats.format import Part
from workbench.session import Message, Session
from workbench.tokens import Counter


def ids(messages: tuple[Message, ...]) -> list[str]:
    return [message.id for message in messages]


def branch(session: Session) -> list[str]:
    return [session.messages[number].id for number in session.branch]


def broken(gap: float) -> list[dict[str, Any]]:
    """Return two rounds; the second has a missing parent and begins `gap` seconds later."""
    lines = [
        user("u1", None, "Go"),
        assistant("a0", "u1", "m0", text("Given up")),
        assistant("a1", "u1", "m1", text("Yes")),
        line("progress", "p1", "a1", data={}),
        user("u2", "gone", "More"),
        assistant("a2", "u2", "m2", text("Fine")),
    ]
    seconds = [0, 1, 2, 2, 2 + gap, 9]
    return [{**one, "timestamp": f"2026-02-08T10:30:{at:06.3f}Z"} for one, at in zip(lines, seconds, strict=True)]


@pytest.mark.parametrize(
    ("gap", "shown"),
    [(4.999, ["u1", "a1", "u2", "a2"]), (5, ["u1", "a1", "u2", "a2"]), (5.001, ["u2", "a2"])],
)
def test_a5_behind_a_missing_parent_the_loader_goes_on_five_seconds_before_or_not_at_all(
    gap: float, shown: list[str]
) -> None:
    """Source: requests that Claude Code 2.1.330 sent when it resumed such files."""
    session = read(*broken(gap))
    assert ids(session.context()) == branch(session) == shown
    told = {
        4: "line 5: its parent is missing; linked to line 3, written shortly before",
        2: "line 5: names a parent that is not in this file, so Claude Code resumes from here: 3 messages before it "
        "are not loaded; --part joined opens all of them",
    }
    assert [str(warning) for warning in session.warnings] == [told[len(shown)]]


def test_a5_the_pieces_of_a_broken_branch_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_bytes(jsonl(*broken(6)))
    parts = parts_of(tmp_path / "broken.jsonl")
    assert [(part.id, part.messages) for part in parts] == [("resumed", 2), ("joined", 4), ("line-3", 2), ("line-2", 2)]
    read_ids = {part.id: ids(load(tmp_path / "broken.jsonl", part=part.id).context()) for part in parts}
    assert read_ids == {
        "resumed": ["u2", "a2"],
        "joined": ["u1", "a1", "u2", "a2"],
        "line-3": ["u1", "a1"],
        "line-2": ["u1", "a0"],
    }
    beside = [id for id, _ in relatives(load(tmp_path / "broken.jsonl"))]
    assert beside == ["joined", "line-3", "line-2"]
    with pytest.raises(BadInput, match=r"has no branch 'line-9'; it has resumed, joined, line-3, line-2\."):
        load(tmp_path / "broken.jsonl", part="line-9")


def test_a5_all_pieces_are_exported_as_one_branch_that_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_bytes(jsonl(*broken(6)))
    session = load(tmp_path / "broken.jsonl", part="joined")
    assert [message.usage is None for message in session.context() if message.role == "assistant"] == [False, True]
    assert "1 call from here on sent only part of this branch; their usage is ignored" in session.warnings[-1].text
    written = export(session, session.context()).written.data
    assert rules.validate(written) == []
    assert [m.text for m in read_bytes(written).context()] == [m.text for m in session.context()]


def test_a5_what_stands_before_a_boundary_is_history_and_whole() -> None:
    session = read(*broken(60), boundary("b1", "gone"), summary("s1", "b1"), user("u3", "s1", "On"))
    assert [ids(session.context(number)) for number in (1, 2)] == [["u1", "a1", "u2", "a2"], ["s1", "u3"]]
    assert parts_in(session) == ()


def parts_in(session: Session) -> tuple[Part, ...]:
    assert claude_code.FORMAT.codec.branches is not None
    return claude_code.FORMAT.codec.branches(Path("x"), session.records.data)


def test_a5_rewound_branches_alone_are_no_damage() -> None:
    assert parts_in(read(*[one for one in broken(0) if one["uuid"] not in ("u2", "a2")])) == ()


def test_a5_of_the_case(shared: Path) -> None:
    """Claude Code 2.1.330 sent the 18 messages from line 105 on when it resumed the file."""
    path = shared / "cases" / "02-dangling-parents.jsonl"
    session = load(path)
    assert (len(session.context()), session.records.lines[session.context()[0].source[0]]) == (18, 105)
    assert open_bench(session, Counter(), epoch=1).context.total.tokens == 36_818
    assert [(part.id, part.messages) for part in parts_of(path)] == [("resumed", 18), ("joined", 90), ("line-104", 72)]


def test_a5_parents_that_go_in_a_circle_end_where_it_closes() -> None:
    lines = [user("u0", None, "Before"), user("u1", "a1", "Go"), assistant("a1", "u1", "m1", text("Yes"))]
    session = read(*[{**one, "timestamp": f"2026-02-08T10:3{at}:00Z"} for at, one in enumerate(lines)])
    assert ids(session.context()) == ["u1", "a1"]
    told = "its parents go in a circle, so Claude Code resumes from here: 1 message before it is not loaded"
    assert [str(warning) for warning in session.warnings] == [f"line 2: {told}"]
