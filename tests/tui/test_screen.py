"""A screen painted a few lines at a time: the same picture, with room for others between them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rich.cells import cell_len
from rich.segment import ControlType, Segment
from textual._compositor import Compositor, CompositorUpdate
from textual.app import App, ComposeResult
from textual.css.stylesheet import Stylesheet
from textual.events import Resize, ScreenResume
from textual.geometry import Region, Size
from textual.screen import Screen as TextualScreen
from textual.widget import Widget
from textual.widgets import Static, Tabs

from tests.tui.app import on_bench, press, settled, story
from tests.tui.every_screen import visited
from tests.tui.quiet import _PAINT, quiet
from workbench.tui import screen as painting
from workbench.tui.bench.places import BREAKPOINTS, LINES
from workbench.tui.fit import fit
from workbench.tui.screen import BAND, Bands, ModalScreen, Screen, _cut

Cell = tuple[str, object]
_PAINT_ON = Screen._paint_on


class Glass:
    """What a terminal shows of what is written to it: a sign and a style for each cell."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Cell] = {}
        self.written = 0

    def write(self, app: App[Any], update: object) -> None:
        if not isinstance(update, CompositorUpdate):
            return
        self.written += 1
        x = y = 0
        for segment in app.console.render(update):
            if segment.control:
                for code in segment.control:
                    if code[0] is ControlType.CURSOR_MOVE_TO:
                        x, y = int(code[1]), int(code[2])  # type: ignore[misc]
            elif segment.text != "\n":
                x = self.put(x, y, segment)

    def put(self, x: int, y: int, segment: Segment) -> int:
        for sign in segment.text:
            self.cells[x, y] = sign, segment.style
            x += cell_len(sign)
        return x


def whole(screen: TextualScreen[Any]) -> Glass:
    """What Textual's own compositor makes of a screen in one go."""
    glass = Glass()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bands, "_get_renders", Compositor._get_renders)
        for y, strip in enumerate(screen._compositor.render_strips()):
            x = 0
            for segment in strip:
                x = glass.put(x, y, segment)
    return glass


@pytest.fixture
def glass(monkeypatch: pytest.MonkeyPatch) -> Glass:
    """Screens are painted as they are outside of tests, a band at a turn of the loop."""
    seen = Glass()
    monkeypatch.setattr(TextualScreen, "_compositor_refresh", _PAINT)
    monkeypatch.setattr(Screen, "_paint_on", _PAINT_ON)
    monkeypatch.setattr(App, "_display", lambda app, _, update: seen.write(app, update))
    monkeypatch.setattr(painting, "AT_A_STRETCH_S", 0.0)
    return seen


async def test_what_is_painted_in_bands_is_what_textual_paints_at_once(glass: Glass) -> None:
    async with on_bench(story(), size=(120, 40)) as (pilot, screen):
        await quiet()
        assert glass.cells == whole(screen).cells
        for key in ("down", "K", "end", "pageup", "2", "5", "4", "p", "slash"):
            await press(pilot, key)
            assert glass.cells == whole(pilot.app.screen).cells, key
        glass.cells.clear()
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert glass.cells == whole(pilot.app.screen).cells


async def test_every_screen_that_comes_in_front_is_painted_whole(glass: Glass) -> None:
    async with on_bench(story(), size=(120, 40)) as (pilot, _):
        async for name, screen in visited(pilot, ("why", "help", "compare", "policy", "generations")):
            await quiet()
            assert glass.cells == whole(screen).cells, name


class Told(Screen[None]):
    CSS = "Told { layout: vertical; } Static { height: 1; }"

    def compose(self) -> ComposeResult:
        for number in range(3 * BAND):
            yield Static(f"line {number}")


class Dialog(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Static("asked")


async def test_between_bands_the_loop_goes_on_and_who_waits_for_the_picture_is_called_behind_the_last(
    glass: Glass,
) -> None:
    async with App[None]().run_test(size=(20, 3 * BAND)) as pilot:
        await pilot.app.push_screen(front := Told())
        await quiet()
        called, turns = list[int](), list[tuple[int, int]]()
        before = glass.written

        def turn() -> None:
            turns.append((len(front._painting.done) if front._painting else 0, glass.written - before))
            if len(turns) < 5:
                asyncio.get_running_loop().call_soon(turn)

        front._compositor._dirty_regions.add(front.region)
        front.call_after_refresh(lambda: called.append(glass.written - before))
        front._compositor_refresh()
        turn()
        await quiet()
        assert turns == [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)], "bands that are painted, and pictures shown"
        assert called == [1]


