"""A view of lines draws each of them once, wherever it scrolls to."""

from __future__ import annotations

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from workbench.tui.widgets.line_view import LineView


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
    def compose(self) -> ComposeResult:
        yield Numbers()


def finished(view: Numbers) -> list[Strip]:
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
