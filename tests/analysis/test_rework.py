"""Rework after recorded compactions of invented sessions: what counts and what does not."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from tests.analysis.courses import counter_of, session_of
from workbench.analysis.course import Course, course_of
from workbench.analysis.rework import Rework, repeated_statements, rework, rework_report
from workbench.facts.standing import rules_in_text
from workbench.session import Block, Compaction, Epoch, Message, Text, ToolResult, ToolUse

CUT = "the agent compacts here"
FILE = "\n".join(f"rows[{n}] = weave(loom_{n})" for n in range(10))
Part = list[Message] | str


def read(path: str, result: str = FILE) -> Part:
    return called("Read", {"file_path": path}, result)


def shell(command: str, result: str) -> Part:
    return called("Bash", {"command": command}, result)


def edit(path: str, old: str, new: str) -> Part:
    return called("Edit", {"file_path": path, "old_string": old, "new_string": new}, "The file has been updated.")


def called(name: str, given: dict[str, Any], result: str) -> Part:
    return [_message("assistant", ToolUse("", name, given)), _message("tool", ToolResult("", (Text(result),)))]


def user(text: str) -> Part:
    return [_message("user", Text(text))]


def answer(text: str) -> Part:
    return [_message("assistant", Text(text))]


def _message(role: Any, *blocks: Block) -> Message:
    return Message("", role, blocks)


def reworked(*parts: Part, kept: Iterable[int] = ()) -> tuple[Rework, ...]:
    """Of a session in which each `CUT` is a compaction that leaves a summary; of the first epoch the messages `kept`
    stay, too. Messages are m0, m1, …, summaries s1, s2, …"""
    messages: list[Message] = []
    epochs: list[Epoch] = []
    members: list[int] = []
    ids = itertools.count()
    for part in parts:
        if isinstance(part, str):
            summary = f"s{len(epochs) + 1}"
            epochs.append(Epoch(len(epochs) + 1, members, Compaction(summary=summary)))
            members = [*(kept if len(epochs) == 1 else ()), len(messages)]
            messages.append(Message(summary, "user", (Text("So far: the loom."),), "summary"))
            continue
        for message in part:
            blocks = tuple(
                replace(block, id=f"c{len(messages)}")
                if isinstance(block, ToolUse)
                else replace(block, call_id=f"c{len(messages) - 1}")
                if isinstance(block, ToolResult)
                else block
                for block in message.blocks
            )
            members.append(len(messages))
            messages.append(replace(message, id=f"m{next(ids)}", blocks=blocks))
    epochs.append(Epoch(len(epochs) + 1, members))
    return rework(course_in(messages, epochs))


def course_in(messages: list[Message], epochs: list[Epoch]) -> Course:
    session = replace(session_of(messages), epochs=tuple(epochs), cwd="/repo")
    return course_of(session, counter_of(session))


def items(*parts: Part, kept: Iterable[int] = ()) -> list[tuple[str, str, str, str]]:
    """Every item as kind, what, before, after."""
    return [
        (item.kind, item.what, item.before, item.after) for one in reworked(*parts, kept=kept) for item in one.items
    ]


START = user("Mend the loom.")
AGAIN = ("file", "a.py", "m1", "m3")


def test_a_file_read_again_unchanged_names_both_places() -> None:
    assert items(START, read("/repo/a.py"), CUT, read("/repo/a.py")) == [AGAIN]
    assert items(START, read("/repo/a.py"), CUT, shell("cat a.py", FILE)) == [AGAIN]
    assert items(START, shell("cat a.py", FILE), CUT, read("/repo/a.py")) == [AGAIN]


def test_no_rework_without_a_compaction_or_for_kept_messages() -> None:
    assert items(START, read("/repo/a.py"), read("/repo/a.py"), CUT) == []
    assert items(START, read("/repo/a.py"), CUT, read("/repo/a.py"), kept=(1, 2)) == []
    restored = [Message("", "user", (Text(f"Read before:\n{FILE}"),), "meta")]
    assert items(START, read("/repo/a.py"), CUT, restored, read("/repo/a.py")) == []


def test_only_the_first_time_is_rework_until_it_is_lost_again() -> None:
    twice = (START, read("/repo/a.py"), CUT, read("/repo/a.py"), read("/repo/a.py"))
    assert items(*twice) == [AGAIN]
    assert items(*twice, CUT, read("/repo/a.py")) == [AGAIN, ("file", "a.py", "m5", "m7")]


def test_a_repeated_fetch_belongs_to_the_compaction_that_removed_it() -> None:
    first, second = reworked(START, read("/repo/a.py"), CUT, answer("On."), user("Go."), CUT, read("/repo/a.py"))
    assert [item.after for item in first.items] == ["m5"]
    assert second.items == ()


@pytest.mark.parametrize(
    "between",
    [
        edit("/repo/a.py", "x = 1", "x = 2"),
        edit("/elsewhere/repo/a.py", "x = 1", "x = 2"),
        shell("sed -i s/1/2/ a.py", ""),
        called("Write", {"file_path": "a.py", "content": FILE}, "written"),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_reading_again_after_an_edit_is_no_rework(between: Part, after: bool) -> None:
    parts = [CUT, between] if after else [between, CUT]
    assert items(START, read("/repo/a.py"), *parts, read("/repo/a.py")) == []


def test_how_much_must_have_been_shown_before() -> None:
    """Of ten lines eight are enough, seven are not."""
    lines = FILE.split("\n")
    for held, found in ((8, [AGAIN]), (7, [])):
        part = called("Read", {"file_path": "/repo/a.py", "limit": held}, "\n".join(lines[:held]))
        assert items(START, part, CUT, read("/repo/a.py")) == found


def test_a_file_that_says_something_else_to_the_same_question_was_changed() -> None:
    other = FILE.replace("loom_9", "loom_10")
    assert items(START, read("a.py"), CUT, read("a.py", other)) == []
    again = called("Read", {"file_path": "a.py", "limit": 9}, FILE.rsplit("\n", 1)[0])
    assert [one[1] for one in items(START, read("a.py"), CUT, read("a.py", other), again)] == []
    assert [one[1] for one in items(START, read("a.py"), CUT, again)] == ["a.py"]


def test_a_subagent_may_have_changed_what_its_task_names() -> None:
    sent = called("Task", {"prompt": "Add a warp to a.py."}, "Done.")
    assert items(START, read("src/a.py"), sent, CUT, read("src/a.py")) == []
    assert len(items(START, read("src/b.py"), sent, CUT, read("src/b.py"))) == 1


def test_line_numbers_make_no_difference() -> None:
    numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(FILE.split("\n"), 1))
    assert items(START, read("/repo/a.py", numbered), CUT, read("/repo/a.py")) == [AGAIN]


def test_a_command_with_the_same_result() -> None:
    status = shell("git status --short", " M loom.py\n M reed.py")
    found = [("command", "git status --short", "m1", "m3")]
    assert items(START, status, CUT, status) == found
    assert items(START, status, CUT, shell("cd /repo && git status --short 2>&1", " M loom.py\n M reed.py")) == found
    assert items(START, status, CUT, shell("git status --short", " M loom.py\n M heddle.py")) == []
    assert items(START, status, CUT, shell("git status", " M loom.py\n M reed.py")) == []


def test_a_test_run_counts_only_where_nothing_changed() -> None:
    def tests(seconds: str) -> Part:
        return shell("pytest -q", f"12 passed in {seconds}s")

    assert items(START, tests("1.02"), CUT, tests("0.98")) == [("command", "pytest -q", "m1", "m3")]
    assert items(START, tests("1.02"), CUT, edit("b.py", "x", "y"), tests("0.98")) == []
    assert items(START, tests("1.02"), shell("git merge main", "Fast-forward"), CUT, tests("0.98")) == []
    assert items(START, tests("1.02"), shell("git log -1; ruff check", "abc mend"), CUT, tests("0.98")) == [
        ("command", "pytest -q", "m1", "m5")
    ]


HELP = "usage: loom weave [options]\n" + "\n".join(f"  --warp-{n}  so many threads" for n in range(12))
MEND = edit("b.py", "x", "y")


@pytest.mark.parametrize(
    ("first", "again", "result", "count"),
    [
        ("loom weave --help", "loom weave --help", HELP, 1),
        ("loom weave --help | sed -n '1,220p'", "loom weave --help 2>&1 | head -40", HELP, 1),
        ("loom --version", "loom --version", "loom 1.2.3", 1),
        ("bun src/cli.ts weave --help", "bun src/cli.ts weave --help", HELP, 0),
        ("git diff main", "git diff main", HELP, 1),
        ("git status --short", "git status --short", " M loom.py", 0),
        ("make all", "make all", HELP, 0),
    ],
)
def test_fetches_not_affected_by_a_change(first: str, again: str, result: str, count: int) -> None:
    """Behind a change a command tells anew how things stand: not what a tool of the machine says of itself, nor much
    that is only looked at, which is as it was."""
    assert len(items(START, shell(first, result), MEND, CUT, shell(again, result))) == count


@pytest.mark.parametrize(("times", "again"), [(28, 1), (29, 0)])
def test_limits_of_output_are_at_the_end_of_a_line(times: int, again: int) -> None:
    """A line of thousands of such ends would be gone through for each of them."""
    again_said = shell("loom weave" + " | head" * times, HELP)
    assert len(items(START, shell("loom weave", HELP), CUT, again_said)) == again


def test_one_line_more_is_another_result() -> None:
    many = "\n".join(f" M loom_{n}.py" for n in range(10))
    one, other = shell("git status", many), shell("git status", f"{many}\n M reed.py")
    assert items(START, one, CUT, other) == items(START, other, CUT, one) == []


def test_waiting_and_silence_fetch_nothing() -> None:
    for command, result in (("sleep 5; cat log", "not ready"), ("mkdir out", "")):
        assert items(START, shell(command, result), CUT, shell(command, result)) == []
    running = shell("make all", "Process running with session ID 7\nbuilding everything")
    assert items(START, running, CUT, running) == []


def test_a_search_with_the_same_result() -> None:
    def grep(result: str) -> Part:
        return called("Grep", {"pattern": "weave"}, result)

    found = [("search", 'grep {"pattern":"weave"}', "m1", "m3")]
    assert items(START, grep("loom.py:4: weave()"), CUT, grep("loom.py:4: weave()")) == found
    assert items(START, grep("loom.py:4: weave()"), CUT, grep("loom.py:4: weave()\nreed.py:1: weave")) == []
    other, named = edit("reed.py", "x", "y"), edit("/repo/loom.py", "x", "y")
    assert len(items(START, grep("loom.py:4: weave()"), other, CUT, grep("loom.py:4: weave()"))) == 1
    assert items(START, grep("loom.py:4: weave()"), named, CUT, grep("loom.py:4: weave()")) == []


@pytest.mark.parametrize(
    ("folder", "again"), [("/repo", 1), ("/repo/", 1), (".", 1), ("./", 1), ("", 1), ("/repo/reeds", 0), ("/", 0)]
)
def test_a_search_that_names_no_folder_looks_through_the_sessions_own(folder: str, again: int) -> None:
    """An agent gave the pattern alone first, and behind the compaction with its folder."""
    bare = called("Glob", {"pattern": "**/*.css"}, "assets/loom.css\nassets/reed.css")
    there = called("Glob", {"pattern": "**/*.css", "path": folder, "-n": True}, "assets/loom.css\nassets/reed.css")
    assert len(items(START, bare, CUT, there)) == len(items(START, there, CUT, bare)) == again


def test_the_number_of_results_is_no_part_of_a_search() -> None:
    ten = called("Grep", {"pattern": "weave", "head_limit": 10}, "loom.py:4: weave()")
    shown = called("Grep", {"pattern": "weave"}, "loom.py:4: weave()\n\n[Showing results with pagination = limit: 10]")
    assert len(items(START, ten, CUT, shown)) == len(items(START, shown, CUT, ten)) == 1


@pytest.mark.parametrize(("tool", "again"), [("TaskGet", 1), ("mcp__hub__get_issue", 1), ("get_job_status", 0)])
def test_getting_an_item_by_number_is_a_search(tool: str, again: int) -> None:
    """A state is asked for to know how it is now."""
    task = called(tool, {"id": 18}, "Task 18: warp the loom.\nIt waits for task 16.")
    assert len(items(START, task, CUT, task)) == again


def test_a_file_is_the_same_by_whichever_path_and_in_whichever_commit() -> None:
    """A shell may stand in another folder than the session's."""
    there = shell("cd /repo/web && cat a.py", FILE)
    assert [one[1] for one in items(START, there, CUT, shell("cat a.py", FILE))] == ["a.py"]
    assert items(START, there, CUT, shell("cat b/a.py", FILE)) == []
    assert items(START, shell("git show main:a.py", FILE), CUT, read("/repo/a.py")) == [AGAIN]
    assert items(START, shell("git -C /repo show main:src/a.py", FILE), CUT, read("/repo/a.py")) == []
    assert items(START, shell("git show main", FILE), CUT, read("/repo/main")) == []


