"""Compaction by the server: what is sent, what comes back, and that it goes back untouched."""

from __future__ import annotations

import logging
from typing import Any

import orjson
import pytest

from tests.facts.talk import agent, call, result, user
from tests.summarizers.fake_api import KEY, MODEL, FakeApi, Reply, document, error, usage
from tests.summarizers.live_calls import QUICK
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, Piece
from workbench.compaction.strategies import exchange_summary
from workbench.compaction.summary_request import SummaryFailed, SummaryRequest, TextBody
from workbench.conformance.building import context_of
from workbench.formats import anthropic_messages
from workbench.session import Message, Opaque, Records, Session, Text, Tool, Usage
from workbench.summarizers.driver import run
from workbench.summarizers.live_events import CallEnded, LiveEvent, RetryScheduled, partial_text
from workbench.summarizers.run_records import RunRecorder
from workbench.summarizers.server_compaction import messages_for, server_summarizer, with_server_block
from workbench.summarizers.server_endpoints import UNREADABLE, ServerSummary

READ = call("Read", {"file_path": "src/parse.py"})
MESSAGES = (user("Fix the parser."), agent("", READ), result(READ, "def parse(): ..."), agent("Fixed."))
TOOL = Tool("Read", '{"name":"Read","description":"Reads.","input_schema":{"type":"object"}}')
BLOCK = {"type": "compaction", "content": "The parser was fixed.", "signature": "sig==", "new_field": [1, {"z": 1.5}]}


def session_of(messages: tuple[Message, ...]) -> Session:
    return Session("claude-code", None, messages, Records(b""), system="Be brief.", tools=(TOOL,))


SESSION = session_of(MESSAGES)
ASKED = SummaryRequest("summary", MESSAGES, "sum up", TextBody(lambda: "sum up …"), chars=9_000)


def made(*blocks: Any, stop: str = "compaction", **billed: Any) -> Reply:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "stop_reason": stop}
    return document({**message, "content": list(blocks), "usage": usage(10, 0, **billed)})


async def test_on_demand_sends_the_head_as_messages_and_keeps_the_block(api: FakeApi) -> None:
    spent = [{"type": "compaction", **usage(5_000, 300)}]
    api.replies = [made(BLOCK, iterations=spent)]
    recorder = RunRecorder()
    got = await server_summarizer(MODEL, SESSION, instructions="Keep paths.", on_event=recorder.on_live_event)(ASKED)
    assert isinstance(got, ServerSummary)
    assert (got.text, got.model) == ("The parser was fixed.", MODEL)
    assert got.usage == Usage(5_010, 300) == recorder.usage
    assert partial_text(recorder.events, ASKED.key) == got.text
    assert got.block == Opaque("compaction", BLOCK)
    (sent,) = api.received
    assert sent.path == "/v1/messages?beta=true"
    assert sent.headers["anthropic-beta"] == "compact-2026-09-04"
    assert sent.body["compaction"] == {"type": "summarize", "instructions": "Keep paths."}
    assert "context_management" not in sent.body
    assert sent.body["system"] == "Be brief."
    assert [tool["name"] for tool in sent.body["tools"]] == ["Read"]
    assert [turn["role"] for turn in sent.body["messages"]] == ["user", "assistant", "user", "assistant"]


async def test_at_a_threshold_tool_results_may_be_cleared_first(api: FakeApi) -> None:
    api.replies = [made(BLOCK)]
    await server_summarizer(MODEL, SESSION, mode="threshold", keep_tool_uses=2)(ASKED)
    (sent,) = api.received
    assert sent.headers["anthropic-beta"] == "compact-2026-01-12,context-management-2025-06-27"
    clear, compact = sent.body["context_management"]["edits"]
    assert clear["type"] == "clear_tool_uses_20250919"
    assert clear["keep"] == {"type": "tool_uses", "value": 2}
    assert compact == {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": 50_000},
        "pause_after_compaction": True,
    }


async def test_an_earlier_summary_goes_first(api: FakeApi) -> None:
    asked = SummaryRequest("summary", MESSAGES, "sum up", TextBody(lambda: "…"), previous="Before: the lexer.")
    api.replies = [made(BLOCK)]
    await server_summarizer(MODEL, SESSION)(asked)
    assert "Before: the lexer." in api.received[0].body["messages"][0]["content"]


