"""The compare screen: one column for each preset, and the way back to the bench."""

from __future__ import annotations

from textual.widgets import DataTable

from tests.tui.app import app_of, bench_screen, press, settled, story
from workbench.compaction.preset import preset_names
from workbench.compaction.strategies import STRATEGIES
from workbench.tui.screens.compare import ROWS, CompareScreen

SIZE = (160, 40)


async def test_every_strategy_has_a_column_and_the_chosen_one_opens() -> None:
    async with app_of(story()).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await press(pilot, "C")
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        table = screen.query_one(DataTable)
        assert [column.preset.strategy for column in screen.columns] == [one.id for one in STRATEGIES]
        assert table.row_count == len(ROWS)
        assert len(table.columns) == len(STRATEGIES) + 1
        await press(pilot, "right", "right", "enter")
        await settled(pilot)
        assert bench_screen(pilot).bench.strategy.id == STRATEGIES[2].id
        await press(pilot, "u")
        assert bench_screen(pilot).bench.strategy.id == "exchange-summary"


async def test_every_preset_on_request() -> None:
    async with app_of(story()).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await press(pilot, "C", "a")
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        assert [column.name for column in screen.columns] == list(preset_names())
        await press(pilot, "escape")
        assert bench_screen(pilot).bench.strategy.id == "exchange-summary"
