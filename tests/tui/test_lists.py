"""One language for every list, table and text: the same keys, the same mouse, one search, one way to copy."""

from __future__ import annotations

import pytest
from rich.text import Text
from textual.app import App, ComposeResult

from tests.products import mostly_full
from tests.tui.app import STYLES, notes, on_bench, press, settled, story
from tests.tui.every_screen import lost
from workbench.analysis.search import query_of
from workbench.tui.middle.pager import Pager
from workbench.tui.screens.search_lines import SearchLinesScreen
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.list_keys import found_in, hit
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView

SCREENS = {
    "why": "O", "compare": "C", "kept": "X", "questions": "X", "rules": "W", "runs": "ctrl+p r u n s enter",
    "simulated": "C tab", "help": "question_mark", "sessions": "ctrl+t", "run with": "R",
}  # fmt: skip
"""Every screen of the bench that has a list, a table or a text, by its key."""


DIALOGS = ("e", "space", "ctrl+p", "P", "f", "slash", "colon", "E")
"""Keys of what else opens over the bench."""


@pytest.mark.parametrize("count", mostly_full([1, len(SCREENS)], [1]))
async def test_a_closed_screen_or_dialog_gives_the_focus_back_to_the_pane_that_is_seen(count: int) -> None:
    """So many of each from each of the three panes of a narrow screen; `visited` opens all from the list."""
    async with on_bench(story(3, calls=1), size=(80, 24)) as (pilot, bench):
        wrong = []
        for at, pane in enumerate(("9", "3", "escape")):
            await press(pilot, "9", "escape", pane)
            there = bench.view.pane
            for name, key in [*SCREENS.items()][at::3][:count]:
                await press(pilot, *key.split(), painted=False)
                assert pilot.app.screen is not bench, name
                await press(pilot, "q")
                assert pilot.app.screen is bench, f"{name}: q does not go back"
                wrong += [f"{pane} {key}: {found}" for found in [lost(bench)] if found]
            for key in DIALOGS[at::3][:count]:
                await press(pilot, key, painted=False)
                while pilot.app.screen is not bench or bench.query_one(FindBar).asking:
                    await press(pilot, "escape")
                wrong += [f"{pane} {key}: to another pane"] if bench.view.pane != there else []
                wrong += [f"{pane} {key}: {found}" for found in [lost(bench)] if found]
        assert "\n".join(wrong) == ""


class Lines(TextView):
    """A text that needs no screen."""

    def __init__(self, *lines: str) -> None:
        super().__init__()
        self.lines = lines

    @property
    def line_count(self) -> int:
        return len(self.lines)

    def line_text(self, line: int) -> str:
        return self.lines[line]


@pytest.mark.parametrize(
    ("start", "way", "here", "found"),
    [(0, 1, True, 0), (0, 1, False, 2), (2, 1, False, 0), (0, -1, False, 2), (1, -1, False, 0), (1, 1, True, 2)],
)
def test_hits_are_walked_round_the_end(start: int, way: int, here: bool, found: int) -> None:
    lines = Lines("a Token", "nothing", "token token")
    assert hit(lines, start, way, here=here) is None
    lines.search_query = query_of("tOKEN")
    assert hit(lines, start, way, here=here) == found
    assert found_in(lines, query_of("/^t/")) == [2]
    lines.search_query = query_of("elsewhere")
    assert hit(lines, start, way, here=here) is None


