"""A trigger's mark and the end of the head, dragged on the bar."""

from __future__ import annotations

import pytest

from tests.tui.app import on_bench, settled, story
from tests.tui.test_budget_bar import budget
from workbench.compaction.preset import load_preset
from workbench.compaction.strategy import Trigger
from workbench.tui.bars import LABEL, Grip, grips, inner_cells
from workbench.tui.bench.edits import message_at, moved_trigger
from workbench.tui.widgets.budget_bar import BudgetBar


@pytest.mark.parametrize(
    ("preset", "changes", "trigger", "limit", "key", "value"),
    [
        ("trim", {"trigger_window_percent": 50}, (100_000, "tokens"), 120_000, "trigger_window_percent", 60.0),
        ("claude-code", {}, (167_000, "tokens"), 150_000, "trigger_reserve_tokens", 30_000),
        ("aider", {}, (8_193, "tokens"), 9_000.4, "trigger_tokens", 9_000),
        ("augment-example", {}, (50_000, "characters"), 60_000, "trigger_on_history_size_chars", 60_000),
    ],
)
def test_a_limit_is_set_by_the_setting_that_makes_it(
    preset: str, changes: dict[str, float], trigger: tuple[float, str], limit: float, key: str, value: float
) -> None:
    policy = load_preset(preset).policy.with_(**changes)
    found = moved_trigger(policy, Trigger("t", 1, *trigger, fires=False), limit, 200_000)
    assert found == (policy.with_(**{key: value}), key)


def test_a_limit_that_no_setting_makes_or_takes_is_left() -> None:
    policy = load_preset("augment-example").policy
    assert moved_trigger(policy, Trigger("t", 1, 777, "tokens", fires=False), 900, 200_000) is None
    assert moved_trigger(policy, Trigger("t", 1, 50_000, "characters", fires=False), -1, 200_000) is None


def test_marks_and_the_end_of_the_head_are_where_they_are_drawn() -> None:
    tokens, chars = Trigger("a", 1, 100_000, "tokens", fires=False), Trigger("b", 280_002, 140_001, "characters", False)
    found = grips(budget(200_000, tokens, chars), 100)
    assert found == [Grip(50, 0), Grip(40, 1, 2.0, 10_000), Grip(55, None)]
    assert found[1].limit(80_000) == 140_000


async def test_what_is_dragged_is_planned_anew() -> None:
    async with on_bench(story(), size=(140, 42)) as (pilot, screen):
        bar = screen.query_one(BudgetBar)
        before = screen.bench
        assert bar.budget is not None
        await pilot.hover(bar, offset=(LABEL + 2, 0))
        assert str(bar.tooltip).endswith("tokens: what this compaction replaces")
        inner = inner_cells(bar.size.width)
        trigger, head = grips(bar.budget, inner)
        for grip, to in ((trigger, 3), (head, 2)):
            await pilot.mouse_down(bar, offset=(LABEL + grip.cell, 0))
            await pilot.hover(bar, offset=(LABEL + to, 0))
            await pilot.mouse_up(bar, offset=(LABEL + to, 0))
            await settled(pilot)
        key = "trigger_on_history_size_chars"
        assert 0 < screen.bench.policy.model_dump()[key] < before.policy.model_dump()[key]
        wanted = message_at(screen.bench, round(2.5 * bar.budget.scale / inner))
        assert screen.bench.split_at == wanted != before.split_at
