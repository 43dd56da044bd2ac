"""Many presets on one context."""

import pytest

from tests.building import context_of
from tests.compaction.holding import chat, loop
from workbench.analysis.compare import candidates, compare
from workbench.compaction.edits import Edits
from workbench.compaction.outcome import Fate
from workbench.compaction.strategies import STRATEGIES, strategy
from workbench.errors import BadInput
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive


def test_without_names_every_strategy_is_compared() -> None:
    assert [preset.strategy for preset in candidates()] == [one.id for one in STRATEGIES]
    assert [preset.id for preset in candidates(["trim"], ["codex", "cody"])] == ["codex", "cody", "trim"]
    with pytest.raises(BadInput, match="no preset"):
        candidates(presets=["nobody"])
    with pytest.raises(BadInput, match="no strategy"):
        candidates(["nobody"])


def test_a_columns_figures_add_up() -> None:
    context = context_of([*loop("1", 12, "x" * 2_000), *chat(20)], window=200_000)
    for answer in (extractive, estimate):
        for column in compare(context, candidates(), answer):
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
    for column in compare(context, presets, estimate, edits):
        outcome, one = column.outcome, strategy(column.preset.strategy)
        assert outcome.source == tuple(messages), column.name
        assert outcome.fate_at(1).fate is Fate.PINNED, column.name
        assert outcome.fate_at(len(messages) - 2).fate is Fate.DROPPED, column.name
        assert not any(check.hard for check in column.failed), column.name
        if one.movable and outcome.status == "compacted" and one.id != "trim":
            assert outcome.split in (len(messages) - 4, len(messages) - 3), column.name
