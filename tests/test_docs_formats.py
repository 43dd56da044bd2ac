"""docs/formats.md says of every format what is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.claude_code_build import jsonl, small
from tests.formats.test_crush import database
from tests.paths import ROOT, SAMPLES
from workbench.formats.files import load
from workbench.formats.registry import by_id, formats

TEXT = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
HEADS = ("format", "id", "read", "epochs", "usage", "write back", "discovered")
ROWS = {
    cells[1].strip("` "): dict(zip(HEADS, map(str.strip, cells), strict=True))
    for line in TEXT.splitlines()
    if len(cells := line.split("|")[1:-1]) == len(HEADS) and cells[1].strip().startswith("`")
}
SOME = {
    path: load(path) for path in sorted(SAMPLES.iterdir()) if path.name != "README.md" and path.stat().st_size < 300_000
}


def test_there_is_a_row_for_every_format_and_none_else() -> None:
    assert sorted(ROWS) == sorted(known.id for known in formats())
    assert all(cell for row in ROWS.values() for cell in row.values())


@pytest.mark.parametrize("id", ROWS)
def test_what_it_says_of_writing_is_true(id: str) -> None:
    row, known = ROWS[id], by_id(id)
    assert (row["write back"] == "no: read only") is (known.codec.write is None)
    named = {form.id for form in known.codec.forms}
    said = {word.removeprefix(f"{id}:") for word in row["write back"].split("`")[1::2] if word.startswith(f"{id}:")}
    assert said == named
    assert ("or `" in row["write back"]) is bool(named)


@pytest.mark.parametrize("id", ROWS)
def test_what_it_says_of_reading_is_true(id: str) -> None:
    row, known = ROWS[id], by_id(id)
    assert ("folder" in row["read"]) is (known.codec.read_folder is not None)
    several = ("for each" in row["read"], ".db" in row["read"])
    assert any(several) is (known.codec.sessions_in is not None)
    assert ("--part" in row["read"]) is (known.codec.read_part is not None and known.codec.sessions_in is None)


@pytest.mark.parametrize("id", ROWS)
def test_what_it_says_of_epochs_is_true(id: str, tmp_path: Path) -> None:
    sessions = [session for session in SOME.values() if session.format == id]
    if id == "claude-code":
        path = tmp_path / "x.jsonl"
        path.write_bytes(jsonl(*small()))
        sessions = [load(path)]
    if id == "crush":
        sessions = [load(database(tmp_path / "crush.db"))]
    assert sessions
    assert (ROWS[id]["epochs"] == "yes") is any(len(session.epochs) > 1 for session in sessions)


def test_what_it_says_of_discovery_is_true() -> None:
    assert {id: row["discovered"] == "yes" for id, row in ROWS.items()} == {
        known.id: known.places is not None for known in formats()
    }


def test_what_it_says_of_usage_is_true(shared: Path) -> None:
    billed = {
        session.format
        for folder in ("sessions", "agents/files/copilot-cli")
        for path in sorted((shared / folder).rglob("*.json*"))
        if not path.name.startswith(("event-", "base_state", "task_", "ui_", "session.json"))
        and "response" not in path.name
        for session in [load(path)]
        if any(message.usage for message in session.messages)
    } | {session.format for session in SOME.values() if any(message.usage for message in session.messages)}
    said = {id for id, row in ROWS.items() if row["usage"] == "yes"}
    assert billed - said == set()
    assert said - billed <= {"roo-cline", "langchain", "adk", "openai-responses", "openhands"}  # no real file has any
