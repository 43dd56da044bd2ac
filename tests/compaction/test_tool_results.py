"""spec/strategies.md §3, Tool results; document 002, A3 and C1."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.compaction.layered.tool_results import Limits, ToolKind, compress, envelope, kind_of
from workbench.conformance.building import call
from workbench.session import Media, Text, ToolResult, ToolUse


def answer(text: str, *, error: bool = False) -> ToolResult:
    return ToolResult("c", (Text(text),), error)


def short(of: ToolUse | None, text: str, *, error: bool = False, limits: Limits | None = None) -> dict[str, Any]:
    """What is left of a result that the rule does shorten."""
    found = compress(of, answer(text, error=error), limits)
    assert len(found.text) < len(text), "the rule is expected to shorten this"
    loaded: dict[str, Any] = json.loads(found.text)
    return loaded


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (call("c", "LS", path="/a"), "ls"),
        (call("c", "list_directory", path="/a"), "ls"),
        (call("c", "Glob", pattern="*.py"), "glob"),
        (call("c", "search_file_content", pattern="x"), "grep"),
        (call("c", "Read", file_path="/a"), "read"),
        (call("c", "read_file", absolute_path="/a"), "read"),
        (call("c", "str_replace_editor", command="view", path="/a"), "read"),
        (call("c", "str_replace_editor", command="str_replace", path="/a"), "edit"),
        (call("c", "MultiEdit", file_path="/a", edits=[]), "edit"),
        (ToolUse("c", "apply_patch", "*** Begin Patch\n*** Update File: a.py\n*** End Patch"), "edit"),
        (call("c", "save-file", path="/a"), "write"),
        (call("c", "Write", file_path="/a", content=""), "write"),
        (call("c", "shell", command=["bash", "-lc", "ls"]), "bash"),
        (call("c", "run_shell_command", command="ls"), "bash"),
        (call("c", "update_plan", plan=[]), "todo"),
        (call("c", "mcp__linear__get_issue", issue="1"), "other"),
        (None, "other"),
    ],
)
def test_a_tool_takes_the_rule_of_its_kind(one: ToolUse | None, kind: ToolKind) -> None:
    assert kind_of(one) == kind


def test_of_an_envelope_status_data_and_error_stay_and_the_rest_goes() -> None:
    text = json.dumps(
        {
            "status": "partial",
            "data": {"paths": [f"src/{n}.py" for n in range(40)], "fallback": "python", "applied": True},
            "text": "Found 40 files " * 20,
            "stats": {"time_ms": 3},
            "context": {"cwd": ".", "params_input": {"pattern": "*.py"}},
        }
    )  # fmt: skip
    assert short(call("c", "Glob", pattern="*.py"), text) == {
        "status": "partial",
        "data": {
            "pattern": "*.py",
            "count": 40,
            "fallback": "python",
            "applied": True,
            "truncated": True,
            "paths": [f"src/{n}.py" for n in range(10)],
        },
    }


def test_an_error_keeps_its_code_and_message_whole() -> None:
    message = "cannot read: " + "x" * 5_000
    error = {"code": "NOT_FOUND", "message": message, "hint": "y" * 100}
    text = json.dumps({"status": "error", "data": {}, "error": error, "text": message, "stats": {}, "context": {}})
    assert short(call("c", "Read", file_path="a"), text) == {
        "status": "error",
        "data": {},
        "error": {"code": "NOT_FOUND", "message": message},
    }


@pytest.mark.parametrize("text", ['{"status": "open", "data": 1}', '{"status": "success", "id": 7}', '{"status": "su'])
def test_json_that_is_no_envelope_is_plain_text(text: str) -> None:
    assert envelope(answer(text)) == {"status": "success", "data": text}
    assert envelope(answer(text, error=True))["status"] == "error"


def test_ls_keeps_directory_counts_and_the_first_entries() -> None:
    text = (
        "- /srv/app/\n"
        + "\n".join(f"  - folder{n}/" for n in range(5))
        + "\n"
        + "\n".join(f"  - f{n}.py" for n in range(60))
    )
    data = short(call("c", "LS", path="/srv/app"), text)["data"]
    assert (data["directory"], data["directories"], data["files"]) == ("/srv/app", 6, 60)
    assert data["entries"][:2] == ["/srv/app/", "folder0/"]
    assert (len(data["entries"]), data["truncated"]) == (20, True)


def test_glob_keeps_pattern_count_and_the_first_paths() -> None:
    text = (
        "Found 30 files\n" + "\n".join(f"/srv/app/src/module_{n}.py" for n in range(30)) + "\n(Results are truncated.)"
    )
    data = short(call("c", "Glob", pattern="**/*.py"), text)["data"]
    assert (data["pattern"], data["count"], data["truncated"]) == ("**/*.py", 30, True)
    assert data["paths"] == [f"/srv/app/src/module_{n}.py" for n in range(10)]


def test_grep_keeps_a_summary_and_five_lines_with_file_and_number() -> None:
    many = "\n".join(f"src/a{n % 3}.py:{n}:    total = add(total, {n})" for n in range(1, 40))
    data = short(call("c", "Grep", pattern="add"), many)["data"]
    assert data["summary"] == "39 matching lines in 3 files"
    assert data["matches"][0] == "src/a1.py:1:    total = add(total, 1)"
    assert (len(data["matches"]), data["count"], data["truncated"]) == (5, 39, True)


def test_grep_in_one_file_names_it_and_a_list_of_files_is_a_list() -> None:
    one = short(call("c", "Grep", pattern="x", path="lib/a.ex"), "\n".join(f"{n}:  alias X{n}" for n in range(1, 90)))
    assert one["data"]["matches"][0] == "lib/a.ex:1:  alias X1"
    files = short(call("c", "Grep", pattern="x"), "Found 50 files\n" + "\n".join(f"lib/deep/{n}.ex" for n in range(50)))
    assert files["data"]["summary"] == "Found 50 files"
    assert files["data"]["matches"] == [f"lib/deep/{n}.ex" for n in range(5)]


def numbered(count: int) -> str:
    return "\n".join(f"{n:>6}→" + "x" * 30 for n in range(1, count + 1))


def test_read_keeps_500_numbered_lines() -> None:
    read = call("c", "Read", file_path="a.py")
    assert compress(read, answer(numbered(500))).text == numbered(500)
    data = short(read, numbered(900))["data"]
    lines = data["content"].split("\n")
    assert (len(lines), lines[-1][:7], data["lines"], data["truncated"]) == (500, "   500→", 900, True)
    narrow = short(read, "     1→" + "x" * 9_000)["data"]
    assert (len(narrow["content"]), narrow["truncated"]) == (2_000, True)


def test_lines_without_numbers_get_those_of_the_file() -> None:
    text = "\n".join(f"line {n}" for n in range(2_000))
    data = short(call("c", "read_file", path="a.py", offset=101), text)["data"]
    assert data["content"].startswith("   101→line 0\n   102→line 1\n")
    assert data["content"].endswith("   600→line 499")


def test_an_edit_keeps_file_range_and_fragment_and_of_a_large_diff_only_a_summary() -> None:
    snippet = "\n".join(f"{n:>6}→code {n}" for n in range(12, 32))
    said = (
        "The file src/a.py has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n"
    )
    edit = call("c", "Edit", file_path="src/a.py", old_string="a", new_string="b")
    stats = {"stats": {"time_ms": 9}, "context": {"params_input": {"old_string": "a" * 2_000}}, "text": "x" * 900}
    envelope_of = json.dumps({"status": "success", "data": {"applied": True, "diff_preview": "+a\n-b\n c"}, **stats})
    assert short(edit, envelope_of)["data"] == {"applied": True, "diff_preview": "+a\n-b\n c"}

    long_snippet = "\n".join(f"{n:>6}→code {n}" for n in range(12, 112))
    data = short(edit, said + long_snippet)["data"]
    assert (data["file"], data["range"], data["truncated"]) == ("src/a.py", "12-111", True)
    assert data["fragment"] == "(100 lines, left out)"
    assert compress(edit, answer(said + snippet)).text == said + snippet, "a small snippet is short already"

    diff = "@@ -3,40 +5,60 @@\n" + "\n".join(["+new line of code"] * 40 + ["-old line of code"] * 20)
    data = short(edit, "Edited src/a.py\n" + diff)["data"]
    assert (data["range"], data["fragment"]) == ("5-64", "(61 lines, +40 −20, left out)")


def test_a_write_keeps_file_operation_and_the_first_lines() -> None:
    body = "\n".join(f"{n:>6}→code {n}" for n in range(1, 121))
    write = call("c", "Write", file_path="src/new.py", content="…")
    data = short(write, "File created successfully at: src/new.py\n" + body)["data"]
    assert (data["file"], data["operation"], data["truncated"]) == ("src/new.py", "new", True)
    assert data["fragment"].split("\n")[-1].strip() == "20→code 20"
    data = short(write, "The file src/new.py has been updated. Here is a snippet:\n" + body)["data"]
    assert data["operation"] == "overwritten"


def test_bash_keeps_a_summary_of_stdout_and_the_last_20_lines_of_stderr() -> None:
    out = "\n".join(f"out {n}" for n in range(1, 201))
    bash = call("c", "Bash", command="make")
    data = short(bash, out)["data"]
    assert data["stdout"].split("\n") == ["out 1", "out 2", "out 3", "…", *(f"out {n}" for n in range(195, 201))]
    assert (data["stdout_lines"], data["truncated"]) == (200, True)

    failed = short(bash, "Exit code 2\n" + out, error=True)
    assert (failed["status"], failed["data"]["exit_code"]) == ("error", 2)
    assert failed["data"]["stderr"].split("\n") == [f"out {n}" for n in range(181, 201)]

    tagged = short(bash, f"<stdout>\nfine\n</stdout>\n<stderr>\n{out}\n</stderr>")["data"]
    assert tagged["stdout"] == "fine"
    assert len(tagged["stderr"].split("\n")) == 20

    gemini = f"Command: make\nDirectory: (root)\nOutput: {out}\nError: (none)\nExit Code: 0\nSignal: 0"
    data = short(call("c", "run_shell_command", command="make"), gemini)["data"]
    assert (data["exit_code"], data["stdout_lines"]) == (0, 200)


def test_todowrite_keeps_the_recap_only() -> None:
    todos = [
        {"content": "read the code", "status": "completed"},
        {"content": "write the test", "status": "in_progress"},
        {"content": "run it", "status": "pending"},
    ]
    text = (
        "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. "
        * 2
    )
    data = short(call("c", "TodoWrite", todos=todos), text)["data"]
    assert data == {"recap": "1 of 3 done; in progress: write the test; next: run it"}


def test_any_other_tool_gets_the_generic_cut_and_images_stay() -> None:
    data = short(call("c", "WebFetch", url="u"), "y" * 9_000)["data"]
    assert (len(data["excerpt"]), data["truncated"]) == (2_000, True)
    image = Media("image/png", 4_000)
    found = compress(None, ToolResult("c", (Text("y" * 9_000), image)))
    assert found.content[1] is image


def test_what_would_not_become_shorter_stays_as_it_is() -> None:
    for text in ("", "ok", "a short answer of some fifty characters, no more."):
        one = answer(text)
        assert compress(call("c", "Bash", command="x"), one) is one


_NAMES = ("LS", "Glob", "Grep", "Read", "Edit", "MultiEdit", "Write", "Bash", "TodoWrite", "WebFetch", "apply_patch")
_LINES = st.lists(
    st.sampled_from(
        ["src/a.py:12:x = 1", "    12→code", "- folder/", "@@ -1,9 +2,8 @@", "+new", "Exit code 1", "", "…"]
    )
    | st.text(max_size=80),
    max_size=80,
).map("\n".join)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40) | _LINES,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_DATA = _VALUES | st.dictionaries(
    st.sampled_from(["entries", "paths", "matches", "content", "stdout", "stderr", "diff_preview", "recap", "count"]),
    _VALUES | st.lists(_VALUES, max_size=40),
)  # fmt: skip
_ENVELOPES = st.fixed_dictionaries(
    {"status": st.sampled_from(["success", "partial", "error"]), "data": _DATA},
    optional={"error": _VALUES, "text": _LINES, "stats": _VALUES, "context": _VALUES},
).map(json.dumps)
_SMALL = st.builds(
    Limits, ls_entries=st.integers(0, 4), glob_paths=st.integers(0, 4), grep_lines=st.integers(0, 4),
    read_lines=st.integers(0, 9), fragment_lines=st.integers(0, 9), long_fragment_lines=st.integers(0, 9),
    stderr_lines=st.integers(0, 9), stdout_lines=st.integers(0, 9), other_chars=st.integers(1, 60),
    line_chars=st.integers(1, 60),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(_NAMES),
    st.dictionaries(st.sampled_from(["path", "pattern", "command", "todos", "offset", "file_path"]), _VALUES),
    _LINES | _ENVELOPES,
    st.booleans(),
    _SMALL | st.just(Limits()),
)
def test_it_never_raises_never_grows_and_twice_is_as_once(
    name: str, arguments: dict[str, Any], text: str, error: bool, limits: Limits
) -> None:
    one = ToolUse("c", name, arguments)
    once = compress(one, answer(text, error=error), limits)
    assert len(once.text) <= len(text)
    assert (once.call_id, once.is_error) == ("c", error)
    status = envelope(answer(text, error=error))["status"]
    assert envelope(once)["status"] == status
    assert compress(one, once, limits) == once
