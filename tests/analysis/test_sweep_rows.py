"""Rows of a sweep, and the parsing of its axes, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.analysis.sweep.cells import SweepCell
from workbench.analysis.sweep.plan import (
    Axis,
    SweepPlan,
    _number,
    _range,
    as_preset,
    setting_words,
    value_words,
    varying_fields,
)
from workbench.analysis.sweep.rows import CRITERIA, Criterion, RuleCount, SweepRow, best, rows_of, values_table
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


def test_the_table_of_a_sweep_whole() -> None:
    axes = (Axis("trigger_tokens", (1, 2)), Axis("x", (5,)))
    plain = SweepPlan(load_preset("claude-code"), axes)
    plan = replace(plain, retained=True, watched=("Ring the bell.",))
    rows = (
        replace(ROW, setting=(1, 5), rule_counts=(RuleCount(1, 2),)),
        replace(ROW, setting=(2, 5), failed=3, retention=None, rule_counts=(RuleCount(0, 0),)),
    )
    found = values_table(plan, rows, rows[0])
    assert (found.key, found.title) == ("values", "")
    assert [(one.key, one.heading, one.kind) for one in found.columns] == [
        ("trigger_tokens", "trigger_tokens", "number"),
        ("x", "x", "number"),
        ("compactions", "compactions", "number"),
        ("tokens_after", "mean after", "tokens"),
        ("peak_tokens", "peak", "tokens"),
        ("calls_over_window", "calls over window", "count"),
        ("rebilled_tokens", "billed again", "tokens"),
        ("cost", "cost", "money"),
        ("kept_share", "kept", "share"),
        ("“Ring the bell.”", "“Ring the bell.”", "text"),
        ("failed", "failed", "count"),
        ("best", "best", "flag"),
    ]
    assert [row.values for row in found.rows] == [
        (1, 5, 3.0, 50.0, 900, 0, 8.0, 9.0, 0.5, "1 of 2", None, True),
        (2, 5, 3.0, 50.0, 900, 0, 8.0, 9.0, None, "–", 3, None),
    ]
    bare = values_table(plain, (ROW, replace(ROW, dollars=False)), None)
    assert [one.key for one in bare.columns][-3:] == ["cost", "failed", "best"]
    assert [one.kind for one in bare.columns if one.key == "cost"] == ["input"]
    assert bare.rows[0].values == (1, 3.0, 50.0, 900, 0, 8.0, 9.0, None, None)


def test_a_row_is_the_mean_over_files_that_could_be_replayed() -> None:
    plan = SweepPlan(load_preset("claude-code"), (Axis("x", (1, 2)),), watched=("a", "b"))
    one = SweepCell("a", (1,), 5, 2, 10, 90, 7, 1, 100, 30, 0, 0.5, 2.0, 0.25, ("verbatim", None))
    two = SweepCell("b", (1,), 5, 5, None, 80, 7, 2, 300, 50, 0, 1.5, 5.0, None, ("gone", "verbatim"))
    failed = SweepCell("c", (1,), error="no such file")
    counts = (RuleCount(1, 2), RuleCount(1, 1))
    whole = SweepRow((1,), 2, 1, 3.5, 10.0, 90, 3, 200.0, 40.0, 3.5, True, 0.25, counts)
    assert rows_of(plan, [one, failed, two]) == (whole,)
    unknown = replace(two, dollars=None, retention=0.75, after=20)
    mixed = replace(whole, failed=0, after=15.0, cost=1.0, dollars=False, retention=0.5)
    assert rows_of(plan, [unknown, one]) == (mixed,)
    none = SweepRow((2,), 0, 1, 0.0, None, 0, 0, 0.0, 0.0, 0.0, False, None, (RuleCount(0, 0),) * 2)
    assert rows_of(plan, [replace(failed, setting=(2,)), one, failed, two]) == (whole, none)


def test_a_setting_as_a_preset() -> None:
    preset = replace(load_preset("claude-code"), about="As it is. ")
    field = next(name for name in varying_fields(preset.policy) if name not in ("window",) and "." not in name)
    plan = SweepPlan(preset, (Axis(field, (7,)), Axis("window", (9,))))
    made = as_preset(plan, (7, 9), "mine")
    assert (made.id, made.about) == ("mine", f"As it is; from a sweep: {field} = 7, window = 9.")
    assert getattr(made.policy, field) == 7
    with pytest.raises(ValueError, match="shorter"):
        plan.policy((7,))
