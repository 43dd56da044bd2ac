"""Sessions found on disk: newest first, from their two ends alone, and nothing that stops the list."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.formats.claude_code_build import assistant, text, user
from tests.paths import SAMPLES
from workbench.formats.discover import REACH, Found, Unreadable, claude_code_root, discover, glance


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


def test_the_newest_comes_first_with_title_request_and_size(tmp_path: Path) -> None:
    old = session_at(tmp_path / "one" / "old.jsonl", "mend the gate", 1_000)
    new = session_at(tmp_path / "two" / "new.jsonl", "paint the door", 2_000)
    found = list(discover(tmp_path))
    assert [one.path for one in found] == [new, old]
    first = found[0]
    assert isinstance(first, Found)
    assert (first.title, first.request) == ("title of paint the door", "paint the door")
    assert (first.bytes, first.time, first.format) == (new.stat().st_size, 2_000, "Claude Code")


def test_a_long_file_is_known_by_its_two_ends_alone(tmp_path: Path) -> None:
    path = session_at(tmp_path / "long.jsonl", "build the wall", 1_000, filler=100)
    assert path.stat().st_size > 2 * REACH
    found = glance(path)
    assert isinstance(found, Found)
    assert (found.request, found.title, found.whole) == ("build the wall", "title of build the wall", None)


def test_a_first_line_longer_than_what_is_read_leaves_the_title(tmp_path: Path) -> None:
    found = glance(session_at(tmp_path / "wide.jsonl", "x" * 4 * REACH, 1_000))
    assert isinstance(found, Found)
    assert found.request == ""


def test_what_is_no_session_is_told_with_its_reason_and_stops_nothing(tmp_path: Path) -> None:
    good = session_at(tmp_path / "p" / "good.jsonl", "go on", 1_000)
    bad = tmp_path / "p" / "bad.jsonl"
    bad.write_text("nothing of the kind\n")
    (tmp_path / "p" / "folder.jsonl").mkdir()
    (tmp_path / "p" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "p" / "notes.txt").write_text("not asked for")
    (tmp_path / "stray.jsonl").write_text("not in a project's folder")
    results = list(discover(tmp_path))
    assert [one.path for one in results if isinstance(one, Found)] == [good]
    unreadable = {one.path.name: one.reason for one in results if isinstance(one, Unreadable)}
    assert set(unreadable) == {"bad.jsonl", "folder.jsonl", "gone.jsonl"}
    assert all(unreadable.values())


def test_no_folder_no_sessions(tmp_path: Path) -> None:
    assert list(discover(tmp_path / "nowhere")) == []


def test_the_samples_are_known_at_a_glance() -> None:
    formats = {path.name: found.format for path in SAMPLES.glob("*.json*") if isinstance(found := glance(path), Found)}
    assert formats["claude-code-overflow.jsonl"] == "Claude Code"
    assert len(formats) == len(list(SAMPLES.glob("*.json*")))


def test_the_root_lies_in_the_home_folder(own_home: Path) -> None:
    assert claude_code_root() == own_home / ".claude" / "projects"
