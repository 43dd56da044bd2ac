"""Events of an agent, one after the other, and failures that the agent must not see."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import cwb
from tests.formats.claude_code_build import assistant, boundary, jsonl, text, user
from tests.paths import SAMPLES
from workbench import __main__ as program
from workbench.hook import run, store
from workbench.hook.agents import AGENTS

RULE = "Never push to main."
KEPT = "Always run the linter before a commit."
LINES = [user("u1", None, f"Review the mill. {RULE} {KEPT}"), assistant("a1", "u1", "m1", text("Reviewed."))]
NOW = 1_767_000_000.0
SUMMARY = f"<analysis>\n{RULE}\n</analysis>\n<summary>\nThe mill was reviewed.\n{KEPT}\n</summary>"


class Session:
    """A session's file and the hook's answers to events of it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.path, self.monkeypatch, self.capfd = folder / "session.jsonl", monkeypatch, capfd
        self.path.write_bytes(jsonl(*LINES))

    def event(self, name: str, *args: str, agent: str = "claude-code", **more: Any) -> str:
        """Return the text that is added for an event."""
        event = {"hook_event_name": name, "session_id": "s 1/é", "transcript_path": str(self.path), **more}
        printed = self.call(json.dumps(event).encode(), agent, *args)
        if not printed:
            return ""
        output = json.loads(printed)["hookSpecificOutput"]
        assert output["hookEventName"] == name
        added: str = output["additionalContext"]
        return added

    def call(self, stdin: bytes, *args: str) -> str:
        """Return what the program prints, which ends normally and writes nothing to stderr."""
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.monkeypatch.setattr(sys, "argv", ["cwb", "hook", *args])
        program.main()
        printed = self.capfd.readouterr()
        assert printed.err == ""
        return printed.out

    def compact(self, *args: str) -> str:
        self.event("PreCompact", trigger="auto")
        self.event("SubagentStop", *args, agent_type="", last_assistant_message=SUMMARY)
        return self.event("SessionStart", *args, source="compact")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Session:
    return Session(tmp_path, monkeypatch, capfd)


def _files() -> list[str]:
    return sorted(path.name for path in store.log_file().parent.glob("*") if path != store.log_file())


def test_the_lost_rule_is_added_once_and_the_kept_one_is_not(session: Session) -> None:
    added = session.compact()
    assert added.count(RULE) == 1
    assert KEPT not in added
    assert _files() == []
    assert session.event("SessionStart", source="compact") == ""
    (line,) = store.newest_lines(9)
    assert "claude-code-s_1_é: 1 rule, " in line
    assert RULE not in line


def test_several_snapshots_before_one_compaction(session: Session) -> None:
    session.event("PreCompact")
    session.event("PreCompact")
    assert session.compact().count(RULE) == 1


def test_a_snapshot_drops_what_is_pending_from_the_one_before(session: Session) -> None:
    session.event("PreCompact")
    session.event("SubagentStop", agent_type="", last_assistant_message="Nothing.")
    session.event("PreCompact")
    assert session.event("SessionStart", source="compact") == ""


def test_a_named_sub_agent_writes_no_summary(session: Session) -> None:
    session.event("PreCompact")
    session.event("SubagentStop", agent_type="", last_assistant_message=SUMMARY)
    session.event("SubagentStop", agent_type="Explore", last_assistant_message=f"{RULE} Found.")
    assert RULE in session.event("SessionStart", source="compact")


def test_a_session_that_starts_otherwise_gets_nothing(session: Session) -> None:
    session.event("PreCompact")
    session.event("SubagentStop", agent_type="", last_assistant_message=SUMMARY)
    assert session.event("SessionStart", source="resume") == ""
    assert RULE in session.event("SessionStart", source="compact")


def test_a_summary_that_only_the_session_records(session: Session) -> None:
    session.event("PreCompact")
    assert session.event("SessionStart", source="compact") == ""
    assert "no summary known" in store.newest_lines(1)[0]
    recorded = user("s1", "b1", f"This session is being continued. {KEPT}", isCompactSummary=True)
    session.path.write_bytes(jsonl(*LINES, boundary("b1", "a1"), recorded))
    added = session.event("SessionStart", source="compact")
    assert RULE in added
    assert KEPT not in added


def test_a_prompt_without_an_answer_stays_and_is_not_repeated(session: Session) -> None:
    session.path.write_bytes(jsonl(*LINES, user("u2", "a1", "Rebuild the gate. Never touch weir.cfg.")))
    added = session.compact()
    assert RULE in added
    assert "weir.cfg" not in added


def test_the_agents_own_words_state_no_rule(session: Session) -> None:
    session.event("PreCompact")
    recorded = user("s1", "b1", f"This session is being continued. {KEPT}", isCompactSummary=True)
    answer = assistant("a2", "s1", "m2", text(f"I know: {RULE}"))
    session.path.write_bytes(jsonl(*LINES, boundary("b1", "a1"), recorded, answer))
    assert RULE in session.event("SessionStart", source="compact")


def test_a_rule_of_claude_md_is_not_repeated(session: Session, own_home: Path) -> None:
    (own_home / ".claude").mkdir()
    (own_home / ".claude/CLAUDE.md").write_text(f"- {RULE}\n")
    assert RULE not in session.compact()


