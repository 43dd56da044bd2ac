"""Droid sessions: who is meant to see a message, what a compaction keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import files
from workbench.formats.droid import FORMAT
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.session import Session

START = {"type": "session_start", "id": "s", "title": "t", "owner": "unknown", "version": 2, "cwd": "/w"}


def said(id: str, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if text else []
    return {"type": "message", "id": id, "message": {"role": role, "content": content, **more}}


TURNS = [said("u1", "user", "first"), said("a1", "assistant", "one"), said("u2", "user", "second")]


def opened(*lines: dict[str, Any]) -> Session:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in (START, *lines))
    assert FORMAT.recognise(Look.of(data))
    return FORMAT.codec.read(Path("s.jsonl"), data, no_progress)


def ids(session: Session, epoch: int | None = None) -> list[str]:
    return [message.id for message in session.context(epoch)]


@pytest.mark.parametrize(
    ("anchor", "kept"), [({"id": "a1", "index": 1}, ["u2"]), ({"id": "u2", "index": 2}, []), (None, [])]
)
def test_what_stands_behind_the_anchor_stays(anchor: Any, kept: list[str]) -> None:
    state = {"type": "compaction_state", "id": "c", "summaryText": "S", "anchorMessage": anchor}
    session = opened(*TURNS, state, said("u3", "user", "third"))
    assert (ids(session, 1), ids(session)) == (["u1", "a1", "u2"], ["c", *kept, "u3"])
    ended = session.epochs[0].ended_by
    assert ended is not None
    assert (ended.summary, list(ended.kept)) == ("c", kept)
    assert session.warnings == ()


def test_an_anchor_that_is_not_there_is_warned_of() -> None:
    state = {"type": "compaction_state", "id": "c", "summaryText": "S", "anchorMessage": {"id": "x"}}
    session = opened(*TURNS, state)
    assert ids(session) == ["c"]
    assert [str(warning) for warning in session.warnings] == [
        "line 5: its anchor is not an earlier message; nothing is kept"
    ]


def test_a_session_that_begins_with_a_summary_has_one_epoch() -> None:
    about = "<system-reminder>User system info</system-reminder>"
    state = {"type": "compaction_state", "id": "c", "summaryText": "S", "systemInfoText": about}
    session = opened(state, said("u", "user", "What was my question?"))
    assert len(session.epochs) == 1
    first = session.context()[0]
    assert (first.kind, [getattr(block, "injected", None) for block in first.blocks]) == ("summary", [False, True])
    assert "<summary>\nS\n</summary>" in first.text


def test_who_is_meant_to_see_a_message() -> None:
    tools = said("m", "user", "the tools", visibility="llm_only")
    hook, note = said("h", "user", "", visibility="user_only"), said("n", "user", "a note", visibility="user_only")
    session = opened(tools, hook, note, *TURNS)
    assert ids(session) == ["m", "u1", "a1", "u2"]
    assert [(message.kind, message.said) for message in session.context()[:2]] == [("meta", ""), ("normal", "first")]
    assert [message.id for message in session.messages] == ["m", "n", "u1", "a1", "u2"]


def test_the_sample_and_the_settings_beside_it(tmp_path: Path) -> None:
    session = files.load(SAMPLES / "droid-anchor.jsonl")
    roles = [message.role for message in session.context(1)]
    assert roles == ["user", "user", "assistant", "tool", "assistant", "user", "assistant"]
    assert "pump" not in "".join(message.text for message in session.context())
    path = tmp_path / "a.jsonl"
    path.write_bytes(session.records.data)
    bill = {"inputTokens": 30, "cacheReadTokens": 500, "outputTokens": 9}
    (tmp_path / "a.settings.json").write_text(json.dumps({"model": "m", "lastCallTokenUsage": bill}))
    again = files.load(path)
    assert (again.facts.tokens_now, again.model) == (530, "claude-opus-4-5")


def test_a_session_without_a_message_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^s\.jsonl is a session of Droid without messages"):
        opened({"type": "todo_state"})
