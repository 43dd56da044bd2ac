"""Scales, slack and gaps of billed calls, each at its border."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.billed import right, session
from tests.tokens.sessions import Letters
from workbench.analysis.usage_check import (
    Gap,
    UsageCheck,
    _BilledCall,
    _expected_tokens,
    _fit_weights,
    _gap_position,
    _gaps,
    _is_near,
    _scale,
    _slack,
    _weighted_median,
    _weights,
    check_usage,
)
from workbench.session import Message, Text
from workbench.tokens import Counter
from workbench.tokens.calibration import family_of


def billed(
    number: int, tokens: int, weight: float = 0.0, *, epoch: int = 1, cached: int = 0, known: bool = True
) -> _BilledCall:
    return _BilledCall(number, epoch, f"a{number}", "gpt-5", tokens, cached, known, (weight, weight, weight))


@pytest.mark.parametrize(
    ("ratios", "median"),
    [
        ([], 1.0),
        ([(0.7, 5.0)], 0.7),
        ([(2.0, 1.0), (0.5, 1.0)], 0.5),
        ([(2.0, 1.1), (0.5, 1.0)], 2.0),
        ([(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)], 2.0),
        ([(3.0, 4.0), (1.0, 1.0), (2.0, 1.0)], 3.0),
        ([(3.0, 1.0), (1.0, 2.0), (2.0, 2.0)], 2.0),
    ],
)
def test_the_weighted_median(ratios: list[tuple[float, float]], median: float) -> None:
    assert _weighted_median(ratios) == median


@pytest.mark.parametrize(
    ("tokens", "weight", "scale", "near"),
    [
        (300, 100, 1, True),
        (301, 100, 1, False),
        (100, 300, 1, True),
        (99, 300, 1, False),
        (5_000, 2_000, 2, True),
        (5_001, 2_000, 2, False),
        (3_000, 2_000, 2, True),
        (2_999, 2_000, 2, False),
    ],
)
def test_a_step_is_near_the_scale_within_200_tokens_or_a_quarter(
    tokens: float, weight: float, scale: float, near: bool
) -> None:
    assert _is_near(tokens, weight, scale) is near


@pytest.mark.parametrize(
    ("ratio", "number", "scale"),
    [
        (1.5, 0, 1.0),
        (1.5, 10, 1.25),
        (9.0, 10, 1.5),
        (0.1, 10, 0.75),
        (0.8, 1, 1 - 0.2 / 11),
    ],
)
def test_the_scale_is_from_a_half_to_two_and_drawn_to_one(ratio: float, number: int, scale: float) -> None:
    assert _scale(100 * ratio, 100, number) == pytest.approx(scale)


def test_slack_is_tokens_and_a_share_of_the_bill_and_of_the_messages_between() -> None:
    call = billed(1, 20_000)
    assert _slack(call, 1_000, sure=True) == 1_350
    assert _slack(call, -1_000, sure=True) == 1_350
    assert _slack(call, 1_000, sure=False) == 1_550


def test_steps_that_shrink_are_ignored_and_differences_count_at_most_4_000() -> None:
    calls = [billed(1, 1_000, 0), billed(2, 2_000, 1_000), billed(3, 1_900, 2_000), billed(4, 12_900, 3_000)]
    fit = _fit_weights(calls, 1)
    assert (fit.way, fit.steps, fit.total, fit.number) == (1, [(1_000, 1_000), (0, 0), (0, 0)], (1_000, 1_000), 1)
    assert fit.off == 0 + 1_100 + 4_000
    assert [fit.scale(index) for index in range(4)] == [1.0] * 4


def test_a_step_between_epochs_is_not_learnt_from_nor_counted() -> None:
    calls = [billed(1, 1_000, 0), billed(2, 2_000, 1_000), billed(3, 9_000, 2_000, epoch=2)]
    fit = _fit_weights(calls, 0)
    assert (fit.steps, fit.number, fit.off) == ([(1_000, 1_000), (0, 0)], 1, 0)


def test_a_scale_leaves_out_the_steps_next_to_the_call() -> None:
    calls = [billed(number, 1_000 * number + 100 * (number > 2), 1_000 * number) for number in range(1, 6)]
    fit = _fit_weights(calls, 0)
    assert fit.steps == [(1_000, 1_000), (1_100, 1_000), (1_000, 1_000), (1_000, 1_000)]
    assert [fit.scale(index) for index in range(5)] == pytest.approx(
        [1 + (3_100 / 3_000 - 1) * 3 / 13, 1.0, 1.0, 1 + (2_100 / 2_000 - 1) * 2 / 12, 1 + (3_100 / 3_000 - 1) * 3 / 13]
    )


@pytest.mark.parametrize(("tokens", "expected"), [(5_000, [None, 5_100]), (1_050, [4_000, 4_100])])
def test_the_first_call_is_expected_only_if_its_messages_far_exceed_it(tokens: int, expected: list[int | None]) -> None:
    """1 000, 1 % of the bill and 35 % of 4 000 tokens: 2 411 of the 2 950 that are missing."""
    assert _expected_tokens([billed(1, tokens, 4_000), billed(2, tokens + 100, 4_100)]) == expected


Row = tuple[int, int, int, str, int, str]


def gaps(*calls: tuple[_BilledCall, int | None]) -> list[Row]:
    found = _gaps([call for call, _ in calls], [expected for _, expected in calls])
    return [(gap.call, gap.last, gap.epoch, gap.message, gap.tokens, gap.where) for gap in found]


def test_a_gap_ends_where_the_difference_returns() -> None:
    calls = (
        (billed(1, 10_000), None),
        (billed(2, 14_000), 10_000),
        (billed(3, 10_000), 16_000),
        (billed(4, 14_000), 10_000),
        (billed(5, 10_000), 10_000),
    )
    assert gaps(*calls) == [(2, 4, 1, "a2", 4_000, ""), (3, 3, 1, "a3", -10_000, "")]


def test_a_difference_of_the_other_sign_does_not_end_a_gap() -> None:
    calls = ((billed(1, 10_000), None), (billed(2, 14_000), 10_000), (billed(3, 20_000), 10_000))
    assert gaps(*calls) == [(2, 3, 1, "a2", 4_000, ""), (3, 3, 1, "a3", 6_000, "")]
    calls = (
        (billed(1, 10_000), 6_000),
        (billed(2, 10_000), 10_000),
        (billed(3, 10_000), 14_000),
    )
    assert gaps(*calls) == [(1, 1, 1, "a1", 4_000, ""), (3, 3, 1, "a3", -4_000, "")]


@pytest.mark.parametrize(("tokens", "found"), [(14_646, []), (14_647, [(1, 1, 1, "a1", 4_647, "")])])
def test_a_first_difference_is_compared_with_none(tokens: int, found: list[Row]) -> None:
    """1 000 tokens, 1 % of the bill and 35 % of the expected 10 000: 4 646.47 for a bill of 14 647."""
    assert gaps((billed(1, tokens, known=False), 10_000)) == found


def test_a_gap_within_a_gap_ends_alone() -> None:
    differences = (0, 4_000, 10_000, 4_000, 4_000, 0, 0)
    calls = [(billed(n, 10_000 + off), 10_000 if n > 1 else None) for n, off in enumerate(differences, 1)]
    assert gaps(*calls) == [(2, 5, 1, "a2", 4_000, ""), (3, 3, 1, "a3", 6_000, "")]


@pytest.mark.parametrize(("step", "found"), [(400, []), (401, [(6, 6, 1, "a6", 2_005, "drift")])])
def test_drift_begins_above_a_tenth_of_the_bill(step: int, found: list[Row]) -> None:
    """1 000 tokens and a tenth of 10 000."""
    calls = [(billed(n, 10_000), 10_000 - step * (n - 1)) for n in range(1, 7)]
    assert gaps(*calls) == found


@pytest.mark.parametrize(("output", "third"), [(600, (200, 700, 700)), (50, (200, 150, 150)), (49, (200, 200, 200))])
def test_an_answer_counts_as_shown_or_as_billed(output: int, third: tuple[int, int, int]) -> None:
    one = session([5_100, 6_200], output=output)
    asked = Message("v", "user", (Text("v" * 96),))
    turned = replace(one, messages=(*one.messages[:3], asked, *one.messages[3:]), branch=range(6), epochs=())
    shown, whole, _ = third
    assert _weights(turned, 1, Counter(engine=Letters), family_of("gpt-5")) == [
        (0, 0, 0),
        (100, 100, 100),
        third,
        (shown + 1_000, whole + 1_000, whole + 1_000),
        (shown + 1_100, whole + 1_100, shown + 1_100),
        (shown + 1_200, 2 * whole + 1_000, shown + 1_000 + whole),
    ]


def test_every_epoch_begins_without_a_difference() -> None:
    calls = (
        (billed(1, 10_000), None),
        (billed(2, 20_000), 10_000),
        (billed(3, 20_000, epoch=2), 10_000),
        (billed(4, 20_000, epoch=2), 10_000),
    )
    assert gaps(*calls) == [(2, 2, 1, "a2", 10_000, ""), (3, 4, 2, "a3", 10_000, "compacted")]


@pytest.mark.parametrize(
    ("before", "step", "epoch", "cached", "caches", "where"),
    [
        (False, 1, 2, 0, True, "compacted"),
        (False, 0, 2, 0, True, ""),
        (False, -1, 2, 0, True, ""),
        (False, 1, 1, 0, True, ""),
        (True, 1, 1, 9_700, False, ""),
        (True, 1, 1, 9_700, True, "behind"),
        (True, 0, 1, 9_700, True, ""),
        (True, 1, 1, 9_699, True, ""),
        (True, 1, 1, 2_000, True, ""),
        (True, 1, 1, 1_999, True, "anew"),
        (True, -1, 1, 1_999, True, "anew"),
    ],
)
def test_the_position_of_a_gap(before: bool, step: int, epoch: int, cached: int, caches: bool, where: str) -> None:
    """The call before was billed 10 000 tokens, the first one 5 000 of which 1 000 are messages."""
    call = billed(3, 20_000, epoch=epoch, cached=cached)
    first = billed(1, 5_000, 1_000)
    assert _gap_position(call, billed(2, 10_000) if before else None, first, step, caches=caches) == where


def test_two_models_have_their_gaps_in_the_order_of_calls() -> None:
    bills = right(12)
    off = [tokens + 9_000 * (number in (3, 9)) for number, tokens in enumerate(bills)]
    one = session(off)
    mixed = replace(
        one, messages=tuple(replace(m, model="gpt-4o") if m.usage and int(m.id[1:]) > 5 else m for m in one.messages)
    )
    found = check_usage(mixed, Counter(engine=Letters))
    assert [(gap.call, gap.last, gap.message, gap.tokens) for gap in found.gaps] == [
        (4, 4, "a3", 9_000),
        (10, 10, "a9", 9_000),
    ]
    assert [call.call for call in found.calls] == list(range(1, 13))
    assert found.unexplained == tuple(found.calls[at] for at in (3, 9))


def test_the_gaps_of_an_epoch_are_largest_first() -> None:
    several = tuple(Gap(call, call, epoch, "a", tokens) for call, epoch, tokens in ((1, 1, 5), (2, 2, 9), (3, 1, -7)))
    assert UsageCheck((), several).gaps_in(1) == (several[2], several[0])


def test_one_token_more_is_not_in_the_file() -> None:
    assert [str(Gap(5, 5, 1, "a", tokens)) for tokens in (1, -1)] == [
        "Call 5 was billed for 1 tokens that are not in the file.",
        "Call 5 was billed 1 tokens less than the file shows.",
    ]
