"""The action table, agent by agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.facts.talk import agent, call, result, user
from workbench.facts import actions_of, calls_in
from workbench.session import ToolUse

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

TABLE: list[tuple[str, str, Any, list[tuple[str, str]]]] = [
    ("claude", "Read", {"file_path": "/a/b.py", "limit": 5}, [("viewed", "/a/b.py")]),
    ("claude", "Write", {"file_path": "/a/b.py", "content": ""}, [("created", "/a/b.py")]),
    ("claude", "Edit", {"file_path": "/a/b.py", "old_string": "x", "new_string": "y"}, [("modified", "/a/b.py")]),
    ("claude", "Edit", {"file_path": "/a/b.py", "old_string": "", "new_string": "y"}, [("created", "/a/b.py")]),
    ("claude", "MultiEdit", {"file_path": "/a/b.py", "edits": [{"old_string": "x"}]}, [("modified", "/a/b.py")]),
    ("claude", "NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": ""}, [("modified", "/n.ipynb")]),
    ("copilot", "edit", {"path": "a", "old_str": ""}, [("created", "a")]),
    ("opencode", "edit", {"filePath": "a", "oldString": ""}, [("created", "a")]),
    ("augment", "str-replace-editor", {"command": "view", "path": "a", "type": "directory"}, []),
    ("goose", "text_editor", {"command": " Delete ", "path": "a"}, [("deleted", "a")]),
    ("goose", "text_editor", {"command": "diff", "path": "a"}, []),
    ("codex", "shell", {"command": ["applypatch", PATCH]}, PATCHED),
    ("codex", "exec_command", {"cmd": f"applypatch <<'EOF'\n{PATCH}\nEOF\n\n ls "}, [*PATCHED, ("command", "ls")]),
    ("codex", "exec_command", {"cmd": "cat '*** Begin Patch'"}, [("command", "cat '*** Begin Patch'")]),
    ("codex", "exec_command", {"cmd": "apply_patch '*** Begin Patch'"}, [("command", "apply_patch '*** Begin Patch'")]),
    ("codex", "shell", {"command": ["apply_patch"]}, [("command", "apply_patch")]),
    ("codex", "shell", {"command": ["bash", "x.sh"]}, [("command", "bash x.sh")]),
    ("codex", "shell", {"command": ["bash", "x.sh", "y"]}, [("command", "bash x.sh y")]),
    ("codex", "shell", {"command": ["python", "-c", "1"]}, [("command", "python -c 1")]),
    ("codex", "shell", {"command": ["C:\\bin\\CMD.exe", "/c", "dir"]}, [("command", "dir")]),
    ("roo", "read_file", {"args": [{"file": {"path": " a "}}, 3, ""]}, [("viewed", "a")]),
    ("claude", "Read", {"file_path": " ", "path": "b"}, [("viewed", "b")]),
    ("claude", "Read", {"file_path": "a", "path": "b"}, [("viewed", "a")]),
    ("claude", "Bash", {"command": "ls -la ", "description": "List"}, [("command", "ls -la")]),
    ("claude", "Glob", {"pattern": "**/*.py", "path": "/a"}, []),
    ("claude", "Grep", {"pattern": "x", "path": "/a/b.py"}, []),
    ("claude", "LS", {"path": "/a"}, []),
    ("claude", "TodoWrite", {"todos": []}, []),
    ("claude", "mcp__linear__list_issues", {"query": "x"}, []),
    ("claude", "mcp__fs__read_file", {"path": "x.md"}, [("viewed", "x.md")]),
    ("augment", "view", {"path": "src/a.ts", "type": "file"}, [("viewed", "src/a.ts")]),
    ("augment", "view", {"path": "src", "type": "directory"}, []),
    ("augment", "save-file", {"path": "src/a.ts", "file_content": ""}, [("created", "src/a.ts")]),
    ("augment", "save-file", {"file_path": "src/a.ts"}, [("created", "src/a.ts")]),
    ("augment", "str-replace-editor", {"command": "str_replace", "path": "a"}, [("modified", "a")]),
    ("augment", "str-replace-editor", {"command": "insert", "path": "a"}, [("modified", "a")]),
    ("augment", "str-replace-editor", {"command": "view", "path": "a"}, [("viewed", "a")]),
    ("augment", "str-replace-editor", {"path": "a", "old_str_1": "x"}, [("modified", "a")]),
    ("augment", "remove-files", {"file_paths": ["a", "b"]}, [("deleted", "a"), ("deleted", "b")]),
    ("augment", "launch-process", {"command": "npm test", "wait": True}, [("command", "npm test")]),
    ("codex", "apply_patch", {"input": PATCH}, PATCHED),
    ("codex", "apply_patch", PATCH, PATCHED),
    ("codex", "shell", {"command": ["apply_patch", PATCH]}, PATCHED),
    ("codex", "shell", {"command": ["bash", "-lc", HEREDOC]}, PATCHED),
    ("codex", "exec_command", {"cmd": f"{HEREDOC}\nls"}, [*PATCHED, ("command", "ls")]),
    ("codex", "apply_patch", {"input": MOVED}, [("deleted", "a"), ("created", "b")]),
    ("codex", "shell", {"command": ["bash", "-lc", "ls | wc"], "workdir": "."}, [("command", "ls | wc")]),
    ("codex", "shell", {"command": ["git", "commit", "-m", "a b"]}, [("command", "git commit -m 'a b'")]),
    ("codex", "shell", {"command": ["powershell.exe", "-Command", "dir"]}, [("command", "dir")]),
    ("codex", "exec_command", {"cmd": "cargo test"}, [("command", "cargo test")]),
    ("codex", "local_shell", {"action": {"type": "exec", "command": ["bash", "-c", "x"]}}, [("command", "x")]),
    ("codex", "update_plan", {"plan": []}, []),
    ("gemini", "read_file", {"absolute_path": "/x.py"}, [("viewed", "/x.py")]),
    ("gemini", "read_many_files", {"paths": ["a", "b"]}, [("viewed", "a"), ("viewed", "b")]),
    ("gemini", "write_file", {"file_path": "/x.py", "content": ""}, [("created", "/x.py")]),
    ("gemini", "replace", {"file_path": "/x.py", "old_string": "a"}, [("modified", "/x.py")]),
    ("gemini", "run_shell_command", {"command": "ls"}, [("command", "ls")]),
    ("gemini", "list_directory", {"path": "/"}, []),
    ("cline", "read_file", {"path": "a.ts"}, [("viewed", "a.ts")]),
    ("roo", "read_file", {"args": {"file": [{"path": "a"}, {"path": "b"}]}}, [("viewed", "a"), ("viewed", "b")]),
    ("roo", "read_file", {"files": [{"path": "a.ts"}]}, [("viewed", "a.ts")]),
    ("cline", "write_to_file", {"path": "a.ts", "content": ""}, [("created", "a.ts")]),
    ("roo", "apply_diff", {"path": "a.ts", "diff": "x"}, [("modified", "a.ts")]),
    ("cline", "replace_in_file", {"path": "a.ts", "diff": "x"}, [("modified", "a.ts")]),
    ("roo", "insert_content", {"path": "a.ts", "line": "0"}, [("modified", "a.ts")]),
    ("roo", "search_and_replace", {"path": "a.ts"}, [("modified", "a.ts")]),
    ("cline", "execute_command", {"command": "npm i"}, [("command", "npm i")]),
    ("cline sdk", "read_files", {"files": [{"path": "/a.tsx", "start_line": 4}]}, [("viewed", "/a.tsx")]),
    ("cline sdk", "editor", {"path": "/a.tsx", "old_text": "x", "new_text": "y"}, [("modified", "/a.tsx")]),
    ("cline sdk", "run_commands", {"commands": ["ls", "pwd"]}, [("command", "ls"), ("command", "pwd")]),
    ("openhands", "execute_bash", {"command": "ls"}, [("command", "ls")]),
    ("openhands", "execute_bash", {"command": "y", "is_input": "true"}, []),
    ("openhands", "run", {"command": "ls", "is_input": False}, [("command", "ls")]),
    ("openhands", "terminal", {"command": "ls"}, [("command", "ls")]),
    ("openhands", "str_replace_editor", {"command": "create", "path": "/w/a"}, [("created", "/w/a")]),
    ("openhands", "file_editor", {"command": "undo_edit", "path": "/w/a"}, [("modified", "/w/a")]),
    ("openhands", "file_editor", {"command": "view", "path": "/w/a"}, [("viewed", "/w/a")]),
    ("openhands", "read", {"path": "/w/a"}, [("viewed", "/w/a")]),
    ("openhands", "write", {"path": "/w/a"}, [("created", "/w/a")]),
    ("openhands", "edit", {"path": "/w/a", "content": ""}, [("modified", "/w/a")]),
    ("swe-agent", "open", {"path": "setup.py"}, [("viewed", "setup.py")]),
    ("swe-agent", "create", {"filename": "r.py"}, [("created", "r.py")]),
    ("swe-agent", "edit", {"search": "a", "replace": "b"}, []),
    ("swe-agent", "str_replace_editor", {"command": "str_replace", "path": "a"}, [("modified", "a")]),
    ("swe-agent", "bash", {"command": "ls -F"}, [("command", "ls -F")]),
    ("opencode", "read", {"filePath": "/a"}, [("viewed", "/a")]),
    ("opencode", "write", {"filePath": "/a"}, [("created", "/a")]),
    ("opencode", "edit", {"filePath": "/a", "oldString": "x"}, [("modified", "/a")]),
    ("opencode", "patch", {"patchText": PATCH}, PATCHED),
    ("opencode", "bash", {"command": "ls"}, [("command", "ls")]),
    ("goose", "developer__shell", {"command": "ls"}, [("command", "ls")]),
    ("goose", "shell", {"command": "ls"}, [("command", "ls")]),
    ("goose", "developer__text_editor", {"command": "write", "path": "/a"}, [("created", "/a")]),
    ("goose", "developer__text_editor", {"command": "view", "path": "/a"}, [("viewed", "/a")]),
    ("goose", "text_editor", {"command": "str_replace", "path": "/a"}, [("modified", "/a")]),
    ("pi", "read", {"path": "a.go"}, [("viewed", "a.go")]),
    ("pi", "write", {"path": "a.go"}, [("created", "a.go")]),
    ("pi", "edit", {"path": "a.go", "edits": [{"oldText": "x"}]}, [("modified", "a.go")]),
    ("pi", "bash", {"command": "go test"}, [("command", "go test")]),
    ("copilot", "view", {"path": "C:\\x\\a.go"}, [("viewed", "C:\\x\\a.go")]),
    ("copilot", "create", {"path": "C:\\x\\a.go", "file_text": ""}, [("created", "C:\\x\\a.go")]),
    ("copilot", "edit", {"path": "C:\\x\\a.go", "old_str": "x"}, [("modified", "C:\\x\\a.go")]),
    ("copilot", "str_replace", {"path": "a.go"}, [("modified", "a.go")]),
    ("copilot", "powershell", {"command": "git status"}, [("command", "git status")]),
]  # fmt: skip


IDS = [f"{row[0]}-{row[1]}-{number}" for number, row in enumerate(TABLE)]


@pytest.mark.parametrize(("who", "name", "given_input", "expected"), TABLE, ids=IDS)
def test_every_agents_tools(who: str, name: str, given_input: Any, expected: list[tuple[str, str]]) -> None:
    assert [(a.kind, a.target) for a in actions_of(ToolUse("1", name, given_input))] == expected


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
