"""What is too long for its line ends with `…`; a hint is short enough for its field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static

from tests.paths import SAMPLES
from tests.tui.app import at_rest, bench_screen, brought, on_bench, press, settled, story
from workbench.tui.screens.ab import AbScreen
from workbench.tui.screens.policy_text import PolicyTextScreen
from workbench.tui.screens.replay import ReplayScreen
from workbench.tui.screens.runs import RunsScreen
from workbench.tui.screens.tour import TourScreen
from workbench.tui.screens.why import WhyScreen
from workbench.tui.widgets.budget_bar import BudgetBar

CODEX = SAMPLES / "codex-two-compactions.jsonl"


def ends(screen: Screen[Any], names: Sequence[str]) -> list[str]:
    """The last character of each of these lines."""
    return [screen.query_one(f"#{name}", Static).render_line(0).text.rstrip()[-1] for name in names]


async def test_the_lines_around_the_bench() -> None:
    async with on_bench(CODEX, size=(60, 24)) as (_, screen):
        assert ends(screen, ("title", "status")) == ["…", "…"]


@pytest.mark.parametrize(
    ("key", "kind", "names"),
    [
        ("O", WhyScreen, ("title", "legend", "call")),
        ("A", ReplayScreen, ("title", "legend")),
        ("B", AbScreen, ("title",)),
        ("E", PolicyTextScreen, ("name",)),
    ],
)
async def test_the_lines_of_a_screen(key: str, kind: type[Screen[Any]], names: Sequence[str]) -> None:
    async with on_bench(CODEX, size=(44, 24)) as (pilot, _):
        assert ends(await brought(pilot, kind, key), names) == ["…"] * len(names)


@pytest.mark.parametrize("key", ["slash", "colon"])
async def test_the_hint_of_a_search_fits_into_80_columns(key: str) -> None:
    async with on_bench(story(), size=(80, 24)) as (pilot, screen):
        await press(pilot, key)
        field = screen.query_one("#find").query_one(Input)
        assert len(field.placeholder) < field.content_size.width


async def test_where_there_is_no_run_it_is_said_what_makes_one() -> None:
    async with on_bench(story(), size=(120, 24)) as (pilot, _):
        runs = await brought(pilot, RunsScreen, "H")
        assert "R on the bench makes one" in str(runs.query_one("#about", Static).content)


async def test_no_figure_of_a_finding_is_broken() -> None:
    async with on_bench(SAMPLES / "claude-code-overflow.jsonl", size=(80, 24)) as (pilot, _):
        screen = await brought(pilot, WhyScreen, "O")
        told = [str(option.prompt) for option in screen.query_one(OptionList).options]
        assert any("197\u00a0481" in line for line in told)
        assert not any("197 481" in line for line in told)


async def test_the_tour_covers_no_line_of_the_bars() -> None:
    async with at_rest(CODEX, tour=True, size=(140, 42)) as pilot:
        assert isinstance(pilot.app.screen, TourScreen)
        bar = bench_screen(pilot).query_one(BudgetBar)
        await settled(pilot)
        assert bar.size.height > 3
        assert not bar.styles.outline.top[0]
        assert bar.styles.tint.a > 0
