"""Crush's database: contexts, summaries, and that no file next to it changes."""

from __future__ import annotations

import base64
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.compaction.opening import context_at
from workbench.finding.glances import glances
from workbench.formats.crush import FORMAT
from workbench.formats.files import load, parts_of
from workbench.formats.format import no_progress
from workbench.formats.glance import SessionGlance
from workbench.formats.look import Look
from workbench.session import Media, Session, Text, Thinking, ToolResult, ToolUse
from workbench.tokens import Counter

TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost REAL NOT NULL, updated_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL, summary_message_id TEXT);
CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT, path TEXT, content TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts BLOB NOT NULL,
  model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, is_summary_message INTEGER NOT NULL);
CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER);
"""
Row = tuple[str, str, list[dict[str, Any]]]


def part(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def text(described: str, **more: Any) -> dict[str, Any]:
    return part("text", text=described, **more)


def call(id: str) -> dict[str, Any]:
    return part("tool_call", id=id, name="ls", input='{"path": "."}', finished=True)


def result(id: str, content: str = "a b", **more: Any) -> dict[str, Any]:
    return part("tool_result", tool_call_id=id, name="ls", content=content, is_error=False, **more)


def finish(reason: str = "end_turn") -> dict[str, Any]:
    return part("finish", reason=reason, time=1)


MESSAGES: tuple[Row, ...] = (
    ("u1", "user", [text("look"), finish("stop")]),
    (
        "a1",
        "assistant",
        [part("reasoning", thinking="hm", signature="s"), text("I look."), call("c1"), finish("tool_use")],
    ),
    ("r1", "tool", [result("c1"), finish("stop")]),
    ("a2", "assistant", [text("Done."), finish()]),
    ("sum", "assistant", [text("the summary"), finish()]),
    ("u2", "user", [text("go on"), finish("stop")]),
    ("a3", "assistant", [text("I go on."), finish()]),
)


def database(path: Path, rows: tuple[Row, ...] = MESSAGES, summary: str | None = "sum", *, wal: bool = False) -> Path:
    """Write a database with one session of `rows` and one of a sub-agent; `wal`: all of it is in the write-ahead
    log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path)
    if wal:
        base.execute("PRAGMA journal_mode = WAL")
    base.executescript(TABLES)
    session = "INSERT INTO sessions VALUES (?, ?, ?, 0, ?, ?, ?, ?, 1, ?)"
    base.execute(session, ("main", None, "A title", 4_000, 200, 0.25, 5, summary))
    base.execute(session, ("sub", "main", "an errand", 0, 0, 0, 9, None))
    row = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, 7, 7, ?)"
    for id, role, parts in rows:
        named = "model-x" if role == "assistant" else None
        base.execute(row, (id, "main", role, json.dumps(parts), named, id.startswith("sum")))
    base.execute(row, ("s1", "sub", "user", json.dumps([text("an errand")]), None, 0))
    base.commit()
    if wal:
        read_only = sqlite3.connect(path)  # keeps the log when the other one closes
        read_only.execute("SELECT * FROM sessions").fetchall()
        CONNECTIONS.append(read_only)
    base.close()
    return path


CONNECTIONS: list[sqlite3.Connection] = []


def described(session: Session, epoch: int | None = None) -> list[tuple[str, str, str, tuple[Any, ...]]]:
    return [(m.id, m.role, m.kind, m.blocks) for m in session.context(epoch)]


def test_the_newest_summary_opens_the_context_as_a_user_message(tmp_path: Path) -> None:
    path = database(tmp_path / "project/.crush/crush.db")
    assert FORMAT.recognise(Look.of(path.read_bytes(), path))
    session = load(path, part="main")
    assert described(session, 1) == [
        ("u1", "user", "normal", (Text("look"),)),
        ("a1", "assistant", "normal", (Thinking("hm", "s"), Text("I look."), ToolUse("c1", "ls", {"path": "."}))),
        ("r1", "tool", "normal", (ToolResult("c1", (Text("a b"),)),)),
        ("a2", "assistant", "normal", (Text("Done."),)),
    ]
    assert described(session) == [
        ("sum", "user", "summary", (Text("the summary"),)),
        ("u2", "user", "normal", (Text("go on"),)),
        ("a3", "assistant", "normal", (Text("I go on."),)),
    ]
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.summary, compaction.way, compaction.time) == ("sum", "summary", 7)
    assert (session.title, session.model, session.cwd) == ("A title", "model-x", str(tmp_path / "project"))
    assert (session.facts.tokens_now, session.facts.cost) == (4_200, 0.25)


