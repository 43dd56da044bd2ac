"""`cwb audit --quick`: what lies where the tools keep it or below a folder, and the several sessions of one file."""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.cells import cell_len

from tests.commands import cwb, document
from tests.finding.test_discover import session_at
from tests.paths import SAMPLES

SEVERAL = SAMPLES / "tau-bench-two-sessions.json"


def test_sessions_are_listed_newest_first_and_the_unreadable_counted(tmp_path: Path) -> None:
    session_at(tmp_path / "a" / "old.jsonl", "mend the gate", 1_000)
    session_at(tmp_path / "b" / "new.jsonl", "paint the door", 2_000)
    (tmp_path / "b" / "bad.jsonl").write_text("no session")
    shown = cwb("audit", "--quick", tmp_path)
    assert shown.exit_code == 0
    assert shown.stdout.index("paint the door") < shown.stdout.index("mend the gate")
    assert "1 file could not be read" in shown.stderr
    assert "bad.jsonl: Not a known session format" in cwb("audit", "--quick", tmp_path, "--skipped").stderr
    found = document("audit", "--quick", tmp_path)
    assert [one["first_request"] for one in found["sessions"]] == ["paint the door", "mend the gate"]
    assert [Path(one["file"]).name for one in found["unreadable"]] == ["bad.jsonl"]
    assert len(document("audit", "--quick", tmp_path, "--limit", 1)["sessions"]) == 1
    only = document("audit", "--quick", tmp_path, "--search", "GATE mend")["sessions"]
    assert [one["first_request"] for one in only] == ["mend the gate"]


def test_tokens_and_how_full_are_told_from_what_was_recorded(own_home: Path) -> None:
    rollout = own_home / ".codex" / "sessions" / "2026" / "01" / "02" / "rollout-a.jsonl"
    rollout.parent.mkdir(parents=True)
    shutil.copyfile(SAMPLES / "codex-two-compactions.jsonl", rollout)
    session_at(own_home / ".claude" / "projects" / "p" / "a.jsonl", "mend the gate", 1_000)
    (one,) = document("audit", "--quick", "--tool", "codex")["sessions"]
    assert (one["agent"], one["format"], one["project"]) == ("Codex", "codex", "/home/ada/tidebook")
    assert (one["tokens"], one["window_tokens"], one["compactions"], one["complete"]) == (6_779, 258_400, 2, True)
    row = " ".join(cwb("audit", "--quick", "--tool", "codex").stdout.split())
    assert " 6 779 3 % 258 400 recorded 2 " in row
    assert len(document("audit", "--quick")["sessions"]) == 2


def test_the_sessions_of_one_file_are_listed_and_each_can_be_named(own_home: Path) -> None:
    listed = cwb("audit", "--quick", SEVERAL).stdout
    assert "task 7, trial 1, reward 0.0" in listed
    parts = document("audit", "--quick", SEVERAL)["parts"]
    assert [part["part"] for part in parts] == ["1", "2"]
    messages = [document("inspect", SEVERAL, "--part", part["part"])["messages"] for part in parts]
    assert messages == [part["messages"] for part in parts]
    for name, *more in (["inspect"], ["compact", "--preset", "augment-example"], ["compare"]):
        refused = cwb(name, SEVERAL, "--part", 3, *more)
        assert refused.exit_code == 2
        assert "has no session 3" in refused.stderr
    grid = ("--preset", "trim", "--vary", "window=2k")
    [played] = document("compare", "--over-session", SEVERAL, "--part", 2, "--preset", "trim", "--window", 2_000)[
        "replays"
    ]
    [cell] = document("compare", SEVERAL, "--part", 2, *grid)["cells"]
    assert (cell["calls"], cell["last_tokens"]) == (len(played["sent_tokens"]), played["last_tokens"])
    assert "has no session 3" in cwb("compare", SEVERAL, "--part", 3, *grid).output
    single = SAMPLES / "pi-branches.jsonl"
    assert "holds one session" in cwb("audit", "--quick", single).stderr
    assert "leave out the part" in cwb("inspect", single, "--part", 1).stderr


def test_columns_stand_below_each_other_in_cells_and_nothing_is_markup(tmp_path: Path) -> None:
    session_at(tmp_path / "a" / "wide.jsonl", "修理码头的门，别动灯塔", 1_000)
    session_at(tmp_path / "b" / "narrow.jsonl", "[red]mend[/red] the gate :anchor:", 2_000)
    heads, *rows = cwb("audit", "--quick", tmp_path).stdout.splitlines()
    assert {cell_len(row[: row.index(str(tmp_path))]) for row in rows} == {cell_len(heads.removesuffix("file"))}
    assert "[red]mend[/red] the gate :anchor:" in rows[0]
