"""Task continuity: each kind of break is found at its border, and nothing is reported where a doubt is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import cwb, document
from tests.facts.talk import agent, call, ran, result, user
from workbench.analysis.continuity import continuity
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.bench import open_bench
from workbench.bench.assessment import assess_recorded
from workbench.formats.files import load
from workbench.session import Compaction, Epoch, Message, Records, Session, Text
from workbench.tokens import Counter
from workbench.tui.retention.facts import summary_line

FIRST = "Scan every parcel twice and write the ledger of invoices."
NEWEST = "Translate the warehouse manual to Portuguese before the audit."


def todo(*items: tuple[str, str]) -> tuple[Message, Message]:
    """A call that writes the task list, and its result."""
    used = call("TodoWrite", {"todos": [{"content": text, "status": status} for text, status in items]})
    return agent("", used), result(used, "Todos have been modified.")


def started(command: str, id: str) -> tuple[Message, Message]:
    used = call("Bash", {"command": command, "run_in_background": True})
    return agent("", used), result(used, f"Command running in background with ID: {id}.")


def found(context: tuple[Message, ...], summary: str, *, kept: int = 0) -> list[str]:
    """Names of the breaks in a recorded compaction that left the summary and the last `kept` messages."""
    message = Message("s", "user", (Text(summary),), "summary")
    members = range(len(context))
    left = (len(context), *members[len(context) - kept :])
    epochs = (Epoch(1, members, Compaction("auto", summary="s")), Epoch(2, left))
    session = Session("claude-code", None, (*context, message), Records(b""), epochs=epochs)
    one = assess_recorded(open_bench(session, Counter(None), epoch=1))
    assert one is not None
    assert one.outcome == recorded_outcome(session, 1)
    assert one.continuity == continuity(one.context.shape, one.outcome, one.retention)
    return [finding.name for finding in one.continuity]


OPEN = (user(FIRST), agent("The ledger is written."), user(NEWEST), *ran("cat manual.md", "Chapter 1"))
GOOD = f"The user asked: {FIRST} Done.\nThen: {NEWEST}\n## Next Steps\n- Translate the warehouse manual to Portuguese"


def test_a_good_summary_raises_no_alarm() -> None:
    assert found(OPEN, GOOD) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("translate the warehouse manual to Portuguese", []),  # in part
        ("A Portuguese version of the manual is wanted", []),  # other words, in one line
        ("A Portuguese version of a text is wanted", ["request_lost"]),
    ],
)
def test_the_newest_request_is_lost_unless_a_line_may_say_it(said: str, expected: list[str]) -> None:
    assert found(OPEN, f"{FIRST} Done.\n## Next Steps\n- {said}") == expected


def test_the_newest_request_may_be_kept_as_a_message() -> None:
    assert found(OPEN, "Ledger written.\n## Next Steps\n- Go on.", kept=3) == []


def test_an_agreement_stands_for_an_unanswered_request_only() -> None:
    summary = "Parcels.\n## Next Steps\n- Go on with it."
    assert found((user(NEWEST), *ran("ls", "a"), user("yes, go on"), *ran("ls", "b")), summary) == ["request_lost"]
    proposed = (user(NEWEST), agent("Done. Shall I print it?"), user("yes, go on"), *ran("ls", "b"))
    assert found(proposed, summary) == []


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("## Pending\n- none", ["no_next_step"]),
        ("## Pending\n- none\n## Current Work\nChapter 1 was read.", []),
        ("All of it was read.", ["no_next_step"]),
        ("All of it was read, chapter 2 not yet.", []),
        ("Pending: none", ["no_next_step"]),
        ("Next: chapter 2.", []),
        ("Next: no explicit next step.", ["no_next_step"]),
        ("Next: no remark may be left out.", []),
    ],
)
def test_an_unanswered_request_needs_a_next_step(ending: str, expected: list[str]) -> None:
    text = f"Request: {NEWEST}\n{ending}"
    assert found(OPEN, text) == expected
    assert found((*OPEN, agent("The manual is translated.")), text) == []
    assert found(OPEN, text, kept=1) == []


def test_an_answered_request_is_no_open_task() -> None:
    both = f"Requests: {FIRST} {NEWEST}\n## Next Steps\n"
    assert found(OPEN, f"{both}- {FIRST}") == ["stale_request"]
    assert found(OPEN, f"{both}- {FIRST}\n- {NEWEST}") == []
    assert found(OPEN, f"{both}- Count the parcels of May.") == []
    assert found(OPEN, f"{both}- {FIRST}", kept=3) == []
    assert found(OPEN, f"{both}- {FIRST}\n- A Portuguese version of the manual") == []
    unanswered = (user(FIRST), *ran("ls", "a"), *OPEN[2:])
    assert found(unanswered, f"{both}- {FIRST}") == []


TASK = "Write chapter three about forklifts"


@pytest.mark.parametrize(
    ("item", "status", "expected"),
    [
        (TASK, "completed", ["finished_task"]),
        (f"**{TASK}**: all of it", "completed", ["finished_task"]),
        (TASK, "in_progress", []),
        (f"{TASK} ✅", "completed", []),
        (f"Check again: {TASK}", "completed", []),
        ("Print the cover after chapter three about forklifts", "completed", []),
    ],
)
def test_a_completed_item_is_no_open_task(item: str, status: str, expected: list[str]) -> None:
    context = (*OPEN, *todo((TASK, status), ("Bind the book", "pending")))
    assert found(context, f"{GOOD}\n- Bind the book\n- {item}") == expected


def test_a_task_that_the_newest_request_asks_again_is_open() -> None:
    context = (user(FIRST), *todo((TASK, "completed")), user("Chapter three about forklifts is wrong, correct it."))
    summary = f"{FIRST} Chapter three about forklifts is wrong, correct it.\n## Next Steps\n- {TASK}"
    assert found(context, summary) == []


def test_a_list_that_stays_shows_what_is_completed() -> None:
    context = (*OPEN, *todo((TASK, "completed"), ("Bind the book", "pending")))
    assert found(context, f"{GOOD}\n- Bind the book\n- {TASK}", kept=2) == []
    assert found(context, f"{GOOD}\n- Bind the book\n- {TASK}", kept=1) == ["finished_task"]


def test_a_test_is_open_again_after_a_change() -> None:
    tested = (*OPEN, *todo(("Run the tests of the parcel ledger", "completed")))
    edit = call("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"})
    item = f"{GOOD}\n- Run the tests of the parcel ledger"
    assert found(tested, item) == ["finished_task"]
    assert found((*tested, agent("", edit), result(edit, "The file has been updated.")), item) == []


def test_a_running_task_must_be_named() -> None:
    context = (*OPEN, *started("npm run storybook", "b7f3d2"))
    assert found(context, GOOD) == ["background_lost"]
    assert found(context, f"{GOOD}\nShell b7f3d2 serves the stories.") == []
    assert found(context, f"{GOOD}\n`npm run storybook` serves the stories.") == []
    assert found(context, f"{GOOD}\nThe stories are still running.") == []
    assert found(context, GOOD, kept=2) == []


def test_open_items_of_the_newest_request_must_be_named() -> None:
    context = (*OPEN, *todo(("Bind the book in leather", "pending"), ("Read chapter one", "completed")))
    assert found(context, GOOD) == ["open_item_lost"]
    assert found(context, f"{GOOD}\n- Bind book") == []
    assert found(context, GOOD, kept=2) == []
    older = (*OPEN[:2], *todo(("Bind the book in leather", "pending")), *OPEN[2:])
    assert found(older, GOOD) == []


def test_commands_show_the_breaks_of_a_recorded_compaction(shared: Path, tmp_path: Path) -> None:
    file = shared / "cases" / "23-pi-orphan-result.jsonl"
    sentence = "the user's newest request is not in the result: “Write the cheese diary for May. Dates stay ISO.”"
    assert f"\ncontinuity: {sentence}\n" in cwb("retention", file, "--recorded", "--epoch", 1).output
    (one,) = document("retention", file, "--recorded", "--epoch", 1)["recorded_compactions"]
    assert [(found["kind"], found["text"]) for found in one["continuity"]] == [("request_lost", sentence)]
    check = f'[[check]]\nname = "a"\nsessions = ["{file}"]\npresets = ["recorded"]\nepoch = 1\ncontinuity = true\n'
    (tmp_path / "cwb-check.toml").write_text(check, "utf-8")
    run = cwb("check", tmp_path / "cwb-check.toml")
    assert run.exit_code == 3
    assert f"  continuity: {sentence}\n" in run.output


def test_the_kept_screen_says_it(shared: Path) -> None:
    session = load(shared / "cases" / "23-pi-orphan-result.jsonl")
    one = assess_recorded(open_bench(session, Counter(None), epoch=1))
    assert one is not None
    assert summary_line(one).endswith(f" · {one.continuity[0].text}")


def test_real_recorded_summaries_raise_no_alarm(shared: Path) -> None:
    judged = 0
    for folder, name in (
        ("sessions", "*-3compactions.jsonl"),
        ("sessions", "sbridge-13dddd4*"),
        ("sessions-more", "pack*"),
    ):
        for path in sorted((shared / folder).rglob(name)):
            session = load(path)
            for epoch in session.epochs[:-1]:
                one = assess_recorded(open_bench(session, Counter(None), epoch=epoch.number))
                if one is not None and not one.is_unreadable:
                    judged += 1
                    assert one.continuity == (), (path, epoch.number)
    assert judged >= 6