async def test_a_picture_that_is_painted_while_the_terminal_becomes_another_size_is_painted_anew(glass: Glass) -> None:
    async with App[None]().run_test(size=(20, 3 * BAND)) as pilot:
        await pilot.app.push_screen(front := Told())
        await quiet()
        front._compositor._dirty_regions.add(front.region)
        front._compositor_refresh()
        front._paint()
        assert front._painting is not None
        assert len(front._painting.done) == 1
        glass.cells.clear()
        front._refresh_layout(Size(12, 2 * BAND))
        while front._is_due:
            front._paint()
        assert glass.cells == whole(front).cells
        assert max(y for _, y in glass.cells) == 2 * BAND - 1


async def test_where_nothing_has_changed_nothing_is_written(glass: Glass) -> None:
    async with App[None]().run_test() as pilot:
        await pilot.app.push_screen(front := Told())
        await quiet()
        before = glass.written
        front._compositor_refresh()
        await quiet()
        assert glass.written == before


async def test_behind_a_dialog_who_waits_for_a_picture_is_called_all_the_same(glass: Glass) -> None:
    called: list[str] = []
    async with App[None]().run_test() as pilot:
        await pilot.app.push_screen(behind := Told())
        await pilot.app.push_screen(Dialog())
        behind.call_after_refresh(called.append, "behind")
        behind.refresh()
        await quiet()
        assert called == ["behind"]
        assert glass.cells == whole(pilot.app.screen).cells


async def test_a_screen_that_is_gone_before_it_is_painted_is_not_missed(glass: Glass) -> None:
    async with App[None]().run_test() as pilot:
        await pilot.app.push_screen(front := Told())
        front._compositor_refresh()
        pilot.app.pop_screen()
        await quiet()
        assert pilot.app.return_code in (None, 0)
        assert glass.cells == whole(pilot.app.screen).cells


async def test_what_changes_while_changes_are_held_back_is_painted_afterwards(glass: Glass) -> None:
    async with App[None]().run_test(size=(20, 3 * BAND)) as pilot:
        await pilot.app.push_screen(front := Told())
        await quiet()
        front.query(Static).first().update("changed")
        pilot.app._begin_batch()
        front._dirty_widgets.add(front.query(Static).first())
        front._compositor.update_widgets(front._dirty_widgets)
        front._compositor_refresh()
        for _ in range(20):
            await asyncio.sleep(0)
        assert glass.cells[0, 0][0] == "l"
        pilot.app._end_batch()
        await quiet()
        assert glass.cells == whole(front).cells
        assert glass.cells[0, 0][0] == "c"


async def test_a_screen_is_styled_once_when_it_comes_and_again_when_it_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    styled: list[type[Widget]] = []
    update = Stylesheet.update_nodes

    def updated(sheet: Any, nodes: Any, **how: Any) -> None:
        known = list(nodes)
        styled.extend(type(one) for one in known if isinstance(one, Told))
        update(sheet, known, **how)

    monkeypatch.setattr(Stylesheet, "update_nodes", updated)
    async with App[None]().run_test() as pilot:
        await pilot.app.push_screen(front := Told())
        await quiet()
        assert styled == []
        front.post_message(ScreenResume())
        await quiet()
        assert styled == [Told]


class Sized(Screen[None]):
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    VERTICAL_BREAKPOINTS = LINES

    def compose(self) -> ComposeResult:
        fit(self)
        for number in range(2 * painting.TOGETHER + 1):
            yield Static(f"line {number}")