def test_earlier_summaries_end_epochs_and_failed_ones_do_not(tmp_path: Path) -> None:
    rows = (
        *MESSAGES[:4],
        ("sum0", "assistant", [text("an older one"), finish()]),
        ("u0", "user", [text("go on"), finish("stop")]),
        ("sum1", "assistant", [text("half a"), finish("error")]),
        *MESSAGES[4:],
    )
    session = load(database(tmp_path / "crush.db", rows), part="main")
    assert [[m.id for m in session.context(e.number)] for e in session.epochs] == [
        ["u1", "a1", "r1", "a2"],
        ["sum0", "u0", "sum1"],
        ["sum", "u2", "a3"],
    ]
    plain = load(database(tmp_path / "other.db", MESSAGES, None), part="main")
    assert [m.kind for m in plain.context()] == ["normal"] * 7


def test_calls_and_results_are_sent_in_pairs(tmp_path: Path) -> None:
    rows = (
        MESSAGES[0],
        ("a1", "assistant", [call("c1"), call("c2")]),
        ("r1", "tool", [result("c1"), result("c9")]),
        ("r2", "tool", [result("c8")]),
        ("a2", "assistant", [finish("canceled")]),
        ("a3", "assistant", [call("c3")]),
    )
    session = load(database(tmp_path / "crush.db", rows, None), part="main")
    assert [m.id for m in session.context()] == ["u1", "a1", "a1~interrupted", "r1~matched", "a3"]
    answers = [(r.call_id, r.is_error) for m in session.context() for r in m.results]
    assert answers == [("c2", True), ("c1", False)]


def test_attachments_and_commands_next_to_user_text(tmp_path: Path) -> None:
    attached = base64.b64encode(b"# A").decode()
    shown = base64.b64encode(b"PNG").decode()
    parts = [
        text(" read it "),
        part("binary", Path="a.md", MIMEType="text/markdown", Data=attached),
        part("binary", Path="b.png", MIMEType="image/png", Data=shown),
        part("shell_command", command="make", output="ok", exit_code=0),
        finish("stop"),
    ]
    rows = (
        ("u1", "user", parts),
        ("u2", "user", [text("Continue.", hidden=True)]),
        ("r", "tool", [result("c", data="QUJD", mime_type="image/png")]),
    )
    session = load(database(tmp_path / "crush.db", rows, None), part="main")
    first, second = session.context()
    assert (first.user_text, second.kind) == ("read it", "meta")
    assert first.blocks[1:] == (
        Text(
            "\n<system_info>The files below have been attached by the user, consider them in your response"
            "</system_info>\n<file path='a.md'>\n\n# A\n</file>\n",
            injected=True,
        ),
        Text("$ make\nok\n(exit code 0)", injected=True),
        Media("image/png", 4),
    )
    assert session.messages[2].results[0].content == (Media("image/png", 4),)


def test_the_write_ahead_log_is_read_and_no_file_changes(tmp_path: Path) -> None:
    path = database(tmp_path / ".crush/crush.db", wal=True)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert before["crush.db-wal"]
    assert [part.id for part in parts_of(path)] == ["main", "sub"]
    assert [m.id for m in load(path).context()] == ["sum", "u2", "a3"]
    assert [
        (one.tool, one.format, one.title, one.tokens, one.model, one.folder)
        for one in glances(path)
        if isinstance(one, SessionGlance)
    ] == [("Crush", "crush", "A title", 4_200, "model-x", str(tmp_path))]
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    CONNECTIONS.pop().close()


def test_damage_is_warned_of(tmp_path: Path) -> None:
    path = database(tmp_path / "crush.db")
    base = sqlite3.connect(path)
    base.execute("UPDATE messages SET parts = '{broken' WHERE id = 'a2'")
    base.commit()
    session = load(path, part="main")
    assert [str(warning) for warning in session.warnings] == [
        "the parts of message a2 are not a JSON list; shown as empty"
    ]
    with pytest.raises(BadInput, match="no session 'none'"):
        load(path, part="none")
    base.execute("DELETE FROM messages")
    base.commit()
    base.close()
    with pytest.raises(BadInput, match="no session with a message"):
        load(path)
    path.write_bytes(path.read_bytes().replace(b"completion_tokens INTEGER", b"completion_t)kens INTEGER"))
    with pytest.raises(BadInput, match="the database cannot be read") as refused:
        FORMAT.codec.read(path, path.read_bytes(), no_progress)
    assert "\n" not in str(refused.value), "one sentence, though what is wrong is said with the schema"


def test_a21_a_listed_session_has_the_size_of_the_opened_one(tmp_path: Path) -> None:
    path = database(tmp_path / "project/.crush/crush.db")
    glanced = next(one for one in glances(path) if isinstance(one, SessionGlance) and one.part == "main")
    session = load(path, part="main")
    assert (glanced.tokens, context_at(session, None, Counter()).total.tokens) == (4_200, 4_200)
