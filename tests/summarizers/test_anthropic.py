"""Live summaries: the real client against a server on loopback that behaves, and one that does not."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from tests.summarizers.fake_api import (
    KEY,
    MODEL,
    FakeApi,
    Reply,
    answer,
    broken_off,
    document,
    error,
    failing_in_stream,
    fake_api,
    in_one_piece,
    outlasting,
    page,
    reset,
    stalling,
    uncounted,
)
from tests.summarizers.live_calls import PROMPT, QUICK, ask, over, request
from workbench.base.figures import grouped
from workbench.compaction.strategies import user_messages
from workbench.compaction.strategies.user_messages import UserMessagesPolicy
from workbench.compaction.summary_request import ASK, RequestShape, Summary, SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, call, context_of, result, user
from workbench.conformance.strategies import run
from workbench.session import Records, Session, Tool, Usage
from workbench.summarizers.connections import Connection, connection_named
from workbench.summarizers.live import live_summarizer
from workbench.summarizers.live_events import (
    CallEnded,
    FieldDropped,
    PromptSent,
    PromptShortened,
    RetryScheduled,
    TextReceived,
    UsageReported,
    describe_event,
    partial_text,
)
from workbench.summarizers.protocols.cache_marks import MARK

EVERY = ("messages", "chat", "responses")
OVERLOADED = error(529, "overloaded_error", "Overloaded")
TOO_LONG = error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")


async def test_an_answer_streams_in(api: FakeApi) -> None:
    api.replies = [answer("The parser ", "was fixed.")]
    asked = request(max_output_tokens=2_000)
    got, events = await ask(asked)
    assert isinstance(got, Summary)
    assert (got.text, got.model) == ("The parser was fixed.", MODEL)
    assert got.usage == Usage(1_000, 42)
    assert 0 < got.seconds < 20
    assert [type(event) for event in events] == [
        PromptSent,
        UsageReported,
        TextReceived,
        TextReceived,
        UsageReported,
        CallEnded,
    ]
    assert [event.usage.output_final for event in events if isinstance(event, UsageReported)] == [False, True]
    assert partial_text(events, asked.key) == got.text
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


READ = {"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}
SESSION = Session(
    "pi", None, (), Records(b""), system="You are careful.", tools=(Tool("Read", json.dumps(READ)),), model="m"
)


@pytest.mark.parametrize(
    ("asked", "field", "sent"),
    [
        (request(max_output_tokens=500_000), "max_tokens", 64_000),  # the model's own limit
        (request(temperature=0.2), "temperature", 0.2),
        (request("half a pair: \ud83d."), "messages", [{"role": "user", "content": f"{PROMPT}\nhalf a pair: ?."}]),
        (request(tools=SESSION.tools), "tools", [READ]),
        (request(), "tools", None),
    ],
)
async def test_what_is_asked_for_is_what_is_sent(api: FakeApi, asked: SummaryRequest, field: str, sent: object) -> None:
    api.replies = [answer("ok")]
    got, _ = await ask(asked, session=SESSION)
    assert isinstance(got, Summary)
    assert api.received[0].body.get(field) == sent
    if field == "temperature":
        assert api.received[0].headers["anthropic-version"] == "2023-06-01", "the version that takes one"


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("temperature", "temperature is deprecated for this model"),
        ("thinking", "thinking.type.disabled is not supported for this model"),
    ],
)
async def test_what_a_model_does_not_take_is_left_out(field: str, words: str, api: FakeApi) -> None:
    api.replies = [error(400, "invalid_request_error", words), answer("ok")]
    got, events = await ask(request(temperature=0.5))
    assert isinstance(got, Summary)
    assert [event.field for event in events if isinstance(event, FieldDropped)] == [field]
    assert [field in sent.body for sent in api.received] == [True, False]


async def test_a_field_refused_again_is_an_error(api: FakeApi) -> None:
    refused = error(400, "invalid_request_error", "thinking is odd")
    api.replies = [refused, refused]
    got, _ = await ask(request())
    assert got == SummaryFailed("error", "the server refused thinking (400 invalid_request_error: thinking is odd)")
    assert len(api.received) == 2


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (answer(), "empty", "no text"),
        (answer(" \n "), "empty", "no text"),
        (answer("cut o", stop="max_tokens"), "truncated", "limit of output tokens at 5 characters"),
        (answer("x", stop="model_context_window_exceeded"), "truncated", "context window was full"),
        (answer(stop="refusal", stop_details={"type": "refusal", "category": "cyber"}), "refused", "refused (cyber)"),
        (answer("I will look", stop="tool_use"), "error", "called a tool"),
        (answer("long " * 4_000), "inflated", f"more than the {grouped(12_000)}"),
        (error(401, "authentication_error", f"invalid key {KEY}"), "error", "check ANTHROPIC_API_KEY"),
        (error(404, "not_found_error", "model: nope"), "error", "choose another model"),
        (error(400, "invalid_request_error", "max_tokens: must be positive"), "error", "refused the request"),
        (failing_in_stream("invalid_request_error", "odd"), "error", "invalid_request_error: odd"),
        (error(500, "api_error", "for good", x_should_retry="false"), "error", "for good"),
        (error(429, "x", "y", retry_after="86400"), "error", "waiting 86400 s would outlast the call"),
    ],
)
async def test_what_is_no_summary_is_a_failure_of_its_own_kind(
    reply: Reply, kind: str, words: str, api: FakeApi
) -> None:
    api.replies = [reply]
    got, events = await ask(request())
    assert isinstance(got, SummaryFailed)
    assert got.kind == kind
    assert words in got.detail
    assert len(api.received) == 1
    assert isinstance(events[-1], CallEnded)
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
async def test_passing_trouble_is_tried_again_and_void_text_forgotten(trouble: Reply, api: FakeApi) -> None:
    api.replies = [trouble, answer("whole")]
    asked = request()
    got, events = await ask(asked)
    assert isinstance(got, Summary)
    assert got.text == partial_text(events, asked.key) == "whole"
    assert [event.attempt for event in events if isinstance(event, PromptSent)] == [1, 2]
    assert sum(isinstance(event, RetryScheduled) for event in events) == 1


async def test_an_answer_in_one_piece_is_bought_once(api: FakeApi) -> None:
    api.replies = [in_one_piece("whole")]
    asked = request()
    got, events = await ask(asked)
    assert isinstance(got, Summary)
    assert (got.text, got.usage) == ("whole", Usage(input=1_000, output=42))
    assert partial_text(events, asked.key) == "whole"
    assert len(api.received) == 1


@pytest.mark.parametrize("figures", [None, {"input_tokens": 0, "output_tokens": 0}])
async def test_a_server_that_counts_nothing_has_no_bill(figures: object, api: FakeApi) -> None:
    api.replies = [uncounted("whole", figures)]
    got, events = await ask(request())
    assert isinstance(got, Summary)
    assert (got.text, got.usage) == ("whole", None)
    assert not [event for event in events if isinstance(event, UsageReported)]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (page(), "answers with a web page instead of a model's response; check ANTHROPIC_BASE_URL"),
        (document({"object": "chat.completion"}), "answers with JSON that is no message; check ANTHROPIC_BASE_URL"),
    ],
)
async def test_what_is_no_answer_is_asked_for_once(reply: Reply, words: str, api: FakeApi) -> None:
    api.replies = [reply]
    got, _ = await ask(request())
    assert got == SummaryFailed("error", f"{api.url} {words}")
    assert len(api.received) == 1


async def test_the_session_goes_to_no_host_that_nobody_named(api: FakeApi) -> None:
    async with fake_api(answer("whole")) as elsewhere:
        api.replies = [document({}, 307, location=f"{elsewhere.url}/v1/messages")]
        got, _ = await ask(request())
        assert isinstance(got, SummaryFailed)
        assert got.detail.startswith(f"{api.url} sends calls on to {elsewhere.url[7:]} (307); nothing was sent there")
        assert (len(api.received), elsewhere.received) == (1, [])


def own(protocol: str, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """The protocol's own connection, led to the server on loopback by its client's environment."""
    if protocol == "messages":
        return connection_named("anthropic")
    over(protocol, api)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{api.url}/v1")
    return Connection(name="openai", protocol=protocol, key_env="LOCAL_KEY")  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", "socksio"),
        ("SSL_CERT_FILE", "/missing/certificates.pem", "SSL_CERT_FILE names /missing/certificates.pem, whose"),
        *(
            ("BASE_URL", value, "_BASE_URL is no address; write http:// or https://, a host, and a port where")
            for value in (
                "http://[::1", "127.0.0.1", "http://box:abc", "http://", "ftp://box", "http://box:0",
                "me:hunter2@box", "http://me:hunter2@box:abc", "http://me:hunter2/x@box", "http://me:hunter2@[::1",
            )
        ),
    ],
)  # fmt: skip
async def test_a_client_that_cannot_start_says_why(
    variable: str, value: str, words: str, protocol: str, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no address is not repeated: part of it may be a password."""
    whom = own(protocol, api, monkeypatch)
    monkeypatch.delenv("NO_PROXY")
    maker = "ANTHROPIC" if protocol == "messages" else "OPENAI"
    monkeypatch.setenv(f"{maker}_{variable}" if variable == "BASE_URL" else variable, value)
    got, events = await ask(request(), connection=whom)
    assert isinstance(got, SummaryFailed)
    assert words in got.detail
    assert "hunter2" not in got.detail
    assert api.received == []
    assert [type(event) for event in events] == [CallEnded]
    if variable == "BASE_URL":
        assert whom.address == f"no address ({maker}_BASE_URL)"


