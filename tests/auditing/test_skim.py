"""Reading only the bills of a Claude Code session: the rows are those of the whole file, or nothing is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.generate import lines as generated
from tests.auditing.written import Written, long, quay
from tests.formats.claude_code_build import assistant, jsonl, text, user
from tests.paths import SAMPLES
from workbench.auditing.rows import SessionRow
from workbench.auditing.survey import row_of, row_of_skimmed
from workbench.formats.claude_code.skim import skim
from workbench.formats.files import load_bytes
from workbench.formats.format import Skimmed
from workbench.session import Billed

BARE = SessionRow("one.jsonl")


def same(path: Path, data: bytes) -> Skimmed:
    """What is skimmed, after its row was held against that of the whole file."""
    skimmed = skim(path, data)
    assert skimmed is not None
    whole = load_bytes(path, data)
    assert row_of_skimmed(skimmed, BARE) == row_of(whole, BARE, is_replayed=False)
    return skimmed


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [30, 160])
def test_the_same_row_as_of_the_whole(tmp_path: Path, seed: int, count: int) -> None:
    data = b"".join(orjson.dumps(line) + b"\n" for line in generated(count, seed))
    skimmed = same(tmp_path / "made.jsonl", data)
    assert len(skimmed.begun.messages) == 2 < len(skimmed.bills)


def test_a_line_is_not_taken_for_the_one_behind_it(tmp_path: Path) -> None:
    """What a line is stands where it stood in the line before: in this very line, though the next may have it there."""
    lines = [orjson.dumps(line) + b"\n" for line in generated(60, 1)]
    place = next(line.find(b'"type":"user"') for line in reversed(lines) if b'"type":"user"' in line)
    title = orjson.dumps({"type": "ai-title", "aiTitle": "The lights of the quay"}) + b"\n"
    pad = b"x" * (place - len(title) - len(b'{"pad":"",'))
    more = {
        "uuid": "u99",
        "parentUuid": orjson.loads(lines[-1])["uuid"],
        "message": {"role": "user", "content": "And?"},
    }
    user = b'{"pad":"' + pad + b'","type":"user",' + orjson.dumps(more)[1:] + b"\n"
    assert (title + user).startswith(b'"type":"user"', place)
    skimmed = same(tmp_path / "made.jsonl", b"".join([*lines, title, user]))
    assert skimmed.begun.title == "The lights of the quay"


def test_a_sample_and_every_beginning_of_it(tmp_path: Path) -> None:
    lines = (SAMPLES / "claude-code-overflow.jsonl").read_bytes().splitlines(keepends=True)
    lines = [line for line in lines if b'"type":"summary"' not in line]
    told = 0
    for stop in range(20, len(lines), 60):
        data = b"".join(lines[:stop])
        if skim(tmp_path / "cut.jsonl", data) is not None:
            same(tmp_path / "cut.jsonl", data)
            told += 1
    assert told >= 3


def with_lines(*more: dict[str, Any]) -> bytes:
    spare = {"sessionId": "quay", "timestamp": "2026-05-04T09:00:00.000Z"}
    lines = [*long([900, 1_900, 2_900]).lines, *({**spare, **one} for one in more)]
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


@pytest.mark.parametrize(
    "more",
    [
        {"type": "ai-title", "aiTitle": "The lights of the quay"},
        {"type": "custom-title", "customTitle": "Lights"},
        {"type": "last-prompt", "leafUuid": "u3"},
        {"type": "cost-state", "totalCostUSD": 1.25},
        {"type": "user", "uuid": "u99", "parentUuid": "u6", "version": "9.9.9", "cwd": "/elsewhere",
         "message": {"role": "user", "content": 'It says "usage": and "compact_boundary" here.'}},
        {"type": "progress", "uuid": "u99", "parentUuid": "u6",
         "data": {"message": {"type": "assistant", "message": {"role": "assistant", "usage": {"input_tokens": 5}}}}},
        {"type": "user", "uuid": "u99", "parentUuid": "u6", "message": {"role": "user", "content": "Sub-agent done."},
         "toolUseResult": {"usage": {"input_tokens": 70_000}}},
    ],
    ids=lambda more: str(more["type"]),
)  # fmt: skip
def test_lines_that_are_no_bills(tmp_path: Path, more: dict[str, Any]) -> None:
    same(tmp_path / "more.jsonl", with_lines(more))


def answer(**body: Any) -> dict[str, Any]:
    said = {"id": "msg_last", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    return {"type": "assistant", "uuid": "u99", "parentUuid": "u6", "message": {**said, **body}}


@pytest.mark.parametrize("inner", ["user", "progress"])
def test_what_a_call_is_given_says_nothing_of_its_line(tmp_path: Path, inner: str) -> None:
    """An answer that says its type last, and before that one of its call's: its bill counts."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Post", "input": {"type": inner, "text": "Hello."}}
    line = answer(usage={"input_tokens": 4_000, "output_tokens": 5}, content=[call])
    line = {key: line[key] for key in ("uuid", "parentUuid", "message", "type")}
    assert same(tmp_path / "call.jsonl", with_lines(line)).bills[-1].input == 4_000


