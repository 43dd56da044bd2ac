"""Nothing in the way of a key: plans of long sessions, the footer, the collector of garbage, names of workers."""

from __future__ import annotations

import asyncio
import gc
import inspect
import pkgutil
import weakref
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from tests.tui.app import app_of, at_rest, bench_screen, notes, on_bench, press, session_of, settled, story, story_file
from tests.tui.quiet import quiet
from workbench import bench as steps
from workbench.session import Message, Text
from workbench.tui import screens
from workbench.tui.app import WorkbenchApp
from workbench.tui.bench import following
from workbench.tui.bench.host import take
from workbench.tui.bench.store import AT_ONCE
from workbench.tui.rest import AT_MOST, DUE, MANY, Collecting, keep_out
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.rounds_list import RoundsList


async def test_in_a_long_session_a_key_is_answered_before_its_plan_is_there() -> None:
    count = AT_ONCE + 2
    messages = [Message(f"m{n}", "user" if n % 2 == 0 else "assistant", (Text(f"word {n}"),)) for n in range(count)]
    app = app_of(session_of(messages))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        screen, rounds = bench_screen(pilot), bench_screen(pilot).query_one(RoundsList)
        take(screen, partial(steps.toggle_pin, id="m0"), said="pinned")
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
        assert len(shown) == 120
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


async def test_full_collections_are_put_off_while_the_app_runs() -> None:
    before = gc.get_threshold()
    async with app_of(story()).run_test() as pilot:
        await settled(pilot)
        assert gc.get_threshold() == (*before[:2], AT_MOST)
    assert gc.get_threshold() == before


def running(node: MessagePump) -> list[Timer]:
    return [timer for timer in node._timers if timer._task is not None and timer._active.is_set()]


async def test_a_bench_at_rest_looks_at_its_file_and_does_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_bench(story_file(tmp_path)) as (pilot, screen):
        nodes = (pilot.app, *pilot.app.screen_stack, *screen.walk_children())
        (look,) = [timer._callback for node in nodes for timer in running(node)]
        assert isinstance(look, partial)
        assert (look.func, look.args) == (following.look, (screen,))

        done: list[str] = []
        monkeypatch.setattr(screen, "spawn", lambda group, *_: done.append(group))
        monkeypatch.setattr(Widget, "refresh", lambda widget, *_, **__: done.append(repr(widget)))
        monkeypatch.setattr(screen.store, "put", lambda _: done.append("put"))
        look()
        await pilot.pause()
        assert done == []


async def test_a_timer_that_a_thread_asked_for_knows_its_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its first tick fails, and the app ends with that error."""
    monkeypatch.setattr("workbench.tui.rest.REST_S", 0.001)
    monkeypatch.setattr("workbench.tui.rest.BUSY", 1e9)
    app, loop = App[None](), asyncio.get_running_loop()
    async with app.run_test() as pilot:
        gc.collect()
        collecting = Collecting(app)
        await app.push_screen(Screen())
        await app.push_screen(Screen())
        await pilot.pause()
        while gc.get_count()[2] < DUE:
            await loop.run_in_executor(None, gc.collect, 1)
        await asyncio.sleep(0)
        (timer,) = running(app)
        assert timer._task is not None
        task = timer._task
        await app.pop_screen()
        await asyncio.wait([task])
        assert task.cancelled() or task.exception() is None
        collecting.leave()


class Cycle:
    """Garbage as soon as nobody names it, which only a collection finds."""

    def __init__(self) -> None:
        self.itself = self


async def test_what_has_grown_old_on_a_screen_is_looked_through_at_once_and_kept_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From so many collections of the middle generation on; for that no timer runs."""
    frozen: list[bool] = []
    app = App[None]()
    async with app.run_test():
        gc.collect()
        collecting = Collecting(app)
        monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
        cycle = Cycle()
        gone = weakref.ref(cycle)
        for made, looks in ((DUE - 1, 0), (DUE, 1)):
            while gc.get_count()[2] < made:
                gc.collect(1)  # by which it has grown old
            cycle = None  # type: ignore[assignment]
            await asyncio.sleep(0)
            assert (len(frozen), gone() is None, running(app)) == (looks, bool(looks), [])
        assert gc.get_count()[2] == 0
        collecting.leave()
        for _ in range(DUE + 1):
            gc.collect(1)
        await asyncio.sleep(0)
        assert (len(frozen), running(app)) == (1, [])


