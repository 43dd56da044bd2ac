"""Qwen Code's chats: what a compression's record puts in place, what waited for it, and what is on no branch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.formats.files import load
from workbench.formats.format import no_progress
from workbench.formats.qwen_code import FORMAT
from workbench.session import Session, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
ACK = {"role": "model", "parts": [{"text": "Got it. Thanks for the additional context!"}]}
SUMMARY = {"role": "user", "parts": [{"text": "<state_snapshot>so far</state_snapshot>"}]}


def record(id: str, parent: str | None, kind: str, **more: Any) -> Json:
    base = {"uuid": id, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-01-02T03:04:05Z", "cwd": "/w"}
    return {**base, "version": "0.24.4", "type": kind, **more}


def user(id: str, parent: str | None, *parts: Any, **more: Any) -> Json:
    made = [{"text": part} if isinstance(part, str) else part for part in parts]
    return record(id, parent, "user", message={"role": "user", "parts": made}, **more)


def model(id: str, parent: str, *parts: Any, prompt: int = 100) -> Json:
    made = [{"text": part} if isinstance(part, str) else part for part in parts]
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": 7, "totalTokenCount": prompt + 9}
    usage = {**counts, "thoughtsTokenCount": 2, "cachedContentTokenCount": 40}
    message = {"role": "model", "parts": made}
    return record(
        id, parent, "assistant", model="qwen3", message=message, usageMetadata=usage, contextWindowSize=262_144
    )


def answered(id: str, parent: str, call: str, output: str) -> Json:
    part = {"functionResponse": {"id": call, "name": "ls", "response": {"output": output}}}
    return record(id, parent, "tool_result", message={"role": "user", "parts": [part]}, toolCallResult={"callId": call})


def compressed(id: str, parent: str, history: Any, trigger: str = "token_limit") -> Json:
    info = {"originalTokenCount": 900, "newTokenCount": 90, "compressionStatus": 1, "triggerReason": trigger}
    payload = {"info": info, "compressedHistory": history}
    return record(id, parent, "system", subtype="chat_compression", systemPayload=payload)


def call(id: str) -> Json:
    return {"functionCall": {"id": id, "name": "ls", "args": {"path": "."}}}


def read(*records: Json) -> Session:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in records)
    return FORMAT.codec.read(Path("x.jsonl"), data, no_progress)


FIRST = (
    user("u1", None, "look"),
    record("t1", "u1", "system", subtype="ui_telemetry", systemPayload={"uiEvent": {}}),
    model("a1", "t1", {"text": "hm", "thought": True}, "I look.", call("c1")),
    answered("r1", "a1", "c1", "a b"),
)


def test_what_a_record_says() -> None:
    session = read(*FIRST, model("a2", "r1", "Done."))
    assert [(m.id, m.role, m.kind, m.blocks) for m in session.context()] == [
        ("u1", "user", "normal", (Text("look"),)),
        ("a1", "assistant", "normal", (Thinking("hm"), Text("I look."), ToolUse("c1", "ls", {"path": "."}))),
        ("r1", "tool", "normal", (ToolResult("c1", (Text("a b"),)),)),
        ("a2", "assistant", "normal", (Text("Done."),)),
    ]
    assert session.messages[1].usage == Usage(60, 9, 40)
    assert (session.id, session.cwd, session.model, session.title) == ("s", "/w", "qwen3", "look")
    assert (session.epochs[0].window, session.facts.version) == (262_144, "0.24.4")


@pytest.mark.parametrize(
    ("trigger", "waits"), [("token_limit", True), ("manual", False), ("", True)], ids=["automatic", "manual", "unsaid"]
)
def test_what_waited_when_a_compression_ran_is_sent_behind_it(trigger: str, waits: bool) -> None:
    kept = {"role": "model", "parts": [*ACK["parts"], call("c1")]}
    done = compressed("k", "r1", [SUMMARY, kept], trigger)
    session = read(*FIRST, done, model("a2", "k", "Done.", prompt=50))
    assert [m.id for m in session.context()] == ["k:1", "k:2", *(["r1"] if waits else []), "a2"]
    ended = session.epochs[0].ended_by
    assert ended is not None
    assert (ended.trigger, ended.way, ended.summary) == (trigger, "summary", "k:1")
    assert (ended.tokens_before, ended.tokens_after) == (900, 90)
    assert [m.kind for m in session.context()][:2] == ["summary", "normal"]
    assert {session.messages[n].id for n in session.epochs[1].copies} == {"k:2"}
    assert [m.usage for m in session.context()[:2]] == [None, None]


def test_a_request_that_the_new_history_holds_is_not_sent_twice() -> None:
    history = [SUMMARY, ACK, {"role": "user", "parts": [{"text": "go on"}]}]
    session = read(*FIRST, model("a2", "r1", "Done."), user("u2", "a2", "go on"), compressed("k", "u2", history))
    assert [m.id for m in session.context()] == ["k:1", "k:2", "k:3"]
    assert [m.kind for m in session.context()] == ["summary", "summary", "normal"]


def test_a_history_without_a_summary_is_cleared_or_shortened() -> None:
    part = {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "[Old tool result content cleared]"}}}
    cleared = [{"role": "user", "parts": [{"text": "look"}]}, {"role": "user", "parts": [part]}]
    for history, way in ((cleared, "clearing"), (cleared[:1], "removal")):
        ended = read(*FIRST, compressed("k", "r1", history, "manual")).epochs[0].ended_by
        assert ended is not None
        assert (ended.way, ended.summary) == (way, None)


def test_what_a_rewind_took_back_is_on_no_branch() -> None:
    wrong = (user("u2", "r1", "wrong"), model("a2", "u2", "so be it"), compressed("k", "a2", [SUMMARY]))
    back = record("b", "r1", "system", subtype="rewind", systemPayload={"truncatedCount": 2})
    session = read(*FIRST, *wrong, back, user("u3", "b", "right"))
    assert [m.text for m in session.context()] == ["look", "I look.", "", "right"]
    assert (len(session.epochs), len(session.messages), len(session.branch)) == (1, 7, 4)


def test_whose_words_a_record_is() -> None:
    files = ["\n--- Content from referenced files ---", "\nContent from a.md:\n", "# A", "\n--- End of content ---"]
    fired = user("n", "u1", "a build ended", subtype="notification")
    session = read(
        user("u1", None, "read @a.md", *files), fired, user("u2", "n", "and then", subtype="mid_turn_user_message")
    )
    assert [m.user_text for m in session.context()] == ["read @a.md", "", "and then"]
    assert [m.kind for m in session.context()] == ["normal", "meta", "normal"]


def test_a_command_that_was_answered_here_is_not_sent() -> None:
    payload = {"phase": "result", "rawCommand": "/stats", "outputHistoryItems": [{"type": "assistant", "text": "x"}]}
    shown = record("c", "u2", "system", subtype="slash_command", systemPayload=payload)
    session = read(*FIRST, user("u2", "r1", "/stats"), shown)
    assert [m.id for m in session.context()] == ["u1", "a1", "r1"]
    told = {**payload, "sentToModel": True}
    sent = read(*FIRST, user("u2", "r1", "/stats"), {**shown, "systemPayload": told})
    assert sent.context()[-1].id == "u2"


def test_odd_records_are_told(tmp_path: Path) -> None:
    lost = user("u2", "gone", "on")
    session = read(*FIRST, {**FIRST[0]}, lost, {**lost, "uuid": "u3", "parentUuid": ["u2"]})
    assert [str(warning)[:8] for warning in session.warnings] == ["line 5: ", "line 6: ", "line 7: "]
    assert [m.id for m in session.context()][-2:] == ["u2", "u3"]
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(FIRST[1]) + "\n")
    with pytest.raises(BadInput, match="Qwen Code session without messages"):
        load(path)
