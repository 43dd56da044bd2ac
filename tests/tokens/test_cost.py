"""Costs at the borders: the prompt length from which long-context prices apply, and prices that are unknown."""

from math import fsum

import pytest

from workbench.session import Billed, Usage
from workbench.tokens import cost
from workbench.tokens.cost import Cost, Rates, actual, actual_of_all, at_share, rates_of, spent_on, usage_words
from workbench.tokens.models import ModelInfo, Prices

NORMAL, LONG = Prices(2.0, 10.0, 0.5, 3.0), Prices(4.0, 20.0, 1.0, 6.0)
MODELS = {
    "long": ModelInfo("long", "", 1_000, prices=NORMAL, long_from=200, long_prices=LONG, source="a list"),
    "plain": ModelInfo("plain", "", 1_000, prices=NORMAL, source="another list"),
    "no-long-prices": ModelInfo("no-long-prices", "", 1_000, prices=NORMAL, long_from=200),
    "no-reads": ModelInfo("no-reads", "", 1_000, prices=Prices(2.0, 10.0, None, 3.0)),
    "no-writes": ModelInfo("no-writes", "", 1_000, prices=Prices(2.0, 10.0, 0.5, None)),
    "no-prices": ModelInfo("no-prices", "", 1_000),
}


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "find_model", lambda name: MODELS.get(name or ""))


@pytest.mark.parametrize(("tokens", "price", "is_long"), [(199, 2.0, False), (200, 2.0, False), (201, 4.0, True)])
def test_long_prices_apply_above_their_length(tokens: int, price: float, is_long: bool) -> None:
    note = "long-context prices: the prompt is above 200 tokens" if is_long else ""
    assert actual(Usage(input=tokens), "long") == Cost("long", tokens * price / 1e6, 0.0, 0.0, 0.0, note)


def test_a_cached_prompt_is_as_long_as_what_it_reads_and_writes() -> None:
    found = actual(Usage(input=1, output=7, cache_read=150, cache_write=50), "long")
    assert found == Cost(
        "long", 4.0 / 1e6, 140.0 / 1e6, 150.0 / 1e6, 300.0 / 1e6, "long-context prices: the prompt is above 200 tokens"
    )


@pytest.mark.parametrize("model", ["plain", "no-long-prices"])
def test_without_long_prices_a_long_prompt_costs_as_any(model: str) -> None:
    assert actual(Usage(input=201), model) == Cost(model, 402.0 / 1e6, 0.0, 0.0, 0.0)
    assert spent_on([Billed(None, 201, 0, 0, 0)], model) is not None


@pytest.mark.parametrize(
    ("model", "usage", "expected"),
    [
        ("unheard", Usage(input=1), Cost("unheard", note="no price for 'unheard' is known")),
        ("no-prices", Usage(input=1), Cost("no-prices", note="no price for 'no-prices' is known")),
        ("no-reads", Usage(cache_read=1), Cost("no-reads", 0.0, 0.0, None, 0.0, "no price for cache reads is known")),
        ("no-writes", Usage(cache_write=1),
         Cost("no-writes", 0.0, 0.0, 0.0, None, "no price for cache writes is known")),
        ("no-reads", Usage(input=1), Cost("no-reads", 2.0 / 1e6, 0.0, 0.0, 0.0)),
    ],
)  # fmt: skip
def test_an_unknown_price_is_named(model: str, usage: Usage, expected: Cost) -> None:
    assert actual(usage, model) == expected


def test_a_sum_has_the_notes_once_and_no_part_that_one_lacks() -> None:
    found = actual_of_all([Usage(input=201), Usage(input=300), Usage(input=10)], "long")
    assert found.input == pytest.approx((201 * 4 + 300 * 4 + 10 * 2) / 1e6)
    assert found.note == "long-context prices: the prompt is above 200 tokens"
    assert actual_of_all([Usage(input=1), Usage(cache_read=1)], "no-reads").cache_read is None


def test_a_share_of_a_cost_says_why() -> None:
    whole = Cost("m", 8.0, 4.0, None, 2.0, "first")
    assert at_share(whole, 0.5, "batch") == Cost("m", 4.0, 2.0, None, 1.0, "first; batch")
    assert at_share(replace_note(whole), 0.5, "batch").note == "batch"


def replace_note(one: Cost) -> Cost:
    return Cost(one.model, one.input, one.output, one.cache_read, one.cache_write)


def test_bills_are_priced_each_by_its_own_model_and_length() -> None:
    bills = [
        Billed(None, 200, 1, 0, 0),
        Billed("long", 100, 2, 60, 41),
        Billed("plain", 500, 3, 0, 0),
    ]
    found = spent_on(bills, "long")
    assert found is not None
    assert found.prompts == pytest.approx(fsum([200 * 2, 100 * 4 + 60 * 1 + 41 * 6, 500 * 2]) / 1e6)
    assert found.answers == pytest.approx((1 * 10 + 2 * 20 + 3 * 10) / 1e6)
    assert found.by == "a list and another list"
    assert spent_on([], "long") is None
    assert spent_on([*bills, Billed("no-reads", 0, 0, 1, 0)], "long") is None


def test_rates_are_the_models_prices_or_the_usual_ratios() -> None:
    assert rates_of("plain") == Rates(2.0, 10.0, 0.5, 3.0, known=True, by="another list")
    assert rates_of("no-writes") == Rates(2.0, 10.0, 0.5, 2.0, known=True, by="the table of models")
    usual = Rates(1.0, 5.0, 0.1, 1.25, known=False, by="")
    assert [rates_of(name) for name in (None, "unheard", "no-prices", "no-reads")] == [usual] * 4
    assert (rates_of("plain").kind, usual.kind) == ("money", "input")


def test_bills_of_an_unknown_model_have_no_cost() -> None:
    assert spent_on([Billed("nobodys-model", 10, 5, 0, 0)], None) is None
    assert spent_on([], "nobodys-model") is None


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(1_002, 1_204), "1 002 tokens in, 1 204 out"),
        (Usage(1_002, 4, 30_000), "31 002 tokens in (30 000 read from the cache), 4 out"),
        (Usage(1_002, 4, 0, 500), "1 502 tokens in (500 to the cache), 4 out"),
        (Usage(2, 4, 30_000, 500), "30 502 tokens in (30 000 read from the cache, 500 written to it), 4 out"),
    ],
)
def test_usage_in_words(usage: Usage, words: str) -> None:
    assert usage_words(usage) == words
