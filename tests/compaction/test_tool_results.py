"""Tool results compressed as `layered` does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.compaction.assembled.tool_result_rules import RULES, CallFacts
from workbench.compaction.assembled.tool_results import COUNTED, ResultLimits, ToolKind, compress, kind_of
from workbench.conformance.building import call
from workbench.facts.envelope import envelope_is_partial, result_envelope
from workbench.session import Media, Text, ToolResult, ToolUse


def answer(text: str, *, error: bool = False) -> ToolResult:
    return ToolResult("c", (Text(text),), error)


def short(of: ToolUse | None, text: str, *, error: bool = False, limits: ResultLimits | None = None) -> dict[str, Any]:
    """Data of a result after a rule that shortens it."""
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


@pytest.mark.parametrize("text", ['{"status": "open", "data": 1}', '{"status": "success", "id": 7}', '{"status": "su'])
def test_json_that_is_no_envelope_is_plain_text(text: str) -> None:
    assert result_envelope(answer(text)) == {"status": "success", "data": text}
    assert result_envelope(answer(text, error=True))["status"] == "error"


@pytest.mark.parametrize(("depth", "is_read"), [(199, True), (200, False), (990, False), (1_010, False)])
def test_an_envelope_that_is_nested_too_deeply_is_plain_text(depth: int, is_read: bool) -> None:
    deep = answer('{"status": "success", "data": ' + '{"a":' * depth + "0" + "}" * (depth + 1))
    assert (result_envelope(deep)["data"] != deep.text) is is_read
    assert not envelope_is_partial(deep)


SMALL = ResultLimits(
    ls_entries=2, glob_paths=2, grep_lines=2, read_lines=2, fragment_lines=2, long_fragment_lines=1, stderr_lines=2,
    stdout_lines=3, other_chars=30, line_chars=12,
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "given_input", "data", "left"),
    [
        ("ls", {"path": "/w"}, "NOTE: x\n- a/\n│   ├── b.py\n\n* c",
         {"directory": "/w", "directories": 1, "files": 2, "entries": ["a/", "b.py"], "truncated": True}),
        ("ls", {}, {"entries": [{"type": "dir"}, {"type": "directory"}, {"type": "file"}, "d/"], "more": "0123456789"},
         {"directories": 3, "files": 1, "more": "0123456789", "entries": [{"type": "dir"}, {"type": "directory"}],
          "truncated": True}),
        ("ls", {}, {"other": 1}, {"other": 1}),
        ("ls", {}, "a\nb", {"directories": 0, "files": 2, "entries": ["a", "b"]}),
        ("glob", {"pattern": "*.py"}, "Found 3 files\na.py\nb.py\n\nc.py\n(Results are truncated)",
         {"pattern": "*.py", "count": 3, "paths": ["a.py", "b.py"], "truncated": True}),
        ("glob", {}, {"paths": ["a"], "count": 7}, {"count": 7, "paths": ["a"]}),
        ("glob", {}, [1], [1]),
        ("grep", {"path": "a.py"}, "3:x\n4:y\n5:z",
         {"count": 3, "summary": "3 matching lines in 1 file", "matches": ["a.py:3:x", "a.py:4:y"], "truncated": True}),
        ("grep", {}, "a.py:3:x\nb.py:4:y",
         {"count": 2, "summary": "2 matching lines in 2 files", "matches": ["a.py:3:x", "b.py:4:y"]}),
        ("grep", {}, "a.py\nb.py\nc.py",
         {"count": 3, "summary": "3 lines", "matches": ["a.py", "b.py"], "truncated": True}),
        ("grep", {}, "No matches found", {"count": 0, "summary": "No matches found", "matches": []}),
        ("grep", {}, {"matches": ["a", "a", "a"], "count": 3},
         {"count": 3, "summary": "3 matching lines", "matches": ["a", "a"], "truncated": True}),
        ("grep", {}, {"matches": [{"file": "a.py", "line": 3}, {"path": "b.py"}, "b.py:4:x"], "summary": "m"},
         {"count": 3, "summary": "m", "matches": [{"file": "a.py", "line": 3}, {"path": "b.py"}], "truncated": True}),
        ("read", {"offset": 7}, "x\ny\nz\n", {"lines": 3, "content": "     7→x\n     8→y", "truncated": True}),
        ("read", {"offset": True}, "x", {"content": "     1→x"}),
        ("read", {"offset": 0, "start_line": 4}, "x", {"content": "     4→x"}),
        ("read", {}, "    12→code\n    13→more", {"content": "    12→code\n    13→more"}),
        ("read", {}, "    12→code\nmore", {"content": "    12→code\nmore"}),
        ("read", {}, "0123456789ab", {"content": "     1→0123456789ab"}),
        ("read", {}, "0123456789abc", {"lines": 1, "content": "     1→012345…89abc", "truncated": True}),
        ("read", {}, {"content": 3}, {"content": 3}),
        ("edit", {}, "The file was updated.\n@@ -1,9 +2,3 @@\n+a",
         {"file": "/p/a.py", "summary": "The file was updated.", "range": "2-4", "truncated": True,
          "fragment": "@@ -1,…,3 @@\n+a"}),
        ("edit", {}, "ok\n@@ -1 +2 @@\n+++ b\n+a\n-c\n--- d",
         {"file": "/p/a.py", "summary": "ok", "range": "2-2", "truncated": True,
          "fragment": "(5 lines, +1 −1, left out)"}),
        ("edit", {}, "ok\n    7→x\n    8→y",
         {"file": "/p/a.py", "summary": "ok", "range": "7-8", "fragment": "    7→x\n    8→y"}),
        ("edit", {}, "ok", {"file": "/p/a.py", "summary": "ok"}),
        ("edit", {}, {"diff": "a\nb", "other": "0123456789"},
         {"file": "/p/a.py", "other": "0123456789", "diff": "a\nb"}),
        ("edit", {}, {"applied": True, "diff_preview": "@@ -1,9 +2,3 @@\n+a\n@@ -20 +30,0 @@\n-b"},
         {"file": "/p/a.py", "range": "2-30", "applied": True, "truncated": True,
          "diff_preview": "(4 lines, +1 −1, left out)"}),
        ("edit", {}, {"path": "b.py", "diff": f"{'9' * 5_000}→x"},
         {"path": "b.py", "diff": "999999…999→x", "truncated": True}),
        ("edit", {}, {"path": "b.py", "range": "1-2", "diff": "    7→x"},
         {"path": "b.py", "range": "1-2", "diff": "    7→x"}),
        ("write", {}, "Overwrote it\na\nb\nc",
         {"file": "/p/a.py", "operation": "overwritten", "summary": "Overwrote it", "truncated": True,
          "fragment": "a"}),
        ("write", {}, "A new file was created\nline",
         {"file": "/p/a.py", "operation": "new", "summary": "A new file was created", "fragment": "line"}),
        ("write", {}, "done", {"file": "/p/a.py", "summary": "done"}),
        ("bash", {}, "a\nb\nc\nd\ne", {"stdout": "…\nd\ne", "stdout_lines": 5, "truncated": True}),
        ("bash!", {}, "a\nb\nc\nd", {"stderr": "c\nd", "stderr_lines": 4, "truncated": True}),
        ("bash!", {}, "Exit code: 1\na\nb", {"exit_code": 1, "stderr": "a\nb"}),
        ("bash", {}, "<stdout>\na\n</stdout>\n<stderr>b</stderr>\nexit code: 2",
         {"exit_code": 2, "stdout": "a", "stderr": "b"}),
        ("bash", {}, "Command: ls\nDirectory: /\nStdout: a\nb\nStderr: (empty)\nExit Code: 0",
         {"exit_code": 0, "stdout": "a\nb"}),
        ("bash", {}, "Output: a\nError: b\nExit Code: 3\nSignal: (none)",
         {"exit_code": 3, "stdout": "a", "stderr": "b"}),
        ("bash", {}, {"stdout": " ", "stderr": "a\nb\nc", "stderr_lines": 9, "code": 1},
         {"stderr_lines": 9, "code": 1, "stderr": "b\nc", "truncated": True}),
        ("other", {}, {"a": "0123456789"}, {"a": "0123456789"}),
        ("other", {}, {"excerpt": "012345678", "truncated": True}, {"excerpt": "012345678", "truncated": True}),
    ],
)  # fmt: skip
def test_what_a_rule_leaves_of_a_result(kind: str, given_input: dict[str, Any], data: Any, left: Any) -> None:
    """With small limits; `!` marks a call that failed."""
    name = kind.removesuffix("!")
    path = {"file_path": "/p/a.py"} if name in ("edit", "write") else {}
    use = CallFacts(call("c", "Edit" if path else "X", **path, **given_input), given_input, kind != name, SMALL)
    assert RULES[name](use, data) == left  # type: ignore[index]


NAMES = {
    ("ls", "directory"): "path directory dir_path target_directory relative_workspace_path",
    ("glob", "pattern"): "pattern glob glob_pattern query",
    ("grep", "pattern"): "pattern query regex search_term",
}


@pytest.mark.parametrize(("kind", "told", "name"), [(*key, name) for key in NAMES for name in NAMES[key].split()])
def test_what_was_looked_for_is_told_whatever_a_tool_calls_it(kind: ToolKind, told: str, name: str) -> None:
    assert RULES[kind](CallFacts(None, {"other": "y", name: "x"}, False, SMALL), "3:a")[told] == "x"


@pytest.mark.parametrize("name", ["path", "file_path", "file"])
def test_a_search_in_one_file_names_it(name: str) -> None:
    found = RULES["grep"](CallFacts(None, {name: "a.py"}, False, SMALL), "Found 2 matches\n3::x\n--\n4:y")
    assert (found["summary"], found["matches"]) == ("Found 2 matches", ["a.py:3::x", "a.py:4:y"])


@pytest.mark.parametrize(
    ("said", "operation"),
    [
        ("It was Overwritten", "overwritten"),
        ("updated", "overwritten"),
        ("replaced", "overwritten"),
        ("Modified, created", "overwritten"),
        ("Created", "new"),
        ("a New File", "new"),
        ("x" * 398 + "created", ""),
        ("x" * 393 + "created", "new"),
    ],
)
def test_whether_a_file_is_new_is_read_off_what_the_tool_says(said: str, operation: str) -> None:
    use = CallFacts(call("c", "Write", file_path="/p/a.py"), {}, False, ResultLimits())
    assert RULES["write"](use, said).get("operation", "") == operation


@pytest.mark.parametrize(
    ("limit", "left"), [(0, ""), (1, "8"), (2, "7 8"), (3, "… 7 8"), (4, "1 … 7 8"), (7, "1 2 … 5 6 7 8")]
)
def test_of_long_output_the_end_stays_and_some_of_the_beginning(limit: int, left: str) -> None:
    use = CallFacts(None, {}, False, ResultLimits(stdout_lines=limit))
    kept = RULES["bash"](use, "1\n2\n3\n4\n5\n6\n7\n8")
    assert kept == {"stdout": left.replace(" ", "\n"), "stdout_lines": 8, "truncated": True}


@pytest.mark.parametrize(
    ("before", "after", "found"), [(286, 0, True), (287, 0, False), (900, 287, True), (900, 288, False)]
)
def test_an_exit_code_is_looked_for_at_both_ends(before: int, after: int, found: bool) -> None:
    """`\\nexit code: 34` has 14 characters, and 300 are read of each end."""
    text = "x" * before + "\nexit code: 34" + ("\n" + "y" * (after - 1) if after else "z" * 900 * (before < 300))
    assert ("exit_code" in RULES["bash"](CallFacts(None, {}, False, ResultLimits()), text)) is found


def test_the_limits_of_the_document_and_ours() -> None:
    assert list(ResultLimits().model_dump().values()) == [20, 10, 5, 500, 50, 20, 20, 10, 2_000, 2_000]


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
    ResultLimits, ls_entries=st.integers(0, 4), glob_paths=st.integers(0, 4), grep_lines=st.integers(0, 4),
    read_lines=st.integers(0, 9), fragment_lines=st.integers(0, 9), long_fragment_lines=st.integers(0, 9),
    stderr_lines=st.integers(0, 9), stdout_lines=st.integers(0, 9), other_chars=st.integers(1, 60),
    line_chars=st.integers(1, 60),
)  # fmt: skip


@given(
    st.sampled_from(_NAMES),
    st.dictionaries(st.sampled_from(["path", "pattern", "command", "todos", "offset", "file_path"]), _VALUES),
    _LINES | _ENVELOPES,
    st.booleans(),
    _SMALL | st.just(ResultLimits()),
)
@example("Read", {"file_path": "a.py"}, 'src/a.py:12:x = 1\n    12→code\n"', False, ResultLimits(line_chars=1))
@example("Edit", {"path": "a.py"}, "Updated.\n" + "-old\n+new\n" * 40, False, ResultLimits(fragment_lines=0))
@example("Edit", {"path": "a.py"}, "Updated.\n" + " kept\n" * 40, False, ResultLimits(fragment_lines=0))
def test_it_never_raises_grows_only_by_what_a_rule_asks_for_and_twice_is_as_once(
    name: str, arguments: dict[str, Any], text: str, error: bool, limits: ResultLimits
) -> None:
    one = ToolUse("c", name, arguments)
    once = compress(one, answer(text, error=error), limits)
    if len(once.text) > len(text):
        is_cut = kind_of(one) in COUNTED and '"truncated":true' in once.text
        assert is_cut or envelope_is_partial(answer(text, error=error))
    assert not envelope_is_partial(once)
    assert (once.call_id, once.is_error) == ("c", error)
    status = result_envelope(answer(text, error=error))["status"]
    assert result_envelope(once)["status"] == status
    assert compress(one, once, limits) == once
