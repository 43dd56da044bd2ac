"""Figures as they are written, at their borders."""

from __future__ import annotations

import pytest

from workbench.base.figures import change, dollars, exact_dollars, interval, percent, points, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-12", -12),
        ("9" * 18, 10**18 - 1),
        *((text, None) for text in ("", "-", "--1", "+1", " 1", "1_0", "1.5", "²", "١", "9" * 19, "9" * 5_000, "1\n")),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_number_in_a_text_is_read_where_a_calculation_takes_it(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0.0, "$0.00"),
        (0.0004, "<$0.001"),
        (0.0005, "$0.001"),
        (0.0094, "$0.009"),
        (0.0095, "$0.01"),
        (0.01, "$0.01"),
        (0.1207, "$0.12"),
        (0.996, "$1.00"),
        (1_234.5, "$1 234.50"),
        (-0.0004, ">−$0.001"),
        (-0.004, "−$0.004"),
        (-0.12, "−$0.12"),
    ],
)
def test_an_amount_is_never_told_as_nothing_but_where_it_is(amount: float, told: str) -> None:
    assert dollars(amount) == told


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0, "$0.00"),
        (0.0001, "$0.0001"),
        (0.000434, "$0.00043"),
        (-0.000434, "−$0.00043"),
        (0.000999, "$0.001"),
        (0.001, "$0.001"),
        (1_234.5, "$1 234.50"),
    ],
)
def test_two_amounts_below_a_tenth_of_a_cent_can_be_compared(amount: float, told: str) -> None:
    assert exact_dollars(amount) == told


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [(0.58, 0.84, "72 % (58–84 %)"), (0, 1, "72 % (0–100 %)"), (0.004, 0.996, "72 % (0.4–99.6 %)")],
)
def test_a_share_is_told_with_its_interval(low: float, high: float, told: str) -> None:
    assert interval(0.72, low, high) == told


@pytest.mark.parametrize(
    ("difference", "told"), [(0.012, "+1.2"), (-0.12, "−12.0"), (0, "0.0"), (-0.0004, "0.0"), (0.0006, "+0.1")]
)
def test_a_difference_of_shares_is_told_in_percentage_points(difference: float, told: str) -> None:
    assert points(difference) == told


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (None, ""),
        (0, "0 %"),
        (0.0001, "0.1 %"),
        (0.004, "0.4 %"),
        (0.005, "0.5 %"),
        (0.0051, "1 %"),
        (0.724, "72 %"),
        (0.994, "99 %"),
        (0.995, "99.5 %"),
        (0.99999, "99.9 %"),
        (1, "100 %"),
        (1.002, "100.2 %"),
        (1.5, "150 %"),
        (9.99, "999 %"),
        (46.5, "46 ×"),
        (-0.03, "−3 %"),
    ],
)
def test_b13_a_share_is_never_all_or_nothing_but_where_it_is(share: float | None, told: str) -> None:
    assert percent(share) == told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (9_300_000, 46_000, "−99.5 %"),
        (100, 40, "−60 %"),
        (100, 103, "+3 %"),
        (100, 100, "+0 %"),
        (100, 0, "−100 %"),
        (1_000, 46_500, "46 ×"),
        (0, 5, ""),
    ],
)
def test_b13_a_change_is_told_as_what_it_is(before: int, after: int, told: str) -> None:
    assert change(before, after) == told
