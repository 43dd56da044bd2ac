"""Why the context overflowed, on the screen: the plot and its cursor, the findings, the tables, and the way back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import ContentSwitcher, Static, Tabs

from tests.paths import SAMPLES
from tests.tui.app import bench_screen, brought, notes, on_bench, press, settled, story
from workbench.analysis.pictures import Picture, growth_picture
from workbench.analysis.plots import Level, PlotLine
from workbench.analysis.why.diagnosis import MessageFix, diagnose
from workbench.analysis.why.findings import Finding
from workbench.analysis.why.overflow import OverflowLimit
from workbench.analysis.why.tables import tables
from workbench.analysis.why.waste import Waste
from workbench.bench import open_bench
from workbench.cli import commands
from workbench.formats.files import load
from workbench.tokens import Counter
from workbench.tui.background import WorkCancelled
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.finding_cards import card, parts_text, sentence_lines
from workbench.tui.screens.why import WhyScreen, call_words, headline
from workbench.tui.simulations import course_on, own_preset
from workbench.tui.widgets.calls_plot import CallsPlot, legend
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.table import TextTable
from workbench.tui.widgets.text_list import TextList

CODEX = SAMPLES / "codex-two-compactions.jsonl"


def signs_on(plot: CallsPlot) -> str:
    """Every character of the plot: what tells lines apart without colour."""
    return "".join(plot.drawing.text) if plot.drawing else ""


def told_by_command() -> dict[str, Any]:
    run = CliRunner().invoke(commands, ["why", str(CODEX), "--preset", "augment-example", "--json"])
    found: dict[str, Any] = json.loads(run.stdout)
    return found


async def test_the_verdict_is_told_whole() -> None:
    async with on_bench(CODEX, size=(80, 24)) as (pilot, _):
        screen = await brought(pilot, WhyScreen, "O")
        assert screen.found is not None
        for size in ((80, 24), (44, 24), (120, 40)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert words_of_title(screen) == ["Why", *screen.found.verdict.split()]


async def test_a9_the_title_says_once_that_the_request_was_rejected_and_the_plot_has_the_lines_that_are_left() -> None:
    async with on_bench(SAMPLES / "claude-code-overflow.jsonl", size=(120, 40)) as (pilot, bench):
        screen = await brought(pilot, WhyScreen, "O")
        assert screen.found is not None
        assert screen.found.failures.headline.startswith("API rejected the last request: context too long.")
        told = f"{screen.found.verdict} Rescue (ctrl+p on the bench) compacts it without a model."
        assert "".join(words_of_title(screen)) == "Why" + told.replace(" ", "")
        # No card is wider than the list with its scroll bar.
        cards = screen.query_one(TextList)
        assert cards.show_vertical_scrollbar
        lines = sum(option.plain.count("\n") + 1 for option in cards.rows)
        assert cards.virtual_size.height == lines  # none is broken
        said = " ".join(option.plain for option in cards.rows)
        assert "197\u00a0481" in said
        assert "197 481" not in said
        # Half of a large screen was empty below one card.
        await pilot.resize_terminal(200, 60)
        await settled(pilot)
        plot, below = screen.query_one(CallsPlot), screen.query_one(ContentSwitcher)
        assert plot.size.height <= below.size.height
        await press(pilot, "escape", painted=False)
        # A card is applied on the bench and taken back.
        await applied(pilot, bench, await brought(pilot, WhyScreen, "O"))


async def applied(pilot: Pilot[None], bench: BenchScreen, screen: WhyScreen) -> None:
    before = bench.bench
    assert screen.found is not None
    kinds = [one.kind for one in screen.found.findings]
    assert kinds == ["clear", "tool", "unused", "message", "logs", "rereads", "strategy"]
    assert [mend.does if isinstance(mend, MessageFix) else mend and mend.words for mend in screen.fixes] == [
        "use that preset",
        None,
        "drop",
        "shorten",
        "shorten",
        "drop",
        None,
    ]
    unused = screen.fixes[2]
    assert isinstance(unused, MessageFix)
    assert screen.found.limit is not None
    await press(pilot, "a")
    assert pilot.app.screen is bench
    assert (bench.bench.strategy.id, bench.bench.preset) == ("clear-tool-results", "clear-tool-results")
    assert bench.bench.policy.model_dump()["trigger_value"] == screen.found.limit.tokens // 2
    await press(pilot, "u")
    assert bench.bench.policy == before.policy
    await press(pilot, "O", "down", "down", "a", painted=False)
    assert bench.bench.dropped == set(unused.messages)
    await press(pilot, "u", "O", "end", "a", painted=False)
    assert bench.bench.dropped == before.dropped
    assert any("No change on the bench" in note for note in notes(pilot))


def words_of_title(screen: WhyScreen) -> list[str]:
    title = screen.query_one("#title", Static)
    return " ".join(title.render_line(y).text for y in range(title.size.height)).split()


async def test_the_screen_says_what_the_command_says_and_goes_to_the_messages() -> None:
    told = told_by_command()
    async with on_bench(CODEX, preset="augment-example", size=(80, 24)) as (pilot, _):
        assert bench_screen(pilot).bench.epoch == 2
        # Closed while it computes, nothing comes after.
        await pilot.press("O", "escape")
        await settled(pilot)
        assert pilot.app.screen is bench_screen(pilot)
        assert not notes(pilot)
        screen = await brought(pilot, WhyScreen, "O")
        found, plot = screen.found, screen.query_one(CallsPlot)
        assert found is not None
        # The newest epoch that overflowed, and just the command's figures.
        assert found.epoch == told["epoch"] == 2
        assert [one.text for one in found.findings] == [one["text"] for one in told["findings"]]
        assert len(screen.query_one(TextList).rows) == len(found.findings)
        assert (plot.calls, [point.tokens for point in found.points]) == (
            len(told["growth"]),
            [point["tokens"] for point in told["growth"]],
        )
        assert {"#", "·", "▼"} & set(signs_on(plot)) == {"·", "▼"}  # one curve needs no letters
        # The cursor: call by call, to the marks, and to the message in another epoch.
        await press(pilot, "tab", "home", "right")
        assert plot.call == 2
        assert f"call 2 of {plot.calls}" in call_words(found, screen.bench, 2).plain
        await press(pilot, "n")
        marked = next(call for call, point in enumerate(found.points, 1) if point.compacted)
        assert plot.call == marked
        await press(pilot, "left")
        assert plot.call == marked - 1
        wanted = found.session.messages[found.points[marked - 2].message].id
        await press(pilot, "enter")
        bench = bench_screen(pilot)
        assert pilot.app.screen is bench
        assert bench.bench.messages[bench.query_one(RoundsList).index].id == wanted
        assert bench.bench.epoch == found.points[marked - 2].epoch
        # A row goes there too, and so does a finding; the bench's epoch is not the last, so it is the one looked at.
        await press(pilot, "O", "6", "enter")
        assert pilot.app.screen is bench
        largest = max(bench.bench.layout.sizes.tokens)
        assert bench.bench.layout.sizes.tokens[bench.query_one(RoundsList).index] == largest
        again = await brought(pilot, WhyScreen, "O", "right_curly_bracket", "left_curly_bracket")
        assert again.found is not None
        assert again.found.epoch == bench.bench.epoch
        spoken = next(n for n, one in enumerate(again.found.findings) if one.messages)
        await press(pilot, *["down"] * spoken, "enter")
        assert bench.bench.messages[bench.query_one(RoundsList).index].id == again.found.findings[spoken].messages[0]


async def test_every_card_has_a_key_what_lies_in_no_message_shows_the_layers() -> None:
    async with on_bench(CODEX, size=(140, 42)) as (pilot, _):
        screen = await brought(pilot, WhyScreen, "O")
        assert screen.found is not None
        cards = screen.query_one(TextList)
        heads = [cards.rows[n].plain.split("\n")[0] for n in range(len(cards.rows))]
        assert all("⏎" in head for head in heads), heads
        at = next(n for n, one in enumerate(screen.found.findings) if one.kind == "overhead")
        assert heads[at].endswith("⏎ 2 Layer ")
        await press(pilot, *["down"] * at, "enter")
        assert pilot.app.screen is screen
        assert screen.query_one(Tabs).active == "tab-layers"
        assert isinstance(screen.focused, TextTable)


async def test_what_was_done_again_after_a_compaction_stands_in_a_tab_and_at_its_mark() -> None:
    async with on_bench(SAMPLES / "augment-with-summary.json", size=(120, 40)) as (pilot, _):
        screen = await brought(pilot, WhyScreen, "O")
        while screen.found is None or screen.found.epoch > 1:
            await press(pilot, "left_curly_bracket")
        found = screen.found
        marks = [call for call, point in enumerate(found.points, 1) if point.compacted]
        told = [call_words(found, screen.bench, call).plain for call in marks]
        assert ["before it, after it 3 file reads repeated" in words for words in told] == [True, False]
        costliest = max(found.rework[0].items, key=lambda item: item.tokens)
        top = tables(found)["rework"].rows[0]
        assert (*top.values[3:5], top.message) == (costliest.before, costliest.after, costliest.after)
        calm, none = replace(found, rework=(replace(found.rework[0], items=()),)), replace(found, rework=())
        assert [tables(one)["rework"].note for one in (calm, none)] == [
            "No rework after the recorded compaction from this epoch on.",
            "No compaction is recorded from this epoch on: no rework is possible.",
        ]
        await press(pilot, "0", "enter")
        bench = bench_screen(pilot).bench
        assert bench.messages[bench_screen(pilot).query_one(RoundsList).index].id == costliest.after


def test_it_says_what_it_does_and_stops_where_it_is_told() -> None:
    counter = Counter()
    stages: list[str] = []
    bench, course = course_on(open_bench(story(), counter), counter, stages.append, first=1)
    found = diagnose(bench.context, course, 1, own_preset(bench), stages.append)
    assert stages[0].startswith("counting")
    assert f"replaying the session under {bench.preset}" in stages
    assert headline(found).startswith("epoch 1 of 1 · limit 200\u00a0000 not reached; in about ")
    ended = replace(found, limit=OverflowLimit(30_001, "the agent compacted", "agent"))
    assert headline(ended).endswith(" · limit 30\u00a0001 reached after the epoch's last call · the agent compacted")
    after: list[str] = []

    def told(stage: str) -> None:
        after.append(stage)
        if "waste" in stage:
            raise WorkCancelled

    with pytest.raises(WorkCancelled):
        diagnose(bench.context, course, 1, own_preset(bench), told)
    assert after == stages[stages.index("measuring the growth") :][:2]


def test_every_table_has_its_heads_and_leads_to_messages_of_the_context() -> None:
    counter = Counter()
    bench, course = course_on(open_bench(story(), counter), counter, lambda stage: None, first=1)
    found = diagnose(bench.context, course, 1, own_preset(bench))
    made = tables(found)
    for name, table in made.items():
        assert all(len(row.values) == len(table.columns) for row in table.rows), name
        assert all(row.message in bench.layout.shape.index_of for row in table.rows) or name == "layers"
    assert [row.values[-1] for row in made["tools"].rows] == ["Read"]
    assert [str(row.values[3]) for row in made["rounds"].rows] == sorted("1234", key=lambda n: -_of(found, n))


def _of(found: Any, number: str) -> int:
    return next(one.tokens for one in found.rounds if str(one.number) == number)


def test_a_card_has_its_size_as_a_bar_what_can_be_done_and_where_it_leads() -> None:
    one = Finding("unused", "4 tool results never used: 12 000 tokens.", 12_000, ("m1",))
    mend = MessageFix("drop", "drop them", ("m1",))
    lines = card(one, 48_000, mend, "message 7", 70).plain.split("\n")
    assert lines[0] == "██        12.0k Results never used           a drop them  ⏎ message 7 "
    assert lines[1:] == ["  4 tool results never used: 12\u00a0000 tokens."]
    styles = {str(span.style) for span in card(one, 48_000, mend, "message 7", 70).spans}
    assert styles <= {"bold", "dim", ""}  # a colour could not be read on the cursor
    bare = card(replace(one, kind="overhead"), 48_000, None, "", 70).plain.split("\n")[0]
    assert bare.rstrip() == "██        12.0k Sent with every call"
    none = card(replace(one, tokens=0), 48_000, None, "", 70).plain.split("\n")[0]
    assert none.rstrip() == "                Results never used"
    # Room for the place, and not: the line never goes over the width, where it would break in a number.
    heads = {width: card(one, 48_000, mend, "message 7", width).plain.split("\n")[0] for width in (61, 60, 40)}
    assert {width: len(head) for width, head in heads.items()} == {61: 61, 60: 60, 40: 40}
    assert ["message 7" in head for head in heads.values()] == [True, False, False]


def test_where_the_context_went_is_drawn_on_one_scale_in_the_room_there_is() -> None:
    counter = Counter()
    bench, course = course_on(open_bench(story(), counter), counter, lambda stage: None, first=1)
    found = diagnose(bench.context, course, 1, own_preset(bench))
    lines = parts_text(found, 44, 12).plain.split("\n")
    assert [line.strip() for line in lines if (line and not line[-1].isspace()) or "%" not in line][:1] == [
        "what it is made of"
    ]
    assert len(lines) <= 12
    assert all(len(line) <= 44 for line in lines)
    tool = next(line for line in parts_text(found, 44, 40).plain.split("\n") if line.startswith("Read"))
    assert f"{found.tools[0].count}×" in tool


async def test_a_plot_has_the_lines_that_few_findings_leave() -> None:
    """Half of a large screen was empty below one card."""
    async with on_bench(story(2), size=(200, 60)) as (pilot, _):
        screen = await brought(pilot, WhyScreen, "O")
        plot, below = screen.query_one(CallsPlot), screen.query_one(ContentSwitcher)
        assert plot.size.height > below.size.height
        cards = screen.query_one(TextList)
        assert cards.virtual_size.height <= cards.size.height


def test_where_there_are_few_parts_the_largest_messages_are_told_by_their_words() -> None:
    counter = Counter()
    bench, course = course_on(
        open_bench(story(texts=["Have a look at it."]), counter), counter, lambda _: None, first=1
    )
    found = replace(diagnose(bench.context, course, 1, own_preset(bench)), tools=(), files=())
    rows = parts_text(found, 80, 24).plain.split("\n")
    below = rows[rows.index("by message".ljust(80)) + 1 :]
    assert [row.split()[0] for row in below] == [str(one.number) for one in found.largest]
    assert {"51 lines", "lines:"} & set(" ".join(below).split()), "what it says, not only what it is"


def test_a_round_is_named_by_what_was_asked_there_and_a_file_by_its_end() -> None:
    counter = Counter()
    bench, course = course_on(
        open_bench(load(SAMPLES / "claude-code-overflow.jsonl"), counter), counter, lambda stage: None, first=1
    )
    found = diagnose(bench.context, course, 1, own_preset(bench))
    largest = max(found.rounds, key=lambda one: one.tokens)
    asked = next(one.user_text for one in found.session.messages if one.id == largest.message)
    drawn = parts_text(found, 80, 40).plain.split("\n")
    row = drawn[drawn.index("by round".ljust(80)) + 1]
    assert row.startswith(f"round {largest.number} {asked[:25]}")
    narrow = parts_text(found, 44, 40).plain.split("\n")
    assert narrow[narrow.index("by file".ljust(44)) + 1].startswith("…26-01-20.log ")


@pytest.mark.parametrize("width", [20, 46, 76, 136])
def test_b12_a_path_longer_than_a_line_is_cut_in_the_middle(width: int) -> None:
    path = f"/home/dana/{'harbour/' * 20}rotation.py"
    lines = sentence_lines(f"3 reads of {path} cost 161\u00a0204 tokens.", width)
    assert all(len(line) <= width for line in lines)
    [cut] = [word for line in lines for word in line.split(" ") if "…" in word]
    assert path.startswith(cut.partition("…")[0])
    assert path.endswith(cut.partition("…")[2])
    assert " ".join(lines).replace(cut, path) == f"3 reads of {path} cost 161\u00a0204 tokens."


def test_b11_the_legend_of_the_sample_is_whole_on_a_screen_of_140_columns() -> None:
    counter, session = Counter(), load(SAMPLES / "claude-code-overflow.jsonl")
    bench, course = course_on(open_bench(session, counter), counter, lambda stage: None, first=1)
    picture = growth_picture(diagnose(bench.context, course, 1, own_preset(bench)))
    assert "┄ trigger 167\u00a0000" in legend(picture).plain
    assert cell_len(legend(picture).plain) <= 120


def test_a_table_without_rows_says_that_there_is_nothing() -> None:
    counter = Counter()
    bench, course = course_on(open_bench(story(), counter), counter, lambda stage: None, first=1)
    found = diagnose(bench.context, course, 1, own_preset(bench))
    none = replace(found, tools=(), files=(), waste=Waste((), (), (), (), ()))
    made = tables(none)
    told = {name: made[name] for name in ("tools", "files", "rereads", "unused", "others")}
    assert not any(table.rows for table in told.values())
    assert [table.note.split(". ")[0].rstrip(".") for table in told.values()] == [
        "No tool was called in this epoch",
        "No call of this epoch views or changes a file",
        "No file was read more than once in this epoch",
        "No tool result was left unused in this epoch",
        "No encoded files, logs or cut results in this epoch",
    ]


def test_the_legend_names_a_level_that_is_not_drawn() -> None:
    levels = (Level("window", 150), Level("limit", 151, "╌"))
    picture = Picture("", (PlotLine("A", [(1, 100)]),), levels, {1: "▼"}, (("A", "trim"), ("▼", "recorded compaction")))
    assert legend(picture).plain == "─ window 150   limit 151, above the plot   ▼ recorded compaction   ⠤⠤ trim"
