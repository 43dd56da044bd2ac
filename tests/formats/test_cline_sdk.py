"""Cline SDK sessions: its own blocks, both kinds of compaction, and files as agentic compaction leaves them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.building import session_of
from workbench.conformance.formats import assert_exact
from workbench.conformance.formats import read as reread
from workbench.finding.glances import glance
from workbench.formats.cline_sdk import FORMAT, recognise_folder
from workbench.formats.cline_sdk.read import read_folder
from workbench.formats.export import export, save
from workbench.formats.format import no_progress
from workbench.formats.glance import SessionGlance
from workbench.formats.read_back import shape
from workbench.session import Compaction, Media, Message, Session, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
METRICS = {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 30, "cost": 0.1}


def new_item(id: str, role: str, *content: Any, **more: Any) -> Json:
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    return {"id": id, "role": role, "content": blocks, "ts": 1_700_000_000_000, **more}


MESSAGES = (
    new_item(
        "u1",
        "user",
        "look at this",
        {"type": "file", "path": "/w/a.py", "content": "print()"},
        {"type": "image", "mediaType": "image/png", "data": "QUJD"},
    ),
    new_item(
        "a1",
        "assistant",
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "t1", "name": "read_files", "input": {"files": [{"path": "/w/b.py"}]}},
        {"type": "tool_use", "id": "t2", "name": "editor", "input": {"path": "/w/c.py"}},
        metrics=METRICS,
        modelInfo={"id": "m-1"},
    ),
    new_item(
        "u2",
        "user",
        {"type": "tool_result", "tool_use_id": "t1", "name": "x", "content": [{"query": "q", "result": "r"}]},
        {"type": "tool_result", "tool_use_id": "t2", "name": "x", "content": "ok", "is_error": True},
    ),
    new_item("a2", "assistant", "done", unknown={"kept": 1}),
)


def document(*messages: Any, **more: Any) -> Json:
    head = {
        "version": 1,
        "updated_at": "2026-01-01T00:00:00Z",
        "agent": "lead",
        "sessionId": "1_a",
        "messages": messages,
    }
    return {**head, "system_prompt": "Be brief.", "extra": [1], **more}


def read(*messages: Any) -> Session:
    return FORMAT.codec.read(Path("1_a.messages.json"), json.dumps(document(*messages)).encode(), no_progress)


def load(path: Path) -> Session:
    return FORMAT.codec.read(path, path.read_bytes(), no_progress)


def test_real_compactions_become_epochs(shared: Path) -> None:
    folder = shared / "sessions/cline-sdk"
    data = (folder / "agentic.compaction.json").read_bytes()
    session = FORMAT.codec.read(folder, data, no_progress)
    assert [m.kind for m in session.messages] == ["summary", "normal", "normal"]
    assert session.messages[0].time == 1784245216.178
    basic = FORMAT.codec.read(folder, (folder / "basic.compaction.json").read_bytes(), no_progress)
    assert basic.messages[0].starts_round


def test_a_folder_adds_title_and_cwd_from_its_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "1_a"
    folder.mkdir()
    (folder / "1_a.messages.json").write_text(json.dumps(document(*MESSAGES)))
    (folder / "1_a.json").write_text(json.dumps({"cwd": "/w", "metadata": {"title": "T"}}))
    assert recognise_folder(folder)
    session = read_folder(folder, no_progress)
    assert (session.cwd, session.title, session.id) == ("/w", "T", "1_a")
    (folder / "1_a.messages.json").rename(folder / "b.messages.json")
    (folder / "c.messages.json").write_text("{}")
    assert not recognise_folder(folder)
    with pytest.raises(BadInput, match="does not have exactly one"):
        read_folder(folder, no_progress)


def test_a_file_is_read_with_its_manifest(tmp_path: Path) -> None:
    """A file opened by its name has the cwd of its manifest, to which resume commands lead."""
    path = tmp_path / "1_a.messages.json"
    path.write_text(json.dumps(document(*MESSAGES)))
    assert load(path).cwd is None
    (tmp_path / "1_a.json").write_text(json.dumps({"cwd": "/w", "metadata": {"title": "Loaves"}, "provider": "p"}))
    by_file, by_folder = load(path), read_folder(tmp_path, no_progress)
    assert (by_file.cwd, by_file.title, by_file.facts) == ("/w", "Loaves", by_folder.facts)
    assert replace(by_file, path=tmp_path, records=by_folder.records) == by_folder
    glanced = [glance(one) for one in (path, tmp_path)]
    assert [one.folder for one in glanced if isinstance(one, SessionGlance)] == ["/w", "/w"]


def test_items_become_messages() -> None:
    session = read(*MESSAGES)
    assert shape(session.context()) == [
        (
            "user",
            "normal",
            (
                Text("look at this"),
                Text('<file path="/w/a.py">\nprint()\n</file>', injected=True),
                Media("image/png", 4),
            ),
        ),
        (
            "assistant",
            "normal",
            (
                Thinking("hm", "s"),
                ToolUse("t1", "read_files", {"files": [{"path": "/w/b.py"}]}),
                ToolUse("t2", "editor", {"path": "/w/c.py"}),
            ),
        ),
        (
            "tool",
            "normal",
            (ToolResult("t1", (Text('{"query":"q","result":"r"}'),)), ToolResult("t2", (Text("ok"),), True)),
        ),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert session.messages[1].usage == Usage(10, 7, 60, 30, cost=0.1)
    assert (session.id, session.model, session.title) == (
        "1_a",
        "m-1",
        "look at this",
    )


def test_an_export_is_an_agentic_compaction() -> None:
    session = read(*MESSAGES)
    summary = Message("s", "user", (Text("in short"),), "summary")
    reply = Message("r", "assistant", (Text("Ok."),), "summary")
    written = assert_exact(FORMAT, session, (summary, reply, *session.messages[3:]))
    after = json.loads(written.data)
    first, second, last = after["messages"]
    assert first["metadata"] | {"generatedAt": 0} == {
        "kind": "compaction_summary",
        "summary": "in short",
        "details": {"readFiles": ["/w/b.py"], "modifiedFiles": ["/w/c.py"]},
        "tokensBefore": 100,
        "generatedAt": 0,
    }
    assert second["metadata"] == {"workbench_kind": "summary"}
    assert last == {**MESSAGES[3], "metadata": {"workbench_spent": True}}
    assert after["extra"] == [1]
    assert written.name == f"{written.id}.messages.json"
    exported = FORMAT.codec.read(Path("x"), written.data, no_progress)
    other = Message("t", "user", (Text("shorter"),), "summary")
    handed_on = assert_exact(FORMAT, exported, (other, *exported.context()))
    one, two = json.loads(handed_on.data)["messages"][:2]
    assert one["metadata"]["details"]["readFiles"] == ["/w/b.py"]
    assert two["metadata"]["kind"] == "kept"


def test_usage_of_the_earlier_context_is_stale() -> None:
    """Messages after the SDK's summary were billed before it; messages that this program keeps have its mark."""
    summary = {
        "role": "user",
        "content": "so far",
        "metadata": {"kind": "compaction_summary", "generatedAt": 1_700_000_000_000 + 2_000},
    }
    after = {
        **MESSAGES[3],
        "id": "new",
        "ts": 1_700_000_000_000 + 3_000,
        "metrics": {"inputTokens": 50, "outputTokens": 1},
    }
    assert [m.usage and m.usage.context for m in read(summary, *MESSAGES, after).messages] == [None] * 5 + [50]
    session = read(*MESSAGES)
    trimmed = FORMAT.codec.write(session, session.context()[1:])
    assert [m.usage for m in reread(FORMAT, trimmed.data).messages] == [None] * 3
    shorter = FORMAT.codec.write(session, session.context()[1:3])
    assert [m.usage for m in reread(FORMAT, shorter.data).messages] == [None] * 2, "the marked one's own bill, too"
    zeros = {**after, "metrics": {"inputTokens": 0, "outputTokens": 0}}
    assert [m.usage and m.usage.context for m in read(*MESSAGES, zeros).messages] == [None, 100, None, None, None]


