"""What can be done is found: in the footer, behind the space bar, in the palette, in the help."""

from __future__ import annotations

import pytest

from tests.tui.app import at_rest, bench_screen, brought, notes, press, story
from workbench.tui.bench.actions import ACTIONS, ALSO, FOOTER, GROUPS
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.palette import Command, score
from workbench.tui.screens.all_keys import AllKeysScreen, Entry, Line, poured
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.why import WhyScreen
from workbench.tui.widgets.keys_line import MORE, KeysLine

SIZE = (140, 42)


def entries(count: int, of: str = "") -> list[Entry]:
    return [Entry(f"{of}{n}", ("x",), f"{of}{n}", True) for n in range(count)]


def told(lines: list[Line]) -> list[str]:
    return [line if isinstance(line, str) else line.name for line in lines]


def test_groups_are_poured_into_columns_of_one_height_and_no_heading_ends_one() -> None:
    groups = {"A": entries(3, "a"), "B": entries(2, "b"), "C": entries(1, "c")}
    assert [told(one) for one in poured(groups, 1)] == [["A", "a0", "a1", "a2", "", "B", "b0", "b1", "", "C", "c0"]]
    assert [told(one) for one in poured(groups, 2)] == [["A", "a0", "a1", "a2"], ["B", "b0", "b1", "", "C", "c0"]]
    assert [told(one) for one in poured(groups, 3)] == [["A", "a0", "a1", "a2"], ["B", "b0", "b1"], ["C", "c0"]]
    assert poured({}, 3) == []


def test_every_table_of_the_bench_names_actions_that_there_are() -> None:
    assert len(ACTIONS) == sum(map(len, GROUPS.values())), "an id stands once"
    assert {*FOOTER, *ALSO} <= {*ACTIONS}
    said = {id: f"{ACTIONS[id].name} {ACTIONS[id].help}".lower() for id in ALSO}
    assert [(id, word) for id, words in ALSO.items() for word in words.split() if f" {word}" in f" {said[id]}"] == []


@pytest.mark.parametrize(
    ("query", "worth"),
    [("why", 1.0), ("WHY", 1.0), ("full", 0.6), ("overflow", 0.5), ("why full", 0.8), ("why banana", 0), ("hy", 0),
     ("causes", 0.6), ("", 0), ("(", 0)],
)  # fmt: skip
def test_a_command_is_found_by_name_by_other_words_and_by_its_help(query: str, worth: float) -> None:
    command = Command("Why", "Why the context overflowed.", print, "O", "full cause")
    assert score(command, query) == pytest.approx(worth)


WORDS = {
    "overflow": "Why", "threshold": "Policy", "offline": "Run", "resume": "Export", "keep": "Pin", "rule": "Pin",
    "simulate": "Replay", "history": "Abridged", "token": "Window", "demo": "Play", "undo": "Undo",
    "prompt": "Prompt", "theme": "Theme", "search": "Find", "compact": "Run", "forgotten": "Lost", "model": "Window",
    "save": "Save preset", "budget": "Policy",
}  # fmt: skip


async def test_ordinary_words_find_a_command_and_no_name_comes_twice() -> None:
    async with at_rest(story(), size=SIZE) as pilot:
        await press(pilot, "p")
        commands = list(pilot.app.commands(pilot.app.screen))
        names = [one.name for one in commands]
        assert len(names) == len(set(names))
        assert names[:4] == ["Run", "Why", "Compare", "Pin"]
        assert {"Down", "Close round", "Page down"}.isdisjoint(names)
        found = {word: {one.name for one in commands if score(one, word)} for word in WORDS}
        assert {word: WORDS[word] in found[word] or found[word] for word in WORDS} == dict.fromkeys(WORDS, True)


async def test_the_palette_does_what_was_looked_for() -> None:
    async with at_rest(story(), size=SIZE) as pilot:
        await press(pilot, "ctrl+p", *"overflowed")
        await brought(pilot, WhyScreen, "enter")


async def test_space_shows_all_keys_and_the_next_one_does_it() -> None:
    async with at_rest(story(), size=SIZE) as pilot:
        front = await brought(pilot, AllKeysScreen, "space")
        shown = [entry for group in front.groups.values() for entry in group]
        assert [entry.id for entry in shown] == [id for id in ACTIONS if id not in ("keys", "leave")]
        assert not next(entry for entry in shown if entry.id == "undo").can
        await press(pilot, "f12")  # nothing of the bench: stays
        assert pilot.app.screen is front
        await brought(pilot, BenchScreen, "p")
        assert len(bench_screen(pilot).bench.pins) == 1
        await brought(pilot, BenchScreen, "space", "escape")
        assert len(bench_screen(pilot).bench.pins) == 1
        await press(pilot, "space", "U")
        assert notes(pilot)[-1] == "There is nothing to do again."
        await brought(pilot, WhyScreen, "space", "O")


@pytest.mark.parametrize(("width", "more"), [(140, False), (83, False), (82, True), (20, True), (3, True)])
async def test_a_footer_that_is_cut_says_so_and_opens_the_help(width: int, more: bool) -> None:
    async with at_rest(story(), size=(width, 24)) as pilot:
        line = bench_screen(pilot).query_one(KeysLine)
        shown = line.render_line(0).text
        assert ("⋯" in shown) is more
        assert len(shown) == width
        if more:
            await pilot.click(KeysLine, offset=(shown.index(MORE.shown), 0))
            await brought(pilot, HelpScreen)


async def test_the_help_has_the_keys_of_where_one_is_first_and_then_groups() -> None:
    async with at_rest(story(), size=SIZE) as pilot:
        help = await brought(pilot, HelpScreen, "question_mark")
        assert list(help.keys) == ["Where you are", *GROUPS, "Elsewhere on this screen"]
        assert help.keys["Where you are"][0][2] == "rounds.open"
        shown = {id: key for keys in help.keys.values() for key, _, id in keys}
        assert (shown["bench.exact"], shown["bench.leave"], shown["bench.redo"]) == ("=", "esc", "U ^r")
        assert [key for key in shown.values() if "_" in key] == []
