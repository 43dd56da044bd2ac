"""Models asked by OpenAI's two protocols: the real client against a server on loopback."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.summarizers.fake_api import (
    KEY,
    MODEL,
    FakeApi,
    Reply,
    answer,
    document,
    error,
    failing_in_stream,
    fake_api,
    in_one_piece,
    page,
    uncounted,
)
from tests.summarizers.live_calls import PROMPT, ask, over, request
from workbench.base.errors import BadInput
from workbench.compaction.strategies import user_messages
from workbench.compaction.strategies.user_messages import UserMessagesPolicy
from workbench.compaction.summary_request import ASK, Summary, SummaryFailed, SummaryRequest
from workbench.conformance.building import METER, agent, call, context_of, result, user
from workbench.session import Records, Session, Tool, Usage
from workbench.summarizers.connections import Connection
from workbench.summarizers.exact_counts import count_exactly
from workbench.summarizers.live_events import (
    FieldDropped,
    PromptShortened,
    ThinkingReceived,
    UsageReported,
    partial_text,
)
from workbench.summarizers.model_list import OfferedModel, cached_models, fetch_models

BOTH = pytest.mark.parametrize("protocol", ["chat", "responses"])
READ = {"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}
TALK = [
    user("u1", "go " * 400),
    agent("a1", "", call("c1", "Read", file_path="a.py")),
    result("r1", ("c1", "x" * 6_000)),
    agent("a2", "It is read. " * 200),
    user("u2", "and now? " * 200),
    agent("a3", "Done. " * 200),
]
SESSION = Session("pi", None, (), Records(b""), system="You are careful.", tools=(Tool("Read", '{"name": "Read"}'),))


@BOTH
async def test_an_answer_is_billed_and_its_thoughts_stand_apart(protocol: str, api: FakeApi) -> None:
    api.replies = [answer("The parser ", "was fixed.", thought="Hm, the parser.")]
    asked = request(max_output_tokens=2_000)
    got, events = await ask(asked, connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert (got.text, got.model, got.usage) == ("The parser was fixed.", MODEL, Usage(800, 42, cache_read=200))
    assert partial_text(events, asked.key) == got.text
    assert [event.text for event in events if isinstance(event, ThinkingReceived)] == ["Hm, the parser."]
    (sent,) = api.received
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body["max_tokens" if protocol == "chat" else "max_output_tokens"] == 2_000


async def test_anthropics_thoughts_stand_apart_too(api: FakeApi) -> None:
    api.replies = [answer("Fixed.", thought="Hm.")]
    got, events = await ask(request())
    assert isinstance(got, Summary)
    assert got.text == "Fixed."
    assert [event.text for event in events if isinstance(event, ThinkingReceived)] == ["Hm."]


@pytest.mark.parametrize(
    ("protocol", "words", "field", "instead"),
    [
        ("chat", "Unsupported value: 'temperature' does not support 0.5 with this model.", "temperature", None),
        ("responses", "Unsupported parameter: 'temperature' is not supported.", "temperature", None),
        ("chat", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens",
         ("max_completion_tokens", 8_000)),
        ("chat", "stream_options is not permitted", "stream_options", None),
        ("responses", "Unknown parameter: 'store'.", "store", None),
    ],
)  # fmt: skip
async def test_what_a_server_does_not_take_is_left_out_once(
    protocol: str, words: str, field: str, instead: tuple[str, int] | None, api: FakeApi
) -> None:
    refused = error(400, "invalid_request_error", words)
    api.replies = [refused, answer("ok")]
    got, events = await ask(request(temperature=0.5), connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert [event.field for event in events if isinstance(event, FieldDropped)] == [field]
    assert [field in sent.body for sent in api.received] == [True, False]
    if instead:
        assert api.received[1].body[instead[0]] == instead[1]
    api.received.clear()
    api.replies = [refused, refused]
    got, _ = await ask(request(temperature=0.5), connection=over(protocol, api))
    assert isinstance(got, SummaryFailed)
    assert len(api.received) == 2


@BOTH
@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error(429, "insufficient_quota", "You exceeded your quota"), "error", "quota"),
        (error(401, "invalid_request_error", f"Incorrect API key {KEY}"), "error", "check LOCAL_KEY"),
        (error(404, "not_found_error", "The model 'nope' does not exist"), "error", "choose another model"),
        (answer("I look", stop="tool_use"), "error", "called a tool"),
        (answer("x", stop="model_context_window_exceeded"), "truncated", "context window was full"),
        (
            page(),
            "error",
            "answers with a web page instead of a model's response; check base_url of [connections.local]",
        ),
        (document({"type": "message"}), "error", "check base_url of [connections.local]"),
    ],
)
async def test_what_is_no_summary_is_asked_for_once(
    protocol: str, reply: Reply, kind: str, words: str, api: FakeApi
) -> None:
    api.replies = [reply]
    got, _ = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, SummaryFailed)
    assert (got.kind, words in got.detail, KEY in got.detail) == (kind, True, False)
    assert len(api.received) == 1


@BOTH
async def test_without_the_package_its_extra_is_named(
    protocol: str, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = over(protocol, api)
    monkeypatch.setitem(sys.modules, "openai", None)  # what Python takes for a package that is not there
    got, _ = await ask(request(), connection=there)
    assert isinstance(got, SummaryFailed)
    assert got.detail.endswith("needs a package; pip install 'compaction-workbench[openai]'.")
    assert api.received == []


async def test_a_protocol_that_counts_nothing_beforehand_is_not_asked() -> None:
    with pytest.raises(BadInput, match="ollama uses a protocol that cannot count in advance"):
        await count_exactly(SESSION, TALK, METER, "ollama/m")


@BOTH
async def test_an_answer_in_one_piece_is_bought_once(protocol: str, api: FakeApi) -> None:
    api.replies = [in_one_piece("whole")]
    got, _ = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert (got.text, got.usage) == ("whole", Usage(1_000, 42))
    assert len(api.received) == 1


@BOTH
async def test_figures_of_the_refusal_say_how_much_is_cut(protocol: str, api: FakeApi) -> None:
    words = (
        "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens "
        "(8000 in the messages, 1000 in the completion)."
    )
    api.replies = [error(400, "invalid_request_error", words), answer("ok")]
    got, events = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, Summary)
    (cut,) = (event for event in events if isinstance(event, PromptShortened))
    assert cut.after / cut.before == pytest.approx(0.95 * 3096 / 8000, abs=0.01)


@BOTH
async def test_a_stream_that_finds_the_prompt_too_long_has_it_cut(protocol: str, api: FakeApi) -> None:
    words = "Your input exceeds the context window of this model."
    api.replies = [failing_in_stream("context_length_exceeded", words), answer("ok")]
    got, events = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert len([event for event in events if isinstance(event, PromptShortened)]) == 1
    first, second = api.received
    assert len(second.prompt) < len(first.prompt)


@pytest.mark.parametrize("figures", [None, {"input_tokens": 0, "output_tokens": 0}])
@BOTH
async def test_a_server_that_counts_nothing_has_no_bill(protocol: str, figures: object, api: FakeApi) -> None:
    api.replies = [uncounted("whole", figures)]
    got, events = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert (got.text, got.usage) == ("whole", None)
    assert not [event for event in events if isinstance(event, UsageReported)]


@BOTH
async def test_the_session_goes_to_no_host_that_nobody_named(protocol: str, api: FakeApi) -> None:
    async with fake_api(answer("whole")) as elsewhere:
        api.replies = [document({}, 307, location=f"{elsewhere.url}/v1/responses")]
        got, _ = await ask(request(), connection=over(protocol, api))
        assert isinstance(got, SummaryFailed)
        remedy = "nothing was sent there. To send the session there, name it in base_url of [connections.local]"
        assert remedy in got.detail
        assert (len(api.received), elsewhere.received) == (1, [])


@pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
async def test_what_is_for_one_server_goes_to_no_other(
    protocol: Any, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key and no header of the environment reaches a server that it is not for; one without keys is sent none."""
    over("chat", api)
    for maker in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{maker}_API_KEY", KEY)
        monkeypatch.setenv(f"{maker}_CUSTOM_HEADERS", f"X-Gateway: {KEY}")
        monkeypatch.setenv(f"{maker}_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", KEY)
    url = api.url if protocol == "messages" else f"{api.url}/v1"
    local = Connection(name="local", protocol=protocol, base_url=url, headers={"X-Team": "blue"})
    api.replies = [answer("ok")]
    got, _ = await ask(request(), connection=local)
    assert isinstance(got, Summary)
    (sent,) = api.received
    assert KEY not in repr(sent.headers)
    assert sent.headers["x-team"] == "blue"


