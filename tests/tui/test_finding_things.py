"""What can be done is found: in the footer, in the palette, in the help."""

from __future__ import annotations

import re

import pytest

from tests.tui.app import at_rest, bench_screen, brought, notes, press, settled, story
from workbench.tui.bench.actions import ACTIONS, FOOTER, GROUPS, SYNONYMS, key_id
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.palette import PaletteCommand, score
from workbench.tui.screens.help import HelpScreen, Key, Line, split_columns
from workbench.tui.screens.why import WhyScreen
from workbench.tui.widgets.keys_line import MORE, KeysLine
from workbench.tui.widgets.text_view import TextView

SIZE = (140, 42)


def entries(count: int, of: str = "") -> list[Key]:
    return [Key("x", f"{of}{n}", "", "") for n in range(count)]


def told(lines: list[Line]) -> list[str]:
    return [line if isinstance(line, str) else line.name for line in lines]


def test_groups_are_poured_into_columns_of_one_height_and_no_heading_ends_one() -> None:
    groups = {"A": entries(3, "a"), "B": entries(2, "b"), "C": entries(1, "c")}
    assert [told(one) for one in split_columns(groups, 1)] == [
        ["A", "a0", "a1", "a2", "", "B", "b0", "b1", "", "C", "c0"]
    ]
    assert [told(one) for one in split_columns(groups, 2)] == [
        ["A", "a0", "a1", "a2"],
        ["B", "b0", "b1", "", "C", "c0"],
    ]
    assert [told(one) for one in split_columns(groups, 3)] == [["A", "a0", "a1", "a2"], ["B", "b0", "b1"], ["C", "c0"]]
    assert split_columns({}, 3) == []


def test_every_table_of_the_bench_names_actions_that_there_are() -> None:
    assert len(ACTIONS) == sum(map(len, GROUPS.values())), "an id stands once"
    assert {*FOOTER, *SYNONYMS} <= {*ACTIONS}
    named = {id: {*ACTIONS[id].name.lower().split()} for id in SYNONYMS}
    assert [(id, word) for id, words in SYNONYMS.items() for word in words.split() if word in named[id]] == []
    assert [id for id, words in SYNONYMS.items() if len({*words.split()}) < len(words.split())] == []


@pytest.mark.parametrize(
    ("query", "worth"),
    [("why", 1.0), ("WHY", 1.0), ("full", 0.6), ("overflow", 0.5), ("why full", 0.8), ("why banana", 0.25), ("hy", 0),
     ("causes", 0.6), ("", 0), ("(", 0), ("banana", 0),
      ("why is it so full", 0.8), ("the", 0.5), ("is", 0), ("whying", 1.0),
     ("overflowing", 0.5), ("filling", 0)],
)  # fmt: skip
def test_a_command_is_found_by_name_by_other_words_and_by_its_help(query: str, worth: float) -> None:
    command = PaletteCommand("Why", "Why the context overflowed.", print, "O", "full cause")
    assert score(command, query) == pytest.approx(worth)


WORDS = {
    "Why": "overflow why biggest full history diagnose exceeded token stats bloat waste heavy; why is my context "
    "full; explain overflow; so much waste",
    "Settings": "threshold budget settings options percent trigger knobs; change the threshold",
    "Run": "offline compact summarize summarise compaction execute squeeze condense",
    "Run with": "model llm claude openai api ollama ai; run with; run with a model",
    "Export": "resume download share continue output publish handoff; save to a file",
    "Pin": "keep rule protect never always important remember pinned favorite bookmark sticky; "
    "don't forget this",
    "Simulate": "replay plot sweep; over time",
    "Compare": "cost price best worst cheapest ranking versus alternatives; which is better; compare strategies; "
    "which preset is cheapest",
    "Kept": "rework; what was kept; forgotten forget loss missing generations disappeared; what was lost; "
    "dropped facts",
    "Rules": "watch survive guard suggestions instructions recommend guidelines; does my rule survive; follow a rule; "
    "how do i keep a rule; "
    "suggested pins",
    "Play": "tutorial learn tour demo movie gif presentation slideshow",
    "Undo": "undo revert mistake; go back; cancel change",
    "Redo": "redo",
    "Prompt": "prompt wording",
    "Theme": "theme dark colour night contrast",
    "Find": "search grep regex; ctrl f",
    "Save preset": "save",
    "Window": "limit size context",
    "Rescue": "stuck",
    "Repair": "repair fix damaged corrupt",
    "Wide": "zoom fullscreen",
    "Shorten": "truncate trim smaller shrink; make it smaller",
    "Drop": "remove delete exclude",
    "Checks": "errors valid broken trace",
    "Recorded": "original theirs",
    "Quit": "exit close leave",
    "Help": "manual docs keyboard hotkeys",
    "Filter": "hide only",
    "Sort": "largest",
    "Sessions": "load recent sample folder; switch session; audit machine everything total overview; "
    "show all sessions; open",
    "Read again": "refresh reload",
    "Questions": "probes quiz question recall",
    "Strategy, preset": "algorithm method mode preset",
    "Runs": "journal; costs spent",
    "Exact counts": "precise tokenizer",
    "Follow": "live monitor",
    "Result": "after outcome",
    "Summary": "node memory",
    "Split up": "boundary tail move cut",
    "Previous epoch": "epoch previous",
    "Go to": "jump goto navigate",
    "Copy": "clipboard",
    "Paste params": "import flags",
    "Editor": "vim",
    "Reset settings": "reset default",
}  # fmt: skip
"""What people type, and the command that is found first by it, or among the first three."""


