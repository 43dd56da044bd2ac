"""goose sessions: database, export and old lines; visibility of messages; files for the import."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.compaction.opening import context_at
from workbench.conformance.formats import assert_exact, read
from workbench.formats import goose
from workbench.formats.files import load
from workbench.formats.format import FILE, Part, no_progress
from workbench.formats.goose import FORMAT
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from workbench.tokens import Counter

SCHEMA = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, user_set_name BOOLEAN, session_type TEXT,
  working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, extension_data TEXT DEFAULT '{}',
  total_tokens INTEGER, accumulated_total_tokens INTEGER, schedule_id TEXT, recipe_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT,
  created_timestamp INTEGER, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
"""


def text(value: str, *audience: str) -> dict[str, Any]:
    return {"type": "text", "text": value, **({"annotations": {"audience": list(audience)}} if audience else {})}


def request(id: str, **arguments: Any) -> dict[str, Any]:
    value = {"name": "shell", "arguments": arguments}
    return {"type": "toolRequest", "id": id, "toolCall": {"status": "success", "value": value}}


def response(id: str, value: Any) -> dict[str, Any]:
    return {"type": "toolResponse", "id": id, "toolResult": {"status": "success", "value": value}}


def message_of(role: str, *content: Any, user: bool = True, agent: bool = True, **more: Any) -> dict[str, Any]:
    metadata = {"userVisible": user, "agentVisible": agent}
    return {"role": role, "created": 1760000000, "content": list(content), "metadata": metadata, **more}


FAILED = {"type": "toolRequest", "id": "t3", "toolCall": {"status": "error", "error": "-32602: no JSON"}}
MESSAGES = [
    message_of("user", text("look"), {"type": "image", "data": "QUJD", "mimeType": "image/png"}),
    message_of(
        "assistant", {"type": "thinking", "thinking": "hm", "signature": "s"}, request("t1", a=1), request("t2"), FAILED
    ),
    message_of(
        "user",
        response("t1", [text("old form"), text("for the person", "user"), text("for both", "user", "assistant")]),
        response("t2", {"content": [text("new form")], "isError": True}),
        {"type": "toolResponse", "id": "t3", "toolResult": {"status": "error", "error": "bad arguments"}},
    ),
    message_of(
        "assistant", {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "shown"}, agent=False
    ),
    message_of("assistant", text("Done."), {"type": "redactedThinking", "data": "x"}),
]
SHAPE = [
    ("user", "normal", (Text("look"), Media("image/png", 4))),
    (
        "assistant",
        "normal",
        (
            Thinking("hm", "s"),
            ToolUse("t1", "shell", {"a": 1}),
            ToolUse("t2", "shell", {}),
            ToolUse("t3", "invalid_call", "-32602: no JSON"),
        ),
    ),
    (
        "tool",
        "normal",
        (
            ToolResult("t1", (Text("old form"), Text("for both"))),
            ToolResult("t2", (Text("new form"),), is_error=True),
            ToolResult("t3", (Text("bad arguments"),), is_error=True),
        ),
    ),
    ("assistant", "normal", (Text("Done."), Opaque("redactedThinking", {"type": "redactedThinking", "data": "x"}))),
]
ABOUT = {"id": "20260101_1", "name": "A name", "working_dir": "/w", "total_tokens": 4242, "extension_data": {"x": 1}}
TIMES = {"created_at": "2026-01-01T10:00:00Z", "updated_at": "2026-01-01T11:00:00Z"}


def document(*messages: Any) -> bytes:
    about = {**ABOUT, **TIMES, "own": "kept", "message_count": len(messages)}
    return json.dumps({**about, "conversation": list(messages)}, indent=2).encode()


def lines(*messages: Any) -> bytes:
    head = {"working_dir": "/w", "description": "A name", "message_count": len(messages), "total_tokens": 4242}
    return b"\n".join(json.dumps(value).encode() for value in [head, *messages])