@pytest.mark.parametrize("shape", ["messages", "messages_under_prompt"])
@BOTH
async def test_a_conversation_goes_as_the_protocol_has_it(protocol: str, shape: str, api: FakeApi) -> None:
    """System prompt, calls with their results and tools, and what is asked last."""
    got = _conversation(shape)
    api.replies = [answer("ok")]
    summary, _ = await ask(got, connection=over(protocol, api), session=SESSION)
    assert isinstance(summary, Summary)
    (sent,) = api.received
    under = shape == "messages_under_prompt"
    system = PROMPT if under else "You are careful."
    if protocol == "chat":
        lead, *said = sent.said
        assert lead == {"role": "system", "content": system}
        assert [one["role"] for one in said][:3] == ["user", "assistant", "tool"]
        assert said[1]["tool_calls"][0]["id"] == said[2]["tool_call_id"] == "c1"
        tool = sent.body["tools"][0]["function"]["name"]
    else:
        said = sent.said
        assert sent.body["instructions"] == system
        assert [one.get("type", "message") for one in said][:3] == ["message", "function_call", "function_call_output"]
        tool = sent.body["tools"][0]["name"]
    assert tool == "Read"
    assert sent.body.get("tool_choice") == ("none" if under else None)
    assert said[-1] == {"role": "user", "content": ASK["en"] if under else PROMPT}


