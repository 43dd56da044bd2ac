"""Zed's threads: in the database and by themselves, what a compaction keeps, whose words a mention is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.base.stamps import shown
from workbench.finding.glances import glances
from workbench.formats import files
from workbench.formats.format import no_progress
from workbench.formats.glance import SessionGlance
from workbench.formats.look import Look
from workbench.formats.zed import FORMAT
from workbench.session import Session, Usage

SAMPLE = SAMPLES / "zed-mention.json"


def user(id: str, text: str) -> dict[str, Any]:
    return {"User": {"id": id, "content": [{"Text": text}]}}


def agent(text: str) -> dict[str, Any]:
    return {"Agent": {"content": [{"Text": text}], "tool_results": {}}}


def compacted(summary: str) -> dict[str, Any]:
    return {"Compaction": {"Summary": summary}}


def opened(*messages: Any) -> Session:
    data = json.dumps({"title": "t", "messages": messages, "updated_at": "2026-01-01T00:00:00Z"}).encode()
    assert FORMAT.recognise(Look.of(data))
    return FORMAT.codec.read(Path("x.json"), data, no_progress)


def texts(session: Session, epoch: int | None = None) -> list[str]:
    return [message.text or "".join(result.text for result in message.results) for message in session.context(epoch)]


def test_a_mention_is_not_the_persons_words() -> None:
    first = files.load(SAMPLE).context(1)[0]
    assert first.user_text == "The D sounds weak. See \n; find out why, and never touch pipe 22."
    assert "C: pipe 14" in first.text


def test_before_a_summary_stand_the_persons_messages() -> None:
    session = files.load(SAMPLE)
    assert [(m.role, m.kind) for m in session.context(1)] == [
        ("user", "normal"), ("assistant", "normal"), ("tool", "normal"), ("assistant", "normal"),
    ]  # fmt: skip
    assert [(m.role, m.kind) for m in session.context()] == [
        ("user", "normal"), ("user", "summary"), ("user", "normal"), ("assistant", "normal"),
    ]  # fmt: skip
    assert session.context()[0] is session.context(1)[0]
    ended = session.epochs[0].ended_by
    assert ended is not None
    assert ended.kept_ids == ("6b1f",)


def test_a_request_is_billed_as_its_last_call() -> None:
    bills = [message.usage for message in files.load(SAMPLE).messages if message.role == "assistant"]
    assert bills == [None, Usage(1560, 12), Usage(1490, 8)]


@pytest.mark.parametrize(("size", "kept"), [(79_999, ["z", 79_999]), (80_000, [80_000]), (80_001, [80_000])])
def test_eighty_thousand_bytes_of_the_persons_words_stay(size: int, kept: list[str | int]) -> None:
    """Two messages, one byte and `size` bytes long."""
    session = opened(user("0", "z"), agent("1"), user("1", "b" * size), compacted("s"), agent("2"))
    assert texts(session)[:-2] == [one if isinstance(one, str) else "b" * one for one in kept]
    ended = session.epochs[0].ended_by
    assert ended is not None
    assert ended.kept_ids == {79_999: ("0", "1"), 80_000: ("1",), 80_001: ()}[size]


def test_of_a_message_that_is_too_long_the_beginning_stays() -> None:
    session = opened(user("0", "START" + "x" * 80_000 + "END"), user("1", "new"), compacted("s"), user("2", "go"))
    assert texts(session) == [
        "START" + "x" * (80_000 - 5 - 3), "new",
        "The previous conversation was compacted. Use this summary as context:\n\ns", "go",
    ]  # fmt: skip


def test_a_providers_own_compaction_hides_what_is_before_it() -> None:
    native = {"Compaction": {"ProviderNative": {"provider": "openai", "items": [{"type": "compaction"}]}}}
    session = opened(user("0", "before"), native, user("1", "after"))
    assert [(message.kind, message.text) for message in session.context()] == [("summary", ""), ("normal", "after")]


def test_a_request_to_go_on_is_not_the_persons() -> None:
    session = opened(user("0", "go"), agent("1"), "Resume", agent("2"))
    assert [message.kind for message in session.context()] == ["normal", "normal", "meta", "normal"]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "threads.db"
    data = SAMPLE.read_bytes()
    rows = [
        ("new", "Newest", "2026-05-03", "zstd", zstandard.compress(data)),
        ("old", "Old", "2026-05-01", "json", data),
    ]
    rows.append(("none", "Empty", "2026-06-01", "json", b'{"messages": []}'))
    with sqlite3.connect(path) as made:
        made.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)"
        )
        made.executemany("INSERT INTO threads VALUES (?, ?, ?, ?, ?)", rows)
    return path


def test_the_threads_of_a_database(database: Path) -> None:
    session = files.load(database)
    assert (session.format, session.id, [str(one) for one in session.warnings]) == (
        "zed", "new", ["holds 2 threads; this is the most recently used one"],
    )  # fmt: skip
    parts = FORMAT.codec.sessions_in
    assert parts is not None
    assert [(one.id, one.title, one.messages) for one in parts(database, database.read_bytes())] == [
        ("new", "Newest", 6), ("old", "Old", 6),
    ]  # fmt: skip
    assert files.load(database, part="old").context() == session.context()
    with pytest.raises(BadInput, match=r"has no thread 'x'; choose a listed one\.$"):
        files.load(database, part="x")


def test_the_threads_of_a_database_are_listed(database: Path) -> None:
    found = [one for one in glances(database) if isinstance(one, SessionGlance)]
    assert [(one.tool, one.part, one.title, shown(one.time, "%Y-%m-%d")) for one in found[1:]] == [
        ("Zed", "new", "Newest", "2026-05-03"), ("Zed", "old", "Old", "2026-05-01"),
    ]  # fmt: skip


def test_a_thread_without_a_message_is_refused() -> None:
    data = json.dumps({"messages": [], "updated_at": ""}).encode()
    with pytest.raises(BadInput, match=r"^x\.json is a thread of Zed without messages; open another file\.$"):
        FORMAT.codec.read(Path("x.json"), data, no_progress)
