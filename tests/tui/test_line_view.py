"""A view of lines draws each of them once, wherever it scrolls to."""

from __future__ import annotations

from dataclasses import replace

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from tests.tui.app import STYLES, on_bench, press, settled, story
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.rounds_list import RoundsList


class Numbers(LineView):
    DEFAULT_CSS = "Numbers { height: 10; border: round $border; }"

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []
        self.chosen = 0

    def on_resize(self) -> None:
        self.set_lines(50)

    def line_state(self, line: int) -> bool:
        return line == self.chosen

    def draw_line(self, line: int, width: int) -> Strip:
        self.drawn.append(line)
        return Strip([Segment(f"line {line}{' <' if line == self.chosen else ''}")]).adjust_cell_length(width)


class Shown(App[None]):
    CSS_PATH = STYLES

    def compose(self) -> ComposeResult:
        yield Numbers()


def finished(view: LineView) -> list[Strip]:
    return view.render_lines(Region(0, 0, view.outer_size.width, view.outer_size.height))


async def test_a_line_is_drawn_once_and_found_again_at_another_height() -> None:
    async with Shown().run_test(size=(40, 12)) as pilot:
        view = pilot.app.query_one(Numbers)
        await pilot.pause()
        before = finished(view)
        assert [strip.text.strip("│ ") for strip in before[1:3]] == ["line 0 <", "line 1"]
        view.drawn.clear()
        view.scroll_to(y=1, animate=False, force=True)
        await pilot.pause()
        after = finished(view)
        assert view.drawn == [8]
        # The very objects, so that Textual need not work out their pictures again; with the border at both ends.
        assert [strip is other for strip, other in zip(after[1:8], before[2:9], strict=True)] == [True] * 7
        assert after[1].text.startswith("│line 1")
        assert after[1].text.endswith("│")


async def test_what_changes_a_line_draws_it_anew() -> None:
    async with Shown().run_test(size=(40, 12)) as pilot:
        view = pilot.app.query_one(Numbers)
        await pilot.pause()
        finished(view)
        view.drawn.clear()
        view.chosen = 2
        view.refresh(Region(0, 0, view.size.width, 3))
        await pilot.pause()
        assert finished(view)[3].text.strip("│ ") == "line 2 <"
        assert set(view.drawn) == {0, 2}
        view.drawn.clear()
        view.forget_lines()
        await pilot.pause()
        finished(view)
        assert sorted(set(view.drawn)) == list(range(8))


class Listed(LineList):
    """Fifty lines, of which it is told which were drawn."""

    DEFAULT_CSS = "Listed { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []

    def on_mount(self) -> None:
        self.set_lines(50)

    def draw_line(self, line: int, width: int) -> Strip:
        self.drawn.append(line)
        return Strip([Segment(f"line {line}")]).adjust_cell_length(width)


class Lists(App[None]):
    CSS_PATH = STYLES

    def compose(self) -> ComposeResult:
        yield Listed()


async def test_a_list_of_another_height_keeps_the_lines_that_it_drew_and_ends_with_its_last() -> None:
    async with Lists().run_test(size=(40, 12)) as pilot:
        listed = pilot.app.query_one(Listed)
        listed.focus()
        await pilot.press("end")
        await pilot.pause()
        shown = [strip.text.strip() for strip in finished(listed)]
        assert shown == [f"line {number}" for number in range(38, 50)]
        for height, drawn, top in ((9, set(), 41), (12, set(), 38), (14, {36, 37}, 36)):
            listed.drawn.clear()
            await pilot.resize_terminal(40, height)
            await pilot.pause()
            finished(listed)
            assert (set(listed.drawn), listed.scroll_offset.y) == (drawn, top)
        listed.drawn.clear()
        await pilot.resize_terminal(30, 14)
        await pilot.pause()
        finished(listed)
        assert set(listed.drawn) == set(range(36, 50))


async def test_lines_that_show_after_a_change_of_plan_what_they_showed_are_not_finished_anew() -> None:
    async with on_bench(story(12, calls=1)) as (pilot, bench):
        rounds = bench.query_one(RoundsList)
        listed = slice(0, len(rounds.rows or ()))
        before = finished(rounds)[listed]
        assert len(before) > 5
        assert rounds.drawn is not None
        rounds.show(replace(rounds.drawn))
        await settled(pilot)
        after = finished(rounds)[listed]
        assert [one is other for one, other in zip(before, after, strict=True)] == [True] * len(before)
        at = rounds.line
        await press(pilot, "down")
        moved = finished(rounds)[listed]
        assert [y for y, one in enumerate(moved) if one is not before[y]] == [at, rounds.line]
        bench.app.theme = "textual-light"
        await settled(pilot)
        assert not any(one is other for one, other in zip(finished(rounds)[listed], moved, strict=True))