@BOTH
async def test_of_a_conversation_that_is_too_long_the_oldest_goes(protocol: str, api: FakeApi) -> None:
    api.replies = [error(400, "context_length_exceeded", "too many"), answer("ok")]
    got, events = await ask(_conversation("messages"), connection=over(protocol, api), session=SESSION)
    assert isinstance(got, Summary)
    (cut,) = (event for event in events if isinstance(event, PromptShortened))
    assert cut.how == "the oldest messages were left out"
    first, second = api.received
    rest = second.said[1:] if protocol == "chat" else second.said
    assert rest == first.said[-len(rest) :]
    assert rest[0]["role"] == "user"
    if protocol == "chat":
        assert second.said[0]["role"] == "system"


def _conversation(shape: Any) -> SummaryRequest:
    policy = UserMessagesPolicy(prompt=PROMPT, request_shape=shape, trigger_tokens=0)
    context = context_of(TALK, manual=True, system=SESSION.system, tools=SESSION.tools)
    asked = next(user_messages.STRATEGY.run(context, policy))
    assert isinstance(asked, tuple)
    return asked[0]


async def test_a_servers_models_tell_their_windows_as_it_does(api: FakeApi) -> None:
    models = [
        {"id": "qwen3", "object": "model", "created": 1, "owned_by": "vllm", "max_model_len": 40_960},
        {"id": "far", "object": "model", "created": 1, "owned_by": "x", "context_length": 1_000_000},
        {"id": "bare", "object": "model", "created": 1, "owned_by": "ollama"},
    ]
    local = over("chat", api)
    api.replies = [document({"object": "list", "data": models})]
    got = await fetch_models(local)
    assert got.models == (
        OfferedModel(id="qwen3", title="qwen3", window=40_960),
        OfferedModel(id="far", title="far", window=1_000_000),
        OfferedModel(id="bare", title="bare"),
    )
    assert api.received[0].path == "/v1/models"
    assert cached_models(local) == got
    assert cached_models() is None
