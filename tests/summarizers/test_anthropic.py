"""Live summaries: the real client against a server on loopback that behaves, and one that does not."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest

from tests.facts.talk import agent, user
from tests.summarizers.fake_api import (
    KEY,
    MODEL,
    Reply,
    answer,
    broken_off,
    error,
    failing_in_stream,
    fake_api,
    reset,
    silent,
    stalling,
)
from tests.summarizers.live_calls import NO_SILENCE, NO_STALL, PROMPT, QUICK, ask, client_talks_to, request
from workbench.compaction.strategies import exchange_summary
from workbench.compaction.strategy import Summary, SummaryFailed
from workbench.conformance.building import context_of
from workbench.session import Tool, Usage
from workbench.summarizers.anthropic import live
from workbench.summarizers.driver import run
from workbench.summarizers.live_events import (
    Adapted,
    Ended,
    LiveEvent,
    Retrying,
    Sent,
    Shrunk,
    Used,
    Wrote,
    heard,
    sentence,
)

OVERLOADED = error(529, "overloaded_error", "Overloaded")
TOO_LONG = error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")


async def test_an_answer_streams_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("The parser ", "was fixed.")) as api:
        client_talks_to(api, monkeypatch)
        asked = request(max_output_tokens=2_000)
        got, events = await ask(asked)
    assert isinstance(got, Summary)
    assert (got.text, got.model) == ("The parser was fixed.", MODEL)
    assert got.usage == Usage(1_000, 42)
    assert 0 < got.seconds < 20
    assert [type(event) for event in events] == [Sent, Used, Wrote, Wrote, Used, Ended]
    assert [event.usage.output_final for event in events if isinstance(event, Used)] == [False, True]
    assert heard(events, asked.key) == got.text
    (sent,) = api.received
    assert (sent.method, sent.path) == ("POST", "/v1/messages")
    assert KEY in (sent.headers.get("authorization", "") + sent.headers.get("x-api-key", ""))
    assert sent.body == {
        "model": MODEL,
        "max_tokens": 2_000,
        "messages": [{"role": "user", "content": asked.text}],
        "thinking": {"type": "disabled"},
        "stream": True,
    }


async def test_the_output_limit_is_the_models_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("ok")) as api:
        client_talks_to(api, monkeypatch)
        await ask(request(max_output_tokens=500_000))
    assert api.received[0].body["max_tokens"] == 64_000


async def test_a_temperature_is_sent_in_the_version_that_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("ok")) as api:
        client_talks_to(api, monkeypatch)
        await ask(request(temperature=0.2))
    assert api.received[0].body["temperature"] == 0.2
    assert api.received[0].headers["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("temperature", "temperature is deprecated for this model"),
        ("thinking", "thinking.type.disabled is not supported for this model"),
    ],
)
async def test_what_a_model_does_not_take_is_left_out(field: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(error(400, "invalid_request_error", words), answer("ok")) as api:
        client_talks_to(api, monkeypatch)
        got, events = await ask(request(temperature=0.5))
    assert isinstance(got, Summary)
    assert [event.field for event in events if isinstance(event, Adapted)] == [field]
    assert [field in sent.body for sent in api.received] == [True, False]


async def test_a_field_refused_again_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = error(400, "invalid_request_error", "thinking is odd")
    async with fake_api(refused, refused) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request())
    assert got == SummaryFailed("error", "the server refused thinking (400 invalid_request_error: thinking is odd)")
    assert len(api.received) == 2


async def test_text_that_no_request_can_carry_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("ok")) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request("half a pair: \ud83d."))
    assert isinstance(got, Summary)
    assert api.received[0].prompt.endswith("half a pair: ?.")


async def test_tools_are_offered_only_to_requests_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = Tool("Read", '{"name":"Read","description":"Reads.","input_schema":{"type":"object"}}')
    async with fake_api(answer("ok"), answer("ok")) as api:
        client_talks_to(api, monkeypatch)
        await ask(request(tools=True), tools=[tool])
        await ask(request(tools=False), tools=[tool])
    schema = {"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}
    assert [sent.body.get("tools") for sent in api.received] == [[schema], None]


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (answer(), "empty", "no text"),
        (answer(" \n "), "empty", "no text"),
        (answer("cut o", stop="max_tokens"), "truncated", "limit of output tokens at 5 characters"),
        (answer("x", stop="model_context_window_exceeded"), "truncated", "context window was full"),
        (answer(stop="refusal", stop_details={"type": "refusal", "category": "cyber"}), "refused", "refused (cyber)"),
        (answer("I will look", stop="tool_use"), "error", "called a tool"),
        (answer("long " * 4_000), "inflated", "more than the 12,000"),
        (error(401, "authentication_error", f"invalid key {KEY}"), "error", "check ANTHROPIC_API_KEY"),
        (error(404, "not_found_error", "model: nope"), "error", "choose another model"),
        (error(400, "invalid_request_error", "max_tokens: must be positive"), "error", "refused the request"),
        (failing_in_stream("invalid_request_error", "odd"), "error", "invalid_request_error: odd"),
    ],
)
async def test_what_is_no_summary_is_a_failure_of_its_own_kind(
    reply: Reply, kind: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_api(reply) as api:
        client_talks_to(api, monkeypatch)
        got, events = await ask(request())
    assert isinstance(got, SummaryFailed)
    assert got.kind == kind
    assert words in got.detail
    assert len(api.received) == 1
    assert isinstance(events[-1], Ended)
    assert events[-1].how == kind


@pytest.mark.parametrize(
    "trouble",
    [
        OVERLOADED,
        error(500, "api_error", "Internal server error"),
        error(429, "rate_limit_error", "slow down"),
        failing_in_stream("overloaded_error", "Overloaded", "half an answer"),
        broken_off("half an answer"),
        reset(),
    ],
)
async def test_passing_trouble_is_tried_again_and_void_text_forgotten(
    trouble: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_api(trouble, answer("whole")) as api:
        client_talks_to(api, monkeypatch)
        asked = request()
        got, events = await ask(asked)
    assert isinstance(got, Summary)
    assert got.text == heard(events, asked.key) == "whole"
    assert [event.attempt for event in events if isinstance(event, Sent)] == [1, 2]
    assert sum(isinstance(event, Retrying) for event in events) == 1


async def test_tries_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(*[OVERLOADED] * 9) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request())
    words = "the server is overloaded (529 overloaded_error: Overloaded); given up after 3 tries"
    assert got == SummaryFailed("error", words)
    assert len(api.received) == QUICK.tries


async def test_retry_after_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = error(429, "rate_limit_error", "slow down", retry_after="0.12")
    async with fake_api(limited, answer("ok")) as api:
        client_talks_to(api, monkeypatch)
        got, events = await ask(request())
    assert isinstance(got, Summary)
    assert [event.wait_s for event in events if isinstance(event, Retrying)] == [0.12]


async def test_a_wait_that_would_outlast_the_call_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(error(429, "rate_limit_error", "come back tomorrow", retry_after="86400")) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request())
    assert isinstance(got, SummaryFailed)
    assert "waiting 86400 s would outlast the call" in got.detail


async def test_the_server_may_forbid_another_try(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(error(500, "api_error", "for good", x_should_retry="false")) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request())
    assert isinstance(got, SummaryFailed)
    assert len(api.received) == 1


async def test_a_silent_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(silent()) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request(), NO_SILENCE)
        await asyncio.wait_for(api.gone.wait(), 5)
    assert got == SummaryFailed("timeout", "no first token within 0.1 s")


async def test_a_stalled_answer_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(stalling("The parser ")) as api:
        client_talks_to(api, monkeypatch)
        asked = request()
        got, events = await ask(asked, NO_STALL)
        await asyncio.wait_for(api.gone.wait(), 5)
    assert got == SummaryFailed("timeout", "the answer stalled for 0.1 s")
    assert heard(events, asked.key) == "The parser "


async def test_the_whole_call_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(stalling("The parser ")) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request(timeout_s=0.8))
        await asyncio.wait_for(api.gone.wait(), 5)
    assert got == SummaryFailed("timeout", "no whole answer within 0.8 s")


async def test_cancelling_closes_the_connection_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(stalling("The parser ")) as api:
        client_talks_to(api, monkeypatch)
        writing = asyncio.Event()
        summarizer = live(MODEL, on_event=lambda event: writing.set() if isinstance(event, Wrote) else None)
        task = asyncio.ensure_future(summarizer(request()))
        await asyncio.wait_for(writing.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(api.gone.wait(), 5)


async def test_a_prompt_that_is_too_long_is_cut_by_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = error(400, "invalid_request_error", "prompt is too long")
    async with fake_api(TOO_LONG, plain, error(413, "request_too_large", "too large"), answer("ok")) as api:
        client_talks_to(api, monkeypatch)
        asked = request("".join(f"line {number}\n" for number in range(4_000)))
        got, events = await ask(asked)
    assert isinstance(got, Summary)
    prompts = [sent.prompt for sent in api.received]
    assert prompts[0] == asked.text
    assert all(prompt.startswith(PROMPT) and prompt.endswith("line 3999\n") for prompt in prompts)
    sizes = [len(prompt) for prompt in prompts]
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[1] <= sizes[0] * 0.8 * 0.95 + 1
    assert "characters are left out here" in prompts[1]
    told = [event for event in events if isinstance(event, Shrunk)]
    assert [(event.number, event.before, event.after) for event in told] == [
        (number, sizes[number - 1], sizes[number]) for number in (1, 2, 3)
    ]
    assert "the middle was cut" in sentence(told[0])


async def test_a_prompt_that_stays_too_long_is_an_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(*[TOO_LONG] * 9) as api:
        client_talks_to(api, monkeypatch)
        got, _ = await ask(request("words and words " * 10_000), replace(QUICK, shrinks=2))
    assert isinstance(got, SummaryFailed)
    assert got.kind == "overflow"
    assert "cutting it 2 times did not help" in got.detail
    prompts = [sent.prompt for sent in api.received]
    assert len(prompts) == len(set(prompts)) == 3


async def test_without_a_key_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        got, events = await ask(request())
    assert isinstance(got, SummaryFailed)
    assert "set ANTHROPIC_API_KEY" in got.detail
    assert api.received == []
    assert [type(event) for event in events] == [Ended]


@pytest.mark.parametrize(
    "replies",
    [
        [error(401, "authentication_error", f"key {KEY} is bad")],
        [error(500, "api_error", f"Authorization: Bearer {KEY}")] * 3,
        [failing_in_stream("api_error", f"oops {KEY}")] * 3,
        [answer(stop="refusal")],
        [answer("fine")],
    ],
)
async def test_the_key_is_in_no_log_event_or_error(
    replies: list[Reply], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with fake_api(*replies) as api:
        client_talks_to(api, monkeypatch)
        got, events = await ask(request())
    assert api.received
    assert KEY not in repr(got)
    assert KEY not in repr(events) + "".join(map(sentence, events))
    assert caplog.records
    ours = [record for record in caplog.records if record.name != "asyncio"]
    assert not [record.getMessage() for record in ours if KEY in record.getMessage()]


@pytest.mark.parametrize(
    "reply",
    [
        TOO_LONG,
        answer(),
        answer("cut", stop="max_tokens"),
        answer(stop="refusal"),
        error(401, "authentication_error", "no"),
        answer("words " * 9_000),
    ],
)
async def test_a_failure_leaves_the_session_as_it_was(reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = tuple(
        message for number in range(40) for message in (user(f"task {number} " * 30), agent(f"done {number} " * 60))
    )
    before = repr(messages)
    context = context_of(messages, manual=True)
    async with fake_api(reply, *[TOO_LONG] * 9) as api:
        client_talks_to(api, monkeypatch)
        strategy = exchange_summary.STRATEGY
        policy = strategy.policy_type.model_validate(
            {"min_version": "1", "prompt": "Sum up.", "history_tail_size_chars_to_exclude": 4_000}
        )
        events: list[LiveEvent] = []
        done = await run(strategy.compact(context, policy), live(MODEL, on_event=events.append, limits=QUICK))
    assert done.outcome.status == "unchanged"
    assert done.outcome.messages == messages
    assert repr(messages) == before
    assert isinstance(done.answers[0], SummaryFailed)
    assert done.answers[0].kind in done.outcome.reason
