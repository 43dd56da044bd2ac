"""Moving and finding on the bench: search, jump, filter, sort, and the growth line."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.tui.app import bench_screen, brought, in_one_line, on_bench, press, settled, story
from workbench.compaction.context import Layout
from workbench.compaction.outcome import Fate, FateSpan, Outcome
from workbench.compaction.shape import Shape
from workbench.session import Message, Text, ToolResult, ToolUse
from workbench.tokens import Counter, sizes_of
from workbench.tui.filters import Filter, matching, tools_of
from workbench.tui.screens.ask import AskScreen
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.rounds_list import RoundsList

SIZE = (120, 40)

MESSAGES = (
    Message("a", "user", (Text("go"),)),
    Message("b", "assistant", (ToolUse("1", "Read", {}), ToolUse("2", "Bash", {}))),
    Message("c", "tool", (ToolResult("1", (Text("x" * 4_000),)),)),
    Message("d", "tool", (ToolResult("2", (Text("no"),), is_error=True, user_text="no"),)),
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
        (Filter(fate=Fate.SUMMARIZED), [0, 1], "summarized"),
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
    return str(bar.query_one("#find-results", Static).render()) if bar.display else ""


async def search_for(pilot: Pilot[None], text: str) -> None:
    await press(pilot, "/")
    bench_screen(pilot).query_one("#find-input", Input).value = text
    await settled(pilot)


async def test_what_is_found_is_marked_gone_to_and_walked_to() -> None:
    async with on_bench(story()) as (pilot, bench):
        await search_for(pilot, "revoked")
        await press(pilot, "enter")

        def shown() -> str:
            lines = [rounds(pilot).render_line(y).text for y in range(rounds(pilot).size.height)]
            return "\n".join(line for line in lines if "»" in line)

        assert "»Now the tests" in shown()
        assert shown().count("\n") == 0
        await press(pilot, "escape")
        assert (shown(), said(pilot)) == ("", "")
        assert bench.check_action("act", ("find-next.1",)) is None

        # A colon goes to a message or a round and refuses what is none.
        await press(pilot, "colon", *"15", "enter")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (14, False)
        await press(pilot, "colon", *"r4", "enter")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (24, True)
        await press(pilot, "colon", *"99", "enter")
        assert "from 1 to 32" in said(pilot)
        await press(pilot, "escape")
        assert (rounds(pilot).index, said(pilot)) == (24, "")
        assert bench.focused is rounds(pilot)

        # Rounds are walked by ctrl and the arrows, too.
        rounds(pilot).go(9)
        await press(pilot, "ctrl+up")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (8, True)
        await press(pilot, "ctrl+down")
        assert (rounds(pilot).index, rounds(pilot).on_header) == (16, True)


async def test_a_filter_hides_the_rest_and_f_brings_it_back_with_the_cursor_in_place() -> None:
    async with on_bench(story()) as (pilot, _):
        list_ = rounds(pilot)
        list_.go(12)
        await brought(pilot, AskScreen, "f")
        await press(pilot, *"result", "enter")
        assert said(pilot) == "only result: 12 shown, 20 hidden (esc shows all)"
        assert list_.rows is not None
        assert len([row for row in map(list_.rows.__getitem__, range(len(list_.rows))) if row.kind == "message"]) == 12
        assert list_.index == 12
        await press(pilot, "j")
        assert list_.index == 14
        await press(pilot, "escape")
        assert (list_.index, list_.arrangement, said(pilot)) == (14, None, "")
        list_.go(15)
        await press(pilot, "f", *"user", "enter")
        assert list_.index != 15
        await press(pilot, "escape")
        assert (list_.index, list_.on_header) == (15, False), "back at a message that was hidden"

        # Nothing breaks on an empty list.
        await press(pilot, "f", *"errors", "enter")
        await press(pilot, "j", "k", "J", "K", "G", "home", "enter", "z", "pagedown", "l", "h")
        await search_for(pilot, "token")
        assert "token: not found (14 more hidden by the filter)" in said(pilot)
        await press(pilot, "enter", "n", "escape", "escape", "z")
        assert (list_.arrangement, said(pilot)) == (None, "")


async def test_the_filter_says_what_it_cannot_read_and_begins_with_what_is_shown() -> None:
    async with on_bench(story(), size=(80, 24)) as (pilot, _):
        dialog = await brought(pilot, AskScreen, "f")
        words = str(dialog.query_one(".about", Static).render())
        assert "Read (12)" in words
        assert "user" in words
        await press(pilot, *">many", "enter")
        assert pilot.app.screen is dialog
        assert "a whole number of tokens" in in_one_line(dialog.query_one("#understood", Static))
        dialog.query_one(Input).value = ">300"
        await press(pilot, "enter")
        assert bench_screen(pilot).view.finding.narrowing == Filter(larger_than=300)
        assert "only over 300 tokens: 12 shown" in said(pilot)
        dialog = await brought(pilot, AskScreen, "f")
        assert dialog.query_one(Input).value == ">300"
        dialog.query_one(Input).value = ""
        await press(pilot, "enter")
        assert (bench_screen(pilot).view.finding.narrowing, said(pilot)) == (Filter(), "")
