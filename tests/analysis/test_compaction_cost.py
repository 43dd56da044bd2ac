"""Cost of a compaction through the prompt cache, by hand: reading costs 1, writing 10."""

from __future__ import annotations

import pytest

from workbench.analysis.compaction_cost import CacheLoss, SummaryUsage, back_after, paid_back
from workbench.tokens.cost import Rates

RATES = Rates(input=2.0, output=5.0, read=1.0, write=10.0)
LOSS = CacheLoss(before=1_000, after=400, first_changed=100)


def test_tokens_after_the_first_change_are_billed_again() -> None:
    assert (LOSS.rebilled, LOSS.saved) == (300, 600)


def test_the_next_call_costs_more_by_what_is_written_again() -> None:
    """100 read and 300 written, and not 1 000 read; with 200 fresh tokens 800 read and 200 written."""
    assert LOSS.extra(0, RATES) == 100 + 3_000 - 1_000
    assert LOSS.extra(200, RATES) == 100 + 3_000 - 800 - 2_000
    assert LOSS.extra(0, RATES, 7.5) == 2_107.5
    assert LOSS.extra(950, RATES) == 50 + 3_500 - 50 - 9_500


@pytest.mark.parametrize(
    ("fresh", "summary", "calls"),
    [
        (0, 300.0, 4),
        (0, 300.5, 5),
        (0, -300.0, 3),
        (200, -300.0, 0),
        (200, -299.5, 1),
        (200, 300.0, 1),
    ],
)
def test_it_is_paid_back_after_the_extra_cost_is_saved(fresh: int, summary: float, calls: int) -> None:
    """Every call saves 600; the next one costs 2 100 more, with 200 fresh tokens 300."""
    assert LOSS.pays_off_after(fresh, RATES, summary) == calls


def test_without_a_summary_nothing_is_added() -> None:
    """1 read and 1 written for 11 read: nothing more."""
    even = CacheLoss(before=11, after=2, first_changed=1)
    assert even.pays_off_after(0, RATES) == 0
    assert even.pays_off_after(0, RATES, 9.0) == 1
    assert even.pays_off_after(0, RATES, 9.5) == 2


@pytest.mark.parametrize(("after", "calls"), [(1_000, None), (1_001, None), (999, 8_990)])
def test_what_saves_nothing_is_never_paid_back(after: int, calls: int | None) -> None:
    assert CacheLoss(1_000, after, 0).pays_off_after(0, RATES) == calls
    assert CacheLoss(1_000, 1_000, 1_000).pays_off_after(0, RATES) == 0


def test_a_summarys_cost_is_in_millions_of_tokens() -> None:
    assert SummaryUsage(1, 3_000_000, 1_000_000, 1_000_000).cost(RATES) == 4.0 + 1.0 + 5.0
    assert SummaryUsage(1, 3_000_000, 0).cost(RATES) == 6.0


@pytest.mark.parametrize(
    ("calls", "after", "sentence"),
    [
        (None, "never", "never paid back"),
        (0, "at once", "paid back at once"),
        (1, "after 1 call", "paid back after 1 call"),
        (2, "after 2 calls", "paid back after 2 calls"),
    ],
)
def test_when_it_is_paid_back_in_words(calls: int | None, after: str, sentence: str) -> None:
    assert (back_after(calls), paid_back(calls)) == (after, sentence)
