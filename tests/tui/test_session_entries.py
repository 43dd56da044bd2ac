"""Sessions to choose from, before they are read."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.paths import SAMPLES
from workbench.formats.glance import SessionGlance
from workbench.tui.session_entries import (
    SessionEntry,
    found_entry,
    matching,
    preview,
    recent_entries,
    record_of,
    sample_entries,
    typed_path,
    with_glance,
)
from workbench.tui.settings import Recent


def test_every_sample_is_listed_with_what_it_teaches() -> None:
    entries = sample_entries()
    assert {entry.path for entry in entries} >= set(SAMPLES.glob("*.json*"))
    overflow = next(entry for entry in entries if entry.path.name == "claude-code-overflow.jsonl")
    assert overflow.words.startswith("A session that ran into its window")
    assert overflow.words.endswith("Prompt is too long")
    assert "look for the three rules" in overflow.about


def test_a_sample_says_whose_session_it_is_and_that_it_is_one_and_is_found_by_both() -> None:
    entries = {entry.path.name: entry for entry in sample_entries()}
    names = ("claude-code-overflow.jsonl", "otel-ferry.json", "pi-branches.jsonl")
    rows = [record_of(entries[name]) for name in names]
    assert [row["agent"] for row in rows] == ["Claude Code", "OpenTelemetry", "pi"]
    assert all(str(row["title"]).startswith("Sample: ") and row["changed"] is None for row in rows)
    assert entries["pi-branches.jsonl"] in matching(list(entries.values()), "pi sample")
    assert all(len(entry.tool) > 1 for entry in entries.values())


def test_no_samples_no_lines(tmp_path: Path) -> None:
    assert sample_entries(tmp_path) == []


def test_a_recent_file_that_is_gone_is_not_offered(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("{}")
    entries = recent_entries([Recent(str(there), "the title", 5.0), Recent(str(tmp_path / "gone"), "", 4.0)])
    assert [(entry.path, entry.words, entry.time) for entry in entries] == [(there, "the title", 5.0)]


def test_b15_recent_files_are_told_apart_by_agent_size_and_name(tmp_path: Path) -> None:
    """ "recent" stood in the column of the agent, and one title stood twice without a path."""
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path in paths:
        shutil.copyfile(SAMPLES / "claude-code-overflow.jsonl", path)
    entries = [with_glance(entry) for entry in recent_entries([Recent(str(path), "the title", 5.0) for path in paths])]
    rows = [record_of(entry) for entry in entries]
    assert [(row["agent"], row["title"]) for row in rows] == [
        ("Claude Code", "the title · a.jsonl"),
        ("Claude Code", "the title · b.jsonl"),
    ]
    assert all(row["tokens"] for row in rows)
    (tmp_path / "c.jsonl").write_text("nothing")
    (other,) = recent_entries([Recent(str(tmp_path / "c.jsonl"), "", 5.0)])
    assert with_glance(other) == other


def test_a_search_finds_every_word_anywhere() -> None:
    entries = [
        SessionEntry("found", Path("/p/harbour/a.jsonl"), "Mend the GATE"),
        SessionEntry("sample", Path("/s/gate.json"), "a lesson", "about pins"),
    ]
    assert matching(entries, "") == entries
    assert matching(entries, "gate") == entries
    assert matching(entries, "gate harbour") == entries[:1]
    assert matching(entries, "PINS sample") == entries[1:]
    assert matching(entries, "nothing") == []


def test_a_typed_path_is_a_session_that_is_there(tmp_path: Path, own_home: Path) -> None:
    path, folder = tmp_path / "s.jsonl", tmp_path / "empty"
    path.write_text("{}")
    folder.mkdir()
    (own_home / "h.jsonl").write_text("{}")
    task = tmp_path / "task"
    task.mkdir()
    said = [{"role": "user", "content": "Mend the gate"}, {"role": "assistant", "content": "Done."}]
    (task / "api_conversation_history.json").write_text(json.dumps(said))
    assert typed_path(str(path)) == path
    assert typed_path("~/h.jsonl") == own_home / "h.jsonl"
    assert typed_path(str(task)) == task, "the folder of a session"
    no_session = ("s.jsonl", str(tmp_path), str(folder), "/nowhere", "~nobody/x", "/\0", "", "'", "a b")
    assert [typed_path(text) for text in no_session] == [None] * len(no_session)


@pytest.mark.parametrize("name", ["it's a session.jsonl", "plain.jsonl", "50% 'of' it \\ (2).jsonl", "día.jsonl"])
def test_a_path_is_taken_as_terminals_paste_what_is_dropped_on_them(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("{}")
    escaped = "".join(f"\\{sign}" if sign in " '()\\%" else sign for sign in str(path))
    for text in (
        str(path),
        shlex.quote(str(path)),
        f"{shlex.quote(str(path))} ",
        escaped,
        f"{escaped} ",
        path.as_uri(),
    ):
        assert typed_path(text) == path, text


def test_a_found_session_shows_its_agent_and_how_full_it_is() -> None:
    found = SessionGlance(
        Path("/p/c.jsonl"), 9, 5.0, "codex", "Codex", "c", tokens=900, window=1_000, folder="/home/ada/farm"
    )
    row = record_of(found_entry(found))
    assert (row["agent"], row["title"], row["tokens"], row["window_share"]) == ("Codex", "c", 900, 0.9)
    assert (row["project"], row["changed"], row["compactions"]) == ("/home/ada/farm", 5.0, None)
    assert record_of(found_entry(replace(found, tokens=None)))["window_share"] is None
    whole = replace(found, compactions=2, complete=True)
    assert record_of(found_entry(whole))["compactions"] == 2, "known where the whole file was read"


def test_a_preview_of_one_session_among_several_is_what_was_found() -> None:
    found = SessionGlance(
        Path("/gone/sessions.db"), 9, 0.0, "goose", "goose", "menu", part="2025_1", tokens=900, compactions=1
    )
    facts = dict(preview(found_entry(found)))
    assert facts["part"] == "2025_1"
    assert facts["tokens"] == "900 at the last call"
    assert "1 time at least" in facts["compacted"]


def test_a_preview_tells_format_size_and_request() -> None:
    entry = next(one for one in sample_entries() if one.path.name == "openai-chat-tools.json")
    facts = dict(preview(entry))
    assert "OpenAI" in facts["agent"]
    assert "41 messages" in facts["holds"]


def test_a_preview_of_what_is_no_session_says_why(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing")
    assert "✘" in preview(SessionEntry("given", path, "notes"))[1][1]
