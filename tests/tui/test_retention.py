"""Kept, on the screen: facts by kind, the gravest losses, pins from there; several compactions; rework."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.widgets import DataTable, Static

from tests.tui.app import bench_screen, brought, done, on_bench, press, session_of, settled, story
from workbench.analysis.retention import retention
from workbench.bench import Bench, open_bench, with_counts
from workbench.session import Compaction, Epoch, Message, Session, Text
from workbench.tokens import Counter
from workbench.tui.retention.facts import FactsPane, assess_compaction, has_recorded_compaction, kind_lines
from workbench.tui.retention.generations import GenerationsPane, bar_width, column_heads, compact_repeatedly, rows
from workbench.tui.retention.rework import ReworkPane
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.retention import RetentionScreen
from workbench.tui.widgets.facts_list import FactsList
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.table import TextTable
from workbench.tui.widgets.text_list import TextList


def with_a_recorded_compaction() -> Session:
    """The story, then a summary that names nothing, and one more round."""
    told = story().messages
    more = (
        Message("s", "user", (Text("Some work was done."),), kind="summary", time=told[-1].time),
        Message("n1", "user", (Text("Now look at src/auth/session.ts again"),)),
        Message("n2", "assistant", (Text("It is fine."),)),
    )
    ended = Epoch(1, range(len(told)), ended_by=Compaction(trigger="auto", tokens_before=9_000, summary="s"))
    epochs = (ended, Epoch(2, range(len(told), len(told) + 3)))
    return replace(session_of((*told, *more)), epochs=epochs)


def test_the_table_by_kind_fits_80_columns() -> None:
    bench = open_bench(story(), Counter(), preset="trim")
    lines = kind_lines(retention(bench.context, bench.offline.outcome))
    assert lines[1].startswith("all")
    assert max(map(len, lines)) <= 80 - 2


async def test_what_is_lost_can_be_filtered_pinned_and_taken_back() -> None:
    async with on_bench(story(), preset="trim") as (pilot, _):
        bench = bench_screen(pilot).bench
        expected = retention(bench.context, bench.offline.outcome)
        screen = await brought(pilot, RetentionScreen, "X")
        pane = screen.query_one(FactsPane)
        listed, table = pane.query_one(FactsList), pane.query_one(TextList)
        assert tuple(listed.facts) == expected.lacking
        assert len(table.rows) == 1 + len(expected.kinds)
        assert not screen.check_action("recorded", ())  # nothing is recorded
        assert not screen.check_action("undo", ())

        await press(pilot, "right")
        assert {fact.kind for fact in listed.facts} <= {pane.kind}
        assert pane.kind in expected.kinds
        await press(pilot, "left", "left", "left")
        kind = list(expected.kinds)[-2]
        assert pane.kind == kind
        assert len(listed.facts) == sum(fact.kind == kind for fact in expected.lacking)
        await brought(pilot, HelpScreen, "question_mark")
        await press(pilot, "escape", "right", "right")
        assert pane.kind is None

        fact = expected.lacking[0]
        assert f"+{fact.pin_tokens}" in str(pane.query_one(".fact", Static).content).replace("\xa0", "")
        await press(pilot, "p")
        assert pane.bench.pins == {fact.message}
        assert pane.found is not None
        assert pane.found.bench is pane.bench
        assert fact.text not in {one.text for one in pane.found.retention.lacking if one.message == fact.message}
        await press(pilot, "u")
        assert pane.bench is screen.state.opened
        await press(pilot, "p", "down", "enter")
        gone_to = listed.facts[1].index
        there = bench_screen(pilot)
        assert pilot.app.screen is there
        assert there.bench.pins == {fact.message}
        rounds = there.query_one(RoundsList)
        assert rounds.index == gone_to
        assert 0 <= rounds.line - rounds.scroll_offset.y < rounds.size.height
        await press(pilot, "u")
        assert not there.bench.pins


async def test_the_recorded_compaction_is_judged_too_and_the_other_tabs_follow() -> None:
    async with on_bench(with_a_recorded_compaction(), epoch=1, size=(80, 24)) as (pilot, _):
        screen = await brought(pilot, RetentionScreen, "X", "t")
        pane = screen.query_one(FactsPane)
        assert pane.found is not None
        theirs = pane.found
        assert theirs.preset is None
        assert theirs.retention.kinds["instruction"].full == 0
        assert "the agent's own compaction after epoch 1" in str(pane.query_one(".note", Static).content)
        await press(pilot, "t")
        assert pane.found.preset is not None
        assert pane.found.retention.kinds["instruction"].full == 1

        await press(pilot, "3")
        generations = screen.query_one(GenerationsPane)
        found, table = generations.found, generations.query_one(DataTable)
        assert found is not None
        assert len(found.steps) == len(table.columns) - 2 == 5
        assert str(generations.query_one(".finding", Static).content) == f"{found.finding}."
        await press(pilot, "minus", "minus")
        assert generations.found is not None
        assert len(generations.found.steps) == len(table.columns) - 2 == 3
        # The screen is busy until all is made: what was told of the progress is drawn before the result is.
        busy = asyncio.Event()
        generations.call_later(busy.wait)
        generations.action_more(-1)
        await generations.workers.wait_for_complete()
        busy.set()
        await settled(pilot)
        said = str(generations.query_one(".note", Static).content)
        assert said.startswith("2 compactions by")
        assert " kept, " in said
        await press(pilot, "4")
        rework = screen.query_one(ReworkPane)
        assert str(rework.query_one(".note", Static).content) == "No work was repeated after 1 recorded compaction."
        assert not screen.check_action("pin", ())
        await press(pilot, "escape")
        assert pilot.app.screen is bench_screen(pilot)


def test_a_bench_without_losses_and_one_that_is_stopped() -> None:
    counter = Counter()
    bench: Bench = with_counts(open_bench(session_of(story().messages), counter, preset="augment-memories"), counter)
    found = assess_compaction(bench, is_recorded=False)
    assert found.retention.facts == ()
    assert not has_recorded_compaction(bench)
    assert compact_repeatedly(bench, 3, lambda number: None, lambda: True) is None
    heard: list[int] = []
    several = compact_repeatedly(bench, 3, heard.append, lambda: False)
    assert several is not None
    assert heard == [1]  # it changes nothing, so there is no second
    assert list(column_heads(several)) == ["share kept", "over time", "1."]
    drawn = {row[0].plain: row[-1].plain.strip() for row in rows(several, (), 8)}
    assert (drawn["all facts"], drawn["its summaries"]) == ("unknown", "0")  # no fact, no share
    assert several.finding == ""


@pytest.mark.parametrize(
    ("width", "count", "cells"),
    [(80, 5, 0), (101, 5, 0), (102, 5, 4), (127, 5, 9), (200, 5, 23), (240, 5, 31), (400, 5, 40), (200, 0, 40)],
)
def test_bars_of_generations_use_a_wide_screen(width: int, count: int, cells: int) -> None:
    assert bar_width(width, count) == cells


async def test_bars_of_generations_are_as_long_as_the_screen_is_wide() -> None:
    async with on_bench(story(8), preset="augment-example", size=(200, 60)) as (pilot, _):
        screen = await brought(pilot, RetentionScreen, "X", "3")
        table = screen.query_one(DataTable)
        assert cell_len(str(table.get_row_at(0)[2])) == bar_width(196, 5) + 6
        await pilot.resize_terminal(100, 40)
        await settled(pilot)
        assert cell_len(str(table.get_row_at(0)[2])) == bar_width(98, 5) + 6
        # All are seen on a small screen.
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert len(table.columns) == 2 + 5
        assert table.virtual_size.width <= table.scrollable_content_region.width
        assert re.fullmatch(r" *\d+\s%", str(table.get_row_at(0)[2]))


def test_a_row_of_generations_has_a_bar_for_each_and_the_finding_is_in_words() -> None:
    counter = Counter()
    bench: Bench = with_counts(open_bench(story(8), counter, preset="augment-example"), counter)
    found = compact_repeatedly(bench, 4, lambda number: None, lambda: False)
    assert found is not None
    weighted = [round(100 * (share or 0)) for share in found.weighted]
    assert found.finding == (
        f"{weighted[0]} % of the facts survive the first compaction, {weighted[1]} % the second, "
        f"{weighted[3]} % the fourth"
    )
    first = next(iter(rows(found, (), 8)))
    assert [cell.plain.split()[-2] for cell in first[2:]] == [str(one) for one in weighted]
    assert [cell.plain[:1] == " " for cell in first[2:]] == [one == 0 for one in weighted]


async def test_work_that_was_repeated_leads_to_its_message() -> None:
    """A tab is made when it is opened."""
    session = with_a_recorded_compaction()
    read, result = session.messages[1:3]
    again = (replace(read, id="r1"), replace(result, id="r2"))
    last = session.epochs[1]
    epochs = (session.epochs[0], replace(last, members=range(last.members.start, last.members.stop + 2)))
    session = replace(session, messages=(*session.messages, *again), epochs=epochs)
    async with on_bench(session, size=(120, 40)) as (pilot, bench):
        await done(pilot, "questions")
        screen = await brought(pilot, RetentionScreen)
        assert not screen.query(FactsPane)
        await press(pilot, "4")
        table = screen.query_one(ReworkPane).query_one(TextTable)
        assert table.message == "r1"
        await press(pilot, "enter")
        assert pilot.app.screen is bench
        assert bench.bench.messages[bench.cursor.index].id == "r1"
