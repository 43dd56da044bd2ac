"""Rows of a sweep, and the parsing of its axes, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.analysis.sweep.plan import Axis, SweepPlan, _number, _range, setting_words, value_words
from workbench.analysis.sweep.rows import CRITERIA, Criterion, RuleCount, SweepRow, best
from workbench.compaction.preset import load_preset
from workbench.tokens.window import Window

ROW = SweepRow((1,), 2, 0, 3.0, 50.0, 900, 0, 7.0, 8.0, 9.0, True, 0.5)
COST, RETENTION = Criterion("cost", ""), Criterion("retention", "", largest=True)


def test_the_best_setting() -> None:
    cheap, over, same = (replace(ROW, cost=8.0), replace(ROW, cost=1.0, over=1), replace(ROW, cost=8.0))
    assert best([ROW, over, cheap, same], COST) is cheap
    kept, lost = replace(ROW, retention=0.6, cost=20.0), replace(ROW, retention=None, cost=1.0)
    assert best([ROW, kept, lost], RETENTION) is kept
    assert best([ROW, cheap], RETENTION) is cheap
    assert best([replace(ROW, files=0)], COST) is None
    assert best([lost], RETENTION) is None
    assert best([lost], COST) is lost
    assert [one.name for one in CRITERIA if one.largest] == ["retention", "watched"]


def test_watched_rules() -> None:
    assert (str(RuleCount(1, 3)), str(RuleCount(0, 0))) == ("1 of 3", "–")
    counted = replace(ROW, rule_counts=(RuleCount(1, 3), RuleCount(2, 2), RuleCount(0, 0)))
    assert (counted.watched, ROW.watched) == (0.6, None)
    assert (counted.figure("watched"), counted.figure("compactions"), ROW.figure("watched")) == (0.6, 3.0, None)


@pytest.mark.parametrize(
    ("text", "whole", "value"),
    [("150_000", True, 150_000), ("150k", True, 150_000), ("1.5M", True, 1_500_000), (" 2 ", False, 2.0)],
)
def test_a_number(text: str, whole: bool, value: float) -> None:
    assert _number(text, whole) == value


@pytest.mark.parametrize(
    ("text", "whole", "words"),
    [
        ("1.5", True, "^1.5$"),
        ("inf", False, "^inf$"),
        ("nan", False, "^nan$"),
        ("x", False, "could not convert"),
        ("", True, "could not convert"),
    ],
)
def test_no_number(text: str, whole: bool, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _number(text, whole)


@pytest.mark.parametrize(
    ("text", "whole", "values"),
    [
        ("1..3", True, [1, 2, 3]),
        ("1..6:2", True, [1, 3, 5]),
        ("1..5:2", True, [1, 3, 5]),
        ("3..3", True, [3]),
        ("4..3", True, []),
        ("5..3", True, []),
        ("100..99:50", True, []),
        ("100..50:50", True, []),
        ("0..1", False, [round(n / 10, 10) for n in range(11)]),
        ("0..0.3:0.1", False, [0.0, 0.1, 0.2, 0.3]),
    ],
)
def test_a_range(text: str, whole: bool, values: list[float]) -> None:
    assert _range(text, whole) == values


@pytest.mark.parametrize("text", ["1..3:0", "1..3:-1"])
def test_a_step_is_above_zero(text: str) -> None:
    with pytest.raises(ValueError, match=r"-?\d"):
        _range(text, True)


def test_settings_in_words_and_in_order() -> None:
    preset = load_preset("claude-code")
    axes = (Axis("window", (100_000, 200_000)), Axis("x", (0.25, 40)))
    plan = SweepPlan(preset, axes)
    assert plan.settings == ((100_000, 0.25), (100_000, 40), (200_000, 0.25), (200_000, 40))
    said = setting_words(axes, plan.settings[0]).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert said == "window = 100 000, x = 0.25"
    assert (value_words(40), value_words(40.0)) == ("40", "40")
    own = Window(5, "given")
    assert plan.window_of((100_000, 40), own) == Window(100_000, "given")
    assert SweepPlan(preset, (), 7).window_of((), own) == Window(7, "given")
    assert SweepPlan(preset, ()).window_of((), own) is own
    extracted = [SweepPlan(preset, ()), SweepPlan(preset, (), retained=True), SweepPlan(preset, (), watched=("x",))]
    assert [one.extracted for one in extracted] == [False, True, True]
