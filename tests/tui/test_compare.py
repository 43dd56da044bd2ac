"""The compare screen: a row for each variant, the session under it, two side by side, and the way to the bench."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from textual.widgets import DataTable, Static

from tests.benches import bench_of
from tests.paths import SAMPLES
from tests.tui.app import bench_screen, brought, on_bench, press, session_of, settled, story, write_down
from tests.tui.test_retention import with_a_recorded_compaction
from tests.tui.test_why import signs_on
from workbench.analysis.outcome_comparison import FatePair, added_messages, compare_fates, shortened_messages
from workbench.analysis.preset_check import agent_report
from workbench.analysis.replay import replay
from workbench.analysis.retention import Retention, TrackedFact, new_messages, retention
from workbench.bench import open_bench, set_policy, with_counts
from workbench.bench.assessment import Assessment, compare
from workbench.compaction.preset import candidates, default_preset, load_preset, preset_names
from workbench.compaction.strategies import all_strategies
from workbench.conformance.building import agent, context_of, result, user
from workbench.conformance.building import call as called
from workbench.runs.variants import BENCH_LABEL, Variant, assess_offline, preset_variants
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter
from workbench.tui import ranking
from workbench.tui.middle.pager import Pager
from workbench.tui.middle.two_outcomes import SIDE_BY_SIDE, context_parts
from workbench.tui.plain import fit
from workbench.tui.ranking import (
    FEWEST,
    LEAST,
    MOST,
    RankRow,
    best_and_worst,
    column_order,
    column_scales,
    column_titles,
    details,
    room_over,
    row_cells,
    sort_rows,
    value_of,
    width_of,
)
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.widgets.calls_plot import CallsPlot
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.session_plot import SessionPlot

SIZE = (160, 40)
CODEX = SAMPLES / "codex-two-compactions.jsonl"


def named(screen: CompareScreen) -> list[str]:
    return [one.name for one in screen.rows.ranked]


async def test_what_is_known_of_a_row_stands_right_below_the_rows() -> None:
    async with on_bench(story(), size=(200, 60)) as (pilot, _):
        screen = await brought(pilot, CompareScreen, "C")
        table, told = screen.query_one(DataTable), screen.query_one("#details", Static)
        for size, keys in (((200, 60), ""), ((120, 40), "af"), ((80, 24), "a")):
            await pilot.resize_terminal(*size)
            await press(pilot, *keys)
            await settled(pilot)
            every = table.outer_size.height == table.row_count + 1 + table.show_horizontal_scrollbar
            assert every or table.max_scroll_y > 0
            assert told.region.y == table.region.bottom + 1
            assert screen.query_one(SessionPlot).display is (size[0] == 200)
            assert told.size.height >= 7
            shown = details(screen.rows.ranked[0], told.content_size.width, told.content_size.height)
            assert str(told.render()) == shown.plain  # drawn for the room that there is now


async def test_every_strategy_has_a_row_the_best_first_and_the_chosen_one_opens() -> None:
    async with on_bench(story(), size=SIZE) as (pilot, _):
        screen = await brought(pilot, CompareScreen, "C")
        table = screen.query_one(DataTable)
        assert {one.assessment.strategy for one in screen.rows.ranked} == {one.id for one in all_strategies()}
        assert [str(key.value) for key in table.rows] == named(screen)
        assert "needed" not in [str(column.key.value) for column in table.ordered_columns]
        for one in screen.rows.ranked:
            assert one.retention == retention(screen.bench.context, one.assessment.outcome)
            assert len(one.sent) == 16
        assert named(screen) == [one.name for one in sort_rows(screen.rows.ranked, "fit")]
        assert "weighted" in str(screen.query_one("#details", Static).render())
        await press(pilot, "s", "s", "s", "s")
        assert (screen.rows.order, named(screen)) == (
            "cost",
            [one.name for one in sort_rows(screen.rows.ranked, "cost")],
        )
        by_cost = named(screen)
        assert screen.here == 0
        await press(pilot, "down", "S")
        assert named(screen)[screen.here] == by_cost[1]
        assert named(screen) == [one.name for one in sort_rows(screen.rows.ranked, "cost", is_reversed=True)] != by_cost
        await press(pilot, "home", "down", "enter")
        assert bench_screen(pilot).bench.preset == named(screen)[1]
        await press(pilot, "u")
        assert bench_screen(pilot).bench.strategy.id == "exchange-summary"

        screen = await brought(pilot, CompareScreen, "C", "a")
        assert sorted(named(screen)) == sorted(preset_names())
        await press(pilot, "escape")
        assert bench_screen(pilot).bench.strategy.id == "exchange-summary"


async def test_each_column_orders_the_rows_by_s_and_by_a_click_on_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def watched(ranked: Sequence[RankRow], title: str) -> tuple[float | None, float | None]:
        compared.append(title)
        return best_and_worst(ranked, title)

    monkeypatch.setattr(ranking, "best_and_worst", watched)
    async with on_bench(story(), size=(200, 50)) as (pilot, _):
        screen = await brought(pilot, CompareScreen, "C")
        table, seen = screen.query_one(DataTable), []
        titles = column_titles(goes_on=False)
        for _ in titles:
            compared.clear()
            screen.action_sort()
            assert compared == [*titles], "all rows are compared once for a column, not for each cell"
            seen.append(screen.rows.order)
            assert named(screen) == [one.name for one in sort_rows(screen.rows.ranked, screen.rows.order)]
        assert sorted(seen) == sorted(titles)
        await press(pilot, "s")
        at = {str(column.key.value): n for n, column in enumerate(table.ordered_columns)}
        for title in titles:
            before = sum(column.get_render_width(table) for column in table.ordered_columns[: at[title]])
            turns = (title == screen.rows.order, title != screen.rows.order) if title == titles[0] else (False,)
            for is_reversed in turns:
                await pilot.click(table, offset=(before + 2, 0))
                await settled(pilot, painted=False)
                assert screen.rows.order == title
                assert named(screen) == [
                    one.name for one in sort_rows(screen.rows.ranked, title, is_reversed=is_reversed)
                ], title


async def test_theirs_is_among_them_and_two_stand_side_by_side() -> None:
    async with on_bench(with_a_recorded_compaction(), epoch=1, size=(80, 24)) as (pilot, _):
        screen = await brought(pilot, CompareScreen, "r", "C")
        table = screen.query_one(DataTable)
        by_name = {one.name: one for one in screen.rows.ranked}
        assert {"recorded", "on the bench", "augment-example"} <= set(by_name)
        assert by_name["on the bench"].assessment.outcome is screen.bench.outcome
        assert str(table.get_cell("recorded", "cost")).strip() == "not recorded"
        for one in screen.rows.ranked:
            assert one.later_use == screen.bench.later_use(one.assessment.outcome)

        async def mark(name: str) -> None:
            table.move_cursor(row=named(screen).index(name))
            await press(pilot, "space")

        table.move_cursor(row=named(screen).index("recorded"))
        await press(pilot, "enter")
        assert pilot.app.screen is screen  # theirs is no policy to open
        for name in ("recorded", "trim", "on the bench"):
            await mark(name)
        letters = {name: str(table.get_cell(name, "mark")) for name in by_name}
        marked = {"recorded": "A", "trim": "B", "on the bench": "C"}
        assert {name: letter for name, letter in letters.items() if letter} == marked
        await mark("trim")
        await mark("recorded")
        table.move_cursor(row=named(screen).index("recorded"))
        await press(pilot, "d")
        view = screen.query_one(Pager)
        assert "A on the bench" in view.text.split("\n")[0]
        assert "B recorded" in view.text.split("\n")[0]
        await press(pilot, "d")
        assert "Some work was done." in view.text
        assert " │ " in view.text
        for width, columns in ((60, 0), (140, 1)):
            await pilot.resize_terminal(width, 24)
            await settled(pilot)
            rows = {line.rstrip() for line in view.text.split("\n") if line.count(" │ ") == 1}
            assert bool(rows) == bool(columns)
            assert all(line.index(" │ ") == (view.wrap_width - 3) // 2 for line in rows)
        await press(pilot, "escape")
        assert (pilot.app.screen, view.region.height) == (screen, 0)
        await press(pilot, "escape")


async def test_the_session_is_simulated_under_the_row_at_hand_and_a_number_is_varied() -> None:
    async with on_bench(CODEX, preset="augment-example", window=6_000, size=(120, 44)) as (pilot, bench):
        screen = await brought(pilot, CompareScreen, "C", "tab")
        table, plot = screen.query_one(DataTable), screen.query_one(CallsPlot)
        assert plot.has_focus, "A leads to the plot, C to the table"
        assert screen.course is not None
        for one in screen.rows.ranked:
            if one.variant is not None:
                assert one.replay == replay(screen.course, one.variant.preset, bench.bench.original.limit)
        words = str(screen.query_one("#recorded", Static).render())
        assert words == agent_report(screen.course)
        # The line of the row at hand has no letter; with all of them each has its own.
        assert {"A", "B", "·"} & set(signs_on(plot)) == {"·"}
        await press(pilot, "o")
        assert {"A", "B"} <= set(signs_on(plot))
        assert plot.hidden == frozenset()
        await press(pilot, "o")
        assert {"A", "B", "·"} & set(signs_on(plot)) == {"A", "B"}
        assert plot.hidden == {"·"}
        await press(pilot, "tab", "space", "down", "space", "o", "o")
        assert [line.sign for line in plot.picture.lines if line.sign != "·"] == ["A", "B"]  # type: ignore[union-attr]
        assert [str(table.get_row_at(at)[0]) for at in (0, 1, 2)] == ["A", "B", ""]
        # Values of a number are rows, and can be taken away again.
        await press(pilot, "v")
        await write_down(pilot, "history_tail_size_chars_to_exclude=5,50", "enter")
        added = [f"history_tail_size_chars_to_exclude = {value}" for value in (5, 50)]
        assert {*added} < {*named(screen)}
        table.move_cursor(row=named(screen).index(added[0]))
        await press(pilot, "x")
        assert added[0] not in named(screen)
        table.move_cursor(row=named(screen).index("trim"))
        await press(pilot, "x")
        assert {"trim", added[1]} < {*named(screen)}, "only what was added is removed"
        table.move_cursor(row=named(screen).index(added[1]))
        await press(pilot, "enter")
        assert bench.bench.policy.model_dump()["history_tail_size_chars_to_exclude"] == 50
        # The cursor goes to the compactions of the row at hand, and to a message.
        screen = await brought(pilot, CompareScreen, "C")
        first = next(one for one in screen.rows.ranked if one.replay and one.replay.compacted)
        assert first.replay is not None
        screen.query_one(DataTable).move_cursor(row=screen.rows.ranked.index(first))
        await press(pilot, "tab", "home", "n")
        made = first.replay.compacted[0]
        assert screen.query_one(CallsPlot).call == made.call
        assert "fires" in str(screen.query_one("#call", Static).render())
        await press(pilot, "enter")
        assert pilot.app.screen is bench
        assert bench.bench.messages[bench.query_one(RoundsList).index].id == made.message


def test_settings_of_ones_own_are_a_row_too() -> None:
    counter = Counter()
    bench = with_counts(open_bench(story(), counter), counter)
    assert [one.label for one in preset_variants(bench, candidates())] == [one.name for one in candidates()]
    edited = set_policy(bench, bench.policy.with_(history_tail_size_chars_to_exclude=5))
    first, *others = preset_variants(edited, candidates())
    assert first == Variant(BENCH_LABEL, edited.as_preset)
    assert assess_offline(edited, first).outcome is edited.offline.outcome
    assert [one.preset for one in others] == list(candidates())


def test_two_outcomes_differ_message_by_message() -> None:
    messages = [user("u0", "Fix it.")]
    for number in range(4):
        messages += [agent(f"a{number}", "", called(f"c{number}")), result(f"t{number}", (f"c{number}", "x" * 8_000))]
    context = context_of([*messages, agent("end", "Done."), user("u1", "And now?")], window=20_000)
    presets = [default_preset("clear-tool-results"), default_preset("exchange-summary")]
    first, second = (column.outcome for column in compare(bench_of(context), presets, extractive))
    found = list(compare_fates(first, second))
    assert [one.start for one in found] == [0, *(one.stop for one in found[:-1])]
    assert found[-1].stop == len(context)
    for one in found:
        assert isinstance(one, FatePair)
        for index in range(one.start, one.stop):
            message = context.messages[index]
            for fare, outcome in ((one.first, first), (one.second, second)):
                assert (fare == "kept") == any(message is each for each in outcome.messages)
                assert (fare == "shortened") == (index in shortened_messages(outcome))
    assert [piece.message.kind for piece in added_messages(second)][-1] == "summary"
    assert shortened_messages(first)
    assert not added_messages(first)
    assert list(compare_fates(first, first)) == [one for one in compare_fates(first, first) if one.first == one.second]


def test_a_message_has_its_row_in_both_columns_and_an_empty_one_beside_it_where_only_one_keeps_it() -> None:
    messages = [user("u0", "Fix it.")]
    for number in range(4):
        messages += [agent(f"a{number}", "", called(f"c{number}")), result(f"t{number}", (f"c{number}", "x" * 8_000))]
    counter = Counter()
    session = session_of([*messages, agent("end", "Done."), user("u1", "And now?")])
    bench = with_counts(open_bench(session, counter, window=20_000), counter)
    presets = [default_preset("clear-tool-results"), default_preset("exchange-summary")]
    pair = [RankRow(one.name, one) for one in compare(bench, presets, extractive)]
    wide = [part.text for part in context_parts(bench, *pair, 123)]
    rows = [(line[:60].split(), line[63:].split()) for line in wide if line[60:63] == " │ "]
    assert len(rows) == sum(" │ " in line for line in wide)
    assert rows[0][0][:2] == ["A", "clear-tool-results:"]
    signs = [(left[:2], right[:2]) for left, right in rows[1:]]
    only_left = [left for left, right in signs if not right]
    assert only_left == [["A", str(number)] for number in range(1, 11)]
    assert [right for left, right in signs if not left] == [["B", "+"], ["B", "+"]]
    assert [left for left, right in signs if left == right] == [["=", str(number)] for number in range(11, 12)]
    assert "= 1 in both · A 10 only in A · B 0 only in B · ~ 0 shortened in either · 0 in neither" in wide[1]
    narrow = [part.text[:8].split() for part in context_parts(bench, *pair, SIDE_BY_SIDE - 1)]
    assert [one for one in narrow if one[:1] == ["="]] == [["=", str(number)] for number in range(11, 12)]
    is_reversed = [part.text for part in context_parts(bench, *reversed(pair), 123)]
    assert "A 0 only in A · B 10 only in B" in is_reversed[1]


def test_the_best_and_the_worst_are_marked_and_what_compacts_nothing_comes_last() -> None:
    counter = Counter()
    bench = with_counts(open_bench(story(6), counter), counter)
    presets = candidates(
        (
            "trim",
            "exchange-summary",
            "context-reset",
            "memories-rewrite",
        )
    )
    ranked = [
        RankRow(one.name, one, are_known=True, sent=(100, 800, 200)) for one in compare(bench, presets, extractive)
    ]
    unchanged = next(one for one in ranked if one.assessment.outcome.status == "unchanged")
    for title in ("tokens after", "kept", "cost"):
        assert sort_rows(ranked, title)[-1] is unchanged
        assert sort_rows(ranked, title, is_reversed=True)[-1] is unchanged
        assert value_of(unchanged, title) is None
    compacted = [one for one in ranked if one is not unchanged and one.retention]
    assert len({one.retention.whole.facts for one in compacted if one.retention}) == 1, "one denominator for all rows"
    assert len({one.retention.overall.facts for one in compacted if one.retention}) > 1, "which no row's own head is"
    shares = [(one.retention.whole.share, one.retention.overall.share) for one in compacted if one.retention]
    assert [value_of(one, "kept") for one in compacted] == [whole for whole, _ in shares]
    assert any(whole != own for whole, own in shares)
    sizes = [one.assessment.after.tokens for one in sort_rows(ranked, "tokens after")[:-1]]
    assert sizes == sorted(sizes)
    best, worst = best_and_worst(ranked, "tokens after")
    assert (best, worst) == (sizes[0], sizes[-1])
    first = list(row_cells(sort_rows(ranked, "tokens after")[0], column_scales(ranked, ("tokens after",)), "A", 800))
    assert [cell.plain for cell in (first[0], first[-1])] == ["A", "▂█▃"]
    assert first[2].plain.endswith(" ▲")
    titles = column_titles(goes_on=True)
    assert column_order(titles, LEAST) == (
        "fit",
        "tokens after",
        "rules",
        "kept",
        "watched",
        "sent",
        "needed",
        "cost",
        "paid back",
        "checks",
        "session",
    )
    assert column_order(titles, LEAST + 1) == (*titles, "watched", "sent")
    assert best_and_worst(ranked[:1], "tokens after") == (None, None)
    # A letter, the name, the figures and two watched sentences, each with a cell on both sides, and the last two cells.
    taken = 3 + len("augment-memories") + 2 + width_of(ranked, "tokens after") + 2 + 3 + 2
    for over, cells in ((7, 8), (8, 8), (9, 9), (24, 24), (72, 72), (73, 72)):
        assert room_over(ranked, ("tokens after",), 2, taken + over + 2) == cells
    told = details(ranked[0], 70, 9).plain.split("\n")
    assert len(told) == 9
    assert all(len(line) <= 70 for line in told)
    every = details(ranked[0], 34, 40).plain
    bare = r"^ *(?:head|tail|after|stays cached|billed again) [~≈]?[\d\u00a0]+ *$"
    assert re.findall(bare, every, re.MULTILINE) == []


def test_below_what_is_known_stand_what_is_lost_and_what_is_written_as_far_as_there_is_room() -> None:
    bench = open_bench(story(6), Counter())
    (column,) = compare(bench, candidates(("exchange-summary",))[-1:], extractive)
    facts = tuple(TrackedFact("path", f"src/{n}.ts", "m", n, "none", False, "", -n, 0) for n in range(40))
    found = replace(column)
    found.__dict__["retention"] = Retention(1, facts, ())
    one = RankRow("a way", found, are_known=True)
    rows = len(details(one, 70, 99).plain.split("\n\n")[0].split("\n"))
    assert [len(details(one, 70, rows + more).plain.split("\n")) - rows for more in (0, FEWEST - 1, FEWEST)] == [
        0,
        0,
        4,
    ]
    assert details(one, 70, rows + FEWEST).plain.split("\n")[-2:] == ["○ lost  path        src/0.ts", "and 39 more"]
    _, lost, written = details(one, 70, rows + MOST + FEWEST).plain.split("\n\n")
    told = [f"○ lost  path        src/{n}.ts" for n in range(13)]
    assert lost.split("\n") == ["lost or wrong, the gravest first", *told, "and 27 more"]
    said = "\n".join(message.text for message in new_messages(column.outcome))
    begins = [fit(line, 70).rstrip() for line in said.split("\n") if line.strip()]
    assert written.split("\n") == ["beginning of the summary", *begins[: FEWEST - 2]]


def of_size(one: Assessment, tokens: int) -> Assessment:
    made = replace(one)
    made.__dict__["after"] = replace(one.after, tokens=tokens)
    return made


@pytest.mark.parametrize(
    ("sizes", "marked"),
    [
        ((1, 2, 3), (1, 3)),
        ((1, 1, 2, 3), (1, 3)),  # half of the rows
        ((1, 1, 1, 2, 3), (None, 3)),  # most of them
        ((1, 2, 3, 3, 3), (1, None)),
        ((1, 2, 2, 2), (1, None)),
        ((1, 1, 2, 2), (1, 2)),
        ((2, 2, 2), (None, None)),
        ((2,), (None, None)),
        ((), (None, None)),
    ],
)
def test_c_a_value_that_most_rows_have_is_not_marked(sizes: tuple[int, ...], marked: tuple[int | None, ...]) -> None:
    (one,) = compare(open_bench(story(), Counter()), [load_preset("context-reset")], extractive)
    assert one.outcome.status == "compacted"
    ranked = [RankRow(f"p{size}", of_size(one, size)) for size in sizes]
    assert best_and_worst(ranked, "tokens after") == marked
    scales = column_scales(ranked, ("tokens after",))
    signs = [list(row_cells(each, scales, "A", 800))[2].plain[-1] for each in ranked]
    assert signs == ["▲" if size == marked[0] else "▼" if size == marked[1] else " " for size in sizes]