OLD, NEW = "threads = warp(loom, 12)\n", "threads = warp(loom, 16, tension=3)\n"


def test_an_edit_that_undoes_an_earlier_one() -> None:
    found = [("undone", "a.py", "m1", "m3")]
    assert items(START, edit("/repo/a.py", OLD, NEW), CUT, edit("a.py", NEW, OLD)) == found
    assert items(START, edit("a.py", OLD, NEW), CUT, shell("git checkout a.py", "Updated 1 path")) == found
    assert items(START, edit("a.py", OLD, NEW), CUT, edit("b.py", NEW, OLD)) == []
    assert items(START, edit("a.py", OLD, NEW), CUT, edit("a.py", NEW, "threads = None\n")) == []
    assert items(START, edit("a.py", "x = 1", "x = 2"), CUT, edit("a.py", "x = 2", "x = 1")) == [], "too small to tell"
    assert items(START, CUT, edit("a.py", OLD, NEW), edit("a.py", NEW, OLD)) == [], "no compaction between"
    between = edit("a.py", "reed = threads(3, 4, 5)\n", "reed = threads(6, 7, 8)\n")
    assert [one[0] for one in items(START, edit("a.py", OLD, NEW), CUT, between, edit("a.py", NEW, OLD))] == ["undone"]


def test_restoring_a_committed_file_undoes_nothing() -> None:
    back = shell("git checkout -- a.py", "")
    assert [one[0] for one in items(START, edit("a.py", OLD, NEW), CUT, back)] == ["undone"]
    assert items(START, edit("a.py", OLD, NEW), shell("git add a.py b.py", ""), CUT, back) == []
    assert len(items(START, shell("git add a.py", ""), edit("a.py", OLD, NEW), CUT, back)) == 1