async def test_what_came_with_a_screen_in_front_is_looked_through_when_it_has_gone_and_the_app_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frozen: list[bool] = []
    app = App[None]()
    async with app.run_test() as pilot:
        gc.collect()
        collecting = Collecting(app)
        monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
        for looks in (0, 1, 1):  # the first stands in front of none; when the second comes what is old is kept out
            await app.push_screen(Screen())
            await pilot.pause()
            assert len(frozen) == looks
        for made, timers in ((DUE - 1, 0), (DUE, 1), (DUE + 1, 1)):
            while gc.get_count()[2] < made:
                gc.collect(1)
            await asyncio.sleep(0)
            assert len(running(app)) == timers
        (timer,) = running(app)
        assert timer._callback is not None
        # The share from which something is being done, how many screens stand in front, whether a worker is at work.
        rests = ((100_000, 2, False), (100_000, 1, False), (0, 0, False), (100_000, 0, True), (100_000, 0, False))
        for busy, in_front, at_work in rests:
            while len(app.screen_stack) > 2 + in_front:
                await app.pop_screen()
            until = asyncio.Event()
            worker = app.run_worker(until.wait())
            if not at_work:
                until.set()
                await worker.wait()
            monkeypatch.setattr("workbench.tui.rest.BUSY", busy)
            assert (running(app), len(frozen)) == ([timer], 1)
            timer._callback()
            until.set()
            await worker.wait()
        assert (running(app), len(frozen), gc.get_count()[2]) == ([], 2, 0)
        await app.push_screen(Screen())  # and again
        await pilot.pause()
        assert len(frozen) == 3
        collecting.leave()


@pytest.mark.parametrize("headless", [True, False])
async def test_the_program_itself_is_kept_out_where_the_process_is_the_apps(
    headless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    app = App[None]()
    async with app.run_test():
        monkeypatch.setattr(App, "is_headless", headless)
        Collecting(app).leave()
    assert bool(frozen) != headless


@pytest.mark.parametrize(("count", "kept"), [(MANY - 1, False), (MANY, False), (MANY + 1, True)])
def test_a_long_session_is_kept_out_of_the_collectors_way(
    count: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    keep_out(session_of([Message(f"m{n}", "user", (Text("word"),)) for n in range(count)]))
    assert bool(frozen) == kept


async def test_of_a_session_that_is_opened_anew_nothing_of_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept out of the collector's way is looked through at the next rest. Else each time one opened a session
    anew it was in memory once more."""
    monkeypatch.setattr("workbench.tui.rest.MANY", 0)
    monkeypatch.setattr("workbench.tui.rest.BUSY", 1e9)
    monkeypatch.setattr("workbench.tui.rest.REST_S", 86_400.0)  # no timer looks through it before the test does
    path = story_file(tmp_path)
    async with at_rest(path) as pilot:
        old, app = weakref.ref(bench_screen(pilot)), pilot.app
        assert isinstance(app, WorkbenchApp)
        for held in (app._collecting._look, gc.collect):  # not before it is due, and not while it is kept out
            held()
            assert old() is not None
        app.open(path)
        await settled(pilot)
        gc.collect()
        assert old() is not None
        app._collecting._look()
        assert old() is None
        assert gc.get_freeze_count()


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
    assert "workbench.tui.screens.retention.RetentionScreen.judge" in workers
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