async def test_a_text_and_a_list_by_keys_and_by_mouse() -> None:
    async with on_bench(story(), size=(120, 40)) as (pilot, bench):
        await press(pilot, "question_mark")
        help = pilot.app.screen.query_one(TextView)
        await press(pilot, "slash", *"undo the last")
        assert isinstance(pilot.app.screen, SearchLinesScreen)
        line = next(n for n in range(help.line_count) if "Undo the last" in help.line_text(n))
        assert help.scroll_offset.y <= line < help.scroll_offset.y + help.size.height
        await press(pilot, "enter")
        assert marked(help, line) == "Undo the last"
        await press(pilot, "slash", *"nowhere", "escape")
        assert marked(help, line) == "Undo the last", "as before"
        y = line - help.scroll_offset.y
        await pilot.mouse_down(help, offset=(2 + help.line_text(line).index("Undo"), y + 1))
        await pilot.hover(help, offset=(2 + help.line_text(line).index("last") + 3, y + 1))
        await pilot.mouse_up(help, offset=(2 + help.line_text(line).index("last") + 3, y + 1))
        await press(pilot, "y")
        assert pilot.app.clipboard == "Undo the last"
        assert notes(pilot) == ["13 characters copied"]
        await press(pilot, "q")

        # What the bench searches for is marked in the message and brought into sight.
        await press(pilot, "slash", *"value44", "enter")
        pager = bench.query_one(Pager)
        line = next(n for n in range(pager.line_count) if "value44" in pager.line_text(n))
        assert pager.scroll_offset.y <= line < pager.scroll_offset.y + pager.size.height
        assert marked(pager, line) == "value44"
        await press(pilot, "escape")
        assert marked(pager, line) == ""

        # The mouse draws the split and goes along the list; a held key says one thing once.
        pilot.app.clear_notifications()
        rounds = bench.query_one(RoundsList)
        assert rounds.rows is not None
        split = rounds.rows.split_line
        assert split is not None
        await pilot.mouse_down(rounds, offset=(10, split))
        await pilot.hover(rounds, offset=(10, 1))
        await pilot.mouse_up(rounds, offset=(10, 1))
        await settled(pilot)
        assert bench.bench.split_at == rounds.rows.groups.layout.messages[rounds.rows[1].index].id
        opened = rounds.rows.opened
        await pilot.click(rounds, offset=(10, 3))
        await settled(pilot)
        assert (rounds.line, rounds.rows.opened) == (3, opened), "a click on another line only goes there"

        for _ in range(8):
            await pilot.press("U")
        assert notes(pilot) == ["There is nothing to redo."]


def marked(text: TextView, line: int) -> str:
    """What of a line stands on another ground than the rest."""
    strip = text.render_line(line - text.scroll_offset.y)
    return "".join(one.text for one in strip if one.style and one.style.underline)


class Rows(App[None]):
    CSS_PATH = STYLES
    CSS = "TextList { height: 4; }"

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[int] = []

    def compose(self) -> ComposeResult:
        yield TextList(empty="nothing")

    def on_text_list_selected(self, event: TextList.Selected) -> None:
        self.chosen.append(event.at)


async def test_the_cursor_goes_from_row_to_row_and_a_heading_is_passed_over() -> None:
    async with Rows().run_test(size=(20, 6)) as pilot:
        rows = pilot.app.query_one(TextList)
        assert (rows.at, rows.render_line(0).text.strip()) == (-1, "nothing")
        rows.show(
            [Text("heading"), Text("one\n  more"), Text("heading"), Text("two\n  more"), Text("three")], 0, {0, 2}
        )
        rows.focus()
        went = [rows.at]
        for key in ("down", "down", "down", "up", "home", "G", "pageup", "pageup"):
            await pilot.press(key)
            went.append(rows.at)
        assert went == [1, 3, 4, 4, 3, 1, 4, 1, 1]
        assert rows.scroll_offset.y == 0, "with the heading above the first row"
        await pilot.press("down")
        assert range(rows.scroll_offset.y, rows.scroll_offset.y + 4)[-1] == 5, "a row is seen whole"
        rows.to_line(2)  # where a search finds something in the second line of a row
        assert (rows.at, rows.copied()) == (1, "one\n  more")
        await pilot.click(TextList, offset=(3, 2), times=2)
        await pilot.click(TextList, offset=(3, 0), times=2)
        assert (rows.at, pilot.app.chosen) == (1, [1])  # type: ignore[attr-defined]
        rows.show([Text("heading"), Text("alone")], headings={0})
        assert rows.at == 1


async def test_a_row_that_is_too_long_ends_with_an_ellipsis_or_goes_on() -> None:
    async with Rows().run_test(size=(12, 6)) as pilot:
        rows = pilot.app.query_one(TextList)
        rows.show([Text("one two three")])
        assert [rows.render_line(y).text.strip() for y in range(2)] == ["one two t…", ""]
        rows.wraps = True
        rows.show([Text("one two three")])
        assert [rows.render_line(y).text.strip() for y in range(2)] == ["one two", "three"]