def test_lines_moved_to_another_file_are_not_undone() -> None:
    """Nor is a list of imports that follows it."""
    new = "def reed():\n    return threads(12)\n"
    first, out = edit("a.py", OLD, OLD + new), edit("a.py", OLD + new, OLD)
    moved = called("Write", {"file_path": "b.py", "content": f"import loom\n\n{new}"}, "The file has been written.")
    assert [one[0] for one in items(START, first, CUT, out)] == ["undone"]
    assert items(START, first, CUT, moved, out) == items(START, first, CUT, out, moved) == []
    assert [one[0] for one in items(START, moved, first, CUT, out)] == ["undone"]
    asked = user("Now b.py needs a reed as well.")
    assert [one[0] for one in items(START, first, CUT, out, asked, moved)] == ["undone"], "nobody knew of it by then"
    assert [one[0] for one in items(START, first, CUT, out, first)] == ["undone"], "made again in the same file"
    go, python = '\t"example.com/loom/warp/reed"\n', "from workshop.looms import reed_of_the_loom\n"
    for line in (go, python):
        assert items(START, edit("a.py", OLD, OLD + line), CUT, edit("a.py", OLD + line, OLD)) == []


def test_undoing_at_the_users_request_is_no_rework() -> None:
    assert items(START, edit("a.py", OLD, NEW), CUT, user("Please revert that."), edit("a.py", NEW, OLD)) == []


