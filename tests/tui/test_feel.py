"""Nothing in the way of a key: plans of long sessions, the footer, names of workers."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual.message_pump import MessagePump
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from tests.tui.app import app_of, bench_screen, notes, on_bench, press, session_of, settled, story, story_file
from tests.tui.quiet import quiet
from workbench.bench import steps
from workbench.session import Message, Text
from workbench.tui import screens
from workbench.tui.app import WorkbenchApp
from workbench.tui.bench import following, store
from workbench.tui.bench.host import take_step
from workbench.tui.widgets.cut_tabs import CutTabs
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.rounds_list import RoundsList


async def test_in_a_long_session_a_key_is_answered_before_its_plan_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "AT_ONCE", 20)
    messages = [Message(f"m{n}", "user" if n % 2 == 0 else "assistant", (Text(f"word {n}"),)) for n in range(22)]
    app = app_of(session_of(messages))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        screen, rounds = bench_screen(pilot), bench_screen(pilot).query_one(RoundsList)
        take_step(screen, partial(steps.toggle_pin, id="m0"), note="pinned")
        assert rounds.drawn is not None
        assert rounds.drawn.pins == {"m0"}
        assert not screen.bench.is_planned
        told = {one.description for one in app.workers if one.node is screen}
        assert "plan" in told
        assert all(len(one) < 20 for one in told), "no `repr` of a session: half a second for one of 100 MB"
        await settled(pilot)
        assert screen.bench.is_planned
        assert rounds.drawn.outcome.fates == screen.bench.outcome.fates


async def test_footer_and_inputs_ask_for_no_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_of(story())
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        screen, line = bench_screen(pilot), bench_screen(pilot).query_one(KeysLine)
        shown = line.render_line(0).text
        assert len(shown) == 116
        assert "p Pin" in shown
        assert shown.endswith("▏^p palette ")

        await pilot.click(KeysLine, offset=(shown.index("p Pin"), 0))
        await settled(pilot)
        assert screen.bench.pins
        await pilot.click(KeysLine, offset=(shown.index("▏") - 1, 0))
        await pilot.hover(KeysLine, offset=(shown.index("p Pin"), 0))
        assert line.tooltip == next(key.tooltip for key in line.keys if key.words == "Pin")

        await press(pilot, "slash")
        asked: list[Widget] = []
        refresh = Widget.refresh

        def watched(widget: Widget, *regions: Any, layout: bool = False, **how: Any) -> Widget:
            if layout:
                asked.append(widget)
            return refresh(widget, *regions, layout=layout, **how)

        monkeypatch.setattr(Widget, "refresh", watched)
        await press(pilot, *"a long word that is nowhere to be found in what was said, and runs past the end")
        typed = screen.query_one("#find-input", Input)
        assert typed.value.endswith("past the end")
        assert typed.scroll_offset.x > 0
        assert not asked
        assert "f1 Help" in line.render_line(0).text


@pytest.mark.parametrize(("size", "classes"), [((120, 40), {"-wide", "-tall"}), ((80, 24), {"-narrow", "-low"})])
async def test_the_widgets_of_a_screen_are_styled_for_its_size_when_they_are_mounted(
    size: tuple[int, int], classes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else all of them are styled and laid out a second time."""
    mounted: list[set[str]] = []
    on_mount = CutTabs.on_mount

    def watched(tabs: CutTabs) -> None:
        mounted.append({one for one in tabs.screen.classes if not one.startswith("-show")})
        on_mount(tabs)

    monkeypatch.setattr(CutTabs, "on_mount", watched)
    async with on_bench(story(1), size):
        assert mounted == [classes]


def running(node: MessagePump) -> list[Timer]:
    return [timer for timer in node._timers if timer._task is not None and timer._active.is_set()]


async def test_a_bench_at_rest_looks_at_its_file_and_does_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_bench(story_file(tmp_path)) as (pilot, screen):
        nodes = (pilot.app, *pilot.app.screen_stack, *screen.walk_children())
        (look,) = [timer._callback for node in nodes for timer in running(node)]
        assert isinstance(look, partial)
        assert (look.func, look.args) == (following.check_file, (screen,))

        done: list[str] = []
        monkeypatch.setattr(screen, "spawn", lambda group, *_: done.append(group))
        monkeypatch.setattr(Widget, "refresh", lambda widget, *_, **__: done.append(repr(widget)))
        monkeypatch.setattr(screen.store, "put", lambda _: done.append("put"))
        look()
        await pilot.pause()
        assert done == []


PLAIN = {"str", "int", "bool", "float", "Path", "None", "object"}


def _workers() -> Iterator[tuple[str, Any]]:
    modules = [import_module(f"{screens.__name__}.{found.name}") for found in pkgutil.iter_modules(screens.__path__)]
    owners = {one for module in modules for _, one in inspect.getmembers(module, inspect.isclass)} | {WorkbenchApp}
    for owner in owners:
        for name, method in vars(owner).items():
            if inspect.isfunction(method) and {"exit_on_error", "description"} <= set(method.__code__.co_freevars):
                yield f"{owner.__module__}.{owner.__name__}.{name}", method


def test_a_worker_that_is_given_data_says_what_it_is_called() -> None:
    """Else Textual calls it by the `repr` of what it is given: half a second for a session of 100 MB."""
    workers = dict(_workers())
    assert "workbench.tui.retention.facts.FactsPane.judge" in workers
    unnamed = []
    for name, method in workers.items():
        given = inspect.signature(method).parameters.values()
        data = [one for one in given if one.name != "self" and not set(str(one.annotation).split(" | ")) <= PLAIN]
        if data and inspect.getclosurevars(method).nonlocals["description"] is None:
            unnamed.append(name)
    assert not unnamed


async def test_a_note_is_there_for_a_test_however_long_it_takes_until_it_is_cleared_away() -> None:
    async with on_bench(story(1)) as (pilot, _):
        pilot.app.notify("gone at once", timeout=0)
        pilot.app.notify("as long as any")
        await settled(pilot)
        assert notes(pilot) == ["gone at once", "as long as any"]
        pilot.app.clear_notifications()
        assert notes(pilot) == []


async def test_a_key_is_done_when_it_has_gone_round_and_is_painted() -> None:
    """However many turns of the loop that takes, and in whatever widgets, callbacks and screens."""
    async with on_bench(story(1)) as (_, bench):
        seen: list[int] = []

        def pass_on(left: int) -> None:
            seen.append(left)
            if left:
                (bench.call_later, bench.call_after_refresh, bench.call_next)[left % 3](pass_on, left - 1)

        pass_on(100)
        bench.refresh(layout=True)
        await quiet()
        assert seen == list(range(100, -1, -1))
        assert (bench._layout_required, len(bench._dirty_widgets)) == (False, 0)
