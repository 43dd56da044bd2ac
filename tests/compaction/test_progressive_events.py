"""Key events with why they are ones, and the type of a task with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench.compaction.progressive.key_events import events_of
from workbench.compaction.progressive.task_type import TaskCutoffs, evidence_of, task_type
from workbench.conformance.building import agent, call, context_of, result, user
from workbench.formats.files import load
from workbench.session import Message


def steps(*calls: tuple[str, dict[str, Any]], failed: Sequence[int] = ()) -> list[Message]:
    out: list[Message] = []
    for n, (name, given) in enumerate(calls):
        answer = "error: boom" if n in failed else "ok"
        out += [agent(f"a{n}", "", call(f"c{n}", name, **given)), result(f"r{n}", (f"c{n}", answer), error=n in failed)]
    return out


def why(messages: Sequence[Message]) -> dict[str, str]:
    return {
        messages[index].id: reason for index, reason in sorted(events_of(context_of(messages).layout.shape).items())
    }


def test_why_each_event_is_one() -> None:
    test = ("Bash", {"command": "pytest -q"})
    found = why([
        user("u", "Fix it. Never touch main."),
        *steps(
            ("Read", {"file_path": "a.py"}),
            test,
            ("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}),
            test,
            ("Bash", {"command": "git commit -am done"}),
            ("TodoWrite", {"todos": [{"content": "fix", "status": "completed"}]}),
            ("TodoWrite", {"todos": [{"content": "fix", "status": "completed"}]}),
            failed=[1],
        ),
        agent("z", "It works."),
        user("ok", "ok, thanks!"),
        user("v", "What about b.py?"),
    ])  # fmt: skip
    assert found == {
        "u": "standing instruction: Never touch main.",
        "r1": "error, fixed later: error: boom",
        "a2": "changed something: modified a.py",
        "a3": "error fixed: error: boom",
        "a4": "changed something: ran git commit -am done",
        "a5": "task finished: fix",
        "z": "task finished: the answer after 1 changes",
        "v": "the user's instruction",
    }


def test_an_error_that_is_never_fixed_and_a_refused_call_are_no_events() -> None:
    edit = ("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"})
    assert why(steps(("Bash", {"command": "pytest"}), edit, failed=[0, 1])) == {}


def test_a_task_list_that_is_written_item_by_item() -> None:
    created = [agent("n", "", call("c", "TaskCreate", subject="parse")), result("nr", ("c", "Task #1 created"))]
    done = [agent("d", "", call("e", "TaskUpdate", taskId="1", status="completed")), result("dr", ("e", "ok"))]
    assert why([*created, *done]) == {"d": "task finished: parse"}


EDIT = ("Edit", {"file_path": "a", "old_string": "a", "new_string": "b"})
READ = ("Read", {"file_path": "a"})
GREP = ("Bash", {"command": "cd /p && rg foo | head"})
TEST = ("Bash", {"command": "make test"})
OTHER = ("Bash", {"command": "sleep 3"})


@pytest.mark.parametrize(
    ("calls", "kind"),
    [
        ([EDIT, READ, READ, READ, READ], "code"),
        ([EDIT, *[READ] * 5], "mixed"),
        ([TEST, READ, READ], "analysis"),
        ([TEST, TEST, READ], "code"),
        ([READ, GREP, OTHER], "analysis"),
        ([OTHER, OTHER], "unknown"),
        ([READ, OTHER, OTHER], "mixed"),
    ],
)
def test_the_type_of_a_task(calls: list[tuple[str, dict[str, Any]]], kind: str) -> None:
    layout = context_of([user("u", "go"), *steps(*calls), agent("z", "done")]).layout
    assert task_type(layout.shape, TaskCutoffs()).kind == kind


def test_short_messages_and_hardly_a_tool_are_a_conversation() -> None:
    short = [m for n in range(4) for m in (user(f"u{n}", "hello"), agent(f"a{n}", "hi"))]
    assert task_type(context_of(short).layout.shape, TaskCutoffs()).kind == "conversation"
    assert task_type(context_of([*short, *steps(READ, READ)]).layout.shape, TaskCutoffs()).kind == "conversation"
    assert task_type(context_of([*short, *steps(*[READ] * 3)]).layout.shape, TaskCutoffs()).kind == "analysis"
    long = [m for n in range(4) for m in (user(f"u{n}", "hello " * 201), agent(f"a{n}", "hi"))]
    assert task_type(context_of(long).layout.shape, TaskCutoffs(conversation_mean_chars=604)).kind == "conversation"
    assert task_type(context_of(long).layout.shape, TaskCutoffs()).kind == "unknown"
    assert task_type(context_of([]).layout.shape, TaskCutoffs()).kind == "unknown"


def test_the_evidence_stands_beside_the_verdict_and_the_user_may_overrule_it() -> None:
    layout = context_of([user("u", "go"), *steps(EDIT, READ, GREP, TEST, OTHER), agent("z", "done")]).layout
    seen = evidence_of(layout.shape)
    assert (seen.rounds, seen.edits, seen.checks, seen.lookups, seen.other, seen.calls) == (1, 1, 1, 2, 1, 5)
    found = task_type(layout.shape, TaskCutoffs())
    assert str(found).startswith("task type code: 50% of 4 calls edit, build or test; 1 edits and writes, 1 builds")
    overruled = task_type(layout.shape, TaskCutoffs(), "analysis")
    assert (overruled.kind, overruled.overruled, overruled.evidence) == ("analysis", "code", seen)
    assert "the user's word; found: code" in str(overruled)
    assert task_type(layout.shape, TaskCutoffs(code_share=0.6)).kind == "mixed"


def test_a_real_coding_session_is_code(shared: Path) -> None:
    session = load(shared / "sessions" / "claude-code" / "spotter-fa812bfe.jsonl")
    found = task_type(context_of(session.context(1)).layout.shape, TaskCutoffs())
    assert (found.kind, found.evidence.edits, found.evidence.checks) == ("code", 58, 20)
