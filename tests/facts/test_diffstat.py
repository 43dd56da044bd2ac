"""Files and lines that a session's own edits and writes changed."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.conformance.building import agent, call, result
from workbench.facts.calls import calls_in
from workbench.facts.diffstat import FileChange, diffstat, diffstat_text, file_changes, text_replacements
from workbench.session import Message


def stat_of(*calls: tuple[str, dict[str, Any]], failed: tuple[int, ...] = ()) -> tuple[FileChange, ...]:
    messages: list[Message] = []
    for n, (name, given) in enumerate(calls):
        messages += [
            agent(f"a{n}", "", call(f"c{n}", name, **given)),
            result(f"r{n}", (f"c{n}", "x"), error=n in failed),
        ]
    return diffstat(change for _, change in file_changes(calls_in(messages)))


PATCH = """*** Begin Patch
*** Update File: a.py
@@
 same
-old
+new
+newer
*** Add File: b.py
+one
+two
*** Delete File: c.py
*** End Patch"""

MOVED = """*** Begin Patch
*** Update File: old.py
*** Move to: new.py
-one
-two
+three
*** Add File: b.py
+one
*** End Patch"""

SEARCH = "<<<<<<< SEARCH\nold\nsame\n=======\nnew\nsame\nmore\n>>>>>>> REPLACE"


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("Edit", {"file_path": "/a", "old_string": "one\ntwo", "new_string": "one\n2\n3"}, "/a +2 −1"),
        ("edit", {"filePath": "/a", "oldString": "x", "newString": ""}, "/a +0 −1"),
        (
            "MultiEdit",
            {
                "file_path": "/a",
                "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}],
            },
            "/a +2 −1",
        ),
        ("Write", {"file_path": "/a", "content": "1\n2\n3\n"}, "/a +3 −0"),
        ("save-file", {"path": "a", "file_content": "1\n2"}, "a +2 −0"),
        (
            "str-replace-editor",
            {
                "command": "str_replace",
                "path": "a",
                "old_str_1": "x",
                "new_str_1": "y\nz",
                "old_str_2": "q",
                "new_str_2": "q",
            },
            "a +2 −1",
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "insert", "path": "a", "insert_line": 3, "insert_text": "x\ny"},
            "a +2 −0",
        ),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "x"}, "a +1 −0"),
        ("replace_in_file", {"path": "a", "diff": SEARCH}, "a +2 −1"),
        ("apply_patch", {"input": PATCH}, "a.py +2 −1 b.py +2 −0 c.py +0 −0"),
        ("shell", {"command": ["apply_patch", PATCH]}, "a.py +2 −1 b.py +2 −0 c.py +0 −0"),
        ("apply_patch", {"input": MOVED}, "new.py +1 −2 b.py +1 −0"),
        ("shell", {"command": f"apply_patch <<E\n{PATCH}\n+E\n-x"}, "a.py +2 −1 b.py +2 −0 c.py +0 −0"),
        ("str_replace_editor", {"command": "view", "path": "a"}, ""),
        ("Read", {"file_path": "a"}, ""),
        ("Edit", {"file_path": "a", "old_string": 3}, "a +0 −0"),
    ],
)
def test_the_lines_of_one_call(name: str, given: dict[str, Any], expected: str) -> None:
    assert " ".join(map(str, stat_of((name, given)))) == expected


@pytest.mark.parametrize(
    ("name", "given", "replaced"),
    [
        ("Edit", {"file_path": "/p/./a", "old_string": "x", "new_string": "y"}, [("/p/a", "x", "y")]),
        ("Write", {"file_path": "a", "content": "1\n2\n"}, [("a", "", "1\n2\n")]),
        ("apply_patch", {"input": PATCH}, [("a.py", "same\nold", "same\nnew\nnewer"), ("b.py", "", "one\ntwo")]),
        ("Read", {"file_path": "a"}, []),
        ("delete_file", {"path": "a"}, []),
    ],
)
def test_the_texts_that_a_call_replaces(name: str, given: dict[str, Any], replaced: list[tuple[str, str, str]]) -> None:
    edit = call("c", name, **given)
    for failed in (False, True):
        messages = [agent("a", "", edit), result("r", ("c", "x"), error=failed)]
        found = [(one.path, one.old, one.new) for called in calls_in(messages) for one in text_replacements(called)]
        assert found == ([] if failed else replaced)


def test_calls_on_one_file_add_up_and_a_failed_one_changed_nothing() -> None:
    edit = ("Edit", {"file_path": "/p/./a", "old_string": "x", "new_string": "y"})
    assert stat_of(edit, edit, edit, failed=(1,)) == (FileChange("/p/a", 2, 2, 2),)


def test_a_write_over_a_known_file_counts_what_it_took_away() -> None:
    write = ("Write", {"file_path": "/a", "content": "1\n2\n3\n"})
    edit = ("Edit", {"file_path": "/a", "old_string": "2", "new_string": "two"})
    again = ("Write", {"file_path": "/a", "content": "1\nTWO\n3\n"})
    assert stat_of(write, again) == (FileChange("/a", 4, 1, 2),)
    assert stat_of(write, edit, write) == (FileChange("/a", 5, 2, 3),)
    assert stat_of(write, ("delete_file", {"path": "/a"})) == (FileChange("/a", 3, 3, 2),)


def test_long_texts_are_compared_as_bags_of_lines() -> None:
    old, new = ("\n".join(f"{side} {n}" for n in range(900)) for side in ("old", "new"))
    assert stat_of(("Edit", {"file_path": "/a", "old_string": f"{old}\nend", "new_string": f"{new}\nend"})) == (
        FileChange("/a", 900, 900),
    )


def test_in_words() -> None:
    assert diffstat_text(()) == "0 files, +0 −0 lines"
    assert diffstat_text((FileChange("a", 3, 1),)) == "1 file, +3 −1 lines"


def test_an_edit_of_a_written_file_replaces_the_first_place() -> None:
    stat = stat_of(
        ("Write", {"file_path": "/a", "content": "x\nx\nx"}),
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}),
        ("Write", {"file_path": "/a", "content": "y\nx\nx"}),
    )
    assert stat == (FileChange("/a", 4, 1, 3),)


def test_numbered_fragments_are_in_the_order_of_their_numbers() -> None:
    given: dict[str, Any] = {"command": "str_replace", "path": "/a"}
    given |= {
        "old_str_10": "c",
        "new_str_10": "d",
        "old_str_2": "a",
        "new_str_2": "b",
        "old_str_3": 7,
        "new_str_4": "e",
    }
    (called,) = calls_in([agent("a", "", call("c", "str_replace_editor", **given)), result("r", ("c", "x"))])
    assert [(one.old, one.new) for one in text_replacements(called)] == [("a", "b"), ("", ""), ("", "e"), ("c", "d")]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("", "", (0, 0)),
        ("a\nb\nc", "a\nb\nc", (0, 0)),
        ("a\nb\nc", "a\nx\nc", (1, 1)),
        ("a\nb", "a\nb\nc", (1, 0)),
        ("b\nc", "a\nb\nc", (1, 0)),
        ("a\na", "a", (0, 1)),
        ("a\nb\nc\nd", "b\nx\nd\ne", (2, 2)),
    ],
)
def test_how_many_lines_an_edit_changes(old: str, new: str, changed: tuple[int, int]) -> None:
    (one,) = stat_of(("Edit", {"file_path": "/a", "old_string": f"{old}\n-", "new_string": f"{new}\n-"}))
    assert (one.added, one.removed) == changed