async def test_an_encrypted_block_is_kept_though_it_cannot_be_read(api: FakeApi) -> None:
    block = {"type": "compaction", "content": None, "encrypted_content": "gAAA"}
    api.replies = [made(block)]
    got = await server_summarizer(MODEL, SESSION)(ASKED)
    assert isinstance(got, ServerSummary)
    assert (got.text, got.block.raw) == (UNREADABLE, block)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (made({"type": "compaction", "content": None}), "empty", "no content"),
        (made({"type": "text", "text": "Hello"}, stop="end_turn"), "error", "at least 50 000 tokens"),
        (made(stop="max_tokens"), "truncated", "limit"),
        (made(stop="refusal"), "refused", "refused"),
        (error(400, "invalid_request_error", "prompt is too long: 9000 tokens > 8000 maximum"), "overflow", "too long"),
        (error(401, "authentication_error", f"bad key {KEY}"), "error", "check ANTHROPIC_API_KEY"),
        (document(["not", "an", "object"]), "error", "not a JSON object"),
    ],
)
async def test_what_is_no_compaction_is_a_failure(
    reply: Reply, kind: str, words: str, api: FakeApi, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    events: list[LiveEvent] = []
    api.replies = [reply]
    got = await server_summarizer(MODEL, SESSION, mode="threshold", on_event=events.append)(ASKED)
    assert isinstance(got, SummaryFailed)
    assert got.kind == kind
    assert words in got.detail
    assert isinstance(events[-1], CallEnded)
    assert KEY not in repr(got) + repr(events)


async def test_what_is_billed_for_no_compaction_is_told(api: FakeApi) -> None:
    recorder = RunRecorder()
    api.replies = [made({"type": "text", "text": "Hello"}, stop="end_turn", cache_read_input_tokens=12_335)]
    got = await server_summarizer(MODEL, SESSION, on_event=recorder.on_live_event)(ASKED)
    assert isinstance(got, SummaryFailed)
    assert recorder.usage == Usage(10, 0, 12_335)


async def test_a_passing_trouble_is_tried_again(api: FakeApi) -> None:
    events: list[LiveEvent] = []
    api.replies = [error(529, "overloaded_error", "busy"), made(BLOCK)]
    got = await server_summarizer(MODEL, SESSION, on_event=events.append, limits=QUICK)(ASKED)
    assert isinstance(got, ServerSummary)
    assert sum(isinstance(event, RetryScheduled) for event in events) == 1


async def test_the_block_goes_into_the_outcome_and_out_again_untouched(api: FakeApi) -> None:
    messages = tuple(
        message for number in range(30) for message in (user(f"task {number} " * 30), agent(f"done {number} " * 60))
    )
    session = session_of(messages)
    context: Context = context_of(messages, manual=True)
    strategy = exchange_summary.STRATEGY
    policy = strategy.policy_type.model_validate(
        {"min_version": "1", "prompt": "Sum up.", "history_tail_size_chars_to_exclude": 4_000}
    )
    api.replies = [made(BLOCK)]
    done = await run(strategy.run(context, policy), server_summarizer(MODEL, session))
    outcome = with_server_block(done.outcome, done.answers)
    sealed = [message for message in outcome.messages if message.blocks == (Opaque("compaction", BLOCK),)]
    assert [(message.role, message.kind) for message in sealed] == [("assistant", "summary")]
    assert outcome.fates == done.outcome.fates
    written = orjson.loads(anthropic_messages.FORMAT.codec.write(session, outcome.messages).data)
    assert BLOCK in [block for turn in written["messages"] if turn["role"] == "assistant" for block in turn["content"]]


def outcome_with(*pieces: Piece) -> Outcome:
    return Outcome("compacted", "", MESSAGES, pieces, (FateSpan(0, len(MESSAGES), Fate.SUMMARIZED),))


def made_summary(text: str) -> NewMessage:
    return NewMessage(Message(text, "user", (Text(f"<summary>{text}</summary>"),), "summary"))


def test_the_block_stands_before_pins_for_the_server_reads_nothing_before_it() -> None:
    answer = ServerSummary("The parser was fixed.", block=Opaque("compaction", BLOCK))
    outcome = outcome_with(KeptSpan(0, 1), made_summary(answer.text), KeptSpan(3, 4))
    sealed = with_server_block(outcome, [answer])
    assert [message.id for message in sealed.messages] == [answer.text, MESSAGES[0].id, MESSAGES[3].id]
    assert messages_for(outcome, [answer], "anthropic-messages") == sealed.messages
    assert messages_for(outcome, [answer], "codex") == outcome.messages
    assert "signed" in answer.block_note


def test_of_several_summaries_only_the_last_would_be_read_so_they_stay_text() -> None:
    answers = [ServerSummary(text, block=Opaque("compaction", {**BLOCK, "content": text})) for text in ("one", "two")]
    outcome = outcome_with(made_summary("one"), made_summary("two"))
    assert with_server_block(outcome, answers) is outcome


def test_an_encrypted_block_goes_nowhere_else() -> None:
    answer = ServerSummary(UNREADABLE, block=Opaque("compaction", {"type": "compaction", "encrypted_content": "g"}))
    outcome = outcome_with(made_summary(UNREADABLE))
    assert messages_for(outcome, [answer], "anthropic-messages")[0].blocks == (answer.block,)
    with pytest.raises(BadInput, match="write it as anthropic-messages"):
        messages_for(outcome, [answer], "codex")


async def test_an_outcome_without_a_servers_summary_stays_itself() -> None:
    context = context_of(MESSAGES, manual=True)
    strategy = exchange_summary.STRATEGY
    done = await run(strategy.run(context, strategy.policy_type()), server_summarizer(MODEL, SESSION))
    assert with_server_block(done.outcome, done.answers) is done.outcome
