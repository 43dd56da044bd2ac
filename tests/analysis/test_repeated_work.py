"""Edits and fetches that are compared after a compaction, each at its border."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analysis.test_rework import CUT, NEW, OLD, START, Part, edit, items, shell, user
from tests.facts.talk import agent, call, result
from workbench.analysis.rework.edits import _alike, _Edit, _kind, _lines, _without_imports
from workbench.analysis.rework.fetches import (
    _fetch_key,
    _may_be_same,
    _may_change,
    _shell_fetch_key,
    _starts_agent,
    _waits,
    viewed,
)
from workbench.compaction.shape import Shape
from workbench.compaction.shape_calls import calls_of
from workbench.facts.calls import ToolCall


def tool_call(name: str, given: dict[str, Any], text: str = "ok") -> ToolCall:
    used = call(name, given)
    (found,) = calls_of(Shape([agent("", used), result(used, text)]))
    return found


def an_edit(old: str, new: str) -> _Edit:
    return _Edit(tool_call("Read", {"file_path": "a"}), old, new)


A, B, C, D = "loom one\n", "loom two\n", "loom three\n", "loom four\n"


@pytest.mark.parametrize(
    ("earlier", "later", "kind"),
    [
        ((A, B), (B, A), "undone"),
        ((A, B), (A, B), "redone"),
        ((A, B), (C, B), None),
        ((A, B), (B, C), None),
        ((A + C, B + C), (B + D, A + D), "undone"),
        ((A + C, B + C), (A + D, B + D), None),
        ((A, A + B), (A + B, A), "undone"),
        ((A, A + B), (A, A + B), "redone"),
        ((A, A + B), (A, A + C), None),
        ((A + B, A), (A + B, B), None),
    ],
)
def test_an_edit_undoes_or_repeats_another(earlier: tuple[str, str], later: tuple[str, str], kind: str | None) -> None:
    assert _kind(an_edit(*earlier), an_edit(*later)) == kind


def test_lines_that_an_edit_changes() -> None:
    found = an_edit(f"  {A}\n{B}import loom\n", f"{B}{C}from x import y\n")
    assert found.place == {"loom one", "loom two", "import loom"}
    assert (found.removed, found.added) == ({"loom one", "import loom"}, {"loom three", "from x import y"})
    assert found.changed_chars == len("loomone" + "loomthree")
    assert _lines(" a \n\n b") == {"a", "b"}
    assert _without_imports(frozenset(["import a", "importing = 1", '"x",', "} )", "use x"])) == {"importing = 1"}


@pytest.mark.parametrize(("common", "alike"), [(4, True), (3, False)])
def test_lines_are_alike_from_four_fifths_on(common: int, alike: bool) -> None:
    both = [str(n) for n in range(common)]
    assert _alike(frozenset(both), frozenset([*both, *"abcde"[: 5 - common]])) is alike


def kinds(*parts: Part) -> list[tuple[str, str]]:
    return [(kind, what) for kind, what, _, _ in items(*parts)]


def test_several_files_are_followed_apart() -> None:
    both = (edit("a.py", OLD, NEW), edit("src/b.py", OLD, NEW))
    back, again = shell("git checkout -- a.py src/b.py", ""), shell("git checkout -- other.py a.py", "")
    committed = shell("git commit -m x b.py", "")
    assert kinds(START, *both, committed, CUT, back, again) == [("undone", "a.py")]
    assert kinds(START, *both, CUT, again, edit("src/b.py", NEW, OLD)) == [("undone", "a.py"), ("undone", "src/b.py")]


def test_a_file_that_was_committed_and_restored_has_no_earlier_edits() -> None:
    committed, back = shell("git commit -am x a.py", ""), shell("git checkout -- a.py", "")
    assert kinds(START, edit("a.py", OLD, NEW), committed, CUT, back, edit("a.py", NEW, OLD)) == []


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("cd web && npm run x | head -20", ("command", "npm run x")),
        ("npm run x 2>&1 | tail -n 5", ("command", "npm run x")),
        ("npm run x | sed -n '1,5p'", ("command", "npm run x")),
        ("npm run x | wc -l", ("command", "npm run x | wc -l")),
        ("rg  loom\nsrc", ("search", "rg loom src")),
        ("rgx loom", ("command", "rgx loom")),
        ("git grep loom", ("search", "git grep loom")),
        ("npm run " + "x" * 300 + " | head", ("command", "npm run " + "x" * 300)),
    ],
)
def test_a_command_line_without_what_limits_its_output(line: str, key: tuple[str, str]) -> None:
    assert _shell_fetch_key(line) == key


@pytest.mark.parametrize(
    ("name", "given", "key"),
    [
        ("Grep", {"pattern": "x", "path": "/repo"}, ("search", 'grep {"pattern":"x"}')),
        ("Grep", {"pattern": "x", "path": "/repo/"}, ("search", 'grep {"pattern":"x"}')),
        ("Grep", {"pattern": "x", "path": ".", "limit": 3}, ("search", 'grep {"pattern":"x"}')),
        ("Grep", {"pattern": "x", "path": "/other"}, ("search", 'grep {"path":"/other","pattern":"x"}')),
        ("Bash", {"command": "make x"}, ("command", "make x")),
        ("Weave", {"pattern": "x"}, None),
    ],
)
def test_the_key_of_a_fetch(name: str, given: dict[str, Any], key: tuple[str, str] | None) -> None:
    found = _fetch_key(tool_call(name, given), "/repo")
    assert (found and (found[0], found[1].replace('": "', '":"').replace('", "', '","'))) == key


@pytest.mark.parametrize(
    ("command", "text", "waits"),
    [
        ("make x", "Process running with id 3", True),
        ("make x", "." * 280 + "still running", True),
        ("make x", "." * 288 + "still running", False),
        ("make x", "all are running", False),
        ("sleep 3", "ok", True),
        ("sleeps 3", "ok", False),
    ],
)
def test_calls_that_wait(command: str, text: str, waits: bool) -> None:
    assert _waits(tool_call("Bash", {"command": command}, text)) is waits


def test_files_that_a_call_shows_and_may_be_the_same() -> None:
    assert viewed(tool_call("Read", {"file_path": "/repo/a.py"}), "/repo") == ["a.py"]
    assert viewed(tool_call("Bash", {"command": "cat a.py b.py a.py"}), "/repo") == ["a.py", "b.py"]
    assert viewed(tool_call("Bash", {"command": "make x"}), "/repo") == []
    pairs = (("a.py", "a.py"), ("x/a.py", "a.py"), ("a.py", "x/a.py"), ("xa.py", "a.py"), ("a.py", "xa.py"))
    assert [_may_be_same(*pair) for pair in pairs] == [True, True, True, False, False]


def test_tools_that_start_an_agent_and_commands_that_change_things() -> None:
    names = ("Task", "Agent", "spawn_agent", "run_subagent", "TaskOutput", "Read")
    assert [_starts_agent(name) for name in names] == [True, True, True, True, False, False]
    lines = ("ls", "pytest -q", "ls && git status", "ls && rm a", "rm a", "git push")
    assert [_may_change(line) for line in lines] == [False, False, False, True, True, True]


def test_a_request_to_revert_counts_only_between_the_edits() -> None:
    asked = user("Please revert that.")
    assert kinds(asked, edit("a.py", OLD, NEW), CUT, edit("a.py", NEW, OLD), asked) == [("undone", "a.py")]
