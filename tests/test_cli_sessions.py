"""`cwb sessions`: what lies where Claude Code keeps it, and what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

from tests.formats.test_discover import session_at
from tests.test_cli import cwb, document


def test_sessions_are_listed_newest_first_and_the_unreadable_counted(tmp_path: Path) -> None:
    session_at(tmp_path / "a" / "old.jsonl", "mend the gate", 1_000)
    session_at(tmp_path / "b" / "new.jsonl", "paint the door", 2_000)
    (tmp_path / "b" / "bad.jsonl").write_text("no session")
    shown = cwb("sessions", "--root", tmp_path)
    assert shown.exit_code == 0
    assert shown.stdout.index("paint the door") < shown.stdout.index("mend the gate")
    assert "1 file there could not be read" in shown.stderr
    found = document("sessions", "--root", tmp_path)
    assert [one["first_request"] for one in found["sessions"]] == ["paint the door", "mend the gate"]
    assert [Path(one["path"]).name for one in found["unreadable"]] == ["bad.jsonl"]


def test_no_sessions_is_said_and_no_error(own_home: Path) -> None:
    shown = cwb("sessions")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "no sessions in" in shown.stderr
    assert json.loads(cwb("sessions", "--json").stdout)["sessions"] == []


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    refused = cwb("sessions", "--root", tmp_path / "nowhere")
    assert refused.exit_code == 2
    assert "is no folder" in refused.stderr


def test_every_file_given_to_the_screen_must_be_there(tmp_path: Path) -> None:
    there = session_at(tmp_path / "there.jsonl", "go", 1_000)
    refused = cwb("open", there, tmp_path / "gone.jsonl", "--choose", "--fresh")
    assert refused.exit_code == 2
    assert "gone.jsonl does not exist" in refused.stderr