def database(tmp_path: Path, *messages: Any, wal: bool = False, more: int = 0) -> Path:
    path = tmp_path / "sessions.db"
    base = sqlite3.connect(path)
    base.executescript(("PRAGMA journal_mode=WAL;" if wal else "") + SCHEMA)
    for number in range(more + 1):
        id = ABOUT["id"] if not number else f"20250101_{number}"
        row = (
            id,
            "A name",
            "/w",
            "2026-01-01 10:00:00",
            f"2026-01-0{3 - number} 10:00:00",
            '{"x": 1}',
            4242,
            '{"r": 2}',
        )
        base.execute(
            "INSERT INTO sessions (id, name, working_dir, created_at, updated_at, extension_data, total_tokens,"
            " recipe_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        for value in messages if not number else messages[:1]:
            base.execute(
                "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json)"
                " VALUES (?, ?, ?, ?, ?)",
                (id, value["role"], json.dumps(value["content"]), value["created"], json.dumps(value["metadata"])),
            )
    base.commit()
    if not wal:
        base.close()
    else:
        KEPT_OPEN.append(base)  # closing would move the log into the file
    return path


KEPT_OPEN: list[sqlite3.Connection] = []


def read_file(path: Path) -> Any:
    return FORMAT.codec.read(path, path.read_bytes(), no_progress)


def test_the_three_forms_are_read_alike(tmp_path: Path) -> None:
    path = database(tmp_path, *MESSAGES)
    for data in (document(*MESSAGES), lines(*MESSAGES), path.read_bytes()):
        assert FORMAT.recognise(Look.of(data))
        session = FORMAT.codec.read(path, data, no_progress)
        assert shape(session.context()) == SHAPE
        assert len(session.messages) == 5
        assert (session.title, session.cwd, session.facts.tokens_now) == ("A name", "/w", 4242)
        assert session.messages[0].time == 1760000000
        assert session.warnings == ()
    assert FORMAT.codec.validate(document(*MESSAGES)) == []
    assert FORMAT.codec.validate(lines(*MESSAGES)) == []
    assert "database" in FORMAT.codec.validate(path.read_bytes())[0]


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ({"model_config": {"model_name": "m", "context_limit": 128_000}}, 128_000),
        ({"model_config_json": '{"context_limit": 128000}'}, 128_000),
        ({"model_config_json": "{"}, None),
        ({"model_config": {"context_limit": None}}, None),
        ({}, None),
    ],
)
def test_the_window_is_the_limit_of_the_model_configuration(config: dict[str, Any], window: int | None) -> None:
    about = {**ABOUT, **TIMES, **config, "conversation": MESSAGES}
    session = read(FORMAT, json.dumps(about).encode())
    assert ([epoch.window for epoch in session.epochs], session.warnings) == ([window], ())


def test_a_database_holds_many_sessions(tmp_path: Path) -> None:
    path = database(tmp_path, *MESSAGES, more=2)
    data = path.read_bytes()
    assert goose.FORMAT.codec.sessions_in(path, data) == (
        Part("20260101_1", "A name", 5),
        Part("20250101_1", "A name", 1),
        Part("20250101_2", "A name", 1),
    )
    session = read_file(path)
    assert (session.id, str(session.warnings[0])) == (
        "20260101_1",
        "holds 3 sessions; this is the most recently used one",
    )
    assert len(goose.FORMAT.codec.read_part(path, data, "20250101_2", no_progress).messages) == 1
    with pytest.raises(BadInput, match="no session 'x'"):
        goose.FORMAT.codec.read_part(path, data, "x", no_progress)
    assert path.read_bytes() == data
    assert [each.name for each in tmp_path.iterdir()] == ["sessions.db"]


def test_the_write_ahead_log_is_read_and_no_file_changes(tmp_path: Path) -> None:
    path = database(tmp_path, *MESSAGES, wal=True)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert "sessions.db-wal" in before
    assert shape(read_file(path).context()) == SHAPE
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    KEPT_OPEN.pop().close()
    assert path.read_bytes()[18:20] == b"\x02\x02"
    assert shape(read_file(path).context()) == SHAPE


@pytest.mark.parametrize("script", ["CREATE TABLE sessions (id)", "CREATE TABLE x (y)", SCHEMA])
def test_other_databases_are_refused(tmp_path: Path, script: str) -> None:
    path = tmp_path / "other.db"
    base = sqlite3.connect(path)
    base.executescript(script)
    base.close()
    assert bool(FORMAT.recognise(Look.of(path.read_bytes()))) == (script == SCHEMA)
    with pytest.raises(BadInput):
        read_file(path)