def test_text_that_the_agent_added_is_not_user_text() -> None:
    content = [
        {"type": "text", "text": '<user_input mode="act">fix it</user_input>'},
        {"type": "text", "text": "<SYSTEM_NOTICE>\nEarlier context was compacted.\n</SYSTEM_NOTICE>"},
    ]
    assert read({"role": "user", "content": content}).messages[0].user_text == "fix it"


SUMMARY = {
    "role": "user",
    "content": [{"type": "text", "text": "Context summary:\n\nshort"}],
    "metadata": {"kind": "compaction_summary", "tokensBefore": 900, "details": {"readFiles": ["/w/old.py"]}},
}
LATER = (new_item("u3", "user", "and now?"), new_item("a3", "assistant", "later"))


def session_with_sidecar(folder: Path, count: int, last: str, *messages: Json) -> Path:
    """Return a session of six messages whose sidecar file holds a compaction as by Cline 3.0.65."""
    state = {
        "version": 1,
        "updated_at": "2026-01-01T00:00:09.000Z",
        "source_message_count": count,
        "source_prefix_hash": "sha256:0",
        "source_last_message_key": last,
        "messages": messages,
    }
    (folder / "1_a.messages.json").write_text(json.dumps(document(*MESSAGES, *LATER)))
    (folder / "1_a.compaction.json").write_text(json.dumps(state))
    return folder / "1_a.messages.json"


