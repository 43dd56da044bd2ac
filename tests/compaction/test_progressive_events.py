"""What is no key event, task lists that are written item by item, and the type of a real session's task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.documents.test_001_progressive import EDIT, steps
from workbench.compaction.progressive.key_events import events_of
from workbench.compaction.progressive.task_type import TaskCutoffs, task_type
from workbench.conformance.building import agent, call, context_of, result
from workbench.formats.files import load
from workbench.session import Message


def why(messages: Sequence[Message]) -> dict[str, str]:
    return {
        messages[index].id: reason for index, reason in sorted(events_of(context_of(messages).layout.shape).items())
    }


def test_an_error_that_is_never_fixed_and_a_refused_call_are_no_events() -> None:
    assert why(steps(("Bash", {"command": "pytest"}), EDIT, failed=[0, 1])) == {}


def test_a_task_list_that_is_written_item_by_item() -> None:
    created = [agent("n", "", call("c", "TaskCreate", subject="parse")), result("nr", ("c", "Task #1 created"))]
    done = [agent("d", "", call("e", "TaskUpdate", taskId="1", status="completed")), result("dr", ("e", "ok"))]
    assert why([*created, *done]) == {"d": "task finished: parse"}


def test_a_real_coding_session_is_code(shared: Path) -> None:
    session = load(shared / "sessions" / "claude-code" / "spotter-fa812bfe.jsonl")
    found = task_type(context_of(session.context(1)).layout.shape, TaskCutoffs())
    assert (found.kind, found.evidence.edits, found.evidence.checks) == ("code", 58, 20)
