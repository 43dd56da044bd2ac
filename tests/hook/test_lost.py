"""What a snapshot holds, and what a new context lacks of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.formats.claude_code_build import assistant, boundary, call, read, result, summary, text, user
from workbench.hook.lost import LostWork, lost_work, rule_file_texts
from workbench.hook.snapshot import Snapshot, take_snapshot

RULE = "Never push to main."
OTHER = "Always run the linter before a commit."


def _lines(*more: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        user("u1", None, f"Review the mill. {RULE} {OTHER}"),
        assistant("a1", "u1", "m1", text("Reviewed.")),
        *more,
    ]


def _snapshot(*more: dict[str, Any]) -> Snapshot:
    return take_snapshot(read(*_lines(*more)))


def test_a_rule_that_the_summary_has_not_is_lost() -> None:
    assert lost_work(_snapshot(), [f"The mill was reviewed.\n- {OTHER}"]).rules == (RULE,)


def test_a_rule_in_other_words_is_not_lost_and_a_contradicted_one_is() -> None:
    snapshot = take_snapshot(read(user("u1", None, "Never log the refresh token."), *_lines()[1:]))
    assert lost_work(snapshot, ["The refresh token must never be logged."]).rules == ()
    assert lost_work(snapshot, ["Log the refresh token."]).rules == ("Never log the refresh token.",)


def test_a_superseded_rule_is_not_in_force() -> None:
    later = user("u2", "a1", "From now on you may push to main.")
    lost = lost_work(_snapshot(later, assistant("a2", "u2", "m2", text("Good."))), ["Nothing."])
    assert RULE not in lost.rules
    assert OTHER in lost.rules


def test_the_rules_of_earlier_epochs_are_in_force() -> None:
    more = (boundary("b1", "a1"), summary("s1", "b1"), user("u2", "s1", "Now the tests."))
    snapshot = _snapshot(*more, assistant("a2", "u2", "m2", text("Written.")))
    assert snapshot.epochs == 2
    assert lost_work(snapshot, ["Nothing."]).rules == (RULE, OTHER)


def test_an_unanswered_request_is_open_and_an_answered_one_is_not() -> None:
    asked = user("u2", "a1", "Rebuild the sluice gate module in Rust.")
    working = (asked, assistant("c1", "u2", "m2", call("t1", file_path="/a.py")), result("r1", "c1", "t1"))
    assert lost_work(_snapshot(*working), ["Nothing."]).request == "Rebuild the sluice gate module in Rust."
    assert lost_work(_snapshot(*working), ["The user wants the sluice gate module rebuilt in Rust."]).request == ""
    assert lost_work(_snapshot(), ["Nothing."]).request == ""


def test_a_text_without_any_answer_stays() -> None:
    snapshot = _snapshot(user("u2", "a1", "Rebuild the sluice gate module in Rust."))
    assert (snapshot.unanswered, snapshot.texts[-1]) == (1, "Rebuild the sluice gate module in Rust.")
    assert lost_work(snapshot, ["Nothing.", *snapshot.texts[-1:]]).request == ""


def test_running_tasks_open_items_and_changed_files() -> None:
    command = call("t1", "Bash", command="npm run watch-sluice", run_in_background=True)
    todo = [{"content": "Write the gate tests", "status": "pending"}, {"content": "Read", "status": "completed"}]
    edit = call("t3", "Edit", file_path="/home/me/my_project/src/gate.py", old_string="a", new_string="b\nc")
    snapshot = _snapshot(
        user("u2", "a1", "Rebuild the gate."),
        assistant("c1", "u2", "m2", command),
        result("r1", "c1", "t1", "Command running in background with ID: bash_7. Output is written elsewhere."),
        assistant("c2", "r1", "m3", call("t2", "TodoWrite", todos=todo)),
        result("r2", "c2", "t2"),
        assistant("c3", "r2", "m4", edit),
        result("r3", "c3", "t3", "The file has been updated."),
    )
    lost = lost_work(snapshot, ["Nothing."])
    assert lost.running == ("bash_7: npm run watch-sluice",)
    assert lost.tasks == ("Write the gate tests",)
    assert lost.files == ("src/gate.py +2 −1",)
    assert lost_work(snapshot, ["bash_7 goes on. Write the gate tests. gate.py was changed."]).files == ()
    assert lost_work(snapshot, ["See bash_7."]).running == ()
    assert lost_work(snapshot, ["The dev server is up."]).running == ()  # it may be the same in other words


def test_a_task_list_before_a_newer_request_is_not_open() -> None:
    todo = [{"content": "Write the gate tests", "status": "pending"}]
    snapshot = _snapshot(
        user("u2", "a1", "Rebuild the gate."),
        assistant("c1", "u2", "m2", call("t1", "TodoWrite", todos=todo)),
        result("r1", "c1", "t1"),
        user("u3", "r1", "Paint the mill instead."),
        assistant("c2", "u3", "m3", call("t2", file_path="/a.py")),
        result("r2", "c2", "t2"),
    )
    assert lost_work(snapshot, ["Nothing."]).tasks == ()


def test_files_changed_before_the_last_compaction_are_not_listed_again() -> None:
    def edited(number: int, before: str) -> tuple[dict[str, Any], ...]:
        edit = call(f"t{number}", "Write", file_path=f"/src/part{number}.py", content="a")
        return assistant(f"c{number}", before, f"n{number}", edit), result(f"r{number}", f"c{number}", f"t{number}")

    more = (boundary("b1", "r1"), summary("s1", "b1"), user("u2", "s1", "Now the tests."))
    snapshot = _snapshot(*edited(1, "a1"), *more, *edited(2, "u2"))
    assert [file.name for file in snapshot.files] == ["/src/part2.py"]


def test_secrets_are_masked_in_every_part_of_the_snapshot() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    snapshot = _snapshot(
        user("u2", "a1", f"Never log {secret} anywhere."),
        assistant("c1", "u2", "m2", call("t1", "Bash", command=f"npm run {secret}", run_in_background=True)),
        result("r1", "c1", "t1", "Command running in background with ID: bash_7. Output is written elsewhere."),
        assistant("c2", "r1", "m3", call("t2", "TodoWrite", todos=[{"content": f"Use {secret}", "status": "pending"}])),
        result("r2", "c2", "t2"),
        assistant("c3", "r2", "m4", call("t3", "Write", file_path=f"/src/{secret}.py", content="a")),
        result("r3", "c3", "t3"),
    )
    assert (len(snapshot.running), len(snapshot.tasks), len(snapshot.files)) == (1, 1, 1)
    assert secret not in str(snapshot)


def test_rule_files_of_the_project_and_those_above_it_are_read(tmp_path: Path) -> None:
    project = tmp_path / "mill" / "src"
    project.mkdir(parents=True)
    (tmp_path / "mill" / "MILL.md").write_text(f"- {RULE}\n")
    (tmp_path / "MILL.md").mkdir()  # a folder of that name is left out
    texts = [*rule_file_texts(("MILL.md",), tmp_path / "nothing", str(project))]
    assert texts == [f"- {RULE}\n"]
    assert lost_work(_snapshot(), ["Nothing.", *texts]).rules == (OTHER,)


def test_nothing_is_lost_of_a_summary_with_everything() -> None:
    assert lost_work(_snapshot(), [RULE, OTHER]) == LostWork()
    assert lost_work(_snapshot(), [RULE, OTHER]).is_empty
