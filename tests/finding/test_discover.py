"""Sessions found on disk: newest first, in the places of every tool or below a folder, and nothing stops the list."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.formats.claude_code_build import assistant, text, user
from tests.paths import SAMPLES
from workbench.finding import discover as discovery
from workbench.finding.discover import Result, discover
from workbench.finding.glances import Unreadable
from workbench.formats.glance import SessionGlance
from workbench.formats.machine import Machine
from workbench.formats.registry import places


def session_at(path: Path, request: str, time: float, filler: int = 0) -> Path:
    lines = [user("u0", None, request)]
    lines += [
        assistant(f"a{n}", "u0" if n == 0 else f"a{n - 1}", f"msg{n}", text("word " * 1_000)) for n in range(filler)
    ]
    lines.append({"type": "custom-title", "customTitle": f"title of {request}", "sessionId": "s"})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(path, (time, time))
    return path


def here(home: Path, **variables: str) -> Machine:
    return Machine("linux", home, variables, home / "project")


def put(sample: str, path: Path, time: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SAMPLES / sample, path)
    os.utime(path, (time, time))
    return path


KEPT = (
    ("claude-code-overflow.jsonl", ".claude/projects/-home-dana/5f3.jsonl", "Claude Code"),
    ("codex-two-compactions.jsonl", ".codex/sessions/2026/01/02/rollout-2026-01-02T10-00-00-abc.jsonl", "Codex"),
    (
        "gemini-rewind-and-compression.jsonl",
        ".gemini/tmp/orchard/chats/session-2026-01-02T10-00-abc.jsonl",
        "Gemini CLI",
    ),
    ("copilot-background-compaction.jsonl", ".copilot/session-state/7-a/events.jsonl", "Copilot CLI"),
    ("pi-branches.jsonl", ".pi/agent/sessions/--home-ada--/2026_abc.jsonl", "pi"),
    ("augment-with-summary.json", ".augment/sessions/abc.json", "Augment CLI"),
    ("cline-sdk-summary.messages.json", ".cline/data/sessions/s1/s1.messages.json", "Cline SDK"),
    (
        "roo-window.json",
        ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/t1/api_conversation_history.json",
        "Roo Code",
    ),
    (
        "roo-window.json",
        ".config/VSCodium/User/globalStorage/saoudrizwan.claude-dev/tasks/t2/api_conversation_history.json",
        "Cline",
    ),
    ("aider-two-days.md", "project/.aider.chat.history.md", "aider"),
    ("swe-agent-demo.traj", "project/trajectories/ada/run/task/task.traj", "SWE-agent"),
    ("mini-swe-agent-one-grep.traj.json", ".config/mini-swe-agent/last_mini_run.traj.json", "mini-swe-agent"),
    ("inspect-two-samples.json", "project/logs/2026-01-02_task.json", "Inspect"),
)
"""A sample, where its tool would keep it below the home folder, and the tool."""


def found_in(results: list[Result]) -> list[SessionGlance]:
    return [one for one in results if isinstance(one, SessionGlance)]


def test_every_tool_is_found_where_it_keeps_its_sessions(tmp_path: Path) -> None:
    paths = [put(sample, tmp_path / where, 1_000.0 * number) for number, (sample, where, _) in enumerate(KEPT, 1)]
    results = list(discover(places(here(tmp_path))))
    assert [one for one in results if isinstance(one, Unreadable)] == []
    found = found_in(results)
    assert [one.tool for one in found] == [tool for _, _, tool in reversed(KEPT)]
    files = [one.path if one.path.is_file() else next(one.path.glob("*.json")) for one in found]
    assert files == paths[::-1]
    assert all(one.request and one.whole is None for one in found)


def test_what_moves_a_tools_folder_moves_the_search(tmp_path: Path) -> None:
    put(KEPT[0][0], tmp_path / ".claude/projects/p/a.jsonl", 1)
    moved = put(KEPT[0][0], tmp_path / "elsewhere/projects/p/a.jsonl", 1)
    rollout = put(KEPT[1][0], tmp_path / "codex/sessions/2026/01/02/rollout-a.jsonl", 1)
    machine = here(tmp_path, CLAUDE_CONFIG_DIR="~/elsewhere", CODEX_HOME=str(tmp_path / "codex"), GEMINI_CLI_HOME="")
    found = found_in(list(discover(places(machine))))
    assert {one.path for one in found} == {moved, rollout}


def test_a_sub_agents_file_and_a_second_name_for_the_same_file_are_left_out(tmp_path: Path) -> None:
    path = session_at(tmp_path / ".claude/projects/p/one.jsonl", "mend the gate", 1_000)
    os.link(path, path.with_name("same.jsonl"))
    session_at(path.with_name("agent-7.jsonl"), "count the nails", 1_000)
    session_at(path.parent / "one/subagents/agent-8.jsonl", "count the nails", 1_000)
    assert [one.request for one in found_in(list(discover(places(here(tmp_path)))))] == ["mend the gate"]


def test_a_folder_is_looked_through_newest_first(tmp_path: Path) -> None:
    old = session_at(tmp_path / "one" / "old.jsonl", "mend the gate", 1_000)
    new = session_at(tmp_path / "deep" / "deeper" / "new.jsonl", "paint the door", 2_000)
    stray = session_at(tmp_path / "stray.jsonl", "sweep", 1_500)
    task = put("roo-window.json", tmp_path / "t1" / "api_conversation_history.json", 500)
    (task.parent / "ui_messages.json").write_text("[]")
    session_at(tmp_path / "node_modules" / "x.jsonl", "not asked for", 3_000)
    found = found_in(list(discover(root=tmp_path)))
    assert [one.path for one in found] == [new, stray, old, task.parent]
    assert (found[0].title, found[0].request) == ("title of paint the door", "paint the door")
    assert (found[0].bytes, found[0].time, found[0].format) == (new.stat().st_size, 2_000, "claude-code")


def test_a_har_file_is_found_by_what_it_holds(tmp_path: Path) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "paint the door"}]})
    entry = {"request": {"postData": {"text": body}}, "response": {}}
    (tmp_path / "a.har").write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    assert [one.request for one in found_in(list(discover(root=tmp_path)))] == ["paint the door"]


def test_every_sample_is_found_below_its_folder() -> None:
    found = {one.path.name for one in found_in(list(discover(root=SAMPLES)))}
    assert found == {path.name for path in SAMPLES.iterdir()} - {"README.md"}


def test_what_is_no_session_is_told_with_its_reason_and_stops_nothing(tmp_path: Path) -> None:
    good = session_at(tmp_path / "p" / "good.jsonl", "go on", 1_000)
    (tmp_path / "p" / "bad.jsonl").write_text("nothing of the kind\n")
    (tmp_path / "p" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "p" / "base.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "p" / "notes.txt").write_text("not asked for")
    os.mkfifo(tmp_path / "p" / "pipe.jsonl")
    (tmp_path / "p" / "null.jsonl").symlink_to("/dev/zero")
    (tmp_path / "p" / "round").symlink_to(tmp_path)
    (tmp_path / "p" / "folder.jsonl").mkdir()
    for machine_places, root in ((None, tmp_path), (places(here(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path))), None)):
        if root is None:
            (tmp_path / "p").rename(tmp_path / "p2")
            (tmp_path / "projects").mkdir()
            (tmp_path / "p2").rename(tmp_path / "projects" / "p")
            good = tmp_path / "projects" / "p" / "good.jsonl"
        results = list(discover(machine_places, root))
        assert [one.path for one in found_in(results)] == [good]
        unreadable = {one.path.name: one.reason for one in results if isinstance(one, Unreadable)}
        assert unreadable.keys() >= {"bad.jsonl", "gone.jsonl", "pipe.jsonl", "null.jsonl"}
        assert all(unreadable.values())
        assert "regular file" in unreadable["pipe.jsonl"]
        assert "regular file" in unreadable["null.jsonl"]


def test_a_search_ends_at_a_number_of_files_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        session_at(tmp_path / f"{number}.jsonl", "go", number)
    monkeypatch.setattr(discovery, "MOST", 3)
    results = list(discover(root=tmp_path))
    assert len(found_in(results)) == 3
    assert isinstance(results[-1], Unreadable)
    assert "More than 3 files" in results[-1].reason


def test_a_search_can_be_called_off_before_and_between_files(tmp_path: Path) -> None:
    for number in range(4):
        session_at(tmp_path / f"{number}.jsonl", "go", number)
    calls: list[int] = []

    def after(number: int) -> bool:
        calls.append(number)
        return len(calls) > number

    assert list(discover(root=tmp_path, cancelled=lambda: True)) == []
    assert len(list(discover(root=tmp_path, cancelled=lambda: after(6)))) == 2


def test_no_folder_no_sessions(tmp_path: Path) -> None:
    assert list(discover(root=tmp_path / "nowhere")) == []
    assert list(discover(places(here(tmp_path)))) == []
