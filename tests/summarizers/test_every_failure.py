"""Every way in which a live run can end, whole: what reached the server, where the key went, and that the session is
as it was."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from itertools import cycle, product

import pytest

from tests.facts.talk import agent, user
from tests.products import mostly_full
from tests.summarizers.fake_api import (
    KEY,
    MODEL,
    FakeApi,
    Reply,
    answer,
    broken_off,
    error,
    failing_in_stream,
    outlasting,
    reset,
    stalling,
)
from tests.summarizers.live_calls import QUICK, over
from workbench.base import paths
from workbench.compaction.outcome import Outcome
from workbench.compaction.strategies import exchange_summary
from workbench.conformance.building import context_of
from workbench.formats.export import export
from workbench.session import Records, Session
from workbench.summarizers import driver, run_history
from workbench.summarizers.live import live_summarizer
from workbench.summarizers.live_events import LiveEvent, TextReceived, describe_event
from workbench.summarizers.run_records import RunRecord, RunRecorder, new_run_id

MESSAGES = tuple(
    message for number in range(30) for message in (user(f"task {number} " * 30), agent(f"done {number} " * 60))
)
SESSION = Session("anthropic-messages", None, MESSAGES, Records(b'{"messages":[]}'))
POLICY = exchange_summary.STRATEGY.policy_type.model_validate(
    {"min_version": "1", "prompt": "Sum up.", "history_tail_size_chars_to_exclude": 4_000}
)
TOO_LONG = error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")
OTHER_KEY = ("ANTHROPIC_API_KEY", "LOCAL_KEY")
COMMON = {"model": MODEL, "stream": True}
SENT = {
    "messages": {**COMMON, "max_tokens": 8_000, "thinking": {"type": "disabled"}},
    "chat": {**COMMON, "max_tokens": 8_000, "stream_options": {"include_usage": True}},
    "responses": {**COMMON, "max_output_tokens": 8_000, "store": False},
}
"""What each protocol sends beside the messages."""
DRAFT = "The tasks were done, one by one."


@dataclass(frozen=True)
class Case:
    """`sent` requests reach the server; the call fails as `failure`, None where it succeeds in the end."""

    replies: list[Reply]
    failure: str | None
    sent: int = 1
    words: str = ""


CASES = {
    "success": Case([answer(DRAFT)], None),
    "slow first token": Case([outlasting(QUICK.first_token_s)], "timeout", words="no first token"),
    "stall mid-stream": Case([outlasting(QUICK.stall_s, "The ta")], "timeout", words="stalled"),
    "disconnect, then an answer": Case([broken_off("The ta"), answer(DRAFT)], None, sent=2),
    "reset, then an answer": Case([reset(), answer(DRAFT)], None, sent=2),
    "reset for good": Case([reset()] * 3, "error", sent=3, words="the connection to http://127.0.0.1:"),
    "disconnect for good": Case([broken_off("The ta")] * 3, "error", sent=3, words="broke off"),
    "prompt too long, then cut": Case([TOO_LONG, answer(DRAFT)], None, sent=2),
    "prompt too long for good": Case([TOO_LONG] * 9, "overflow", sent=5, words="too long"),
    "401": Case([error(401, "authentication_error", f"x-api-key {KEY} is bad")], "error", words="ANTHROPIC_API_KEY"),
    "429, then an answer": Case(
        [error(429, "rate_limit_error", "slow down", retry_after="0.01"), answer(DRAFT)], None, sent=2
    ),
    "429 that outlasts the call": Case(
        [error(429, "rate_limit_error", "slow down", retry_after="900")], "error", words="waiting 900 s would outlast"
    ),
    "500": Case([error(500, "api_error", f"oops {KEY}")] * 3, "error", sent=3, words="the server failed"),
    "an error in the stream": Case(
        [failing_in_stream("api_error", f"oops {KEY}")] * 3, "error", sent=3, words="api_error"
    ),
    "529": Case([error(529, "overloaded_error", KEY)] * 3, "error", sent=3, words="overloaded"),
    "empty": Case([answer()], "empty"),
    "max_tokens": Case([answer("The ta", stop="max_tokens")], "truncated"),
    "context window full": Case([answer("The ta", stop="model_context_window_exceeded")], "truncated"),
    "a tool called": Case([answer("I look", stop="tool_use")], "error", words="called a tool"),
    "refusal": Case([answer(stop="refusal")], "refused"),
    "inflated": Case([answer("words " * 9_000)], "inflated"),
}


PROTOCOLS = {"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}


@pytest.mark.parametrize(
    "pair", mostly_full(product(CASES, PROTOCOLS), [*zip(CASES, cycle(PROTOCOLS), strict=False)]), ids="-".join
)
async def test_a_run_ends_and_harms_nothing(
    pair: tuple[str, str], api: FakeApi, caplog: pytest.LogCaptureFixture
) -> None:
    name, protocol = pair
    case, before = CASES[name], repr(MESSAGES)
    caplog.set_level(logging.DEBUG)
    recorder = RunRecorder()
    api.replies = [*case.replies]
    done = await driver.run(
        exchange_summary.STRATEGY.run(context_of(MESSAGES, manual=True), POLICY),
        live_summarizer(MODEL, over(protocol, api), on_event=recorder.on_live_event, limits=QUICK),
        on_event=recorder.on_run_event,
    )
    assert len(api.received) == case.sent
    assert_what_reached(api, protocol, shrinks="too long" in name)
    assert repr(MESSAGES) == before
    notes = " ".join(note for call in recorder.calls() for note in call.notes)
    assert notes.count("; trying again in ") + notes.count("; the middle was cut") == case.sent - 1
    failures = [call.failure for call in recorder.calls() if call.failure]
    if case.failure is None:
        assert (done.outcome.status, failures) == ("compacted", [])
    else:
        assert (done.outcome.status, failures) == ("unchanged", [case.failure])
        assert done.outcome.messages == MESSAGES
        assert (case.words if protocol == "messages" else case.words.replace(*OTHER_KEY)) in done.outcome.reason
    assert_secret(recorder, done.outcome, caplog)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_cancelled_run_closes_its_connection_and_harms_nothing(
    protocol: str, api: FakeApi, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    before, recorder, writing = repr(MESSAGES), RunRecorder(), asyncio.Event()

    def heard(event: LiveEvent) -> None:
        recorder.on_live_event(event)
        if isinstance(event, TextReceived):
            writing.set()

    api.replies = [stalling("The ta")]
    compacting = exchange_summary.STRATEGY.run(context_of(MESSAGES, manual=True), POLICY)
    summarizer = live_summarizer(MODEL, over(protocol, api), on_event=heard, limits=QUICK)
    task = asyncio.ensure_future(driver.run(compacting, summarizer, on_event=recorder.on_run_event))
    await writing.wait()
    task.cancel()
    await asyncio.wait([task])
    await api.gone.wait()
    assert task.cancelled()
    assert repr(MESSAGES) == before
    assert_what_reached(api, protocol, shrinks=False)
    (call,) = recorder.calls()
    assert (call.text, call.failure, call.detail) == ("The ta", "error", "cancelled")
    if protocol == "messages":  # the others tell what was billed at the end only
        assert call.usage is not None
        assert (call.usage.input, call.usage.final) == (1_000, False)
    assert_secret(recorder, None, caplog)


def assert_what_reached(api: FakeApi, protocol: str, *, shrinks: bool) -> None:
    """The same request each time, with the key in its header and nowhere else; one that is too long shrinks."""
    for got in api.received:
        assert (got.method, got.path) == ("POST", PROTOCOLS[protocol])
        assert [name for name, value in got.headers.items() if KEY in value] == ["authorization"]
        assert KEY not in repr(got.body)
        assert {name: got.body[name] for name in SENT[protocol]} == SENT[protocol]
        assert set(got.body) - set(SENT[protocol]) == {"input" if protocol == "responses" else "messages"}
        assert [turn["role"] for turn in got.said] == ["user"]
        assert got.prompt.startswith("Sum up.")
    prompts = [got.prompt for got in api.received]
    if shrinks:
        assert sorted(set(prompts), key=len, reverse=True) == prompts
    else:
        assert len(set(prompts)) == 1


def assert_secret(recorder: RunRecorder, outcome: Outcome | None, caplog: pytest.LogCaptureFixture) -> None:
    """The key is in no event, no log, no journal and no export."""
    assert KEY not in repr(recorder.events) + "".join(map(describe_event, recorder.events))
    ours = [record.getMessage() for record in caplog.records if record.name != "asyncio"]
    assert ours
    assert not [message for message in ours if KEY in message]
    kept = RunRecord(
        id=new_run_id(), began=0, seconds=1, end="failed", strategy="exchange-summary", calls=recorder.calls()
    )
    assert run_history.save_run(kept) == ""
    stored = run_history.load_run(kept.id).model_dump_json()
    assert KEY not in stored
    assert "authorization" not in stored.lower()
    assert KEY.encode() not in b"".join(path.read_bytes() for path in paths.runs().parent.iterdir())
    if outcome is not None:
        made = export(replace(SESSION, format="claude-code"), outcome.messages, "anthropic-messages")
        assert made.problems == ()
        assert KEY.encode() not in made.written.data
