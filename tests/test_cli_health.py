"""`cwb inspect --health`: what a file is and why, whether its context is whole, what an export would change."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.commands import cwb, document
from tests.formats.claude_code_build import jsonl, small
from tests.paths import SAMPLES
from workbench.analysis.usage_check import CheckedCall, Gap, UsageCheck
from workbench.base.errors import BadInput
from workbench.cli.health import _billed as bills_finding
from workbench.formats import diagnosis, registry
from workbench.formats.diagnosis import compare_export, findings, recognition, records_in
from workbench.formats.export import export
from workbench.formats.files import load


def test_silent_truncation_open_calls_and_odd_lines_are_found(tmp_path: Path) -> None:
    lines = small()[10:]
    calls = [line for line in small() if line.get("uuid") in ("a3",)]
    body = lines[-1]["message"]
    body["usage"] = {"input_tokens": 100, "cache_read_input_tokens": 90_000, "output_tokens": 5}
    less = json.loads(json.dumps(lines[-1]))
    less |= {"uuid": "z9", "parentUuid": "z8"}
    less["message"] |= {"id": "msg_z", "usage": {"input_tokens": 9_000, "output_tokens": 5}}
    open_call = {**calls[0], "uuid": "z8", "parentUuid": lines[-1]["uuid"]}
    open_call["message"] = {**open_call["message"], "id": "msg_y", "usage": None}
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*lines, open_call, less) + b"not json\n")
    found = document("inspect", "--health", path)
    told = {finding["topic"]: finding for finding in found["findings"]}
    assert told["bills"]["level"] == "missing"
    assert [gap["message"] for gap in found["usage"]["gaps"]] == ["z9"]
    assert found["usage"]["gaps"][0]["difference_tokens"] == pytest.approx(9_000 - 90_100, rel=0.01)
    assert told["open calls"]["level"] == "missing"
    assert f"line {len(lines) + 1}" in told["open calls"]["text"]
    assert [warning["line"] for warning in found["warnings"]] == [len(lines) + 3]
    assert found["unanswered_calls"] == 1


def test_what_else_a_file_is_close_to(tmp_path: Path) -> None:
    said = [
        ("system", "You help."),
        ("user", "Mend it."),
        ("assistant", "I look."),
        ("user", "<returncode>0</returncode>"),
    ]
    path = tmp_path / "bare.json"
    path.write_text(json.dumps([{"role": role, "content": content} for role, content in said]))
    judged = recognition(path)
    assert judged.format == "mini-swe-agent"
    assert [title for title, _ in judged.others] == ["OpenAI Chat body"]


def test_a_part_of_a_session_names_its_folder(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "roo-window.json", tmp_path / "api_conversation_history.json")
    (tmp_path / "ui_messages.json").write_text("[]")
    run = cwb("inspect", "--health", tmp_path / "ui_messages.json")
    assert run.exit_code == 2
    assert run.stderr.strip().endswith(f"is only part of a session; open its folder {tmp_path}.")
    assert document("inspect", "--health", tmp_path)["recognized_by"] == "a folder with api_conversation_history.json"


def test_changes_are_counted_by_record(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*small()))
    session = load(path)
    as_it_is = compare_export(session, session.context(), "claude-code")
    records = records_in(path.read_bytes())
    assert as_it_is.unchanged + as_it_is.changed + as_it_is.left_out == len(records)
    assert as_it_is.added == 0
    assert as_it_is.keys[0] == "sessionId"
    anew = compare_export(session, session.context(), "openai-chat")
    assert (anew.unchanged, anew.changed, anew.left_out) == (0, 0, len(records))
    assert anew.added == len(json.loads(export_of(path))["messages"])


def test_the_records_of_a_file_are_decoded_once_for_all_exports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of 7 MB was decoded anew for each of 45 formats."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*small()))
    looked_at: Counter[bytes] = Counter()
    decode = diagnosis.loads_text
    monkeypatch.setattr(diagnosis, "loads_text", lambda text: looked_at.update([text.encode()]) or decode(text))
    document("inspect", "--health", path, "--all")
    lines = path.read_bytes().splitlines()
    assert len(list(registry.targets())) > 20
    assert max(looked_at[line] for line in lines[1:]) <= 2  # once more where an export changed it


def export_of(path: Path) -> bytes:
    session = load(path)
    return export(session, session.context(), "openai-chat").written.data


def test_sub_agents_are_named_and_can_be_opened(shared: Path) -> None:
    path = shared / "sessions/claude-code/spotter-fa812bfe.jsonl"
    beside = {one["id"]: one["description"] for one in document("inspect", "--health", path)["related_sessions"]}
    assert list(beside) == ["a93ccab", "aa84377", "acompact-70d8e7"]
    assert "for the boundary" in beside["acompact-70d8e7"]
    call = document("inspect", "--health", path, "--part", "acompact-70d8e7")
    assert "characters sent" in call["related_sessions"][0]["description"]


def test_every_real_file_is_told_of(shared: Path) -> None:
    """Without the exports, which the tests of writers make."""
    seen = 0
    for path in sorted((shared / "sessions").rglob("*.json*")):
        try:
            session = load(path)
        except BadInput:
            continue
        assert recognition(path).format == session.format
        assert all(finding.text for finding in findings(session))
        seen += 1
    assert seen > 40


@pytest.mark.parametrize(
    ("expected", "gaps", "level", "text"),
    [
        (10_000, 0, "complete", "1 of 1 call explained within 3 % by the context shown"),
        (20_000, 0, "note", "0 of 1 call explained within 3 % by the context shown"),
        (
            10_000,
            1,
            "note",
            "1 of 1 call explained within 3 % by the context shown, but 1 step between two calls is not",
        ),
        (
            20_000,
            2,
            "missing",
            "0 of 1 call explained within 3 % by the context shown, but 2 steps between two calls are not",
        ),
    ],
)
def test_a33_the_mark_of_the_bills_agrees_with_the_sentence(expected: int, gaps: int, level: str, text: str) -> None:
    calls = (CheckedCall(1, 1, "a", 10_000, None), CheckedCall(2, 1, "b", 10_000, expected))
    found = UsageCheck(calls, tuple(Gap(n, n, 1, "b", 2_500) for n in range(gaps)))
    assert [(one.level, one.text) for one in bills_finding(found)] == [(level, text)]
