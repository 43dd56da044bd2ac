"""Which size would have been cheapest: sums and borders by hand, a sentence for each tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from workbench.auditing.advice import advise, loss_sentences, next_step
from workbench.auditing.rows import TRIGGERS, CompactionRow, SessionRow, TriggerCost
from workbench.formats.registry import by_id, formats

MADE = CompactionRow(1, 5, "summary", False, None, 9, 3, False, None, None, 4, 2, 1, 2, 8_000, 3, 0, 0, "m")


def played(
    costs: Mapping[int, tuple[int, int]], *, window: int = 200_000, price: float | None = 5.0, again: int | None = None
) -> SessionRow:
    """A session that cost so many tokens' worth, with so many compactions, at some triggers; else a million, none."""
    tried = tuple(TriggerCost(trigger, *costs.get(trigger, (1_000_000, 0))) for trigger in (0, *TRIGGERS))
    made = () if again is None else (CompactionRow(*[getattr(MADE, name) for name in MADE.__slots__]),)
    return SessionRow(
        "one", format="claude-code", tool="Claude Code", window=window, price=price, tried=tried, compactions=made
    )


def test_the_cheapest_that_fits_the_window() -> None:
    costs = {0: (1_000_000, 1), 120_000: (700_000, 2), 150_000: (800_000, 2)}
    (advice,) = advise([played(costs), played(costs)])
    assert advice.best.trigger == 120_000
    assert advice.best.cost == pytest.approx(2 * 700_000 * 5 / 1_000_000)
    assert advice.best.summaries == 4
    assert advice.saved == pytest.approx(0.3)
    assert [one.trigger for one in advice.choices] == [0, *(one for one in TRIGGERS if one <= 167_000)]
    assert str(advice) == (
        "Claude Code: compact at 120 000 of 200 000 tokens: 2 sessions would have cost $7.00 with 4 compactions "
        "instead of $10.00 with 2 compactions; set CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=66 in its environment."
    )


@pytest.mark.parametrize(
    ("format", "window", "set"),
    [
        ("claude-code", 182_999, 120_000),
        ("claude-code", 183_000, 150_000),
        ("codex", 263_888, 180_000),
        ("codex", 263_889, 250_000),
        ("opencode", 211_999, 150_000),
        ("opencode", 212_000, 180_000),
        ("roo-cline", 199_999, 150_000),
        ("roo-cline", 200_000, 180_000),
        ("kimi", 229_999, 150_000),
        ("kimi", 230_000, 180_000),
        ("goose", 180_000, 150_000),
        ("goose", 180_001, 180_000),
    ],
)
def test_nothing_is_advised_that_the_tool_cannot_be_set_to(format: str, window: int, set: int) -> None:
    """Each larger trigger is cheaper: the largest that can be set is the best, and no larger window would not do."""
    costs = {trigger: (1_000_000 - trigger, 1) for trigger in TRIGGERS}
    (advice,) = advise([replace(played(costs, window=window), format=format)])
    assert advice.best.trigger == set
    assert [one.trigger for one in advice.wider] == [one for one in TRIGGERS if one >= window]


@pytest.mark.parametrize(("cost", "best"), [(969_999, 120_000), (970_000, 0), (1_000_000, 0)])
def test_what_hardly_saves_is_left(cost: int, best: int) -> None:
    (advice,) = advise([played({120_000: (cost, 0)})])
    assert advice.best.trigger == best
    assert ("leave the trigger as it is" in str(advice)) == (best == 0)


def test_what_was_done_again_after_compactions_counts_with_each() -> None:
    """One compaction made 8 000 tokens be fetched again, which is 10 000 of input: twenty more take 200 000."""
    costs = {0: (1_000_000, 0), 60_000: (900_000, 20)}
    assert advise([played(costs)])[0].best.trigger == 60_000
    (advice,) = advise([played(costs, again=8_000)])
    assert advice.rework == 8_000
    assert advice.best.trigger == 0
    assert advice.choices[1].cost == pytest.approx(1.1 * 5)


def test_what_a_larger_window_would_have_saved() -> None:
    (advice,) = advise([played({0: (1_000_000, 3), 400_000: (800_000, 1)})])
    assert advice.best.trigger == 0
    assert str(advice).endswith("with a larger window, at 400 000 tokens, $4.00 with 1 compaction.")