def test_tokens_limit_the_text(session: Session) -> None:
    assert session.compact("--tokens", "20") == ""
    assert RULE in session.compact("--tokens", "200")


def test_an_event_of_an_unknown_session_reads_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_text_for", None)
    assert session.event("SubagentStop", agent_type="", last_assistant_message=SUMMARY) == ""
    assert session.event("SessionStart", source="compact") == ""
    assert store.newest_lines(1) == []


@pytest.mark.parametrize(
    "stdin", [b"", b"no json", b"[]", b"{}", b'"x"', b"\xff", b'{"hook_event_name": 1}', b"[" * 100_000]
)
def test_bad_input_prints_nothing_and_leaves_a_line(session: Session, stdin: bytes) -> None:
    assert session.call(stdin, "claude-code") == ""
    assert "failed" in store.newest_lines(1)[0]


def test_a_missing_or_damaged_session(session: Session) -> None:
    assert session.event("PreCompact", transcript_path="/nowhere/at all") == ""
    assert session.event("PreCompact", transcript_path=None) == ""
    session.path.write_bytes(b'{"type": "secret text"')
    assert session.event("PreCompact") == ""
    lines = store.newest_lines(9)
    assert len(lines) == 3
    assert all("claude-code PreCompact: failed, " in line for line in lines)
    assert not any("secret" in line or "nowhere" in line for line in lines)


def test_a_pipe_is_not_read(session: Session, tmp_path: Path, own_home: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert session.event("PreCompact", transcript_path=str(tmp_path / "pipe.jsonl")) == ""
    assert "failed" in store.newest_lines(1)[0]
    (own_home / ".claude").mkdir()
    os.mkfifo(own_home / ".claude/CLAUDE.md")
    assert RULE in session.compact()


def test_a_damaged_snapshot(session: Session) -> None:
    session.event("PreCompact")
    store.place_of("claude-code", "s 1/é").write_bytes(b'{"texts": 3')
    assert session.event("SubagentStop", agent_type="", last_assistant_message=SUMMARY) == ""
    assert "failed" in store.newest_lines(1)[0]


def test_a_folder_that_cannot_be_written(session: Session, own_home: Path) -> None:
    store.log_file().parent.parent.mkdir(parents=True)
    store.log_file().parent.write_text("a file in its place")
    assert session.compact() == ""


def test_old_snapshots_are_removed_and_the_log_is_bounded(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.time, "time", lambda: NOW)
    session.event("PreCompact")
    old, new = store.place_of("claude-code", "old"), store.place_of("claude-code", "new")
    for place, days in ((old, store.DAYS + 1), (new, store.DAYS - 1)):
        place.write_bytes(b"{}")
        os.utime(place, (NOW - days * 86_400,) * 2)
    store.log_file().write_bytes(b"an earlier line\n" * (store.LOG_BYTES // 16 + 2))
    session.compact()
    assert _files() == [new.name]
    assert store.log_file().stat().st_size < store.LOG_BYTES
    assert store.newest_lines(1)[0].endswith("s CPU")


def test_other_arguments_are_left_to_the_command_line() -> None:
    assert not run.answer_arguments([])
    assert not run.answer_arguments(["install", "claude-code"])
    assert not run.answer_arguments(["claude-code", "--help"])
    assert not run.answer_arguments(["claude-code", "--tokens", "many"])


def test_a_person_at_a_terminal_is_told_what_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.hook.is_typed", lambda: True)
    refused = cwb("hook", "claude-code")
    assert (refused.exit_code, "cwb hook install claude-code" in refused.stderr) == (2, True)
    monkeypatch.setattr(run, "is_typed", lambda: True)
    assert not run.answer_arguments(["claude-code"])


@pytest.mark.parametrize("id", AGENTS)
def test_agents_have_what_their_events_need(id: str) -> None:
    agent = AGENTS[id]
    assert agent.id == id
    assert agent.missing or (agent.before and agent.adds and agent.reader and agent.user_file)


SAMPLE_OF = {
    "claude-code": "claude-code-overflow.jsonl",
    "codex": "codex-two-compactions.jsonl",
    "pi": "pi-branches.jsonl",
}


@pytest.mark.parametrize("id", [id for id, agent in AGENTS.items() if not agent.missing])
def test_each_agents_sessions_are_read(session: Session, id: str) -> None:
    agent = AGENTS[id]
    assert session.event(agent.before, agent=id, transcript_path=str(SAMPLES / SAMPLE_OF[id])) == ""
    assert store.newest_lines(9) == []
    assert _files() == [f"{id}-s_1_é.json"]


def test_codex_records_its_compaction_before_it_asks(session: Session, tmp_path: Path) -> None:
    lines = (SAMPLES / SAMPLE_OF["codex"]).read_bytes().splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if b'"type":"compacted"' in line.replace(b'": ', b'":'))
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(b"".join(lines[:last]))
    session.event("PreCompact", agent="codex", transcript_path=str(path))
    assert session.event("SessionStart", agent="codex", transcript_path=str(path), source="compact") == ""
    path.write_bytes(b"".join(lines[: last + 1]))
    session.event("SessionStart", agent="codex", transcript_path=str(path), source="compact")
    assert _files() == []
