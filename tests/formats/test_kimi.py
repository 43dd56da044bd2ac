"""Kimi Code's journal, replayed as by its loader, and the context files of Kimi CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import files
from workbench.formats.format import no_progress
from workbench.formats.kimi import FORMAT
from workbench.formats.kimi.survivors import FIRST, MOST, Survivor, survivors_of
from workbench.formats.look import Look
from workbench.session import Message, Session, Text, Usage

Json = dict[str, Any]


def journal(*records: Json) -> bytes:
    head = {"type": "metadata", "protocol_version": "1.5", "created_at": 1}
    return b"".join(json.dumps(line).encode() + b"\n" for line in (head, *records))


def user_record(text: str, **origin: str) -> Json:
    body = {"role": "user", "content": [{"type": "text", "text": text}], "origin": {"kind": "user", **origin}}
    return {"type": "context.append_message", "message": body}


def event(kind: str, **more: Any) -> Json:
    return {"type": "context.append_loop_event", "event": {"type": kind, **more}}


def step(id: str, text: str = "", *calls: str) -> list[Json]:
    text_events = [event("content.part", stepUuid=id, part={"type": "text", "text": text})] if text else []
    call_events = [event("tool.call", stepUuid=id, toolCallId=call, name="Bash", args={"n": 1}) for call in calls]
    return [event("step.begin", uuid=id), *text_events, *call_events]


def read_records(*records: Json) -> Session:
    data = journal(*records)
    assert FORMAT.recognise(Look.of(data))
    return FORMAT.codec.read(Path("wire.jsonl"), data, no_progress)


def described(session: Session, epoch: int | None = None) -> list[tuple[str, str, str]]:
    return [
        (message.role, message.kind, message.text or "".join(result.text for result in message.results))
        for message in session.context(epoch)
    ]


def test_user_messages_precede_the_summary_after_a_compaction() -> None:
    session = files.load(SAMPLES / "kimi-buoys.jsonl")
    first, now = session.epochs
    assert first.ended_by is not None
    assert (first.ended_by.trigger, first.ended_by.tokens_before, first.ended_by.tokens_after) == ("manual", 2013, 2020)
    assert [session.messages[member].id for member in first.members][:1] == list(first.ended_by.kept_ids)
    assert [(message.role, message.kind) for message in session.context()] == [
        ("user", "normal"), ("user", "summary"), ("user", "meta"), ("user", "normal"), ("assistant", "normal"),
    ]  # fmt: skip
    assert session.context()[0] is session.context(1)[0]
    assert len(now.members) == 5
    assert (session.system, [tool.name for tool in session.tools]) == (
        "You help a harbour master with her charts.", ["Read"],
    )  # fmt: skip


def test_a_result_has_the_text_that_the_model_was_sent() -> None:
    records = [
        event("tool.result", toolCallId="a", result={"output": "x", "note": "<system>1 line</system>"}),
        event("tool.result", toolCallId="b", result={"output": "no such file", "isError": True, "durationMs": 1500}),
        event("tool.result", toolCallId="c", result={"output": "  "}),
    ]
    session = read_records(user_record("go"), *step("s", "Look.", "a", "b", "c"), *records, event("step.end", uuid="s"))
    assert described(session)[2:] == [
        ("tool", "normal", "x\n<system>1 line</system>"),
        ("tool", "normal", "Wall time: 1.500 seconds\n<system>ERROR: Tool execution failed.</system>\nno such file"),
        ("tool", "normal", "<system>Tool output is empty.</system>"),
    ]


def test_a_message_during_a_call_follows_its_result() -> None:
    session = read_records(
        user_record("go"),
        *step("s", "Look.", "a"),
        user_record("and hurry"),
        event("tool.result", toolCallId="a", result={"output": "done"}),
        event("step.end", uuid="s", usage={"inputOther": 7, "output": 2, "inputCacheRead": 5, "inputCacheCreation": 3}),
    )
    assert [text for _, _, text in described(session)] == ["go", "Look.", "done", "and hurry"]
    assert session.messages[1].usage == Usage(7, 2, 5, 3)


def test_an_interrupted_call_is_answered_and_an_empty_answer_dropped() -> None:
    session = read_records(user_record("go"), *step("s", "Look.", "a"), *step("t"), *step("u", "Done."))
    assert [(role, text[:30]) for role, _, text in described(session)] == [
        ("user", "go"), ("assistant", "Look."), ("tool", "Tool execution was interrupted"), ("assistant", "Done."),
    ]  # fmt: skip


def test_text_that_the_agent_adds_is_not_user_text() -> None:
    session = read_records(user_record("go"), user_record("It is Monday.", kind="injection"), *step("s", "Ok."))
    assert described(session)[1] == ("user", "meta", "It is Monday.")
    assert [message.user_text for message in session.context()] == ["go", "", ""]


@pytest.mark.parametrize(("count", "expected"), [(1, ["one", "1"]), (2, []), (3, ["one", "1", "two", "2"])])
def test_an_undo_removes_requests_or_nothing(count: int, expected: list[str]) -> None:
    user_messages = [user_record("one"), *step("s", "1"), user_record("two"), *step("t", "2")]
    session = read_records(*user_messages, {"type": "context.undo", "count": count})
    assert [text for _, _, text in described(session)] == expected
    assert [session.messages[number].text for number in session.branch] == expected


def test_an_old_journal_keeps_the_newest_messages_after_the_summary() -> None:
    user_messages = [user_record("one"), *step("s", "1"), user_record("two"), *step("t", "2")]
    session = read_records(*user_messages, {"type": "context.apply_compaction", "summary": "It was one.", "count": 2})
    assert [text for _, _, text in described(session)] == ["It was one.", "two", "2"]
    assert session.epochs[0].ended_by is not None
    assert session.epochs[0].ended_by.kept_ids == ("record-5", "t")


def test_a_clear_ends_an_epoch() -> None:
    session = read_records(user_record("one"), *step("s", "1"), {"type": "context.clear"}, user_record("two"))
    assert [[text for _, _, text in described(session, number)] for number in (1, 2)] == [["one", "1"], ["two"]]
    assert session.epochs[0].ended_by is not None
    assert session.epochs[0].ended_by.way == "removal"


def user_messages(*sizes: int) -> list[Message]:
    """Return user messages of these sizes in tokens by Kimi Code's count: one for the role, one per four characters."""
    return [Message(str(n), "user", (Text(chr(97 + n) * 4 * (size - 1)),)) for n, size in enumerate(sizes)]


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_twenty_thousand_tokens_of_user_messages_are_kept(over: int) -> None:
    found = survivors_of(user_messages(MOST - 10 + over, 10))
    assert (found.omitted is None) is (over <= 0)
    if over <= 0:
        assert found.tail == (Survivor(0), Survivor(1))


