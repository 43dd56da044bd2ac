"""What of a growing file is finished, and what tells that it has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.formats.claude_code_build import jsonl, small
from tests.formats.test_goose import database, message_of, text
from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.finding.following import file_mark, read_finished, without_partial_line
from workbench.formats.files import load


def test_a_last_line_is_seen_when_it_is_whole() -> None:
    data = jsonl(*small())
    assert without_partial_line(data) == data
    assert without_partial_line(data.rstrip(b"\n")) == data.rstrip(b"\n")
    half = data + b'{"type":"user","uuid":"x","mess'
    assert without_partial_line(half) == data
    assert without_partial_line(data + b"  \n") == data + b"  \n"


def test_only_files_of_lines_are_cut() -> None:
    for name in ("opencode-pruned.json", "aider-two-days.md", "cline-sdk-summary.messages.json"):
        data = (SAMPLES / name).read_bytes()
        for cut in (data, data[:-40], b"\n" + data[: len(data) // 2]):
            assert without_partial_line(cut) == cut, name
    assert without_partial_line(b"SQLite format 3\0\n\n\xff\xfe") == b"SQLite format 3\0\n\n\xff\xfe"


def test_a_growing_file_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    lines = jsonl(*small())
    path.write_bytes(lines + b'{"type":"assist')
    assert read_finished(path).messages == load(path).messages
    assert not read_finished(path).warnings
    assert load(path).warnings
    document = tmp_path / "half.json"
    document.write_bytes((SAMPLES / "opencode-pruned.json").read_bytes()[:-200])
    with pytest.raises(BadInput):
        read_finished(document)


def test_every_change_is_seen_by_the_mark(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    assert file_mark(path) is None
    path.write_text(json.dumps({"a": 1}))
    marks = [file_mark(path)]
    os.utime(path, (1, 1))
    marks.append(file_mark(path))
    other = tmp_path / "new"
    other.write_text(path.read_text())
    os.utime(other, (1, 1))
    other.replace(path)
    marks.append(file_mark(path))
    path.write_text("")
    marks.append(file_mark(path))
    assert len(set(marks)) == 4
    assert file_mark(path) == marks[-1]


@pytest.mark.parametrize("kind", ["roo", "cline-sdk"])
def test_a_folder_is_read_again_as_the_folder_it_was_opened_as(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "task-7"
    folder.mkdir()
    turns = [{"role": role, "content": "go", "ts": 1_700_000_000_000} for role in ("user", "assistant")]
    if kind == "roo":
        history, about = folder / "api_conversation_history.json", folder / "history_item.json"
        history.write_text(json.dumps(turns))
        about.write_text(json.dumps({"id": "task-7", "task": "The task", "workspace": "/w"}))
    else:
        history, about = folder / "task-7.messages.json", folder / "task-7.json"
        history.write_text(json.dumps({"version": 1, "agent": "lead", "sessionId": "task-7", "messages": turns}))
        about.write_text(json.dumps({"cwd": "/w", "metadata": {"title": "The task"}}))
    session = load(folder)
    assert (session.path, session.title, session.cwd, len(session.messages)) == (folder, "The task", "/w", 2)
    mark = file_mark(folder)
    history.write_text(history.read_text().replace('"content": "go"', '"content": "went on"'))
    assert file_mark(folder) != mark, "a history that is written over leaves its folder's own time as it was"
    again = read_finished(session.path)
    assert (again.path, again.title, again.cwd, again.id) == (folder, "The task", "/w", session.id)
    assert again.messages[0].text == "went on"


def test_a_databases_log_and_a_conversations_events_count(tmp_path: Path) -> None:
    store = database(tmp_path, message_of("user", text("hi")), wal=True)
    before = file_mark(store)
    with store.with_name("sessions.db-wal").open("ab") as log:
        log.write(b"x")
    assert file_mark(store) != before
    folder = tmp_path / "conversation"
    (folder / "events").mkdir(parents=True)
    before = file_mark(folder)
    (folder / "events" / "0.json").write_text("{}")
    os.utime(folder / "events", (5, 5))
    assert file_mark(folder) != before