def test_the_bill_of_a_message_is_that_of_its_last_line(tmp_path: Path) -> None:
    usage = {"input_tokens": 4_000, "output_tokens": 5}
    first = {**answer(usage=usage, content=[{"type": "text", "text": "ANSE"}]), "uuid": "u98"}
    last = answer(usage={**usage, "output_tokens": 90}, stop_reason="end_turn")
    skimmed = same(tmp_path / "lines.jsonl", with_lines(first, last))
    assert skimmed.bills[-1].output == 90


@pytest.mark.parametrize("nothing", [{}, None, {"service_tier": "standard"}, {"input_tokens": 0, "output_tokens": 9}])
def test_a_last_line_that_tells_of_no_bill_takes_none_away(tmp_path: Path, nothing: Any) -> None:
    first = {**answer(usage={"input_tokens": 4_000, "output_tokens": 5}), "uuid": "u98"}
    skimmed = same(tmp_path / "lines.jsonl", with_lines(first, answer(usage=nothing)))
    assert skimmed.bills[-1] == Billed("claude-sonnet-4-5", 4_000, 5)


@pytest.mark.parametrize(
    "more",
    [
        {"type": "summary", "summary": "Another session", "leafUuid": "u3"},
        {"type": "content-replacement", "replacements": []},
        {"type": "system", "subtype": "compact_boundary", "uuid": "u99", "compactMetadata": {"trigger": "auto"}},
        {"type": "system", "uuid": "u99", "snipMetadata": {"removedUuids": ["u1"]}},
        answer(
            usage={"input_tokens": 3_000},
            context_management={"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]},
        ),
        answer(usage={"input_tokens": 1}),
        {**answer(usage={"input_tokens": 3_000}), "workbench_spent": True},
        *(answer(usage={"input_tokens": odd}) for odd in (-3_000, 3_000.0, "3000", True)),
        answer(usage=3_000),
        answer(usage={"input_tokens": 3_000}, id=""),
        answer(usage={"input_tokens": 3_000}, id=7),
        answer(usage={"input_tokens": 3_000}, model=["two"]),
        {**answer(usage={"input_tokens": 3_000}), "uuid": None},
        {**answer(), "message": "No answer."},
    ],
    ids=["summary", "replaced", "compacted", "snipped", "edited", "absurd", "spent", "less than none", "a fraction",
         "a text", "a flag", "a number", "no id", "an odd id", "an odd model", "no uuid", "no object"],
)  # fmt: skip
def test_what_only_the_whole_file_tells(tmp_path: Path, more: dict[str, Any]) -> None:
    assert skim(tmp_path / "more.jsonl", with_lines(more)) is None


def test_a_compacted_and_a_torn_file_are_read_whole(tmp_path: Path) -> None:
    path = quay().put(tmp_path / "quay.jsonl")
    assert skim(path, path.read_bytes()) is None
    torn = with_lines(answer(usage={"input_tokens": 3_000}))[:-20]
    assert skim(path, torn) is None
    assert skim(path, b'{"type":"user"}\n') is None
    assert skim(path, json.dumps(Written().said("No answer.").lines[0]).encode()) is None


@pytest.mark.parametrize(
    ("tokens", "skimmed"), [(1_000_000, True), (1_000_001, False), (240_000, True), (240_001, False)]
)
def test_a3_usage_that_may_be_too_large_is_judged_with_the_whole_file(
    tmp_path: Path, tokens: int, skimmed: bool
) -> None:
    """After a prompt of 40 000 tokens a leap is of more than 200 000; one of 300 000 leads to a million."""
    first = 40_000 if tokens < 300_000 else 300_000
    lines = [user("u", None, "go")]
    for id, parent, billed in (("a", "u", first), ("b", "a", tokens)):
        usage = {"input_tokens": billed, "output_tokens": 5}
        lines.append(assistant(id, parent, f"msg-{id}", text("ok"), body={"usage": usage}))
    assert (skim(tmp_path, jsonl(*lines)) is not None) is skimmed
