"""Numbers with their units, and comparisons of them."""

from __future__ import annotations

import pytest

from workbench.facts.amounts import ROUNDED, Value, values_in, with_digits


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one hundred", "100"),
        ("a hundred boats", "100 boats"),
        ("a hundred and five", "105"),
        ("two hundred and twenty-one", "221"),
        ("ninety nine thousand and one", "99001"),
        ("two thousand three hundred", "2300"),
        ("thousand two", "1002"),
        ("twenty one", "21"),
        ("twenty twenty", "twenty twenty"),
        ("thirty forty", "thirty forty"),
        ("twenty, two", "20, two"),
        ("one two three", "one two three"),
        ("twelve", "twelve"),
        ("thirteen", "13"),
        ("Half an hour", "30 min"),
        ("einundzwanzig", "einundzwanzig"),
    ],
)
def test_spelled_numbers_over_twelve_in_digits(text: str, found: str) -> None:
    assert with_digits(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5 files", [(5, "file", 5)]),
        ("1.5 kb and 3,5 mb", [(1536, "byte", 1.5), (3.5 * 2**20, "byte", 3.5)]),
        ("12,000 tokens", [(12000, "token", 12000)]),
        ("1 200 m", [(72000, "second", 1200)]),
        ("$5 5 usd chf 13,500", [(5, "dollar", 5), (5, "dollar", 5), (13500, "franc", 13500)]),
        ("one of them", []),
        ("one hour", [(3600, "second", 1)]),
        ("two boats", [(2, "boat", 2)]),
        ("two of them", [(2, "", 2)]),
        ("7 the", [(7, "", 7)]),
        ("7 characters", [(7, "charac", 7)]),
        ("a7 7a1 7.", [(7, "", 7)]),
    ],
)
def test_numbers_with_their_units(text: str, found: list[tuple[float, str, float]]) -> None:
    assert [(one.amount, one.unit, one.written) for one in values_in(text)] == found


def value(amount: float, unit: str, written: float | None = None) -> Value:
    return Value(amount, unit, amount if written is None else written)


HOUR = value(3600, "second", 1)


@pytest.mark.parametrize(
    ("one", "other", "same", "rivals"),
    [
        (HOUR, value(3600, "second", 60), True, False),
        (HOUR, value(3601, "second", 1), False, True),
        (HOUR, value(3600, "byte"), False, True),
        (HOUR, value(3600, "boat"), False, False),
        (value(3600, "boat"), HOUR, False, False),
        (HOUR, value(1, ""), True, False),
        (value(1, ""), HOUR, True, False),
        (HOUR, value(3600, ""), False, True),
        (value(3600, ""), HOUR, False, False),
        (value(2, "boat"), value(2, "boat"), True, False),
        (value(2, "boat"), value(3, "boat"), False, True),
        (value(2, "boat"), value(2, "pier"), True, False),
        (value(2, "boat"), value(3, "pier"), False, False),
        (value(1000, "byte"), value(1000 * (1 - ROUNDED), "byte"), True, False),
        (value(1000, "byte"), value(1000 * (1 - ROUNDED) - 1, "byte"), False, True),
        (value(-1000, "byte"), value(-950, "byte"), True, False),
        (value(1000, "metre"), value(950, "metre"), False, True),
        (value(0, "byte"), value(0, "byte"), True, False),
    ],
)
def test_which_amounts_are_the_same_and_which_contradict(one: Value, other: Value, same: bool, rivals: bool) -> None:
    assert (one.same(other), one.rivals(other)) == (same, rivals)