@pytest.mark.parametrize(
    ("format", "windows", "says"),
    [
        ("pi", (200_000, 200_000, 128_000), "; where the window is 200 000 tokens, set"),
        ("pi", (200_000, 200_000), "; set"),
        ("codex", (200_000, 200_000, 128_000), "; set"),
    ],
)
def test_a_setting_that_depends_on_the_window_is_for_that_window(
    format: str, windows: tuple[int, ...], says: str
) -> None:
    """What leaves 80 000 of 200 000 tokens free leaves a model of 128 000 hardly any."""
    rows = [replace(played({120_000: (700_000, 2)}, window=window), format=format) for window in windows]
    (advice,) = advise(rows)
    assert advice.best.trigger == 120_000
    assert says in str(advice)


@pytest.mark.parametrize(
    ("lost", "summaries", "ends"),
    [
        (2, 4, ". The cost counts no lost rules: recorded compactions lost 2 of 3 rules."),
        (2, 0, "environment."),
        (0, 4, "environment."),
        (None, 4, "environment."),
    ],
)  # fmt: skip
def test_what_more_compactions_may_lose_is_said(lost: int | None, summaries: int, ends: str) -> None:
    row = played({120_000: (700_000, summaries)}, again=0)
    made = tuple(replace(one, instructions=3, lost=lost) for one in row.compactions)
    (advice,) = advise([replace(row, compactions=made)])
    assert str(advice).endswith(ends)


def test_without_a_price_in_tokens() -> None:
    (advice,) = advise([played({120_000: (500_000, 1)}), played({120_000: (500_000, 1)}, price=None)])
    assert not advice.dollars
    assert "1.0 million input tokens with 2 compactions" in str(advice)


def test_nothing_played_nothing_said() -> None:
    assert advise([SessionRow("one", tool="Claude Code"), SessionRow("two", error="torn")]) == ()


def test_a_setting_is_a_sentence_without_gaps() -> None:
    settings = [one.trigger_setting for one in formats() if one.trigger_setting]
    assert len(settings) == 12
    for setting in settings:
        assert "{" not in setting.words(120_000, 200_000).replace('{"', "").replace('": {', "")
        assert 0 < setting.highest(200_000) < 200_000


@pytest.mark.parametrize(
    ("format", "says"),
    [
        ("claude-code", "=66 "),
        ("codex", "= 120000 "),
        ("gemini", "0.60"),
        ("pi", "80000"),
        ("opencode", "152000"),
        ("goose", "=0.60"),
        ("roo-cline", "60 %"),
        ("kimi", "= 0.60"),
    ],
)
def test_what_a_setting_says(format: str, says: str) -> None:
    setting = by_id(format).trigger_setting
    assert setting is not None
    assert says in setting.words(120_000, 200_000) + " "


@pytest.mark.parametrize(
    ("row", "next"),
    [
        ({"tokens": 90_000}, "rescue: 90 % full"),
        ({"tokens": 90_000, "compactions": (replace(MADE, lost=2),)}, "rescue: 90 % full"),
        ({"tokens": 89_999, "compactions": (replace(MADE, lost=2, larger=True),)}, "rules: 2 rules lost"),
        ({"compactions": (replace(MADE, lost=1, copy=True),)}, ""),
        ({"compactions": (replace(MADE, larger=True), MADE)}, "compare: grew in 1 compaction"),
        ({"compactions": (MADE, MADE)}, "why: 4 × rework"),
        ({"compactions": (replace(MADE, rework=0, lost=None),)}, ""),
        ({"tokens": 70_000}, "compact: 70 % full"),
        ({"tokens": 69_999}, ""),
        ({"tokens": 99_000, "window": None}, ""),
        ({}, ""),
    ],
)
def test_what_to_run_next_for_a_session(row: dict[str, Any], next: str) -> None:
    assert next_step(SessionRow("one", **{"window": 100_000, **row})) == next


def test_losses_are_one_sentence_and_full_sessions_another() -> None:
    assert list(loss_sentences([played({})])) == []
    (made,) = played({}, again=0).compactions
    made = replace(made, rework_tokens=500)
    rows = [
        replace(played({}), compactions=(replace(made, instructions=4, lost=3, larger=True),), tokens=180_000),
        replace(played({}), compactions=(replace(made, instructions=2, lost=None, rework_tokens=0),), tokens=179_999),
    ]
    assert list(loss_sentences(rows)) == [
        "2 compactions in 2 sessions lost 3 of 4 rules and led to 500 tokens of rework and made the context larger "
        "1 time. Pin the rules before the next one: W on the bench, or cwb rules FILE.",
        "1 session is at least 90 % full: cwb rescue FILE, or Rescue (ctrl+p on the bench).",
    ]
    nothing = replace(made, instructions=0, lost=0, rework_tokens=0)
    assert list(loss_sentences([replace(played({}), compactions=(nothing,))])) == [
        "1 compaction in 1 session lost no rule and led to no rework."
    ]
