"""`cwb repair`: what it writes, lists and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench
from tests.commands import cwb, document
from tests.formats.claude_code_build import SESSION, assistant, call, jsonl, result, text, user


def damaged(folder: Path, name: str = f"{SESSION}.jsonl") -> Path:
    path = folder / name
    path.write_bytes(
        jsonl(
            user("u1", None, "Why does the ferry wait?"),
            assistant("a1", "u1", "m1", call("c1")),
            result("r1", "gone", "c1", "late"),
            assistant("a2", "r1", "m2", text("The tide.")),
        )
        + b"\0" * 8
    )
    return path


def test_a_copy_is_written_next_to_the_file_and_each_fix_listed(tmp_path: Path) -> None:
    file = damaged(tmp_path)
    before = file.read_bytes()
    run = cwb("repair", file, "-o", tmp_path / "copy.jsonl")
    assert run.exit_code == 0
    assert run.stdout.splitlines()[:4] == [
        f"Claude Code, {file}: 2 repairs.",
        "  line 3  linked to line 2: its parent is not in the file before it",
        "  line 5  removed 8 NUL bytes left by a crash",
        f"Written to {tmp_path / 'copy.jsonl'}; read back: 4 messages in the context.",
    ]
    assert file.read_bytes() == before
    again = cwb("repair", tmp_path / "copy.jsonl")
    assert (again.exit_code, again.stdout) == (1, f"Claude Code, {tmp_path / 'copy.jsonl'}: nothing to repair.\n")


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    file = damaged(tmp_path)
    run = cwb("repair", file, "--dry-run")
    assert (run.exit_code, run.stdout.splitlines()[-1]) == (0, "Dry run: nothing was written.")
    assert list(tmp_path.iterdir()) == [file]


def test_json_has_the_fixes_as_values(tmp_path: Path) -> None:
    file = damaged(tmp_path)
    found = document("repair", file, "--dry-run")
    assert found["fixes"] == [
        {
            "fault": "dangling-parent",
            "line": 3,
            "entry": None,
            "subject": "line 2",
            "reason": "linked to line 2: its parent is not in the file before it",
        },
        {
            "fault": "nul-padding",
            "line": 5,
            "entry": None,
            "subject": "8",
            "reason": "removed 8 NUL bytes left by a crash",
        },
    ]
    assert (
        found["format"],
        found["remaining"],
        found["branches"],
        found["messages"],
        found["output_file"],
        found["resume_steps"],
    ) == (
        "claude-code",
        [],
        [],
        4,
        None,
        [],
    )


def test_a_damaged_file_in_its_place_is_renamed_by_the_steps(own_home: Path) -> None:
    place = own_home / ".claude/projects/-home-me-my-project"
    place.mkdir(parents=True)
    file = damaged(place)
    found = document("repair", file)
    copy = place / f"{SESSION}.repaired.jsonl"
    assert found["resume_steps"][:2] == [f"mv {file} {file}.damaged", f"mv {copy} {file}"]
    assert found["resume_steps"][-1] == f"claude --resume {SESSION}"


def test_faults_that_are_left_are_named_and_the_code_is_3(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(jsonl(user("u1", None, "Why?"), assistant("a1", "u1", "m1", {"type": "text", "text": ""})))
    run = cwb("repair", file)
    assert (run.exit_code, run.stdout.splitlines()[1:]) == (
        3,
        ["Not repaired:", "  file  Line 2 has an empty text block.", "Nothing was written."],
    )


@pytest.mark.parametrize(("text", "said"), [("", "is empty"), ("hello\n", "Not a known session format")])
def test_what_is_no_session_is_refused_with_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(text)
    run = cwb("repair", file)
    assert (run.exit_code, said in run.stderr, "Traceback" in run.stderr) == (2, True, False)


@pytest.mark.parametrize("command", ["inspect", "why"])
def test_a_command_that_would_help_is_given(tmp_path: Path, command: str) -> None:
    file = damaged(tmp_path)
    advised = f"Damaged (dangling parent, nul padding): `cwb repair {file}` repairs 2 faults."
    assert cwb(command, file).stdout.splitlines()[-1] == advised
    assert document(command, file)["repair"] == {
        "command": f"cwb repair {file}",
        "fixes": 2,
        "faults": ["dangling-parent", "nul-padding"],
    }
    healthy = tmp_path / "healthy.jsonl"
    healthy.write_bytes(jsonl(user("u1", None, "Why?"), assistant("a1", "u1", "m1", text("The tide."))))
    assert "repair" not in cwb(command, healthy).stdout
    assert document(command, healthy)["repair"] is None


def test_the_library_gives_the_same_values(tmp_path: Path) -> None:
    file = damaged(tmp_path)
    made = workbench.repair(file, tmp_path / "copy.jsonl")
    assert [(fix.fault, fix.line) for fix in made.fixes] == [
        (workbench.Fault.DANGLING_PARENT, 3),
        (workbench.Fault.NUL_PADDING, 5),
    ]
    assert ((tmp_path / "copy.jsonl").read_bytes(), made.left) == (made.data, ())
    assert workbench.repair(tmp_path / "copy.jsonl", tmp_path / "again.jsonl").fixes == ()
    assert not (tmp_path / "again.jsonl").exists()