def test_a_compaction_in_a_sidecar_file_is_the_context(tmp_path: Path) -> None:
    """Cline 3.0.65 continues with its messages and those after the ones that they replace."""
    path = session_with_sidecar(tmp_path, 4, "id:a2", SUMMARY, MESSAGES[3])
    session = load(path)
    assert [message.id for message in session.context(1)] == ["u1", "a1", "u2", "a2"]
    assert [message.id for message in session.context()] == ["m7", "a2", "u3", "a3"]
    summary = session.context()[0]
    assert (summary.kind, summary.text, summary.source) == ("summary", "Context summary:\n\nshort", ())
    assert session.epochs[0].ended_by == Compaction("", 900, "m7", 1767225609.0, kept_ids=("a2",))
    assert session.messages[1].usage is not None, "billed in the epoch before"


@pytest.mark.parametrize(("count", "last"), [(4, "id:a1"), (3, "id:a2"), (5, "id:a2"), (7, "id:a3"), (0, "id:a3")])
def test_a_compaction_of_other_messages_is_ignored(tmp_path: Path, count: int, last: str) -> None:
    session = load(session_with_sidecar(tmp_path, count, last, SUMMARY))
    assert [message.id for message in session.context()] == ["u1", "a1", "u2", "a2", "u3", "a3"]
    assert [str(warning) for warning in session.warnings] == [
        "ignored a compaction that belongs to other messages, as Cline does"
    ]


def test_a_compaction_of_all_messages_keeps_none_after_it(tmp_path: Path) -> None:
    assert [m.id for m in load(session_with_sidecar(tmp_path, 6, "id:a3", SUMMARY)).context()] == ["m7"]


def test_a_message_that_a_compaction_shortened_is_a_copy_without_usage(tmp_path: Path) -> None:
    """Basic compaction leaves a user message with a notice, and an answer without a part."""
    noticed = {**MESSAGES[0], "content": MESSAGES[0]["content"][:1], "metadata": {"kind": "compaction"}}
    shorter = {**MESSAGES[1], "content": MESSAGES[1]["content"][:1]}
    session = load(session_with_sidecar(tmp_path, 4, "id:a2", noticed, shorter, MESSAGES[3]))
    assert [m.id for m in session.context()] == ["u1'2", "a1'2", "a2", "u3", "a3"]
    assert (session.epochs[1].copies, session.messages[7].usage) == (frozenset({6, 7}), None)
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.way, compaction.summary, compaction.kept_ids) == ("removal", None, ("a2",))


