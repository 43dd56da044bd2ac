"""Mentioned files (`@file`), and files that changed outside the agent."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.assembled.notes import external_changes, with_reminder
from workbench.conformance.building import agent, call, result, user
from workbench.facts.calls import calls_in
from workbench.session import Message, ToolUse


@given(st.text(alphabet=" @./ab中\n", max_size=60))
def test_a_text_that_has_its_reminder_gets_no_second_one(text: str) -> None:
    once = with_reminder(text, text)
    assert once.startswith(text)
    assert with_reminder(once, text) == once


def read(number: int, text: str, path: str = "src/a.py", **more: int) -> list[Message]:
    made = agent(f"a{number}", "", call(f"c{number}", "Read", file_path=path, **more))
    return [made, result(f"r{number}", (f"c{number}", text))]


def did(number: int, one: ToolUse, *, error: bool = False) -> list[Message]:
    return [agent(f"a{number}", "", one), result(f"r{number}", (one.id, "done"), error=error)]


BEFORE, AFTER = "     1→x = 1\n     2→y = 2\n", "     1→x = 1\n     2→y = 3\n"


def notes(*parts: list[Message]) -> list[str]:
    return [str(note) for note in external_changes(calls_in([user("u", "go"), *(m for part in parts for m in part)]))]


def test_the_agents_own_doing_explains_a_change() -> None:
    edit = call("c2", "Edit", file_path="./src/a.py", old_string="2", new_string="3")
    assert notes(read(1, BEFORE), did(2, edit), read(3, AFTER)) == []
    assert len(notes(read(1, BEFORE), did(2, edit, error=True), read(3, AFTER))) == 1
    other = call("c2", "Edit", file_path="src/b.py", old_string="2", new_string="3")
    assert len(notes(read(1, BEFORE), did(2, other), read(3, AFTER))) == 1
    assert notes(read(1, BEFORE), did(2, call("c2", command="sed -i s/2/3/ src/a.py")), read(3, AFTER)) == []
    assert len(notes(read(1, BEFORE), did(2, call("c2", command="pytest -q")), read(3, AFTER))) == 1


def test_whatever_writes_or_removes_a_file_explains_a_change() -> None:
    for one in (
        call("c2", "Write", file_path="src/a.py", content="x"),
        call("c2", "delete_file", path="src/a.py"),
    ):
        assert notes(read(1, BEFORE), did(2, one), read(3, AFTER)) == []


def told(number: int, content: str, **more: object) -> list[Message]:
    """A read whose envelope tells of the file, too."""
    data = {"content": content, **more}
    return read(number, json.dumps({"status": "success", "data": data, "text": "", "stats": {}, "context": {}}))


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        (told(1, BEFORE, mtime=1), told(2, BEFORE, mtime=2), True),
        (told(1, BEFORE, mtime=1), told(2, AFTER, mtime=1), False),
        (told(1, BEFORE, mtime=1), told(2, AFTER), True),
        (told(1, BEFORE), told(2, BEFORE, mtime=1), False),
        (told(1, BEFORE, last_modified="a"), told(2, BEFORE, file_mtime_ms="b"), True),
        (told(1, "plain", mtime=None, mtime_ms=5), told(2, "plain", mtime_ms=5), False),
        (read(1, f"{BEFORE}<system-reminder>\n     2→no\n</system-reminder>"), read(2, BEFORE), False),
        (read(1, "plain"), read(2, "plain\n<system-reminder>x</system-reminder>\n"), False),
        (read(1, "plain"), read(2, BEFORE), False),
    ],
)
def test_a_time_of_change_says_more_than_lines(before: list[Message], now: list[Message], changed: bool) -> None:
    assert bool(notes(before, now)) is changed


def test_only_lines_shown_both_times_are_compared() -> None:
    assert notes(read(1, BEFORE), read(2, "     7→z = 1", offset=7)) == []
    assert notes(read(1, BEFORE), read(2, "File unchanged since last read.")) == []
    assert len(notes(read(1, BEFORE), read(2, "     7→z = 1", offset=7), read(3, AFTER))) == 1
    assert notes(read(1, "plain"), read(2, "other lines", offset=40)) == []
    assert len(notes(read(1, "plain"), read(2, "plain, changed"))) == 1