def test_a_broken_database_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = database(tmp_path, *MESSAGES)
    data = bytearray(path.read_bytes())
    data[100:4096] = bytes(3996)
    for broken in (bytes(data), bytes(data[:5000]), bytes(data[:100])):
        with pytest.raises(BadInput):
            FORMAT.codec.read(path, broken, no_progress)


SUMMARY = message_of("user", text("We looked."), user=False)
ANSWER = message_of("assistant", text("Your context was compacted. The previous message…"), user=False)


def test_a_compaction_hides_and_does_not_delete() -> None:
    hidden = [{**message, "metadata": {"userVisible": True, "agentVisible": False}} for message in MESSAGES]
    session = read(FORMAT, document(*hidden, SUMMARY, ANSWER, message_of("user", text("look"))))
    first, second = session.epochs
    assert [len(first.members), len(second.members)] == [4, 3]
    assert first.ended_by is not None
    assert first.ended_by.summary == session.context()[0].id
    assert [m.kind for m in session.context()] == ["summary", "summary", "normal"]
    assert_exact(FORMAT, session, session.context()[:1])
    pinned = session.messages[0]
    written = assert_exact(FORMAT, session, (pinned, *session.context()[:2]))
    entries = json.loads(written.data)["conversation"]
    assert [entry["metadata"]["agentVisible"] for entry in entries] == [False] * 5 + [True] * 3
    old = [{**message, "metadata": {"userVisible": False, "agentVisible": False}} for message in (SUMMARY, ANSWER)]
    twice = read(FORMAT, document(*hidden, *old, *hidden[:2], SUMMARY, ANSWER))
    assert [len(epoch.members) for epoch in twice.epochs] == [4, 4, 2]


def test_text_that_goose_adds_to_a_request_is_not_user_text() -> None:
    info = "<info-msg>\nIt is currently Monday.\n</info-msg>"
    session = read(FORMAT, document(message_of("user", text("go on"), text(info)), message_of("user", text(info))))
    assert [(m.user_text, m.kind) for m in session.context()] == [("go on", "normal"), ("", "meta")]


def test_the_sessions_cost_and_model_are_read() -> None:
    about = {"accumulated_cost": 0.75, "model_config": {"model_name": "claude-x", "context_limit": 200_000}}
    session = read(FORMAT, json.dumps({**json.loads(document(*MESSAGES)), **about}).encode())
    assert (session.facts.cost, session.model) == (0.75, "claude-x")
    none = read(FORMAT, json.dumps({**json.loads(document(*MESSAGES)), "model_config_json": "{broken"}).encode())
    assert (none.facts.cost, none.model, none.epochs[0].window) == (None, None, None)


@pytest.mark.parametrize("form", [document, lines])
def test_an_export_has_the_form_that_goose_imports(form: Any) -> None:
    session = read(FORMAT, form(*MESSAGES))
    node = Message("n", "user", (Text("Short."),), "summary")
    written = assert_exact(FORMAT, session, (node, *session.context()[1:]))
    value = json.loads(written.data)
    entries = value["conversation"]
    assert [entry["metadata"] for entry in entries[:3]] == [
        {"userVisible": True, "agentVisible": False},
        {"userVisible": True, "agentVisible": False},
        {"userVisible": False, "agentVisible": True},
    ]
    assert entries[3:] == [*MESSAGES[1:3], MESSAGES[4]]
    assert (value["total_tokens"], value["message_count"], value["id"]) == (None, 6, written.id)
    assert (value["name"], value["working_dir"]) == ("A name", "/w")
    assert value.get("own") == ("kept" if form is document else None)
    again = FORMAT.codec.write(session, session.context())
    assert again.data == form(*MESSAGES)


