"""Prices: from the table, from recorded usage, and unknown ones."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.analysis.session_cost import session_cost, session_dollars
from workbench.base import paths
from workbench.session import Epoch, Message, Records, Session, SessionFacts, Text, Usage
from workbench.tokens.cost import Cost, actual, estimate


def test_an_estimate_is_input_and_output() -> None:
    cost = estimate(100_000, 2_000, "claude-opus-4-5")
    assert (cost.input, cost.output, cost.dollars) == pytest.approx((0.5, 0.05, 0.55))
    assert str(cost) == "$0.55"


def test_cached_tokens_have_their_own_prices() -> None:
    cost = actual(Usage(1_000_000, 0, 1_000_000, 1_000_000), "us.anthropic.claude-opus-4-5-20251101-v1:0")
    assert (cost.input, cost.cache_read, cost.cache_write) == (5, 0.5, 6.25)
    assert str(cost) == "$11.75"


def test_a_long_prompt_costs_more_for_every_token() -> None:
    short, long = estimate(200_000, 0, "claude-sonnet-4-5"), estimate(200_001, 0, "claude-sonnet-4-5")
    assert short.dollars == pytest.approx(0.6)
    assert long.dollars == pytest.approx(1.200006)
    assert "above 200 000" in long.note
    cached = actual(Usage(1_000, 0, 250_000), "claude-sonnet-4-5")
    assert cached.input == pytest.approx(0.006)


@pytest.mark.parametrize("model", ["", "qwen-local", "claude-next"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    cost = estimate(1_000, 1_000, model)
    assert cost == Cost(model, note=f"no price for {model!r} is known")
    assert (cost.dollars, str(cost)) == (None, "cost unknown")


def test_a_price_is_missed_only_where_it_is_needed() -> None:
    name = "uncached"
    paths.models().parent.mkdir(parents=True)
    paths.models().write_text(f'[[model]]\nid = "{name}"\nwindow = 8_000\nprices = {{ input = 10, output = 50 }}\n')
    assert estimate(1_000, 10, name).dollars is not None
    input, output = 0.01, 0.0005
    for usage, left, missed in (
        (Usage(1_000, 10, 5), (None, 0.0), "cache reads"),
        (Usage(1_000, 10, 0, 5), (0.0, None), "cache writes"),
    ):
        cost = actual(usage, name)
        assert cost == Cost(name, input, output, *left, f"no price for {missed} is known")
        assert cost.dollars is None


@pytest.mark.parametrize(("dollars", "said"), [(0.99994, "$1.00"), (1.0, "$1.00"), (1.999, "$2.00"), (2.0, "$2.00")])
def test_small_sums_are_shown_to_the_hundredth_of_a_cent(dollars: float, said: str) -> None:
    assert str(Cost("m", dollars, 0, 0, 0)) == said


def test_a_person_may_correct_a_price(own_home: Path) -> None:
    path = paths.models()
    path.parent.mkdir(parents=True)
    path.write_text('[[model]]\nid = "my-local"\nwindow = 8_000\nprices = { input = 1, output = 2 }\n')
    assert estimate(1_000_000, 1_000_000, "my-local").dollars == 3


def test_nothing_costs_nothing() -> None:
    assert actual(Usage(), "claude-fable-5-1") == Cost("claude-fable-5-1", 0, 0, 0, 0)


def answered(*usages: Usage | None, model: str = "claude-opus-4-5", **facts: Any) -> Session:
    messages = [Message(f"a{n}", "assistant", (Text("x"),), usage=usage) for n, usage in enumerate(usages)]
    return Session("pi", None, tuple(messages), Records(b""), model=model, facts=SessionFacts(**facts))


def test_session_cost_is_shown_as_recorded_and_by_known_prices() -> None:
    """Opus 4.5: $5 in, $25 out, $0.5 from the cache and $6.25 into it, a million tokens each."""
    first = Usage(input=100_000, output=10_000, cost=0.75)  # 0.5 + 0.25
    second = Usage(cache_read=60_000, cache_write=60_000, output=4_000, cost=0.505)  # 0.03 + 0.375 + 0.1
    told = session_cost(answered(first, second))
    assert told is not None
    assert (told.calls, told.silent) == (2, 0)
    assert (told.recorded, told.here) == (pytest.approx(1.255), pytest.approx(1.255))
    assert (told.prompts, told.answers) == (pytest.approx(0.905), pytest.approx(0.35))
    # At best 100 000 are written, then 100 000 read and 20 000 written: 0.625 + 0.05 + 0.125.
    assert told.missed == pytest.approx(0.905 - 0.8)
    assert str(told) == "$1.25 recorded; $1.25 by the prices of genai-prices (prompts $0.91, answers $0.35)"


def test_the_whole_sessions_recorded_cost_counts_before_that_of_its_calls() -> None:
    told = session_cost(answered(Usage(input=1_000, cost=1.0), cost=3.0))
    assert told is not None
    assert told.recorded == 3.0


def test_usage_without_prices_has_no_cost() -> None:
    assert session_cost(answered(Usage(input=1_000), model="nobody-knows")) is None
    assert session_cost(answered(None)) is None
    told = session_cost(answered(Usage(input=1_000), model="nobody-knows", cost=0.0))
    assert told is not None
    assert str(told) == "$0.00 recorded; some prices are unknown"


@pytest.mark.parametrize(
    ("session", "dollars"),
    [
        (answered(Usage(input=100_000, cost=0.75), Usage(input=1_000)), 0.75),
        (answered(Usage(input=100_000, cost=0.75), cost=3.0), 3.0),
        (answered(Usage(input=100_000), Usage(output=1_000)), 0.5),  # an answer without a prompt has no bill
        (answered(Usage(input=1_000), model="nobody-knows"), None),
        (answered(Usage(input=1_000, cost=1.0), model="nobody-knows"), 1.0),
        (answered(None), None),
    ],
)
def test_the_one_figure_is_the_recorded_one_or_ours(session: Session, dollars: float | None) -> None:
    assert session_dollars(session) == pytest.approx(dollars)


def test_long_prompts_among_usual_ones_have_prices_of_their_own() -> None:
    usages = (Usage(input=200_000), Usage(input=200_001), Usage(input=100_000))
    assert session_dollars(answered(*usages, model="claude-sonnet-4-5")) == pytest.approx(0.6 + 1.200006 + 0.3)


def test_copies_were_paid_once() -> None:
    one = answered(Usage(input=1_000, cost=1.0), Usage(input=1_000, cost=1.0))
    told = session_cost(replace(one, epochs=(Epoch(1, [0]), Epoch(2, [1], copies=frozenset([1])))))
    assert told is not None
    assert (told.calls, told.recorded) == (1, 1.0)


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        (0.5, ()),  # the very figure
        (0.5102, ()),  # a fiftieth of it is 0.010204
        (0.5103, ("the agent used other prices, or counted calls that the file does not record",)),
        (0.0, ("the agent recorded no cost, as on a flat-rate plan",)),
    ],
)
def test_why_the_recorded_cost_is_another(recorded: float, why: tuple[str, ...]) -> None:
    told = session_cost(answered(Usage(input=100_000, cost=recorded)))
    assert told is not None
    assert (told.here, told.why) == (pytest.approx(0.5), why)


def test_answers_without_usage_are_named_where_the_costs_differ() -> None:
    told = session_cost(answered(Usage(input=100_000, cost=5.0), None))
    assert told is not None
    assert told.why == (
        "the agent used other prices, or counted calls that the file does not record, 1 answer without recorded usage",
    )


def test_a_model_without_a_price_leaves_the_recorded_cost_alone() -> None:
    told = session_cost(answered(Usage(input=1_000, cost=1.0), model="nobody-knows"))
    assert told is not None
    assert (told.recorded, told.here, told.missed) == (1.0, None, None)
    assert str(told) == "$1.00 recorded; some prices are unknown"
    assert session_cost(answered(None)) is None
