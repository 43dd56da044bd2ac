"""Moving and finding on the bench: search, jump, filter, sort, and the growth line."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.paths import SAMPLES
from tests.tui.app import app_of, bench_screen, brought, on_bench, press, settled, story
from workbench.analysis.growth import Point
from workbench.compaction.layout import Layout
from workbench.compaction.outcome import Fate, FateSpan, Outcome
from workbench.compaction.shape import Shape
from workbench.session import Message, Text, ToolResult, ToolUse
from workbench.tokens import Basis, Counter, sizes_of
from workbench.tui.filters import Filter, matching, tools_of
from workbench.tui.growth import Growth, epoch_at, growth_cells, growth_of
from workbench.tui.screens.filter_dialog import FilterScreen
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.growth_line import GrowthLine
from workbench.tui.widgets.rounds_list import RoundsList

SIZE = (120, 40)

MESSAGES = (
    Message("a", "user", (Text("go"),)),
    Message("b", "assistant", (ToolUse("1", "Read", {}), ToolUse("2", "Bash", {}))),
    Message("c", "tool", (ToolResult("1", (Text("x" * 4_000),)),)),
    Message("d", "tool", (ToolResult("2", (Text("no"),), is_error=True, said="no"),)),
    Message("e", "assistant", (Text("done"),)),
)
LAYOUT = Layout(Shape(MESSAGES), sizes_of(MESSAGES, None, Counter()))
OUTCOME = Outcome(
    "compacted",
    "",
    MESSAGES,
    (),
    (FateSpan(0, 2, Fate.SUMMARIZED), FateSpan(2, 3, Fate.PINNED), FateSpan(3, 5, Fate.KEPT)),
)


@pytest.mark.parametrize(
    ("chosen", "found", "words"),
    [
        (Filter(), [0, 1, 2, 3, 4], ""),
        (Filter(role="result"), [2, 3], "result"),
        (Filter(role="agent"), [4], "agent"),
        (Filter(role="user"), [0, 3], "user"),
        (Filter(tool="Read"), [1, 2], "tool Read"),
        (Filter(tool="Bash"), [1, 3], "tool Bash"),
        (Filter(errors=True), [3], "errors"),
        (Filter(pinned=True), [2, 4], "pinned"),
        (Filter(fate=Fate.SUMMARIZED), [0, 1], "summary"),
        (Filter(larger_than=200), [2], "over 200 tokens"),
        (Filter(role="result", fate=Fate.KEPT), [3], "result, kept"),
    ],
)
def test_a_filter_shows_what_meets_all_of_it(chosen: Filter, found: list[int], words: str) -> None:
    assert matching(chosen, LAYOUT, OUTCOME, frozenset("e")).tolist() == found
    assert str(chosen) == words
    assert bool(chosen) is bool(words)


def test_tools_are_told_with_the_number_of_their_calls() -> None:
    assert tools_of(story().messages) == [("Read", 12)]


def rounds(pilot: Pilot[None]) -> RoundsList:
    return bench_screen(pilot).query_one(RoundsList)


def said(pilot: Pilot[None]) -> str:
    bar = bench_screen(pilot).query_one(FindBar)
    return str(bar.query_one("#find-said", Static).render()) if bar.display else ""


async def search_for(pilot: Pilot[None], text: str) -> None:
    await press(pilot, "/")
    bench_screen(pilot).query_one("#find-input", Input).value = text
    await settled(pilot)


async def test_hits_are_marked_until_escape_clears_the_search() -> None:
    async with on_bench(story()) as (pilot, _):
        await search_for(pilot, "revoked")
        await press(pilot, "enter")

        def shown() -> str:
            lines = [rounds(pilot).render_line(y).text for y in range(rounds(pilot).size.height)]
            return "\n".join(line for line in lines if "»" in line)

        assert "»Now the tests" in shown()
        assert shown().count("\n") == 0
        await press(pilot, "escape")
        assert shown() == ""
        assert said(pilot) == ""
        assert bench_screen(pilot).check_action("act", ("find-next.1",)) is None


async def test_a_colon_goes_to_a_message_or_a_round_and_refuses_what_is_none() -> None:
    async with on_bench(story()) as (pilot, _):
        await press(pilot, "colon", *"15", "enter")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (14, False)
        await press(pilot, "colon", *"r4", "enter")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (24, True)
        await press(pilot, "colon", *"99", "enter")
        assert "from 1 to 32" in said(pilot)
        await press(pilot, "escape")
        assert (rounds(pilot).index, said(pilot)) == (24, "")
        assert bench_screen(pilot).focused is rounds(pilot)


async def test_rounds_are_walked_by_ctrl_and_the_arrows_too() -> None:
    async with on_bench(story()) as (pilot, _):
        rounds(pilot).go(9)
        await press(pilot, "ctrl+up")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (8, True)
        await press(pilot, "ctrl+down")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (16, True)


async def test_a_filter_hides_the_rest_and_f_brings_it_back_with_the_cursor_in_place() -> None:
    async with on_bench(story()) as (pilot, _):
        list_ = rounds(pilot)
        list_.go(12)
        dialog = await brought(pilot, FilterScreen, "f")
        dialog.dismiss(Filter(role="result"))
        await settled(pilot)
        assert said(pilot) == "only result: 12 shown, 20 hidden (f shows all)"
        assert list_.rows is not None
        assert len([row for row in map(list_.rows.__getitem__, range(len(list_.rows))) if row.kind == "message"]) == 12
        assert list_.index == 12
        await press(pilot, "j")
        assert list_.index == 14
        await press(pilot, "f")
        assert (list_.index, list_.arrangement, said(pilot)) == (14, None, "")
        list_.go(15)
        await press(pilot, "f")
        pilot.app.screen.dismiss(Filter(role="user"))
        await settled(pilot)
        assert list_.index != 15
        await press(pilot, "escape")
        assert (list_.index, list_.on_header) == (15, False), "back at a message that was hidden"


async def test_nothing_breaks_on_an_empty_list() -> None:
    async with on_bench(story()) as (pilot, _):
        await press(pilot, "f")
        pilot.app.screen.dismiss(Filter(errors=True))
        await settled(pilot)
        await press(pilot, "j", "k", "J", "K", "G", "home", "enter", "z", "pagedown", "l", "h")
        await search_for(pilot, "token")
        assert "token: not found (14 more hidden by the filter)" in said(pilot)
        await press(pilot, "enter", "n", "escape", "escape", "z")
        assert (rounds(pilot).arrangement, said(pilot)) == (None, "")


async def test_the_filter_dialog_gives_what_was_chosen_in_it() -> None:
    async with on_bench(story(), size=(80, 24)) as (pilot, _):
        await press(pilot, "f")
        dialog = pilot.app.screen
        dialog.query_one("#larger", Input).value = "many"
        await press(pilot, "ctrl+s")
        assert "a whole number" in str(dialog.query_one("#refused", Static).render())
        dialog.query_one("#larger", Input).value = "300"
        await press(pilot, "ctrl+s")
        assert bench_screen(pilot).view.finding.narrowing == Filter(larger_than=300)
        assert "only over 300 tokens: 12 shown" in said(pilot)


POINTS = tuple(
    Point(n, 1 if n < 6 else 2, tokens, Basis.EXACT, n == 6)
    for n, tokens in enumerate((100, 200, 400, 600, 800, 800, 50, 100))
)


def test_the_growth_line_draws_levels_marks_and_the_epoch() -> None:
    cells = growth_cells(growth_of(POINTS), 10, epoch=2)
    assert "".join(text for text, _ in cells) == " ▂▃▅▇██▼▂"
    assert [style for _, style in cells[1:9]] == ["other"] * 6 + ["mark-here", "here"]
    wide = "".join(text for text, _ in growth_cells(growth_of(POINTS), 120, epoch=1))
    assert wide.endswith("growth by call: 8 calls, peak 800, ▼ 1 compaction recorded")
    assert wide.count("▼") == 2
    assert len(wide) <= 120


def test_many_calls_share_columns_and_no_compaction_is_lost() -> None:
    points = (Point(n, 1 + n // 100, n % 100, Basis.ESTIMATE, n % 100 == 0 and n > 0) for n in range(1_000))
    grown = growth_of(tuple(points))
    cells = growth_cells(grown, 60, epoch=10)
    assert sum(text == "▼" for text, _ in cells) == 9
    assert len("".join(text for text, _ in cells)) <= 60
    assert [epoch_at(grown, 60, x) for x in (0, 1, 58, 59, 60)] == [None, 1, 10, None, None]


def test_a_growth_line_without_calls_is_blank() -> None:
    assert growth_cells(Growth(), 40, epoch=1) == [(" ", "dim"), ("", "dim")]
    assert epoch_at(Growth(), 40, 3) is None


async def test_a_click_on_the_growth_line_opens_the_epoch_there() -> None:
    path = SAMPLES / "claude-code-overflow.jsonl"
    async with on_bench(path) as (pilot, screen):
        line = screen.query_one(GrowthLine)
        assert line.display
        assert line.growth.points
        assert line.epoch == screen.bench.epoch
        first = line.growth.points[0].epoch
        await pilot.click(GrowthLine, offset=(1, 0))
        await settled(pilot)
        assert screen.bench.epoch == line.epoch == first


@pytest.mark.parametrize(
    ("size", "lines"), [((80, 24), 1), ((120, 40), 1), ((54, 24), 2), ((230, 60), 1), ((80, 20), 1), ((80, 19), 0)]
)
async def test_why_it_is_so_large_is_said_whole_on_the_bench(size: tuple[int, int], lines: int) -> None:
    async with app_of(SAMPLES / "claude-code-overflow.jsonl").run_test(size=size) as pilot:
        await settled(pilot)
        line, said = bench_screen(pilot).query_one("#verdict", CutText), bench_screen(pilot).view.verdict
        assert line.display is bool(lines)
        if lines:
            drawn = " ".join(line.render_line(y).text.strip() for y in range(line.size.height))
            assert (line.size.height, drawn.split()) == (lines, said.split())


@pytest.mark.parametrize(("size", "shown"), [((80, 29), False), ((80, 30), True), ((120, 40), True)])
async def test_on_a_low_screen_its_lines_are_the_policys_while_that_is_at_hand(
    size: tuple[int, int], shown: bool
) -> None:
    async with app_of(story()).run_test(size=size) as pilot:
        await settled(pilot)
        line = bench_screen(pilot).query_one("#verdict", CutText)
        assert line.display
        await press(pilot, "9")
        assert line.display is shown


async def test_the_growth_line_is_there_when_the_height_allows() -> None:
    async with app_of(story()).run_test(size=(120, 30)) as pilot:
        for size, shown in (((120, 30), True), ((120, 29), False), ((80, 24), False)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert bench_screen(pilot).query_one(GrowthLine).display is shown
