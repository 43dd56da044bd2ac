"""Usage as servers tell it: what no call can have is refused and named, over every protocol, and the run is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, isfinite
from typing import Any

import pytest
from anthropic.types import Usage as AnthropicUsage
from hypothesis import event, example, given
from hypothesis import strategies as st
from openai.types import CompletionUsage
from openai.types.responses import ResponseUsage

from tests.summarizers.fake_api import MODEL, Connection, FakeApi, Reply, begin, response, write
from tests.summarizers.live_calls import QUICK, ask, over, request
from tests.summarizers.test_batches import batch, results
from tests.summarizers.test_model_list import listed, model
from tests.summarizers.test_server_compaction import ASKED, BLOCK, SESSION, made
from workbench.compaction.outcome import unchanged
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Summary, SummaryRequest
from workbench.session import Usage
from workbench.summarizers import batches, driver, run_history
from workbench.summarizers.live import live_summarizer
from workbench.summarizers.live_events import LiveEvent, UsageRejected, UsageReported, describe_event, usage_by_attempt
from workbench.summarizers.model_list import fetch_models
from workbench.summarizers.protocols import messages, openai
from workbench.summarizers.protocols.usage import MAX_TOKENS, ImpossibleUsage, token_figure
from workbench.summarizers.run_records import RunRecord, RunRecorder, new_run_id
from workbench.summarizers.server_compaction import server_summarizer
from workbench.summarizers.server_endpoints import messages_usage, responses_usage
from workbench.summarizers.spend_limit import Spending, SpendLimit
from workbench.tokens.cost import actual

EVERY = pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
SONNET = "claude-sonnet-4-6"

IMPOSSIBLE = [
    ("-100000", "-100000"),
    ("-1", "-1"),
    ("100000001", "100000001"),
    ("1e30", "1e+30"),
    ("1" + "0" * 30, "1e+30"),
    ("1" + "0" * 400, "a number of more than 300 digits"),
    ("NaN", "nan"),
    ("Infinity", "inf"),
    ("12.5", "12.5"),
    ("42.0", "42"),
    ("true", "true"),
    ('"42"', "a text"),
    ("[42]", "a list"),
    ('{"tokens": 42}', "an object"),
]


CONVERTED = {"42.0": 42, "true": 1, '"42"': 42}
"""What the clients make a whole number of before anybody sees it, in streams over Messages and Chat Completions."""


@pytest.mark.parametrize(("value", "shown"), IMPOSSIBLE)
def test_f4_a_figure_that_no_call_can_have_is_named(value: str, shown: str) -> None:
    with pytest.raises(ImpossibleUsage, match="input_tokens is ") as raised:
        token_figure({"input_tokens": json.loads(value)}, "input_tokens")
    assert str(raised.value) == f"input_tokens is {shown}"


@pytest.mark.parametrize(("value", "tokens"), [("0", 0), ("1", 1), ("100000000", 10**8), ("null", None)])
def test_f4_a_figure_at_its_bounds_is_read(value: str, tokens: int | None) -> None:
    assert token_figure({"input_tokens": json.loads(value)}, "input_tokens") == tokens
    assert token_figure({}, "input_tokens") is None
    assert token_figure(None, "input_tokens") is None


# --- every reader -----------------------------------------------------------------------------------------------------

NAMES = (
    "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "prompt_tokens",
    "completion_tokens", "total_tokens", "cached_tokens",
)  # fmt: skip
figures = st.one_of(
    st.none(),
    st.integers(0, 10**6),
    st.integers(-(10**40), 10**40),
    st.sampled_from([-1, 0, MAX_TOKENS, MAX_TOKENS + 1]),
    st.floats(),
    st.booleans(),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)
flat = st.dictionaries(st.sampled_from(NAMES), figures)
odd = st.one_of(figures, flat)
compactions = st.lists(st.one_of(figures, flat.map(lambda one: one | {"type": "compaction"})), max_size=3)
DETAILS = {"input_tokens_details": odd, "prompt_tokens_details": odd, "iterations": st.one_of(odd, compactions)}
told = st.builds(lambda first, more: first | more, flat, st.fixed_dictionaries({}, optional=DETAILS))
BEFORE = Usage(10, 20, 30, 40)
READERS: dict[str, Callable[[Any], Usage | None]] = {
    "messages": lambda told: messages.usage_of(AnthropicUsage.construct(**told)),
    "messages, whole": messages.usage_of,
    "messages, then": lambda told: messages.usage_of(AnthropicUsage.construct(**told), BEFORE, final=False),
    "chat": lambda told: openai.usage_of_chat(CompletionUsage.construct(**told)),
    "chat, whole": openai.usage_of_chat,
    "responses, whole": openai.usage_of_response,
    "responses": lambda told: openai.usage_of_response(ResponseUsage.construct(**told)),
    "compaction over messages": messages_usage,
    "compaction over responses": responses_usage,
}


def whole_numbers(told: object) -> int:
    """All that the figures give at most, added up: of `1.0`, `true` and `"1"` clients make 1 before that is read."""
    match told:
        case dict():
            return sum(map(whole_numbers, told.values()))
        case list():
            return sum(map(whole_numbers, told))
        case str():
            return int(told) if told.strip().isdecimal() else 0
        case float():
            return int(told) if told.is_integer() and told > 0 else 0
        case int():
            return max(told, 0)
    return 0


@pytest.mark.parametrize("reader", READERS)
@example({"cache_read_input_tokens": 1.0, "output_tokens": "2", "completion_tokens": True})
@given(told)
def test_f4_usage_is_never_negative_nor_more_than_the_figures_give(reader: str, told: dict[str, Any]) -> None:
    try:
        usage = READERS[reader](told)
    except ImpossibleUsage as impossible:
        event(str(impossible).partition(" ")[0])
        return
    if usage is None:
        return
    before = 100 if reader == "messages, then" else 0
    several = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    assert all(type(one) is int and 0 <= one <= 4 * MAX_TOKENS for one in several)
    assert sum(several) <= whole_numbers(told) + before
    dollars = actual(usage, SONNET).dollars
    assert dollars is not None
    assert isfinite(dollars)
    assert 0 <= dollars <= sum(several) * 22.5 / 1e6  # the dearest price of this model, for each of them


# --- through the clients ----------------------------------------------------------------------------------------------

FIELDS = {"messages": "output_tokens", "chat": "completion_tokens", "responses": "output_tokens"}


def billing(value: str, *, in_one_piece: bool) -> Reply:
    """An answer whose output tokens are the JSON `value`."""
    put = "PUT-IT-HERE"

    async def reply(to: Connection) -> None:
        kept = list[bytes]()
        whole = _whole(to.speaks, put) if in_one_piece else _end(to.speaks, put)
        kept.append(whole.replace(json.dumps(put), value).encode())
        if in_one_piece:
            await to.head(200, "application/json", content_length=str(len(kept[0])))
        else:
            await begin(to)
            await write(to, ("whole",))
        to.writer.write(b"".join(kept))
        await to.writer.drain()

    return reply


def _usage(speaks: str, output: object) -> dict[str, object]:
    if speaks == "completions":
        return {"prompt_tokens": 1_000, "completion_tokens": output, "total_tokens": 1_042}
    return {"input_tokens": 1_000, "output_tokens": output}


def _whole(speaks: str, output: object) -> str:
    used, text = _usage(speaks, output), {"type": "text", "text": "whole"}
    if speaks == "completions":
        choice = {"index": 0, "message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}
        return json.dumps({"id": "c1", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": used})
    if speaks == "responses":
        return json.dumps(response("completed", ("whole",), usage=used))
    message = {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": [text]}
    return json.dumps({**message, "stop_reason": "end_turn", "usage": used})


def _end(speaks: str, output: object) -> str:
    used = _usage(speaks, output)
    if speaks == "completions":
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        end = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
        return "".join(
            f"data: {json.dumps({**chunk, **more})}\n\n" for more in ({"choices": end}, {"choices": [], "usage": used})
        )
    if speaks == "responses":
        end = {"type": "response.completed", "response": response("completed", ("whole",), usage=used)}
        return f"event: response.completed\ndata: {json.dumps(end)}\n\n"
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": used}
    stop = 'event: message_stop\ndata: {"type": "message_stop"}\n\n'
    return f"event: message_delta\ndata: {json.dumps(delta)}\n\n{stop}"


@EVERY
@pytest.mark.parametrize("in_one_piece", [False, True])
@pytest.mark.parametrize(("value", "shown"), IMPOSSIBLE)
async def test_f4_impossible_usage_is_named_and_the_answer_kept(
    value: str, shown: str, in_one_piece: bool, protocol: str, api: FakeApi
) -> None:
    """Nothing of it is billed anywhere; of a limit the most is taken that the call could cost."""
    if value in CONVERTED and not in_one_piece and protocol != "responses":
        pytest.skip("a whole number by then: see the next test")
    api.replies, purse = [billing(value, in_one_piece=in_one_piece)], SpendLimit(1.0)
    events: list[LiveEvent] = []
    spending = Spending(purse, lambda _: 1_000)
    summarizer = live_summarizer(SONNET, over(protocol, api), on_event=events.append, limits=QUICK, spending=spending)
    got = await summarizer(request(max_output_tokens=2_000))
    assert isinstance(got, Summary)
    assert (got.text, got.usage) == ("whole", None)
    (misbilled,) = [event for event in events if isinstance(event, UsageRejected)]
    assert misbilled.why == f"{FIELDS[protocol]} is {shown}"
    said = f"the server's usage is ignored: {misbilled.why}, impossible for one call"
    assert describe_event(misbilled) == said
    assert usage_by_attempt(events) == ()
    assert purse.spent == pytest.approx(0.033)  # 1 000 tokens in at $3 a million, 2 000 out at $15


@pytest.mark.parametrize("protocol", ["messages", "chat"])
@pytest.mark.parametrize(("value", "tokens"), CONVERTED.items())
async def test_f4_what_a_client_makes_a_number_of_is_that_number(
    value: str, tokens: int, protocol: str, api: FakeApi
) -> None:
    """It is billed as if the server had written it so."""
    api.replies, purse = [billing(value, in_one_piece=False)], SpendLimit(1.0)
    spending = Spending(purse, lambda _: 1_000)
    got = await live_summarizer(SONNET, over(protocol, api), limits=QUICK, spending=spending)(
        request(max_output_tokens=2_000)
    )
    assert isinstance(got, Summary)
    assert got.usage == Usage(1_000, tokens)
    assert purse.spent == pytest.approx(0.003 + tokens * 15 / 1e6)


@pytest.mark.parametrize("protocol", ["messages", "chat"])
@pytest.mark.parametrize("value", ['"-1"', "-1.0", '"100000001"', "100000001.0", '"1e30"', '"42.5"', '"NaN"'])
async def test_f4_the_bounds_hold_for_what_a_client_makes_a_number_of(value: str, protocol: str, api: FakeApi) -> None:
    api.replies, purse = [billing(value, in_one_piece=False)], SpendLimit(1.0)
    spending = Spending(purse, lambda _: 1_000)
    got = await live_summarizer(SONNET, over(protocol, api), limits=QUICK, spending=spending)(
        request(max_output_tokens=2_000)
    )
    assert isinstance(got, Summary)
    assert got.usage is None
    assert purse.spent == pytest.approx(0.033)


async def test_f4_a_figure_at_the_beginning_of_a_stream_voids_its_end(api: FakeApi) -> None:
    """Messages tell the prompt's tokens at the beginning and the answer's at the end: half of a bill is none."""

    async def reply(to: Connection) -> None:
        await to.head(200, "text/event-stream")
        start = {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": []}
        await to.event("message_start", message={**start, "usage": {"input_tokens": -5, "output_tokens": 1}})
        await write(to, ("whole",))
        to.writer.write(_end("messages", 42).encode())
        await to.writer.drain()

    api.replies = [reply]
    got, events = await ask(request())
    assert isinstance(got, Summary)
    assert (got.usage, usage_by_attempt(events)) == (None, ())
    assert not [event for event in events if isinstance(event, UsageReported)]


@EVERY
async def test_f4_the_next_attempt_is_billed_by_its_own_figures(protocol: str, api: FakeApi) -> None:
    """An attempt with impossible usage that breaks off leaves nothing to the one that follows it."""

    async def breaks_off(to: Connection) -> None:
        if to.speaks == "messages":
            await to.head(200, "text/event-stream")
            start = {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": []}
            await to.event("message_start", message={**start, "usage": {"input_tokens": -5, "output_tokens": 1}})
        else:
            await begin(to)

    api.replies = [breaks_off, billing("42", in_one_piece=False)]
    got, events = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert got.usage == Usage(1_000, 42)
    assert usage_by_attempt(events) == (Usage(1_000, 42),)


def asking(asked: SummaryRequest) -> Compacting:
    yield (asked,)
    return unchanged((), "nothing")


@EVERY
@pytest.mark.parametrize("value", ["-100000", "1" + "0" * 30])
async def test_f4_a_run_with_impossible_usage_is_kept(value: str, protocol: str, api: FakeApi) -> None:
    api.replies, recorder = [billing(value, in_one_piece=False)], RunRecorder()
    summarizer = live_summarizer(SONNET, over(protocol, api), on_event=recorder.on_live_event, limits=QUICK)
    await driver.run(asking(request()), summarizer, on_event=recorder.on_run_event)
    cost = recorder.cost(SONNET)
    run = RunRecord(
        id=new_run_id(), began=0, seconds=1, end="finished", strategy="x", calls=recorder.calls(), dollars=cost.dollars
    )
    assert run_history.save_run(run) == ""
    (call,) = run_history.load_run(run.id).calls
    assert (call.text, call.usage) == ("whole", None)
    assert [note for note in call.notes if f"{FIELDS[protocol]} is " in note]
    assert run_history.list_runs()[0].dollars is None
    assert cost.note.startswith("the server's usage is ignored: ")


@pytest.mark.parametrize(
    ("usage", "why"),
    [
        ({"input_tokens": -5, "output_tokens": 7}, "input_tokens is -5"),
        ({"iterations": [{"type": "compaction", "output_tokens": "7"}]}, "output_tokens is a text"),
        ({"iterations": {"type": "compaction"}, "input_tokens": True}, "input_tokens is true"),
    ],
)
async def test_f4_usage_of_the_servers_own_compaction_is_read_alike(
    usage: dict[str, Any], why: str, api: FakeApi
) -> None:
    api.replies, purse = [made(BLOCK, **usage)], SpendLimit(1.0)
    events: list[LiveEvent] = []
    spending = Spending(purse, lambda _: 1_000)
    got = await server_summarizer(SONNET, SESSION, on_event=events.append, spending=spending)(ASKED)
    assert isinstance(got, Summary)
    assert got.usage is None
    assert [event.why for event in events if isinstance(event, UsageRejected)] == [why]
    assert purse.spent == pytest.approx(0.123)  # 1 000 in at $3, 8 000 out at $15


async def test_f4_usage_in_a_batch_is_read_alike(api: FakeApi) -> None:
    asked, events = request(), list[LiveEvent]()
    line = {"custom_id": asked.key, "result": {"type": "succeeded", "message": json.loads(_whole("messages", -7))}}
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(line)]
    running = batches.batch_run(
        asking(asked), MODEL, None, lambda _: None, batches.upload_slots(), on_live_event=events.append
    )
    async with running as run:
        (got,) = run.answers
    assert isinstance(got, Summary)
    assert (got.text, got.usage) == ("whole", None)
    assert events == [UsageRejected(asked.key, "output_tokens is -7")]


@pytest.mark.parametrize(
    ("value", "tokens"), [("42.0", 42), ('"42"', 42), ("true", 1), ("-1.0", None), ('"1e30"', None)]
)
async def test_f4_in_a_batch_the_client_makes_the_same_numbers(value: str, tokens: int | None, api: FakeApi) -> None:
    asked, events = request(), list[LiveEvent]()
    message = json.loads(_whole("messages", json.loads(value)))
    line = {"custom_id": asked.key, "result": {"type": "succeeded", "message": message}}
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(line)]
    running = batches.batch_run(
        asking(asked), MODEL, None, lambda _: None, batches.upload_slots(), on_live_event=events.append
    )
    async with running as run:
        (got,) = run.answers
    assert isinstance(got, Summary)
    assert got.usage == (None if tokens is None else Usage(1_000, tokens))


@pytest.mark.parametrize(
    ("value", "window"), [(42.0, 42), ("42", 42), (True, 1), (-1.0, None), ("100000001", None), ("1e30", None)]
)
async def test_f4_in_a_list_of_models_the_client_makes_the_same_numbers(
    value: object, window: int | None, api: FakeApi
) -> None:
    api.replies = [listed(model("claude-next", max_input_tokens=value))]
    assert (await fetch_models()).models[0].window == window


# --- the spend limit --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paid", [-100.0, -inf, float("nan"), inf])
async def test_f3_no_bill_lifts_the_limit_for_what_follows(paid: float) -> None:
    """A bill that cannot be counts as the most that the call could cost, whatever was agreed before."""

    async def yes(what: str) -> bool:
        return True

    purse = SpendLimit(0.10, ask=yes)
    await purse.allow(None, "my-llama")
    async with purse.reserve(0.04, SONNET) as bill:
        bill.dollars = paid
    assert (purse.spent, purse.limit, purse.unpriced) == (0.04, 0.10, {"my-llama"})
