"""Many presets on one context."""

import pytest

from tests.building import context_of
from tests.compaction.holding import chat, loop
from workbench.analysis.compare import candidates, compare
from workbench.compaction.strategies import STRATEGIES
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