def test_beyond_that_the_first_and_the_last_are_kept() -> None:
    found = survivors_of(user_messages(FIRST - 500, 5_000, MOST - FIRST - 100, 60))
    assert found.tail == (Survivor(1, "b" * 4 * 40), Survivor(2), Survivor(3))
    assert found.head == (Survivor(0), Survivor(1, "b" * 4 * 500))
    assert found.omitted == 5_000 - (40 + 1) - (500 + 1)


CALL = {"id": "a", "function": {"name": "Glob", "arguments": "{}"}}
SUMMARY = "<system>Previous context has been compacted. Here is the compaction output:</system>"
CONTEXT = [
    {"role": "_system_prompt", "content": "Be brief."},
    {"role": "_checkpoint", "id": 0},
    {"role": "user", "content": "Where?"},
    {"role": "_usage", "token_count": 120},
    {
        "role": "assistant",
        "content": "There.",
        "tool_calls": [{"id": "a", "function": {"name": "Glob", "arguments": "{}"}}],
    },
    {"role": "_usage", "token_count": 150},
    {"role": "tool", "content": [{"type": "text", "text": "<system>ERROR</system>"}], "tool_call_id": "a"},
]
COMPACTED = [
    {"role": "user", "content": [{"type": "text", "text": SUMMARY}, {"type": "text", "text": "It was there."}]},
    {"role": "user", "content": [{"type": "text", "text": "<system>CHECKPOINT 1</system>"}]},
    {"role": "user", "content": "And then?"},
]


def lines(records: list[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_context_file_of_kimi_cli(tmp_path: Path) -> None:
    (tmp_path / "context_1.jsonl").write_bytes(lines(CONTEXT))
    (tmp_path / "context.jsonl").write_bytes(lines([*CONTEXT[:2], *COMPACTED]))
    session = files.load(tmp_path / "context.jsonl")
    assert session.format == "kimi"
    assert [message.kind for message in session.context()] == ["summary", "meta", "normal"]
    assert [(message.role, message.usage) for message in session.context(1)] == [
        ("user", None), ("assistant", Usage(120, 30)), ("tool", None),
    ]  # fmt: skip
    assert session.context(1)[2].results[0].is_error
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.tokens_before, compaction.summary) == (150, session.context()[0].id)
    assert files.load(tmp_path / "context_1.jsonl").epochs[0].ended_by is None


def test_the_refusal_of_an_empty_journal_names_it() -> None:
    with pytest.raises(BadInput, match=r"^wire\.jsonl is a journal of Kimi Code without messages"):
        read_records({"type": "profile.bind", "systemPrompt": "x"})


def test_an_unreadable_earlier_context_is_named(tmp_path: Path) -> None:
    path, earlier = tmp_path / "context.jsonl", tmp_path / "context_1.jsonl"
    path.write_bytes(lines([*CONTEXT[:2], *COMPACTED]))
    earlier.symlink_to(earlier.name)
    with pytest.raises(BadInput, match=r"context_1\.jsonl cannot be read: .*; check its name and permissions\."):
        files.load(path)