def test_a_session_of_a_database_is_exported_and_its_content_kept(tmp_path: Path) -> None:
    path = database(tmp_path, *MESSAGES)
    session = read_file(path)
    written = assert_exact(FORMAT, session, session.context())
    value = json.loads(written.data)
    assert all(json.dumps(message["content"]).encode() in written.data for message in MESSAGES)
    assert (value["extension_data"], value["recipe"], value["created_at"]) == (
        {"x": 1},
        {"r": 2},
        "2026-01-01T10:00:00.000Z",
    )
    assert written.commands == (("goose", "session", "import", FILE), ("goose", "session", "--resume"))


def test_written_messages_are_read_again() -> None:
    session = read(FORMAT, document(*MESSAGES))
    new_messages = [
        Message("a", "user", (Text("a reminder"),), "meta"),
        Message("b", "assistant", (Thinking("so", "s"), ToolUse("z", "invalid_call", "error"), ToolUse("y", "f", {}))),
        Message("c", "tool", (ToolResult("z", (), is_error=True), ToolResult("y", (Text("1"), Text("2"))))),
        Message("d", "assistant", (Text("first"),), "summary"),
    ]
    assert_exact(FORMAT, session, (*new_messages, *session.context()[-1:]))


def test_odd_entries_are_warned_of(tmp_path: Path) -> None:
    session = read(FORMAT, lines(*MESSAGES) + b"\n7\n{broken\n")
    assert [str(warning)[:7] for warning in session.warnings] == ["line 7:", "line 8:"]
    assert len(read(FORMAT, document("x", *MESSAGES)).warnings) == 1
    path = database(tmp_path, *MESSAGES)
    base = sqlite3.connect(path)
    base.execute("UPDATE messages SET content_json = '{broken', metadata_json = NULL WHERE id = 1")
    base.commit()
    base.close()
    assert "is not JSON" in str(read_file(path).warnings[0])
    for data in (lines(), document(), b'{"conversation": 1}'):
        with pytest.raises(BadInput):
            read(FORMAT, data)


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        ([message_of("user", text("x"), agent=False)], ["There is no message that the agent would see."]),
        ([message_of("robot", text("x"))], ["Message 1 is neither a user nor an assistant message."]),
        ([{**message_of("user", text("x")), "created": 1.5}], ["Message 1 has no time of creation in whole seconds."]),
        ([message_of("user")], ["Message 1 has no content."]),
        ([message_of("user", {"type": "strange"})], ["Message 1 has content of a type that goose does not know."]),
        ([message_of("user", {"type": "text"})], ["Message 1 has a text part without a text."]),
        (
            [message_of("user", {"type": "toolResponse", "id": "x"})],
            [
                "Message 1 has a toolResponse without an id or a status.",
                "Message 1 has a response without a request before it, so goose removes it.",
            ],
        ),
        (
            [message_of("user", response("x", []))],
            ["Message 1 has a response without a request before it, so goose removes it."],
        ),
        (
            [MESSAGES[0], message_of("assistant", request("t")), MESSAGES[0]],
            ["Message 2 has a request without a response, so goose removes it."],
        ),
        (
            [MESSAGES[4]],
            ["Message 1 is the first message the agent would see and an assistant's, so goose removes it."],
        ),
    ],
)
def test_the_rules_find_each_fault(messages: list[Any], faults: list[str]) -> None:
    assert FORMAT.codec.validate(document(*messages)) == faults
    in_lines = [re.sub(r"Message (\d+)", lambda found: f"Line {int(found[1]) + 1}", fault) for fault in faults]
    assert FORMAT.codec.validate(lines(*messages)) == in_lines


def test_the_rules_find_faults_around_the_messages() -> None:
    assert FORMAT.codec.validate(document({**MESSAGES[0], "metadata": None})) == ["Message 1 does not say who sees it."]
    demanded = ("id", "working_dir", "created_at", "updated_at", "extension_data", "message_count", "name")
    assert FORMAT.codec.validate(b'{"conversation": []}') == [
        *(f"It has no {key}, which the import requires." for key in demanded),
        "There is no message that the agent would see.",
    ]
    broken = lines(*MESSAGES) + b"\n{broken"
    assert FORMAT.codec.validate(broken) == ["Line 7 is not a JSON object, so goose would skip it."]


def test_a17_the_size_in_the_header_is_that_of_the_context(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(lines(*MESSAGES))
    assert context_at(load(path), None, Counter()).total.tokens == 4_242