@pytest.mark.parametrize("protocol", EVERY)
async def test_a_client_finds_its_server_in_its_environment(
    protocol: str, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    whom = own(protocol, api, monkeypatch)
    api.replies = [answer("ok")]
    got, _ = await ask(request(), connection=whom)
    assert isinstance(got, Summary)
    assert whom.address in (api.url, f"{api.url}/v1")


async def test_tries_are_bounded(api: FakeApi) -> None:
    api.replies = [*[OVERLOADED] * 9]
    got, _ = await ask(request())
    words = "the server is overloaded (529 overloaded_error: Overloaded); stopped after 3 tries"
    assert got == SummaryFailed("error", words)
    assert len(api.received) == QUICK.tries


async def test_retry_after_is_honoured(api: FakeApi) -> None:
    limited = error(429, "rate_limit_error", "slow down", retry_after="0.12")
    api.replies = [limited, answer("ok")]
    got, events = await ask(request())
    assert isinstance(got, Summary)
    assert [event.wait_s for event in events if isinstance(event, RetryScheduled)] == [0.12]


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize(
    ("reply", "timeout_s", "words", "came"),
    [
        (outlasting(QUICK.first_token_s), 60.0, "no first token within 30 s", ""),
        (outlasting(QUICK.stall_s, "The parser "), 60.0, "the answer stalled for 30 s", "The parser "),
        (outlasting(20.0, "The parser "), 20.0, "no complete answer within 20 s", "The parser "),
    ],
)
async def test_what_takes_too_long_times_out(
    api: FakeApi, reply: Reply, timeout_s: float, words: str, came: str, protocol: str
) -> None:
    api.replies = [reply]
    asked = request(timeout_s=timeout_s)
    got, events = await ask(asked, connection=over(protocol, api))
    await api.gone.wait()
    assert got == SummaryFailed("timeout", words)
    assert partial_text(events, asked.key) == came


async def test_cancelling_closes_the_connection_at_once(api: FakeApi) -> None:
    api.replies = [stalling("The parser ")]
    writing = asyncio.Event()
    summarizer = live_summarizer(
        MODEL, on_event=lambda event: writing.set() if isinstance(event, TextReceived) else None
    )
    task = asyncio.ensure_future(summarizer(request()))
    await writing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await api.gone.wait()


async def test_a_prompt_that_is_too_long_is_cut_by_the_rule(api: FakeApi) -> None:
    plain = error(400, "invalid_request_error", "prompt is too long")
    api.replies = [TOO_LONG, plain, error(413, "request_too_large", "too large"), answer("ok")]
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
    told = [event for event in events if isinstance(event, PromptShortened)]
    assert [(event.number, event.before, event.after) for event in told] == [
        (number, sizes[number - 1], sizes[number]) for number in (1, 2, 3)
    ]
    assert "the middle was cut" in describe_event(told[0])


async def test_a_prompt_that_stays_too_long_is_an_overflow(api: FakeApi) -> None:
    api.replies = [*[TOO_LONG] * 9]
    got, _ = await ask(request("words and words " * 10_000), replace(QUICK, shrinks=2))
    assert isinstance(got, SummaryFailed)
    assert got.kind == "overflow"
    assert "cutting it 2 times did not help" in got.detail
    prompts = [sent.prompt for sent in api.received]
    assert len(prompts) == len(set(prompts)) == 3


async def test_without_a_key_one_sentence_says_what_to_do(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    got, events = await ask(request())
    assert isinstance(got, SummaryFailed)
    assert "set ANTHROPIC_API_KEY" in got.detail
    assert api.received == []
    assert [type(event) for event in events] == [CallEnded]


# --- messages instead of a text -------------------------------------------------------------------------------------

TALK = [
    user("u1", "go " * 400),
    agent("a1", "", call("c1", "Read", file_path="a.py")),
    result("r1", ("c1", "x" * 6_000)),
    agent("a2", "found"),
    user("u2", "and now? " * 400),
    agent("a3", "fixed"),
]


def conversation(shape: RequestShape) -> SummaryRequest:
    """What user-messages asks of this talk."""
    policy = UserMessagesPolicy(user_message_tokens=0, prompt="Sum up.", request_shape=shape)
    context = context_of(TALK, system=SESSION.system, tools=SESSION.tools)
    return run(user_messages.STRATEGY, context, policy)[1][0]


@pytest.mark.parametrize(
    ("shape", "system", "last", "choice"),
    [
        ("messages", [{"type": "text", "text": "You are careful.", "cache_control": MARK}], "Sum up.", None),
        ("messages_without_tools", "You are careful.", "Sum up.", {"type": "none"}),
        ("messages_under_prompt", "Sum up.", ASK["en"], {"type": "none"}),
    ],
)
async def test_a_conversation_goes_as_its_messages(
    api: FakeApi, shape: RequestShape, system: object, last: str, choice: object
) -> None:
    """Tools go along wherever a call stands, for the API refuses calls of tools that are not defined."""
    api.replies = [answer("A summary.")]
    got, events = await ask(conversation(shape), session=SESSION)
    assert isinstance(got, Summary)
    body = api.received[0].body
    assert (body["system"], body["tools"], body.get("tool_choice")) == (system, [READ], choice)
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant"] * 3 + ["user"]
    used, answered = body["messages"][1]["content"][0], body["messages"][2]["content"][0]
    assert (used["type"], used["id"]) == ("tool_use", answered["tool_use_id"])
    assert body["messages"][0]["content"][0]["text"] == "go " * 400
    assert body["messages"][-1] == {"role": "user", "content": last}
    marks = [block.pop("cache_control") for turn in body["messages"][:-1] for block in turn["content"][-1:]
             if "cache_control" in block]  # fmt: skip
    assert marks == ([MARK] if shape == "messages" else [])
    (told,) = [event for event in events if isinstance(event, PromptSent)]
    assert told.chars == len(json.dumps(body["messages"], separators=(",", ":")))


async def test_a_conversation_without_its_session_is_not_sent(api: FakeApi) -> None:
    got, _ = await ask(conversation("messages"))
    assert got == SummaryFailed("error", "This request sends a session's own messages; open the session first.")
    assert api.received == []


async def test_of_a_conversation_that_is_too_long_the_oldest_messages_go(api: FakeApi) -> None:
    """The next user's message that answers no call comes first; when nothing more can go, it says so."""
    api.replies = [TOO_LONG, answer("A summary.")]
    got, events = await ask(conversation("messages"), session=SESSION)
    assert isinstance(got, Summary)
    whole, rest = (received.body["messages"] for received in api.received)
    assert rest == whole[4:]
    (told,) = [event for event in events if isinstance(event, PromptShortened)]
    assert "; the oldest messages were left out: " in describe_event(told)
    api.replies = [TOO_LONG] * 2
    got, _ = await ask(conversation("messages"), session=SESSION)
    assert isinstance(got, SummaryFailed)
    assert got.kind == "overflow"
