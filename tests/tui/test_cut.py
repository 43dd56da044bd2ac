"""What is too long for its line ends with `…`; a hint is short enough for its field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static, Tab

from tests.paths import SAMPLES
from tests.products import mostly_full
from tests.tui.app import brought, on_bench, press, settled, story
from workbench.tui.plain import change, figure, percent, several
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.prompts import PromptsScreen
from workbench.tui.screens.why import WhyScreen
from workbench.tui.widgets.cut_tabs import CutTabs
from workbench.tui.widgets.cut_text import CutText, TwoEnds, WholeFigures, fewer_parts
from workbench.tui.widgets.text_view import TextPart, wrap

CODEX = SAMPLES / "codex-two-compactions.jsonl"


def ends(screen: Screen[Any], names: Sequence[str]) -> list[str]:
    """The last character of each of these lines."""
    return [screen.query_one(f"#{name}", Widget).render_line(0).text.rstrip()[-1] for name in names]


async def test_the_lines_around_the_bench() -> None:
    async with on_bench(CODEX, size=(60, 24)) as (_, screen):
        assert screen.query_one("#title", TwoEnds).render_line(0).text.split("  ")[1].rstrip().endswith("…")


async def test_the_lines_of_a_screen() -> None:
    async with on_bench(CODEX, size=(44, 24)) as (pilot, _):
        for key, kind, names in (
            ("O", WhyScreen, ("legend", "call")),
            ("E", PromptsScreen, ("name",)),
            ("C", CompareScreen, ("note", "legend")),
        ):
            assert ends(await brought(pilot, kind, key), names) == ["…"] * len(names)
            if kind is not CompareScreen:
                await press(pilot, "escape", *["escape"] * (key == "E"), painted=False)
        # What the other variants send at a call.
        await pilot.resize_terminal(60, 24)
        await press(pilot, "o")
        others = pilot.app.screen.query_one("#call", Static).render_line(1).text.rstrip()
        assert others.startswith("B ")
        assert others[-1] == "…"


async def test_the_hint_of_a_search_fits_into_80_columns() -> None:
    async with on_bench(story(), size=(80, 24)) as (pilot, screen):
        for key in ("slash", "colon"):
            await press(pilot, key)
            field = screen.query_one("#find").query_one(Input)
            assert len(field.placeholder) < field.content_size.width
            await press(pilot, "escape")


TOLD = {
    "one two": ["one two", ""],
    "one two three": ["one two", "three"],
    "one two three four five six": ["one two", "three…"],
    "seventy7 letters3 seventy7": ["seventy7", "letters…"],
}


async def test_a_text_of_too_many_lines_ends_with_an_ellipsis() -> None:
    class Told(App[None]):
        def compose(self) -> ComposeResult:
            for words in TOLD:
                text = CutText(words)
                text.styles.width, text.styles.height = 8, 2
                yield text

    async with Told().run_test() as pilot:
        shown = [[text.render_line(y).text.rstrip() for y in range(2)] for text in pilot.app.query(CutText)]
        assert shown == [*TOLD.values()]


def line_of(screen: Screen[Any], widget: Widget) -> str:
    """The first line of a widget as the terminal has it."""
    x, y, width, _ = widget.region
    return screen._compositor.render_strips()[y].crop(x, x + width).text


async def test_tabs_that_do_not_all_fit_say_so_and_lead_to_the_others() -> None:
    async with on_bench(CODEX, size=(120, 24), epoch=1) as (pilot, screen):
        tabs = screen.query_one(CutTabs)
        assert line_of(screen, tabs).rstrip().endswith("Checks Recor⋯")
        await press(pilot, "6")
        assert line_of(screen, tabs).startswith("⋯ ")
        assert line_of(screen, tabs).rstrip().endswith("Checks Recorded")
        await press(pilot, "1")
        for expected in ("request", "summary"):
            await pilot.click("More.right")
            await settled(pilot)
            assert screen.view.tab == expected
        await pilot.resize_terminal(160, 24)
        await settled(pilot)
        assert line_of(screen, tabs).strip().endswith("Checks Recorded")
        assert not tabs.has_class("-cut")


@pytest.mark.parametrize("widths", mostly_full([(60, 120), (112, 130)], [(60, 120)]), ids=str)
async def test_tabs_begin_with_a_whole_one_and_show_the_active_one_whole(widths: tuple[int, int]) -> None:
    async with on_bench(CODEX, size=(widths[0], 24), epoch=1) as (pilot, screen):
        tabs, wrong = screen.query_one(CutTabs), []
        for width in widths:
            await pilot.resize_terminal(width, 24)
            for key in (*"123456", "3", "2", "1"):
                await press(pilot, key)
                line = line_of(screen, tabs)
                names, active = line.strip("⋯ ").split(), tabs.active_tab
                assert active is not None
                if names[0] not in [tab.label_text for tab in tabs.query(Tab)] or f" {active.label_text}" not in line:
                    wrong.append((width, key, line))
                if ("⋯" in line[:1]) != (names[0] != next(tab for tab in tabs.query(Tab) if tab.display).label_text):
                    wrong.append((width, key, line))
        assert wrong == []


def test_a_title_leaves_out_a_part_that_has_no_room() -> None:
    title = Text("harbour.jsonl · 37 rounds · 471 messages")
    assert [fewer_parts(title, room).plain for room in (40, 39, 24, 20, 5)] == [
        title.plain,
        "harbour.jsonl · 37 rounds",
        "harbour.jsonl",
        "harbour.jsonl",
        "harbour.jsonl",
    ]


@pytest.mark.parametrize("gap", ["\u00a0", "\u202f", " "])
def test_no_line_of_a_text_is_broken_in_a_figure(gap: str) -> None:
    for text, width, rows in (
        (f"aaa bb 200{gap}000 ccc", 11, ["aaa bb", f"200{gap}000 ccc"]),
        (f"aaa bb 200{gap}000 ccc", 10, ["aaa bb", f"200{gap}000", "ccc"]),
        (f"about 1{gap}234{gap}567 of it", 11, ["about", f"1{gap}234{gap}567", "of it"]),
        (f"no more than 86{gap}% of it", 15, ["no more than", f"86{gap}% of it"]),
        ("in all 3 0000 apples", 8, ["in all 3", "0000", "apples"]),
    ):
        shown = wrap([TextPart(text)], width)
        assert [text[start:stop].strip() for start, stop in zip(shown.start, shown.stop, strict=True)] == rows


async def test_tabs_of_which_none_is_left_have_no_mark() -> None:
    """As while a screen goes: its tabs end before what holds them has its last size."""

    class Emptied(App[None]):
        def compose(self) -> ComposeResult:
            yield CutTabs("one", "two", "three")

    async with Emptied().run_test(size=(12, 4)) as pilot:
        tabs = pilot.app.query_one(CutTabs)
        await tabs.clear()
        tabs.query_one("#tabs-scroll").virtual_size = Size(1, 1)
        await pilot.pause()
        assert tabs.tab_count == 0
        assert not tabs.has_class("-cut")


@pytest.mark.parametrize("told", [figure(161_204), several(12_000, "message"), percent(0.12), change(100, 40)])
def test_no_line_can_be_broken_within_a_figure(told: str) -> None:
    assert not re.search(r"\d [\d%]", told)
    assert re.search(r"\d\s[\d%]", told), "and still there is a gap"


async def test_no_line_ends_within_a_figure() -> None:
    """Textual breaks lines at no-break spaces, too."""
    said = WholeFigures("Compactions lost 1 243 of 2 713 rules, 46 % of them, for $1 234.50 in all.")

    class Shown(App[None]):
        def compose(self) -> ComposeResult:
            yield said

    async with Shown().run_test(size=(40, 12)) as pilot:
        for width in range(13, 40):
            await pilot.resize_terminal(width, 12)
            assert said.size.width == width
            rows = [said.render_line(row).text.rstrip() for row in range(said.size.height)]
            for figure_ in ("1\u00a0243", "2\u00a0713", "46\u00a0%", "$1\u00a0234.50"):
                assert any(figure_ in row for row in rows), rows