def test_an_edit_made_again() -> None:
    found = [("redone", "a.py", "m1", "m3")]
    assert items(START, edit("a.py", OLD, NEW), CUT, edit("a.py", OLD, NEW)) == found
    elsewhere = edit("a.py", f"def reed():\n    {OLD}", f"def reed():\n    {NEW}")
    assert items(START, edit("a.py", f"def loom():\n    {OLD}", f"def loom():\n    {NEW}"), CUT, elsewhere) == []
    patch = f"*** Begin Patch\n*** Update File: a.py\n@@\n-{OLD}+{NEW}*** End Patch"
    undo = f"*** Begin Patch\n*** Update File: a.py\n@@\n-{NEW}+{OLD}*** End Patch"
    first = called("apply_patch", {"input": patch}, "Success")
    assert items(START, first, CUT, called("apply_patch", {"input": patch}, "Success")) == found
    assert items(START, first, CUT, called("apply_patch", {"input": undo}, "Success"))[0][0] == "undone"


def test_an_edit_that_git_lost_is_made_again_for_that() -> None:
    first, again = edit("a.py", OLD, NEW), edit("a.py", OLD, NEW)
    assert [one[0] for one in items(START, first, CUT, shell("git stash && make lint; git stash pop", ""), again)] == [
        "redone"
    ]
    for lost in ("git stash drop", "git stash clear", "git reset --hard"):
        assert "redone" not in [one[0] for one in items(START, first, CUT, shell(lost, ""), again)], lost


