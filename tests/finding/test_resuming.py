"""Going on with a session as it lies: in its tool's own folder, or elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.formats import test_goose as goose
from tests.formats import test_opencode_store as opencode
from tests.paths import SAMPLES
from workbench.finding.resuming import can_be_resumed, steps_of
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.formats.registry import places
from workbench.formats.steps import steps

CLAUDE = SAMPLES / "claude-code-overflow.jsonl"
GONE = "# /home/dana/harbour is not on this machine: change to the project folder"
RESUME = "claude --resume 7c41f0de-2187-4b42-9a8e-5f0c3d6b1e90"
PLACE = ".claude/projects/-home-dana-harbour/7c41f0de-2187-4b42-9a8e-5f0c3d6b1e90.jsonl"


@pytest.mark.parametrize("sample", ["claude-code-overflow.jsonl", "codex-two-compactions.jsonl", "pi-branches.jsonl"])
def test_an_export_has_the_steps_that_were_told_when_it_was_written(sample: str, tmp_path: Path) -> None:
    session = load(SAMPLES / sample)
    made = export(session, session.context()[1:])
    saved = save(made, tmp_path)
    assert steps_of(load(saved.where)) == steps(made.written, saved.where)


def test_what_lies_where_its_tool_keeps_it_stays_there(own_home: Path) -> None:
    assert steps_of(load(CLAUDE)) == (
        f"mkdir -p ~/{Path(PLACE).parent}",
        f"test -e ~/{PLACE} || cp {CLAUDE} ~/{PLACE}",
        GONE,
        RESUME,
    )
    there = own_home / ".claude/projects/-elsewhere/x.jsonl"
    there.parent.mkdir(parents=True)
    shutil.copy(CLAUDE, there)
    assert steps_of(load(there)) == (GONE, RESUME)


def test_another_session_in_its_place_is_pointed_out(own_home: Path) -> None:
    there = own_home / PLACE
    there.parent.mkdir(parents=True)
    shutil.copy(CLAUDE, there)
    assert len(steps_of(load(CLAUDE))) == 4
    there.write_bytes(CLAUDE.read_bytes()[:-1])
    assert steps_of(load(CLAUDE))[1] == f"# ~/{PLACE} exists with other content and is kept"


def test_what_no_command_opens_is_said(tmp_path: Path) -> None:
    for sample, said in {
        "amp-bells.json": "# Amp thread is read-only here: resume it in its own agent",
        "atif-handover.json": "# ATIF is a record: no agent resumes it",
    }.items():
        lines = steps_of(load(SAMPLES / sample))
        assert (lines, can_be_resumed(lines)) == ((said,), False)
    assert can_be_resumed(steps_of(load(CLAUDE)))


def kept_by(format: str) -> Path:
    """Where a tool keeps its sessions."""
    folder = next(place.folder for place in places() if place.format == format)
    folder.mkdir(parents=True)
    return folder


def test_a_session_of_a_database_is_opened_there_by_its_id() -> None:
    ours = load(goose.database(kept_by("goose"), *goose.MESSAGES, more=1))
    assert steps_of(ours)[-1] == f"goose session --resume --session-id {ours.id}"
    ours = load(opencode.database(kept_by("opencode") / "opencode.db"))
    assert steps_of(ours)[-1] == f"opencode --session {ours.id}"
    assert not any("import" in line for line in steps_of(ours))