@pytest.mark.parametrize(
    ("size", "classes"),
    [
        ((109, 29), {"-narrow", "-low"}),
        ((110, 30), {"-wide", "-tall"}),
        ((229, 65), {"-wide", "-tall"}),
        ((230, 66), {"-huge", "-highest"}),
    ],
)
async def test_at_another_size_every_widget_is_styled_once_and_all_is_laid_out_as_it_will_be(
    size: tuple[int, int], classes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    styled: list[Widget] = []
    laid_out: list[set[str]] = []
    apply, reflow = Stylesheet.apply, Compositor.reflow

    def applied(sheet: Any, node: Any, **how: Any) -> None:
        styled.append(node)
        apply(sheet, node, **how)

    def watched(compositor: Compositor, parent: Widget, size: Any) -> Any:
        laid_out.append(set(parent.classes))
        return reflow(compositor, parent, size)

    async with App[None]().run_test(size=(80, 10)) as pilot:
        await pilot.app.push_screen(front := Sized())
        await quiet()
        monkeypatch.setattr(Stylesheet, "apply", applied)
        monkeypatch.setattr(Compositor, "reflow", watched)
        await pilot.resize_terminal(*size)
        await quiet()
        assert front.classes == classes
        assert {tuple(sorted(one)) for one in laid_out if one} == {tuple(sorted(classes))}
        assert [one for one in styled if isinstance(one, Static)] == list(front.query(Static))
        monkeypatch.undo()
        assert front._get_breakpoint_classes(size[0], BREAKPOINTS or []) < classes


async def test_what_is_behind_a_dialog_is_made_fit_for_another_size_too() -> None:
    """Both hear of it by the same event."""
    async with App[None]().run_test(size=(80, 10)) as pilot:
        await pilot.app.push_screen(behind := Sized())
        await pilot.app.push_screen(Dialog())
        await quiet()
        assert behind.classes == {"-narrow", "-lowest"}
        await pilot.resize_terminal(110, 30)
        await quiet()
        assert behind.classes == {"-wide", "-tall"}


@pytest.mark.parametrize(
    ("regions", "band", "rest"),
    [
        ([(0, 3, 9, BAND - 1)], [(0, 3, 9, BAND - 1)], []),
        ([(0, 3, 9, BAND)], [(0, 3, 9, BAND)], []),
        ([(0, 3, 9, BAND + 1)], [(0, 3, 9, BAND)], [(0, 3 + BAND, 9, 1)]),
        ([(0, 3, 9, 1), (2, 2 + BAND, 4, 2)], [(0, 3, 9, 1), (2, 2 + BAND, 4, 1)], [(2, 3 + BAND, 4, 1)]),
        ([(0, 3, 9, 1), (2, 3 + BAND, 4, 2)], [(0, 3, 9, 1)], [(2, 3 + BAND, 4, 2)]),
    ],
)
def test_the_topmost_band_is_cut_from_what_is_to_be_painted(
    regions: list[tuple[int, int, int, int]],
    band: list[tuple[int, int, int, int]],
    rest: list[tuple[int, int, int, int]],
) -> None:
    assert _cut({Region(*one) for one in regions}) == ({Region(*one) for one in band}, {Region(*one) for one in rest})


@pytest.mark.parametrize("many", [1, 2, 100])
async def test_f12_of_resizes_in_a_row_the_screen_is_laid_out_for_the_last(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others wait between them, as they do when a window is drawn larger by hand: those are not taken together."""
    laid_out: list[Size] = []
    reflow = Compositor.reflow

    def counted(compositor: Compositor, parent: Widget, size: Size) -> object:
        laid_out.append(size)
        return reflow(compositor, parent, size)

    async with on_bench(story(), size=(120, 40)) as (pilot, screen):
        monkeypatch.setattr(Compositor, "reflow", counted)
        await pilot.resize_terminal(100, 30)
        await settled(pilot)
        alone = len(laid_out)
        laid_out.clear()
        for number in range(many):
            size = Size(70 + number % 97, 20 + number % 31)
            screen.post_message(Resize(size, size))
            screen.call_later(lambda: None)
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        assert (screen.size, {*laid_out}) == (Size(120, 40), {Size(120, 40)})
        assert 0 < len(laid_out) <= 2 * alone


@pytest.mark.parametrize("turns", range(0, 60, 6))
async def test_f12_a_tab_that_is_marked_for_another_width_leads_nowhere(turns: int) -> None:
    """A narrow screen marks the pane, a wide one what the middle shows. The next resize comes so many turns of the loop
    later: when the tabs may not have told of the mark yet."""
    async with on_bench(story(), size=(100, 30)) as (pilot, screen):
        assert (screen.view.pane, screen.view.tab) == ("rounds", "message")
        for width in (120, 100):
            pilot.app._size = Size(width, 30)
            screen.post_message(Resize(pilot.app.size, pilot.app.size))
            for _ in range(turns):
                await asyncio.sleep(0)
        await settled(pilot)
        assert (screen.size.width, screen.view.pane) == (100, "rounds")
        assert screen.query_one(Tabs).active == "tab-rounds"
