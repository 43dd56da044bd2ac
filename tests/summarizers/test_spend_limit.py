"""What calls may cost, held against the real client: just below, at and above the limit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.summarizers.fake_api import (
    FakeApi,
    Reply,
    answer,
    broken_off,
    broken_off_thinking,
    error,
    failing_in_stream,
    reset,
    uncounted,
)
from tests.summarizers.live_calls import QUICK, over, request
from tests.summarizers.test_anthropic import SESSION, conversation
from tests.summarizers.test_server_compaction import ASKED, BLOCK, made
from tests.summarizers.test_server_compaction import SESSION as THERE
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.live import live_summarizer
from workbench.summarizers.server_compaction import server_summarizer
from workbench.summarizers.spend_limit import FLOAT_SLACK, Spending, SpendLimit, SpendLimitExceeded, default_spend_limit
from workbench.summarizers.time_limits import CLOCKS

SONNET = "claude-sonnet-4-6"
MOST = 0.033
"""By hand: 1 000 tokens in at $3 a million, and 2 000 out at $15."""
ONCE = 0.00363
"""What the server bills: 1 000 in and 42 out."""


def thousand(text: str) -> int:
    return 1_000


async def ask_for(
    limit: float | None, api: FakeApi, *replies: Reply, model: str = SONNET, asked: SummaryRequest | None = None
) -> tuple[Answer, SpendLimit]:
    api.replies, purse = [*replies], SpendLimit(limit)
    summarizer = live_summarizer(model, limits=QUICK, session=SESSION, spending=Spending(purse, thousand))
    return await summarizer(asked or request(max_output_tokens=2_000)), purse


@pytest.mark.parametrize(("limit", "sent"), [(0.0329, 0), (MOST, 1), (0.0331, 1), (None, 1)])
async def test_a_call_is_sent_where_it_cannot_cost_more(limit: float | None, sent: int, api: FakeApi) -> None:
    got, purse = await ask_for(limit, api, answer("Fixed."))
    assert len(api.received) == sent
    if sent:
        assert isinstance(got, Summary)
        assert purse.spent == pytest.approx(0.0 if limit is None else ONCE)
    else:
        assert isinstance(got, SummaryFailed)
        assert got.detail.startswith("This may cost $0.03, slightly more than $0.03; raise --max-cost, or max_cost in ")


@pytest.mark.parametrize(("limit", "sent"), [(0.0759, 1), (0.0761, 2)])
async def test_attempts_that_broke_off_count(limit: float, sent: int, api: FakeApi) -> None:
    """By hand: of the first came 1 000 tokens in, and words that count as 1 000: $0.018. The next may cost $0.033, and
    $0.025 were spent before: $0.076."""
    api.replies, purse = [broken_off("The par"), answer("Fixed.")], SpendLimit(limit, spent=0.025)
    got = await live_summarizer(SONNET, limits=QUICK, spending=Spending(purse, thousand))(
        request(max_output_tokens=2_000)
    )
    assert len(api.received) == sent
    assert isinstance(got, Summary if sent == 2 else SummaryFailed)
    assert purse.spent == pytest.approx(0.025 + 0.018 + (ONCE if sent == 2 else 0))


@pytest.mark.parametrize(
    ("protocol", "reply", "spent"),
    [
        ("messages", broken_off_thinking("Hm."), 0.018),  # 1 000 tokens in, as the server says, and thoughts of 1 000
        ("chat", broken_off_thinking("Hm."), MOST),  # nothing is told before the end
        ("responses", broken_off_thinking("Hm."), MOST),
        ("chat", broken_off("The par"), MOST),
        ("chat", reset(), MOST),
        ("messages", reset(), MOST),
        ("chat", failing_in_stream("overloaded_error", "Overloaded"), 0.0),
    ],
)
async def test_a_call_that_broke_off_is_billed_though_no_word_had_come(
    protocol: str, reply: Reply, spent: float, api: FakeApi
) -> None:
    api.replies, purse = [reply], SpendLimit(1.0)
    spending = Spending(purse, lambda text: 1_000 if text else 0)
    once = replace(QUICK, tries=1)
    got = await live_summarizer(SONNET, over(protocol, api), limits=once, spending=spending)(
        request(max_output_tokens=2_000)
    )
    assert isinstance(got, SummaryFailed)
    assert len(api.received) == 1
    assert purse.spent == pytest.approx(spent)


async def test_a_server_that_nobody_reaches_bills_nothing(api: FakeApi) -> None:
    nobody, purse = over("chat", api).model_copy(update={"base_url": "http://127.0.0.1:9/v1"}), SpendLimit(1.0)
    got = await live_summarizer(SONNET, nobody, limits=QUICK, spending=Spending(purse, thousand))(request())
    assert isinstance(got, SummaryFailed)
    assert purse.spent == 0.0


@pytest.mark.parametrize(
    ("reply", "spent"),
    [(error(400, "invalid_request_error", "no"), 0.0), (uncounted("whole", None), MOST)],
)
async def test_what_is_refused_costs_nothing_and_what_has_no_bill_the_most(
    reply: Reply, spent: float, api: FakeApi
) -> None:
    _, purse = await ask_for(1.0, api, reply)
    assert purse.spent == pytest.approx(spent)


async def test_a_model_without_a_price_is_not_asked(api: FakeApi) -> None:
    got, _ = await ask_for(1.0, api, answer("Fixed."), model="my-llama")
    assert isinstance(got, SummaryFailed)
    assert got.detail.startswith("The price of my-llama is unknown, so the limit of $1.00 cannot be checked; write its")
    assert api.received == []


async def test_a27_a_yes_for_a_model_without_a_price_is_for_that_model_alone(api: FakeApi) -> None:
    """The limit still stops another model, with a price and without one."""
    asked: list[str] = []

    async def ask(what: str) -> bool:
        asked.append(what)
        return len(asked) == 1

    purse, chat = SpendLimit(0.0329, ask=ask), over("chat", api)
    api.replies = [answer("Fixed."), answer("Fixed."), answer("Fixed.")]

    async def sent(model: str, number: int) -> bool:
        summarizer = live_summarizer(model, chat, limits=QUICK, spending=Spending(purse, thousand))
        return isinstance(await summarizer(request(f"history {number}", max_output_tokens=2_000)), Summary)

    assert [await sent("my-llama", number) for number in range(3)] == [True, True, True]
    assert (asked, purse.limit, purse.spent) == (
        ["The price of my-llama is unknown, so the limit of $0.03 cannot be checked"],
        0.0329,
        0.0,
    )
    assert [await sent(SONNET, 3), await sent("my-other-llama", 4)] == [False, False]
    assert asked[1:] == ["This may cost $0.03, slightly more than $0.03"]
    assert len(api.received) == 3


async def test_f3_calls_at_once_of_a_model_without_a_price_are_one_question() -> None:
    """Those that wait for the answer are sent after a yes, and none after a no; another such model is another
    question, and a priced one has the whole limit still."""
    for says, sent, questions in ((True, [True, True, True, False, True], 2), (False, [False] * 4 + [True], 1)):
        asked: list[str] = []

        async def ask(what: str, asked: list[str] = asked, says: bool = says) -> bool:
            asked.append(what)
            await asyncio.sleep(0)
            return says and "other" not in what

        purse = SpendLimit(MOST, ask=ask)

        async def call(model: str, most: float | None = None, purse: SpendLimit = purse) -> bool:
            try:
                async with purse.reserve(most, model):
                    await asyncio.sleep(0)
            except SpendLimitExceeded:
                return False
            return True

        got = await asyncio.gather(*(call("my-llama") for _ in range(3)))
        got += [await call("my-other-llama"), await call(SONNET, MOST)]
        assert (got, len(asked)) == (sent, questions)
        assert (purse.limit, purse.spent) == (MOST, MOST)
        assert not await call(SONNET, 2 * FLOAT_SLACK), "the limit is used up, whoever was let pass before"


async def test_f3_the_next_run_asks_again(tmp_path: Path) -> None:
    paths.settings().parent.mkdir(parents=True, exist_ok=True)
    paths.settings().write_text("max_cost = 1.0\n")
    first = default_spend_limit()
    first.unpriced.add("my-llama")
    with pytest.raises(SpendLimitExceeded, match="my-llama"):
        default_spend_limit().check(None, "my-llama")


MODELS = {"cheap": 0.01, "dear": 0.4, "unpriced": None, "unpriced too": None}


@given(
    st.floats(0.0, 2.0),
    st.lists(st.tuples(st.sampled_from(sorted(MODELS)), st.floats(0.0, 1.0)), max_size=30),
    st.lists(st.booleans(), max_size=8),
)
def test_a27_what_is_spent_never_passes_what_was_allowed_whatever_models_are_asked(
    limit: float, calls: list[tuple[str, float]], answers: list[bool]
) -> None:
    """Against a reckoning by hand: a yes to a price raises the limit to just that, a yes to a model lets that model
    pass, the first no ends the asking."""
    said: list[str] = []

    async def ask(what: str) -> bool:
        said.append(what)
        return answers[len(said) - 1] if len(said) <= len(answers) else False

    async def all_of_them() -> tuple[list[bool], SpendLimit]:
        purse, came = SpendLimit(limit, ask=ask), []
        for model, share in calls:
            most = MODELS[model]
            try:
                async with purse.reserve(most, model) as bill:
                    bill.dollars = 0.0 if most is None else share * most
                came.append(True)
            except SpendLimitExceeded:
                came.append(False)
        return came, purse

    came, purse = asyncio.run(all_of_them())
    may, spent, free, asking, number = limit, 0.0, set[str](), True, 0
    expected = []
    for model, share in calls:
        most = MODELS[model]
        passes = model in free if most is None else spent + most <= may + FLOAT_SLACK
        if not passes and asking:
            asking = answers[number] if number < len(answers) else False
            number += 1
            passes = asking
            if asking and most is None:
                free.add(model)
            elif asking and most is not None:
                may = spent + most
        spent += share * most if passes and most is not None else 0.0
        expected.append(passes)
    assert (came, purse.unpriced, len(said)) == (expected, free, number)
    assert purse.limit == pytest.approx(may)
    assert purse.spent == pytest.approx(spent)
    assert spent <= may + FLOAT_SLACK * len(calls)


async def test_what_goes_into_the_cache_costs_a_quarter_more(api: FakeApi) -> None:
    """By hand: 1 000 tokens written to the cache at $3.75 a million, and 8 000 out at $15: $0.12375."""
    asked = conversation("messages")
    got, _ = await ask_for(0.1237, api, answer("Fixed."), asked=asked)
    assert isinstance(got, SummaryFailed)
    got, _ = await ask_for(0.1238, api, answer("Fixed."), asked=asked)
    assert isinstance(got, Summary)


async def test_calls_at_once_wait_for_what_others_hold(api: FakeApi) -> None:
    purse = SpendLimit(MOST + ONCE)
    api.replies = [answer("One."), answer("Two."), answer("Three.")]
    summarizer = live_summarizer(SONNET, limits=QUICK, spending=Spending(purse, thousand))
    asked = [request(f"history {number} " * 500, max_output_tokens=2_000) for number in range(3)]
    got = await asyncio.gather(*map(summarizer, asked))
    assert [type(one) for one in got].count(Summary) == 2
    assert len(api.received) == 2
    assert purse.spent == pytest.approx(2 * ONCE)


async def test_the_servers_own_compaction_is_held_against_it(api: FakeApi) -> None:
    for limit, sent in ((0.1229, 0), (0.1231, 1)):  # 1 000 in at $3, 8 000 out at $15: $0.123
        api.replies, purse = [made(BLOCK, iterations=[])], SpendLimit(limit)
        await server_summarizer(SONNET, THERE, spending=Spending(purse, thousand))(ASKED)
        assert len(api.received) == sent
    assert purse.spent == pytest.approx(10 * 3 / 1e6)


async def test_every_try_of_the_servers_own_compaction_is_held_against_it(api: FakeApi) -> None:
    """By hand: $0.123 for a try of which nobody knows what it cost, and so much once more."""
    for limit, sent in ((0.245, 1), (0.247, 2)):
        api.received.clear()
        api.replies, purse = [reset(), made(BLOCK, iterations=[])], SpendLimit(limit)
        await server_summarizer(SONNET, THERE, limits=QUICK, spending=Spending(purse, thousand))(ASKED)
        assert len(api.received) == sent
        assert purse.spent == pytest.approx(0.123 + (sent - 1) * 10 * 3 / 1e6)


async def test_what_costs_more_is_sent_where_somebody_says_so(api: FakeApi) -> None:
    """A yes is to what was asked and to nothing dearer, a no to all that follows; a try that follows one that broke is
    asked for, too."""
    asked: list[str] = []

    async def ask(what: str) -> bool:
        asked.append(what)
        return "$0.07" not in what

    api.replies = [broken_off_thinking("Hm."), reset(), answer("Fixed."), answer("Fixed.")]
    purse = SpendLimit(0.032, ask=ask)
    summarizer = live_summarizer(SONNET, over("chat", api), limits=QUICK, spending=Spending(purse, thousand))
    got = await summarizer(request(max_output_tokens=2_000))
    assert isinstance(got, SummaryFailed)
    assert asked == [
        "This may cost $0.03, slightly more than $0.03",
        "This may cost $0.03 on top of $0.03 spent, more than $0.03",
        "This may cost $0.03 on top of $0.07 spent, more than $0.07",
    ]
    assert len(api.received) == 2
    await summarizer(request("another", max_output_tokens=2_000))
    assert (len(asked), len(api.received)) == (3, 2)


async def test_one_is_asked_at_a_time_and_no_clock_runs_meanwhile(api: FakeApi) -> None:
    """Of two calls at once the second is asked for when the first has its bill."""
    asked: list[str] = []
    clocks: list[float | None] = []

    async def ask(what: str) -> bool:
        asked.append(what)
        clocks.extend(clock.when() for clock in CLOCKS.get())
        await asyncio.to_thread(lambda: None)
        return len(asked) == 1

    api.replies = [answer("One."), answer("Two.")]
    purse = SpendLimit(0.001, ask=ask)
    summarizer = live_summarizer(SONNET, limits=QUICK, spending=Spending(purse, thousand))
    short = [request(f"history {number} " * 500, max_output_tokens=2_000, timeout_s=20.0) for number in range(2)]
    got = await asyncio.gather(*map(summarizer, short))
    assert [type(one) for one in got].count(Summary) == 1
    assert asked == [
        "This may cost $0.03, more than $0.001",
        "This may cost $0.03 on top of $0.004 spent, more than $0.03",
    ]
    assert clocks == [None, None]


async def test_over_openais_protocols_it_holds_as_well(api: FakeApi) -> None:
    for protocol in ("chat", "responses"):
        api.received.clear()
        api.replies, purse = [answer("Fixed.")], SpendLimit(0.001)
        summarizer = live_summarizer("gpt-5", over(protocol, api), limits=QUICK, spending=Spending(purse, thousand))
        assert isinstance(await summarizer(request()), SummaryFailed)
        assert api.received == []


def test_the_limit_of_the_settings() -> None:
    assert default_spend_limit().limit is None
    paths.settings().parent.mkdir(parents=True, exist_ok=True)
    for text, limit in (("max_cost = 0.50", 0.5), ("max_cost = 0", 0.0)):
        paths.settings().write_text(text)
        assert default_spend_limit().limit == limit
    for text in ('max_cost = "1"', "max_cost = -1", "max_cost = true", "max_cost = inf", "max_cost = nan"):
        paths.settings().write_text(text)
        with pytest.raises(BadInput, match="is not an amount in dollars"):
            default_spend_limit()
    with pytest.raises(SpendLimitExceeded):
        SpendLimit(0.0).check(0.01, SONNET)
