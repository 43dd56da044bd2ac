"""Background tasks: begun in the words of an agent, and ended by what the log tells."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.talk import agent, call, ran, result, user
from workbench.facts.calls import calls_in
from workbench.facts.tasks import changes_tasks, running_tasks, tasks_of
from workbench.session import Message, Text


def did(name: str, given: dict[str, Any], output: str) -> tuple[Message, Message]:
    used = call(name, given)
    return agent("", used), result(used, output)


SHELL = did("Bash", {"command": "npm run dev"}, "Command running in background with ID: b7f3d2. Output is written to x")


def running(*messages: Message) -> list[str]:
    return [f"{one.id} {one.text} {one.index}" for one in running_tasks(messages, calls_in(messages))]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (SHELL, "b7f3d2 npm run dev 0"),
        (did("exec_command", {"cmd": "make"}, "Chunk ID: 1\nProcess running with session ID 324"), "324 make 0"),
        (
            did(
                "task",
                {"description": "Review"},
                "Agent started in background with agent_id: car-1. You'll be notified",
            ),
            "car-1 Review 0",
        ),
        (
            did("Task", {"prompt": "Look"}, "Async agent launched successfully.\nagentId: a9fa\nThe agent works"),
            "a9fa Look 0",
        ),
        (did("bash", {"command": "seq"}, "1\n" * 5_000 + "<shellId: 3 is still running>"), "3 seq 0"),
        (did("powershell", {"command": "w.ps1"}, "1\n<command with shellId: 27 is still running>"), "27 w.ps1 0"),
    ],
)
def test_a_background_task_runs(messages: tuple[Message, ...], expected: str) -> None:
    assert running(*messages) == [expected]


@pytest.mark.parametrize(("before", "after", "runs"), [(1_900, 9_000, True), (2_100, 600, False), (2_100, 400, True)])
def test_a_task_is_announced_at_the_beginning_or_the_end_of_a_result(before: int, after: int, runs: bool) -> None:
    output = "1\n" * (before // 2) + "<shellId: 3 is still running>\n" + "1\n" * (after // 2)
    assert running(*did("bash", {"command": "seq"}, output)) == ["3 seq 0"] * runs


def test_a_finished_command_does_not_run() -> None:
    assert running(*ran("grep -n text a.py", 'a.py:3: "Command running in background with ID: b7f3d2"')) == []
    assert running(*ran("npm run dev", "The server was running in background, now it ended.")) == []


@pytest.mark.parametrize(
    ("later", "runs"),
    [
        (did("BashOutput", {"bash_id": "b7f3d2"}, "<status>running</status>"), True),
        (did("BashOutput", {"bash_id": "b7f3d2"}, "<status>completed</status>"), False),
        (did("BashOutput", {"bash_id": "b7f3d2", "shell": "b7f3d2"}, "<status>completed</status>"), False),
        (did("BashOutput", {"bash_id": "other"}, "<status>completed</status>"), True),
        (did("KillShell", {"shell_id": "b7f3d2"}, "still running processes: none"), False),
        (ran("pkill -f vite", ""), False),
        (ran("ls skills", ""), True),
        ((user("<task-notification> b7f3d2 completed </task-notification>", "meta"),), False),
        ((user("<task-notification> c completed </task-notification>", "meta"),), True),
        ((agent("b7f3d2 has finished, I think."),), True),
    ],
)
def test_a_task_ends_by_what_the_log_tells(later: tuple[Message, ...], runs: bool) -> None:
    assert bool(running(*SHELL, *later)) is runs


@pytest.mark.parametrize(("before", "runs"), [(1_971, True), (1_972, False)])
def test_where_a_result_is_searched_for_a_beginning(before: int, runs: bool) -> None:
    """At the beginning 2 000 characters; "<shellId: 3 is still running" has 28, and a line break comes first."""
    output = "1" * before + "\n<shellId: 3 is still running>" + "\n" + "1" * 600
    assert running(*did("bash", {"command": "seq"}, output)) == ["3 seq 0"] * runs


def test_a_beginning_is_not_joined_from_two_parts() -> None:
    begin = "1" * 1_990 + "\nshellId: "
    assert running(*did("bash", {"command": "seq"}, f"{begin}3 is still running" + "1" * 480)) == []


def test_a_task_does_not_end_by_the_message_that_began_it() -> None:
    assert running(*SHELL, user("notification: b7f3d2", kind="meta")) == []
    assert running(user("notification: b7f3d2", kind="meta"), *SHELL) == ["b7f3d2 npm run dev 1"]
    assert running(*SHELL, user("Notification: b7f3d2", kind="meta")) == ["b7f3d2 npm run dev 0"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [("TodoWrite", True), ("update_plan", True), ("TaskCreate", True), ("taskupdate", True), ("Read", False)],
)
def test_which_calls_change_tasks(name: str, changes: bool) -> None:
    assert changes_tasks(call(name, {})) is changes


@pytest.mark.parametrize(("before", "id"), [(190, "7"), (195, "")])
def test_the_number_of_a_task_is_at_the_beginning_of_its_result(before: int, id: str) -> None:
    made = did("TaskCreate", {"subject": "Oil"}, "x" * before + " Task #7")
    done = did("TaskUpdate", {"taskId": "7", "status": "completed"}, "ok")
    (task,) = tasks_of(calls_in([*made, *done]))
    assert task.status == ("completed" if id else "pending")


def test_an_update_without_a_number_updates_nothing() -> None:
    made = did("TaskCreate", {"subject": "Oil"}, "none")
    done = did("TaskUpdate", {"status": "completed"}, "ok")
    assert [(one.text, one.index) for one in tasks_of(calls_in([*made, *done]))] == [("Oil", 0)]


def test_a_task_that_has_no_result_or_no_text() -> None:
    used = call("TaskCreate", {"subject": " Oil  it "})
    assert [(one.text, one.status) for one in tasks_of(calls_in([agent("", used)]))] == [("Oil it", "pending")]
    listed = did("TodoWrite", {"todos": [{"content": "", "status": "pending"}, {"status": "pending"}, "x"]}, "ok")
    assert tasks_of(calls_in(listed)) == ()


def test_a_notice_of_the_system_ends_a_task() -> None:
    notice = Message("s1", "system", (Text("b7f3d2 finished"),))
    assert running(*SHELL, notice) == []
    assert running(*SHELL, Message("a1", "assistant", notice.blocks)) == ["b7f3d2 npm run dev 0"]
