"""Droid sessions: visibility of messages, messages that a compaction keeps."""

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


def message_line(id: str, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if text else []
    return {"type": "message", "id": id, "message": {"role": role, "content": content, **more}}


TURNS = [
    message_line("u1", "user", "first"),
    message_line("a1", "assistant", "one"),
    message_line("u2", "user", "second"),
]


def read_lines(*lines: dict[str, Any]) -> Session:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in (START, *lines))
    assert FORMAT.recognise(Look.of(data))
    return FORMAT.codec.read(Path("s.jsonl"), data, no_progress)


def ids(session: Session, epoch: int | None = None) -> list[str]:
    return [message.id for message in session.context(epoch)]


@pytest.mark.parametrize(
    ("anchor", "kept_ids"), [({"id": "a1", "index": 1}, ["u2"]), ({"id": "u2", "index": 2}, []), (None, [])]
)
def test_messages_after_the_anchor_are_kept(anchor: Any, kept_ids: list[str]) -> None:
    state = {"type": "compaction_state", "id": "c", "summaryText": "S", "anchorMessage": anchor}
    session = read_lines(*TURNS, state, message_line("u3", "user", "third"))
    assert (ids(session, 1), ids(session)) == (["u1", "a1", "u2"], ["c", *kept_ids, "u3"])
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.summary, list(compaction.kept_ids)) == ("c", kept_ids)
    assert session.warnings == ()


def test_a_missing_anchor_is_warned_of() -> None:
    state = {"type": "compaction_state", "id": "c", "summaryText": "S", "anchorMessage": {"id": "x"}}
    session = read_lines(*TURNS, state)
    assert ids(session) == ["c"]
    assert [str(warning) for warning in session.warnings] == [
        "line 5: the compaction's anchor is not an earlier message; no message is kept"
    ]


def test_a_session_that_begins_with_a_summary_has_one_epoch() -> None:
    about = "<system-reminder>User system info</system-reminder>"
    state = {"type": "compaction_state", "id": "c", "summaryText": "S", "systemInfoText": about}
    session = read_lines(state, message_line("u", "user", "What was my question?"))
    assert len(session.epochs) == 1
    first = session.context()[0]
    assert (first.kind, [getattr(block, "injected", None) for block in first.blocks]) == ("summary", [False, True])
    assert "<summary>\nS\n</summary>" in first.text


def test_the_visibility_of_messages() -> None:
    tools = message_line("m", "user", "the tools", visibility="llm_only")
    hook, note = (
        message_line("h", "user", "", visibility="user_only"),
        message_line("n", "user", "a note", visibility="user_only"),
    )
    session = read_lines(tools, hook, note, *TURNS)
    assert ids(session) == ["m", "u1", "a1", "u2"]
    assert [(one.kind, one.user_text) for one in session.context()[:2]] == [("meta", ""), ("normal", "first")]
    assert [message.id for message in session.messages] == ["m", "n", "u1", "a1", "u2"]


def test_the_sample_and_its_settings_file(tmp_path: Path) -> None:
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
        read_lines({"type": "todo_state"})