RULE = "Never touch the generated patterns in the vendor folder."


def test_an_instruction_given_again() -> None:
    again = "Never touch generated patterns in the vendor folder!"
    assert items(user(RULE), answer("Yes."), CUT, user(again)) == [("said", again, "m0", "m2")]
    assert items(user(RULE), answer("Yes."), CUT, user("Never push to the main branch without asking.")) == []
    assert items(user(RULE), answer("Yes."), user(again), CUT, user("Go on.")) == []
    between = (user(RULE), answer("Yes."), user(again))
    assert items(START, CUT, *between, CUT, user("Go on.")) == [], "nothing was taken between them"


def test_how_alike_an_instruction_must_be() -> None:
    """Of the ten words in either, seven must be in both."""
    trees = ["alder", "birch", "cedar", "elder", "hazel", "maple", "poplar", "willow"]
    first = user(f"Never plant {', '.join(trees)}.")
    for shared, found in ((5, 1), (4, 0)):
        assert len(items(first, answer("Yes."), CUT, user(f"Never plant {', '.join(trees[:shared])}."))) == found


def test_frequent_repetition_is_a_habit() -> None:
    assert items(user(RULE), answer("Yes."), user(RULE), answer("Yes."), CUT, user(RULE)) == []


@pytest.mark.parametrize(("others", "found"), [(2, True), (3, False)])
def test_f11_a_message_is_compared_with_the_newest_ones(
    others: int, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long session each with each would take minutes."""
    monkeypatch.setattr(repeated_statements, "COMPARED", 3)
    between = [part for number in range(others) for part in (user(f"Weave {number} of them."), answer("Yes."))]
    last = f"m{2 + len(between)}"
    assert items(user(RULE), answer("Yes."), *between, CUT, user(RULE)) == [("said", RULE, "m0", last)] * found
    asked = "Which colour should the border threads of the scarf have?"
    other = [(answer(f"Which of the {n} looms should weave tomorrow's sample?"), user("All.")) for n in range(others)]
    asks = [part for both in other for part in both]
    again = [one[:2] for one in items(START, answer(asked), user("Blue."), *asks, CUT, answer(asked), user("Blue!"))]
    assert again == [("question", asked)] * found


def test_the_user_reminds_the_agent() -> None:
    first = user("The loom needs sixteen threads on the left side.")
    reminds = "I already told you the loom needs sixteen threads."
    assert items(first, answer("Yes."), CUT, user(reminds)) == [("said", reminds, "m0", "m2")]
    assert items(first, answer("Yes."), CUT, user("I already told you about the colour.")) == [], "says nothing we find"
    others = (user("And which threads are red?"), answer("Those."), user("Dye ten threads."), answer("Yes."))
    beside = "What about the threads? Is it as I told you before?"
    found = [("said", "Is it as I told you before?", "m4", "m6")]
    assert items(first, answer("Yes."), *others, CUT, user(beside)) == found, "the newest that says anything of it"
    for asks in ("What about the threads? Have you already tested it?", "The threads? What had I asked you before?"):
        assert items(first, answer("Yes."), CUT, user(asks)) == []


def test_a_question_asked_again() -> None:
    def asks(question: str) -> Part:
        return called("AskUserQuestion", {"questions": [{"question": question}]}, "Blue")

    found = [("question", "Which colour should the border threads of the scarf have?", "m1", "m3")]
    question = found[0][1]
    assert items(START, asks(question), CUT, asks(question)) == found
    assert items(START, asks(question), CUT, asks("Which machine should weave the second sample tomorrow?")) == []
    assert items(START, answer(question), user("Blue."), CUT, answer(question), user("Blue!")) == [
        ("question", question, "m1", "m3")
    ]


def test_calls_until_the_first_new_step() -> None:
    look = (read("/repo/a.py"), shell("git status", "clean tree"), called("Grep", {"pattern": "x"}, "b.py:1: x"))
    (one,) = reworked(START, read("/repo/a.py"), CUT, *look, edit("a.py", OLD, NEW))
    assert (one.calls, one.resumed.calls, one.resumed.message) == (4, 3, "m9")
    other_part = read("/repo/a.py", "of another part")
    (one,) = reworked(START, read("/repo/a.py"), CUT, other_part, edit("a.py", OLD, NEW))
    assert (one.resumed.calls, one.items) == (1, ())
    tests = shell("pytest -q", "12 passed")
    (one,) = reworked(START, tests, CUT, tests, edit("a.py", OLD, NEW))
    assert (one.resumed.calls, len(one.items)) == (1, 1)
    (one,) = reworked(START, read("/repo/a.py"), CUT, read("/repo/new.py"))
    assert (one.resumed.calls, one.resumed.tokens, one.resumed.message) == (0, 0, "m3")
    (one,) = reworked(START, read("/repo/a.py"), CUT, *look)
    assert (one.resumed.calls, one.resumed.message) == (3, "")
    (one,) = reworked(START, read("/repo/a.py"), CUT, look[0], answer("It is done."))
    assert (one.resumed.calls, one.resumed.message) == (1, "m5")


def test_the_report_in_one_sentence() -> None:
    found = reworked(START, read("/repo/a.py"), CUT, read("/repo/a.py"), edit("a.py", OLD, NEW))
    assert rework_report(found) == (
        f"After 1 recorded compaction: 1 file read again, {found[0].tokens} tokens of rework; "
        "the next new step came after 1 call."
    )


def test_instructions_are_looked_for_only_where_one_may_come_again() -> None:
    """Finding them is dear: not in what comes behind the last compaction and has few words of an earlier one."""
    said = [RULE, "Weave on.", "Weave the other loom of the mill as well, please.", RULE]
    messages = [Message(f"m{n}", "user", (Text(words),)) for n, words in enumerate(said)]
    messages.insert(2, Message("s1", "user", (Text("So far: the loom."),), "summary"))
    course = course_in(messages, [Epoch(1, [0, 1], Compaction(summary="s1")), Epoch(2, [2, 3, 4])])
    asked: list[str] = []

    def rules_in(words: str) -> list[tuple[str, str]]:
        asked.append(words)
        return [*rules_in_text(words)]

    (found,) = rework(course, rules_in)
    assert asked == [RULE, "Weave on.", RULE]
    assert [(item.kind, item.before, item.after) for item in found.items] == [("said", "m0", "m3")]
