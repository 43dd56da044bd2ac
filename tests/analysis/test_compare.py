"""Comparison of many presets on one context."""

from dataclasses import replace

import pytest

from tests.benches import bench_of
from workbench.analysis.compaction_cost import CacheLoss, SummaryUsage, cache_loss, summary_usage
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.base.errors import BadInput
from workbench.bench import choose_preset
from workbench.bench.assessment import RECORDED, assess, assess_recorded, compare
from workbench.compaction.edits import Edits
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import candidates
from workbench.compaction.strategies import all_strategies, strategy
from workbench.conformance.building import chat, context_of, loop
from workbench.session import Compaction, Epoch, Message, Records, Session, Text
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.tokens.cost import MILLION, Rates, rates_of


def test_without_names_every_strategy_is_compared() -> None:
    assert [preset.strategy for preset in candidates()] == [one.id for one in all_strategies()]
    assert [preset.id for preset in candidates(["trim"], ["codex", "cody"])] == ["codex", "cody", "trim"]
    with pytest.raises(BadInput, match="does not exist"):
        candidates(presets=["nobody"])
    with pytest.raises(BadInput, match="does not exist"):
        candidates(["nobody"])


def test_a_columns_figures_add_up() -> None:
    context = context_of([*loop("1", 12, "x" * 2_000), *chat(20)], window=200_000)
    for answer in (extractive, estimate):
        for column in compare(bench_of(context), candidates(), answer):
            assert column.head.messages + column.tail.messages == len(context)
            assert column.head.tokens + column.tail.tokens == context.total.tokens
            assert column.saved == column.before.tokens - column.after.tokens
            assert column.fired == any(trigger.fires for trigger in column.triggers)
            assert (column.saved > 0) == (column.outcome.status in ("compacted", "fallback")), column.name


def test_pins_edits_and_a_split_by_hand_hold_in_every_column() -> None:
    messages = [*loop("1", 12, "x" * 2_000), *chat(20)]
    context = context_of(messages, window=200_000, pins=frozenset({messages[1].id}), split_at=messages[-4].id)
    edits = Edits(dropped=frozenset({messages[-2].id}), shortened=frozenset({messages[2].id}))
    presets = [preset for preset in candidates() if preset.strategy != "memories-rewrite"]  # it leaves messages alone
    for column in compare(bench_of(context, edits), presets, estimate):
        outcome, one = column.outcome, strategy(column.preset.strategy)
        assert outcome.source == tuple(messages), column.name
        assert outcome.fate_at(1).fate is Fate.PINNED, column.name
        assert outcome.fate_at(len(messages) - 2).fate is Fate.DROPPED, column.name
        assert not any(check.hard for check in column.failed), column.name
        if one.movable and outcome.status == "compacted" and one.id != "trim":
            assert outcome.split in (len(messages) - 4, len(messages) - 3), column.name


def test_an_assessment_has_the_cost_of_summaries_and_cache() -> None:
    context = context_of([*loop("1", 12, "x" * 2_000), *chat(20)], window=200_000, model="claude-opus-4-5")
    rates = rates_of("claude-opus-4-5")
    assert rates.known
    for column in compare(bench_of(context), candidates(), extractive):
        assert column.preset is not None
        run = drive(strategy(column.strategy).run(context, column.preset.policy), extractive)
        assert column.spent == summary_usage(context, run)
        assert column.calls == len(run.requests)
        assert column.summary_cost == column.spent.cost(rates)
        assert (column.summary_cost > 0) == (column.calls > 0)
        assert column.cache == cache_loss(context, column.outcome)
        assert assess(choose_preset(bench_of(context), column.preset), run).cache == column.cache
        answers = [i for i, message in enumerate(context.messages) if message.role == "assistant"]
        assert column.fresh == context.size(answers[-1], len(context)).tokens
        if column.outcome.status == "unchanged":
            assert (column.cache_cost, column.pays_off_after) == (0, 0)
        elif column.pays_off_after:
            owed = column.cache_cost + column.summary_cost
            gain = rates.read * column.saved / MILLION
            assert gain * (column.pays_off_after - 1) < owed <= gain * column.pays_off_after


def test_text_after_the_cached_prefix_is_not_read_from_the_cache() -> None:
    loss, rates = CacheLoss(before=1_000, after=900, first_changed=850), Rates(read=0.1, write=1.25)
    assert loss.extra(400, rates) == pytest.approx(1.25 * (300 - 400))  # 600 are cached with it and without
    assert CacheLoss(1_000, 1_000, 1_000).extra(400, rates) == 0
    assert SummaryUsage(1, 3_000_000, 1_000_000).cost(Rates(2.0, 8.0)) == 14.0
    assert Rates(known=True).words(0.1234567) == "$0.12"
    assert Rates(known=True).words(1234.5) == "$1 234.50"
    assert Rates().words(0.0125) == "12 500 in"


def test_the_agents_own_compaction_is_a_column_without_a_policy() -> None:
    before = (*loop("1", 12, "x" * 2_000), *chat(4))
    summary = Message("s", "user", (Text("What was done."),), kind="summary")
    messages = (*before, summary)
    first, second = range(len(before)), (*range(len(before) - 2, len(before)), len(before))
    epochs = (Epoch(1, first, ended_by=Compaction(summary="s")), Epoch(2, second))
    session = Session("anthropic-messages", None, messages, Records(b""), epochs=epochs)
    bench = replace(bench_of(context_of(before)), session=session)
    column = assess_recorded(bench)
    assert column is not None
    assert (column.name, column.strategy, column.preset) == (RECORDED, "", None)
    assert (column.calls, column.summary_cost) == (None, None)
    assert column.outcome == recorded_outcome(session, 1)
    assert column.tail.messages == 2
    assert column.after.tokens < column.before.tokens
    assert assess_recorded(replace(bench_of(context_of(messages)), session=session, epoch=2)) is None