async def test_ordinary_words_find_a_command_first_and_no_name_comes_twice() -> None:
    async with at_rest(story(), size=SIZE) as pilot:
        await press(pilot, "p")
        commands = list(pilot.app.commands(pilot.app.screen))
        names = [one.name for one in commands]
        assert len(names) == len(set(names))
        assert [one.name for one in commands if one.can][:4] == ["Run", "Why", "Compare", "Pin"]
        assert {"Down", "Close round", "Page down", "palette"}.isdisjoint(names)

        def first(query: str) -> list[str]:
            found = [one for one in commands if score(one, query)]
            return [one.name for one in sorted(found, key=lambda one: -score(one, query))[:3]]

        asked = [(name, one) for name, words in WORDS.items() for part in words.split(";")
                 for one in ([part.strip()] if part != words.split(";")[0] else part.split())]  # fmt: skip
        assert [(name, one, first(one)) for name, one in asked if name not in first(one)] == []
        before = (
            ("Run", "Result", "compact"),
            ("Run with", "Window", "model"),
            ("Strategy, preset", "Save preset", "preset"),
            ("Pin", "Lost", "don't forget"),
        )
        for wanted, other, word in before:
            assert first(word).index(wanted) < [*first(word), other].index(other)


async def test_the_palette_does_what_was_looked_for_or_says_why_it_cannot_be_done_now() -> None:
    async with at_rest(story(), size=SIZE) as pilot:
        await brought(pilot, BenchScreen, "ctrl+p", *"redo", "enter")
        assert notes(pilot) == ["There is nothing to redo."]
        await press(pilot, "ctrl+p", *"overflowed", painted=False)
        await brought(pilot, WhyScreen, "enter")


async def test_space_shows_all_keys_in_groups_and_the_next_one_does_it() -> None:
    async with at_rest(story(), size=SIZE) as pilot:
        help = await brought(pilot, HelpScreen, "question_mark")
        assert list(help.others)[:2] == ["Where you are", "Elsewhere on this screen"]
        assert {one.name for keys in help.others.values() for one in keys} >= {
            one.name for one in ACTIONS.values() if not one.key
        }, "what only the palette has"
        assert help.others["Where you are"][0].id == "open"
        shown_at = {key.id: key.shown for keys in help.own.values() for key in keys}
        assert (shown_at["jump"], shown_at["cancel"], shown_at["help"]) == (":", "esc", "space ? f1")
        assert [key for key in shown_at.values() if "_" in key] == []
        await press(pilot, "escape", painted=False)
        front = await brought(pilot, HelpScreen, "space")
        assert list(front.own) == list(GROUPS)
        shown = {key.id: key for keys in front.own.values() for key in keys}
        assert list(shown) == [key_id(id) for id, one in ACTIONS.items() if one.key]
        assert shown["pin"].can
        assert not shown["undo"].can
        rows = front.query_one(TextView).text.split("\n")
        assert rows[0].startswith("Look ")
        assert any("   p  Pin " in row for row in rows[:20])
        assert any(row.startswith("The bench shows") for row in rows)
        await press(pilot, "f12", "j")  # nothing of the bench; scrolls the text
        assert pilot.app.screen is front
        await brought(pilot, BenchScreen, "p")
        assert len(bench_screen(pilot).bench.pins) == 1
        await brought(pilot, BenchScreen, "space", "escape")
        assert len(bench_screen(pilot).bench.pins) == 1
        await press(pilot, "space", "U")
        assert notes(pilot)[-1] == "There is nothing to redo."
        await brought(pilot, WhyScreen, "space", "O")
        await brought(pilot, WhyScreen, "question_mark", "enter", "question_mark")


async def test_a_footer_that_is_cut_says_so_and_opens_the_help() -> None:
    async with at_rest(story(), size=(140, 24)) as pilot:
        line = bench_screen(pilot).query_one(KeysLine)
        for width, more in ((140, False), (73, False), (72, True), (20, True), (5, True)):
            await pilot.resize_terminal(width, 24)
            await settled(pilot)
            shown = line.render_line(0).text
            assert ("⋯" in shown) is more
            assert ("Help" in shown) is (width > 5), "it is the last to be left out"
            assert not re.search(r"\[ +⋯", shown), "keys that do one thing together are not parted"
            assert len(shown) == line.size.width
            if more:
                await pilot.click(KeysLine, offset=(shown.index(MORE.shown), 0))
                await brought(pilot, HelpScreen)
                await press(pilot, "escape")