def test_display_only_messages_are_not_sent(tmp_path: Path) -> None:
    """An error shown to the user is neither in the context nor among the compacted messages."""
    error = new_item("e", "assistant", "no network", metadata={"displayOnly": True, "displayRole": "error"})
    assert [m.id for m in read(MESSAGES[0], error, *LATER).context()] == ["u1", "u3", "a3"]
    path = session_with_sidecar(tmp_path, 4, "id:a2", SUMMARY)
    path.write_text(json.dumps(document(error, *MESSAGES, *LATER)))
    assert [m.id for m in load(path).context()] == ["m8", "u3", "a3"]


def test_the_export_of_a_compacted_session_is_one_file(tmp_path: Path) -> None:
    """It holds the compaction's messages. The manifest must not name the old sidecar file: Cline would write there."""
    path = session_with_sidecar(tmp_path, 4, "id:a2", SUMMARY, MESSAGES[3])
    (tmp_path / "1_a.json").write_text(json.dumps({"cwd": "/w", "compaction_path": "/old", "more": 1}))
    session = read_folder(path.parent.rename(tmp_path.parent / "1_a"), no_progress)
    written = FORMAT.codec.write(session, session.context())
    first, *rest = json.loads(written.data)["messages"]
    assert first["metadata"]["details"] == {"readFiles": ["/w/b.py"], "modifiedFiles": ["/w/c.py"]}
    assert [item["id"] for item in rest] == ["a2", "u3", "a3"]
    about = json.loads((written.sidecar or ("", b""))[1])
    assert ("compaction_path" in about, about["more"]) == (False, 1)


def test_a_system_prompt_is_exported() -> None:
    messages = (Message("1", "user", (Text("do it"),)),)
    written = assert_exact(FORMAT, session_of(list(messages), system="Be kind."), messages)
    assert reread(FORMAT, written.data).system == "Be kind."


def test_results_of_parallel_calls_may_be_separate_messages() -> None:
    """Cline 3.0.65 writes them so."""
    first, second = (new_item(f"r{n}", "user", MESSAGES[2]["content"][n]) for n in (0, 1))
    whole = document(*MESSAGES[:2], first, second, MESSAGES[3])
    assert FORMAT.codec.validate(json.dumps(whole).encode()) == []
    cut = document(*MESSAGES[:2], first, MESSAGES[3])
    assert FORMAT.codec.validate(json.dumps(cut).encode()) == ["Message 4 has no result for the call t2 of message 2."]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"version": 2}, ["The version is 2, not 1."]),
        ({"sessionId": ""}, ["It has no sessionId."]),
        ({"messages": []}, ["There are no messages."]),
        ({"messages": [*MESSAGES, MESSAGES[3]]}, ["Message 5 has no id of its own."]),
        (
            {"messages": [MESSAGES[0], MESSAGES[3], MESSAGES[2]]},
            [
                "Message 3 has the result t1, which answers no call of the response before it.",
                "Message 3 has the result t2, which answers no call of the response before it.",
            ],
        ),
        (
            {"messages": [MESSAGES[0], MESSAGES[1], MESSAGES[3]]},
            [
                "Message 3 has no result for the call t1 of message 2.",
                "Message 3 has no result for the call t2 of message 2.",
            ],
        ),
        ({"messages": [MESSAGES[3]]}, ["Message 1 is an assistant message; the first must be a user message."]),
        (
            {"messages": [MESSAGES[0], new_item("x", "user", metadata={})]},
            ["Message 2 has no content, or one that is neither text nor a list of blocks."],
        ),
        ({"messages": [new_item("x", "system", "y")]}, ["Message 1 is neither a user nor an assistant message."]),
        (
            {"messages": [MESSAGES[0], new_item("x", "user", "y", metadata={"kind": "compaction_summary"})]},
            ["Message 2 is a summary, so the next compaction drops the messages before it."],
        ),
        ({"messages": [new_item("x", "user", {"type": 3})]}, ["Message 1 has a block without a type."]),
    ],
)
def test_the_validator_finds(change: Json, faults: list[str]) -> None:
    assert FORMAT.codec.validate(json.dumps(document(*MESSAGES)).encode()) == []
    changed = {**document(*MESSAGES), **change}
    assert FORMAT.codec.validate(json.dumps(changed).encode()) == faults


