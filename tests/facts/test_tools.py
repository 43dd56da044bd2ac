"""The action table, agent by agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.facts.talk import agent, call, result, user
from workbench.facts.calls import calls_in, last_line
from workbench.facts.tools import actions_of
from workbench.session import Message, ToolResult, ToolUse

PATCH = (
    "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: src/old name.py\n@@\n-a\n+b\n"
    "*** Delete File: gone.py\n*** Update File: a.py\n*** Move to: b.py\n@@\n-a\n+b\n*** End Patch"
)
MOVED = "*** Begin Patch\n*** Move File: a -> b\n*** End Patch"
HEREDOC = f"apply_patch <<'EOF'\n{PATCH}\nEOF"
PATCHED = [
    ("created", "new.py"),
    ("modified", "src/old name.py"),
    ("deleted", "gone.py"),
    ("deleted", "a.py"),
    ("created", "b.py"),
]

ROWS = Path(__file__).with_name("actions.jsonl").read_text("utf-8").splitlines()
"""Who has the tool, its name, what it was given, and what that does: each a line of JSON."""

TABLE: list[tuple[str, str, Any, list[Any]]] = [
    *map(json.loads, ROWS),
    ("codex", "shell", {"command": ["applypatch", PATCH]}, PATCHED),
    ("codex", "shell", {"command": ["applypatch", "x"]}, [("command", "applypatch\nx")]),
    ("codex", "shell", {"command": ["apply_patch", "x"]}, [("command", "apply_patch\nx")]),
    ("codex", "shell", {"command": ["ls", "apply_patch"]}, [("command", "ls apply_patch")]),
    ("codex", "shell", {"command": ["apply_patch"]}, [("command", "apply_patch")]),
    ("codex", "shell", {"command": ["bash", "-lc"]}, [("command", "bash -lc")]),
    ("codex", "shell", {"command": ["C:\\W\\CMD.EXE", "/c", "dir "]}, [("command", "dir")]),
    ("codex", "shell", {"command": ["ls", "-l", "a b"]}, [("command", "ls -l 'a b'")]),
    ("codex", "shell", {"action": {"command": ["ls", "a b"]}}, [("command", "ls 'a b'")]),
    ("codex", "shell", {"input": "ls"}, [("command", "ls")]),
    ("codex", "shell", "ls", [("command", "ls")]),
    ("codex", "shell", {"commands": ["ls ", ["pwd", "a"], 3]}, [("command", "ls"), ("command", "pwd a")]),
    ("openhands", "execute_bash", {"command": "ls", "is_input": "true"}, []),
    ("openhands", "execute_bash", {"command": "ls", "is_input": True}, []),
    ("openhands", "execute_bash", {"command": "ls", "is_input": "false"}, [("command", "ls")]),
    ("claude", "Bash", {"command": "# a\n  #b\nls # c"}, [("command", "ls # c")]),
    ("claude", "Bash", {"command": "#!/bin/sh\n"}, []),
    ("claude", "Bash", {"command": "ls\n# a"}, [("command", "ls\n# a")]),
    ("codex", "apply_patch", {"path": "a.py", "diff": "x"}, [("modified", "a.py")]),
    ("codex", "exec_command", {"cmd": f"applypatch <<'EOF'\n{PATCH}\nEOF\n\n ls "}, [*PATCHED, ("command", "ls")]),
    ("codex", "apply_patch", {"input": PATCH}, PATCHED),
    ("codex", "apply_patch", PATCH, PATCHED),
    ("codex", "shell", {"command": ["apply_patch", PATCH]}, PATCHED),
    ("codex", "shell", {"command": ["bash", "-lc", HEREDOC]}, PATCHED),
    ("codex", "exec_command", {"cmd": f"{HEREDOC}\nls"}, [*PATCHED, ("command", "ls")]),
    ("codex", "apply_patch", {"input": MOVED}, [("deleted", "a"), ("created", "b")]),
    ("codex", "apply_patch", {"input": "*** Move File: a"}, [("deleted", "a")]),
    ("codex", "apply_patch", {"input": "*** Add File: a\n*** Move to: b"}, [("created", "a")]),
    ("codex", "apply_patch", {"input": "*** Move to: b\n*** Update File: a"}, [("modified", "a")]),
    ("opencode", "patch", {"patchText": PATCH}, PATCHED),
]


IDS = [f"{row[0]}-{row[1]}-{number}" for number, row in enumerate(TABLE)]


@pytest.mark.parametrize(("who", "name", "given_input", "expected"), TABLE, ids=IDS)
def test_every_agents_tools(who: str, name: str, given_input: Any, expected: list[Any]) -> None:
    assert [[a.kind, a.target] for a in actions_of(ToolUse("1", name, given_input))] == [*map(list, expected)]


KEYS = ["command", "cmd", "path", "file_path", "files", "args", "input", "commands", "action", "old_string", "type"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(sorted({row[1] for row in TABLE})), json_values)
def test_odd_inputs_never_raise_and_targets_are_never_empty(name: str, odd: Any) -> None:
    assert all(action.target for action in actions_of(ToolUse("1", name, odd)))


def test_deeply_nested_input_does_not_recurse_away() -> None:
    nested: Any = "x"
    for _ in range(5000):
        nested = {"args": nested}
    assert actions_of(ToolUse("1", "read_file", nested)) == ()


def test_a_file_seen_before_is_modified_by_a_write() -> None:
    first, read, second, again = (
        call("Write", {"file_path": "/new"}),
        call("Read", {"file_path": "/old"}),
        call("Write", {"file_path": "/old"}),
        call("Write", {"file_path": "/new"}),
    )
    messages = [user("go"), agent("", first, read), result(first, "ok"), result(read, "text"), agent("", second, again)]
    assert [c.actions[0].kind for c in calls_in(messages)] == ["created", "viewed", "modified", "modified"]


def test_a_commit_makes_every_file_one_that_was_only_seen() -> None:
    calls = [
        call("Write", {"file_path": "a.py"}),
        call("Edit", {"file_path": "b.py", "old_string": "a", "new_string": "b"}),
        call("Bash", {"command": "git commit -am x"}),
        call("Write", {"file_path": "a.py"}),
        call("Bash", {"command": "git checkout ."}),
    ]
    messages = [message for one in calls for message in (agent("", one), result(one, "ok"))]
    kinds = [[(action.kind, action.target) for action in one.actions] for one in calls_in(messages)]
    assert kinds[3:] == [[("modified", "a.py")], [("reverted", "a.py"), ("command", "git checkout .")]]


def test_results_are_in_messages_of_tools_or_the_user() -> None:
    used = call("Bash", {"command": "ls"})
    for role, ok in (("tool", True), ("user", True), ("assistant", None), ("system", None)):
        answer = Message("r1", role, result(used, "a").blocks)  # type: ignore[arg-type]
        assert [one.ok for one in calls_in([agent("", used), answer])] == [ok]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (None, ""),
        ("", ""),
        ("a\nb", "b"),
        ("3 passed\nb", "3 passed"),
        ("3 passed" + "\nb" * 13, "3 passed"),
        ("3 passed" + "\nb" * 14, "b"),
        ("b\n---\nExit code 1\nOutput:", "b"),
        ("x" * 390 + " 3 passed\nb", "x" * 390 + " 3 passed"),
        ("x" * 392 + " 3 passed\nb", "b"),
        ("b\n" + "x" * 3_999, "x" * 3_999),
        ("3 passed\n" + "x" * 3_990, "3 passed"),
        ("3 passed\n" + "x" * 3_999, "x" * 3_999),
    ],
)
def test_the_line_that_reports_an_outcome(output: str | None, line: str) -> None:
    used = call("Bash", {"command": "ls"})
    (block,) = result(used, output or "").blocks
    assert isinstance(block, ToolResult)
    assert last_line(None if output is None else block) == line


def test_an_edit_that_failed_says_so_at_its_beginning() -> None:
    used = call("Edit", {"file_path": "a", "old_string": "a", "new_string": "b"})
    text = "patch verification failed"
    assert calls_in([agent("", used), result(used, text)])[0].ok is False
    assert calls_in([agent("", used), result(used, "It says " + text)])[0].ok is True
    read = call("Read", {"file_path": "a"})
    assert calls_in([agent("", read), result(read, text)])[0].ok is True


@pytest.mark.parametrize(
    ("started", "given", "known"),
    [
        ("Process running with session ID 9", {"session_id": 9}, True),
        ("Process running with session ID 9", {"session_id": "9"}, True),
        ("<shellId: b-1 is still running>", {"shellId": "b-1"}, True),
        ("Command running in background with ID: b_1", {"bash_id": "b_1"}, True),
        ("Command running in the background with id b_1", {"bash_id": "b_1"}, True),
        ("Command running in background with ID: b_1", {"bash_id": ["b_1"]}, False),
        ("x" * 1_990 + "\nProcess running with session ID 9", {"session_id": 9}, False),
    ],
)
def test_a_later_call_tells_how_a_background_command_ended(started: str, given: dict[str, Any], known: bool) -> None:
    first, later = call("Bash", {"command": "make test | tail"}), call("Poll", given)
    messages = [agent("", first), result(first, started), agent("", later), result(later, "Exit code 1")]
    assert calls_in(messages)[0].ok is (False if known else None)


def test_a_failed_read_does_not_make_a_file_known() -> None:
    read, write = call("Read", {"file_path": "/x"}), call("Write", {"file_path": "/x"})
    messages = [agent("", read), result(read, "File does not exist.", is_error=True), agent("", write)]
    assert [c.actions[0].kind for c in calls_in(messages)] == ["viewed", "created"]


def test_repeated_ids_are_paired_in_order() -> None:
    one, two = call("Bash", {"command": "a"}, "same"), call("Bash", {"command": "b"}, "same")
    messages = [agent("", one), result(one, "first"), agent("", two), result(two, "second", is_error=True)]
    assert [(c.result.text if c.result else None, c.ok) for c in calls_in(messages)] == [
        ("first", True),
        ("second", False),
    ]


@pytest.mark.parametrize(
    ("command", "output", "is_error", "ok"),
    [
        ("ls", "a\nb", False, True),
        ("ls x", "Exit code 2\nls: no x", True, False),
        ("x", '{"output":"boom","metadata":{"exit_code":1}}', False, False),
        ("x", "Process exited with code 0\nOutput:\nfine", False, True),
        ("x", "out\n[Command finished with exit code 3]", False, False),
        ("grep -rn code", "a.py:3: # exit code 1 means trouble", False, True),
        ("pytest | tail -3", "===\n2 failed, 3 passed in 0.1s", False, False),
        ("cat pytest.log", "2 failed, 3 passed", False, True),
        ("pytest | tail -3", "5 passed, 0 failed", False, True),
        ("sleep 9", "Command running in background with ID: b1", False, None),
        ("pytest -q", "Exit code: 0\nFAILED tests/a.py", False, True),
        ("pytest -q | tail -3", "Exit code: 0\nFAILED tests/a.py", False, False),
        ("pytest -q | tail -3", "Exit code: 0\n3 passed", False, True),
        ("pytest -q", "FAILED tests/a.py", False, False),
        ("pytest -q", "3 passed, 1 failed", False, False),
        ("cat log | tail -3", "FAILED tests/a.py", False, True),
        ("echo 'pytest' | tail", "FAILED tests/a.py", False, True),
        ("x", "Exit code: 1\n" + "y" * 600, False, False),
        ("x", "y" * 600 + "\nExit code: 1", False, False),
        ("x", "y" * 400 + "\nExit code: 1\n" + "y" * 400, False, True),
        ("x", "Exit code: 1\nExit code: 0", False, True),
    ],
)
def test_how_a_command_ended(command: str, output: str, is_error: bool, ok: bool | None) -> None:
    used = call("Bash", {"command": command})
    assert calls_in([agent("", used), result(used, output, is_error=is_error)])[0].ok is ok


@pytest.mark.parametrize(
    "line",
    [
        "--- FAIL: TestTide", "FAIL tide.go", "FAILED tests/tide.py", "E   assert 1 == 2", "error: no tide",
        "error[E0308]: no", "npm ERR! code 1", "npm error code 1", "panic: no tide", "Traceback (most recent call",
        " ELIFECYCLE  1", "ELIFECYCLE 1", "12 failed", "in all 3 failing", "found 1 error in 2 files", "found 2 errors",
        "a.ts(1,2): error TS2304: no", "Failed: 2",
    ],
)  # fmt: skip
def test_every_way_in_which_a_run_says_that_it_failed(line: str) -> None:
    """Before any of them is looked for, a part of it is: none may have no such part."""
    used = call("Bash", {"command": "pytest -q"})
    assert calls_in([agent("", used), result(used, f"3 passed\n{line}\nend of it")])[0].ok is False
    assert calls_in([agent("", used), result(used, "3 passed\nend of it")])[0].ok is True
