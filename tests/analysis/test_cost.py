"""Prices: of the table, by what was billed, and unknown where they are unknown."""

from pathlib import Path

import pytest

from workbench.analysis.cost import Cost, actual, estimate
from workbench.base import paths
from workbench.session import Usage


def test_an_estimate_is_input_and_output() -> None:
    cost = estimate(100_000, 2_000, "claude-opus-4-5")
    assert (cost.input, cost.output, cost.dollars) == pytest.approx((0.5, 0.05, 0.55))
    assert str(cost) == "$0.5500"


def test_cached_tokens_have_their_own_prices() -> None:
    cost = actual(Usage(1_000_000, 0, 1_000_000, 1_000_000), "us.anthropic.claude-opus-4-5-20251101-v1:0")
    assert (cost.input, cost.cache_read, cost.cache_write) == (5, 0.5, 6.25)
    assert str(cost) == "$11.75"


def test_a_long_prompt_costs_more_for_every_token() -> None:
    short, long = estimate(200_000, 0, "claude-sonnet-4-5"), estimate(200_001, 0, "claude-sonnet-4-5")
    assert short.dollars == pytest.approx(0.6)
    assert long.dollars == pytest.approx(1.200006)
    assert "above 200,000" in long.note
    cached = actual(Usage(1_000, 0, 250_000), "claude-sonnet-4-5")
    assert cached.input == pytest.approx(0.006)


@pytest.mark.parametrize("model", ["", "qwen-local", "claude-next"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    cost = estimate(1_000, 1_000, model)
    assert cost == Cost(model, note=f"the table of models has no price for {model!r}")
    assert (cost.dollars, str(cost)) == (None, "cost unknown")


def test_a_price_is_missed_only_where_it_is_needed() -> None:
    assert estimate(1_000, 10, "claude-fable-5-1").dollars is not None
    input, output = 0.01, 0.0005
    name = "claude-fable-5-1"
    for usage, left, missed in (
        (Usage(1_000, 10, 5), (None, 0.0), "cache reads"),
        (Usage(1_000, 10, 0, 5), (0.0, None), "cache writes"),
    ):
        cost = actual(usage, name)
        assert cost == Cost(name, input, output, *left, f"no price for {missed} is known")
        assert cost.dollars is None


@pytest.mark.parametrize(("dollars", "said"), [(0.99994, "$0.9999"), (1.0, "$1.00"), (1.999, "$2.00"), (2.0, "$2.00")])
def test_small_sums_are_told_to_the_hundredth_of_a_cent(dollars: float, said: str) -> None:
    assert str(Cost("m", dollars, 0, 0, 0)) == said


def test_a_person_may_correct_a_price(own_home: Path) -> None:
    path = paths.models()
    path.parent.mkdir(parents=True)
    path.write_text('[[model]]\nid = "my-local"\nwindow = 8_000\nprices = { input = 1, output = 2 }\n')
    assert estimate(1_000_000, 1_000_000, "my-local").dollars == 3


def test_nothing_costs_nothing() -> None:
    assert actual(Usage(), "claude-fable-5-1") == Cost("claude-fable-5-1", 0, 0, 0, 0)