def test_an_export_comes_with_the_manifest_by_which_cline_finds_it(tmp_path: Path) -> None:
    """Cline 3.0.65 resumes it: `session_id` and `messages_path` are new, and nothing else changes."""
    folder = tmp_path / "1_a"
    folder.mkdir()
    (folder / "1_a.messages.json").write_text(json.dumps(document(*MESSAGES)))
    about = {
        "version": 1,
        "session_id": "1_a",
        "messages_path": "/old",
        "cwd": "/w d",
        "provider": "p",
        "more": {"x": 1},
    }
    (folder / "1_a.json").write_text(json.dumps(about))
    session = read_folder(folder, no_progress)
    exported = export(session, session.context()[:1])
    id, home = exported.written.id, Path.home() / ".cline/data/sessions"
    assert (exported.written.folder, exported.written.commands) == ("/w d", (("cline", "--id", id),))
    saved = save(exported, tmp_path)
    session_with_sidecar = json.loads((tmp_path / f"{id}.json").read_text())
    new = {"session_id": id, "messages_path": str(home / id / f"{id}.messages.json")}
    assert {key: session_with_sidecar[key] for key in about} == about | new
    assert saved.where == tmp_path / f"{id}.messages.json"


def test_a_session_without_a_manifest_gets_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cline 3.0.65 resumed a session with these fields."""
    monkeypatch.chdir(tmp_path)
    session = session_of([Message("u", "user", (Text("hi"),), time=0.5)], model="m")
    written = FORMAT.codec.write(session, session.context())
    assert written.sidecar is not None
    assert written.sidecar[0] == f"{written.id}.json"
    assert json.loads(written.sidecar[1]) == {
        "version": 1,
        "source": "cli",
        "pid": 0,
        "started_at": "1970-01-01T00:00:00.500Z",
        "status": "completed",
        "interactive": False,
        "provider": "cline",
        "model": "m",
        "cwd": str(tmp_path),
        "workspace_root": str(tmp_path),
        "enable_tools": True,
        "enable_spawn": True,
        "enable_teams": True,
        "session_id": written.id,
        "messages_path": str(Path.home() / f".cline/data/sessions/{written.id}/{written.name}"),
    }


def test_a_result_names_its_tool() -> None:
    """Otherwise Cline 3.0.65 opens the session, and refuses to send anything."""
    call, other = ToolUse("t1", "search", {}), ToolResult("t9", (Text("lost"),))
    messages = [
        Message("u", "user", (Text("hi"),)),
        Message("a", "assistant", (call,)),
        Message("r", "tool", (ToolResult("t1", (Text("found"),)), other)),
    ]
    written = FORMAT.codec.write(session_of(messages), messages)
    items = json.loads(written.data)["messages"]
    found = [block["name"] for item in items for block in item["content"] if block["type"] == "tool_result"]
    assert found[0] == "search"
    nameless = json.dumps(document(*MESSAGES)).replace(', "name": "x"', "", 1)
    assert FORMAT.codec.validate is not None
    assert "Message 3 has the result t1, which does not name its tool." in FORMAT.codec.validate(nameless.encode())


def test_nothing_is_saved_where_the_file_next_to_it_exists(tmp_path: Path) -> None:
    """The session was written before its manifest was found to exist."""
    messages = [Message("1", "user", (Text("do it"),))]
    exported = export(session_of(messages), messages, "cline-sdk")
    assert exported.written.sidecar is not None
    manifest = tmp_path / exported.written.sidecar[0]
    manifest.write_text("theirs")
    with pytest.raises(BadInput, match=f"{manifest.name} exists"):
        save(exported, tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(manifest.name, "theirs")]
    save(exported, tmp_path, overwrite=True)
    assert manifest.read_bytes() == exported.written.sidecar[1]
