"""Cursor: conversations in its database, their summaries, and transcripts without results."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import files
from workbench.formats.cursor import FORMAT
from workbench.formats.format import no_progress
from workbench.session import Session

Json = dict[str, Any]


def user(text: str) -> Json:
    return {"type": 1, "text": text, "createdAt": "2026-02-01T10:00:00Z"}


def agent(text: str = "", **more: Any) -> Json:
    return {"type": 2, "text": text, **more}


def call(name: str, **more: Any) -> Json:
    tool = {"toolCallId": f"t-{name}", "name": name, "rawArgs": '{"n": 1}', "result": "found", "status": "completed"}
    return agent(toolFormerData={**tool, **more})


def database(*conversations: tuple[Json, list[Json]]) -> bytes:
    """Return a database of conversations; the bubbles of each are b0, b1, …"""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
    for number, (about, bubbles) in enumerate(conversations):
        heads = [{"bubbleId": f"b{place}", "type": bubble["type"]} for place, bubble in enumerate(bubbles)]
        composer = {"name": f"n{number}", "lastUpdatedAt": number, "fullConversationHeadersOnly": heads, **about}
        rows = [(f"composerData:c{number}", composer)]
        rows += [(f"bubbleId:c{number}:b{place}", bubble) for place, bubble in enumerate(bubbles)]
        connection.executemany(
            "INSERT INTO cursorDiskKV VALUES (?, ?)", [(key, json.dumps(value)) for key, value in rows]
        )
    connection.commit()
    return connection.serialize()


def read_bubbles(bubbles: list[Json], **about: Any) -> Session:
    return FORMAT.codec.read(Path("state.vscdb"), database((about, bubbles)), no_progress)


def texts(session: Session, epoch: int | None = None) -> list[str]:
    return [message.text or "".join(result.text for result in message.results) for message in session.context(epoch)]


TURNS = [user("one"), agent("1"), user("two"), agent("2"), user("three"), agent("3")]


def test_a_response_has_several_bubbles() -> None:
    thought = agent(thinking={"text": "hm", "signature": "s"})
    session = read_bubbles([user("go"), thought, agent("Look."), call("read"), agent("Done.")])
    assert [(message.role, [type(block).__name__ for block in message.blocks]) for message in session.context()] == [
        ("user", ["Text"]),
        ("assistant", ["Thinking", "Text", "ToolUse"]),
        ("tool", ["ToolResult"]),
        ("assistant", ["Text"]),
    ]
    assert session.context()[1].calls[0].input == {"n": 1}


@pytest.mark.parametrize(
    ("more", "failed"), [({}, False), ({"status": "error"}, True), ({"result": "", "error": "no such file"}, True)]
)
def test_a_failed_call(more: Json, failed: bool) -> None:
    session = read_bubbles([user("go"), call("read", **more)])
    assert [result.is_error for result in session.context()[2].results] == [failed]


def test_a_summary_precedes_the_bubbles_after_its_last_one() -> None:
    summary = json.dumps({"summary": "S", "truncationLastBubbleIdInclusive": "b1"})
    turns = [*TURNS[:4], user("three"), agent("3", conversationSummary=summary)]
    session = read_bubbles(turns)
    assert (texts(session, 1), texts(session)) == (["one", "1", "two", "2", "three"], ["S", "two", "2", "three", "3"])
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (session.context()[0].kind, list(compaction.kept_ids)) == ("summary", ["b2", "b3", "b4"])


def test_the_newest_summary_is_in_the_conversation_if_no_bubble_has_one() -> None:
    inner = {"summary": "S", "clientShouldStartSendingFromInclusiveBubbleId": "b2"}
    session = read_bubbles(TURNS, latestConversationSummary={"summary": inner, "lastBubbleId": "b3"})
    assert (texts(session, 1), texts(session)) == (["one", "1", "two", "2"], ["S", "two", "2", "three", "3"])
    old = read_bubbles(TURNS, latestConversationSummary={"summary": "S", "lastBubbleId": "b3"})
    assert (texts(old, 1), texts(old)) == (["one", "1", "two", "2"], ["S", "three", "3"])


def test_conversations_are_listed_newest_first(tmp_path: Path) -> None:
    data = database(({}, TURNS), ({"contextTokenLimit": 200_000, "contextTokensUsed": 41_000}, TURNS[:2]), ({}, []))
    path = tmp_path / "state.vscdb"
    path.write_bytes(data)
    session = files.load(path)
    assert (session.id, session.epochs[-1].window, session.facts.tokens_now) == ("c1", 200_000, 41_000)
    assert [str(one) for one in session.warnings] == ["holds 2 conversations; this is the most recently used one"]
    sessions_in = FORMAT.codec.sessions_in
    assert sessions_in is not None
    parts = sessions_in(Path("x"), data)
    assert [(one.id, one.title, one.messages) for one in parts] == [("c1", "n1", 2), ("c0", "n0", 6)]
    with pytest.raises(BadInput, match=r"has no conversation 'x'; choose a listed one\.$"):
        files.load(path, part="x")


def test_a_transcript_has_calls_and_no_results() -> None:
    session = files.load(SAMPLES / "cursor-transcript.jsonl")
    assert [(message.role, message.user_text, len(message.calls)) for message in session.context()] == [
        ("user", "When can the barge leave on Sunday? Not in the dark.", 0),
        ("assistant", "", 1),
        ("assistant", "", 0),
        ("user", "Is that before sunrise?", 0),
    ]
    assert [str(one) for one in session.warnings] == [
        "has no tool results and no usage: Cursor does not write them to an agent's transcript"
    ]
