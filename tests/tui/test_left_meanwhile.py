"""The app is left at the worst moment: what was to be written down is written, in whatever order things end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.summarizers.fake_api import MODEL, answer, fake_api, stalling
from tests.summarizers.live_calls import client_talks_to
from tests.tui.app import app_of, bench_screen, brought, press, settled, story, story_file, until
from tests.tui.test_live_screens import waiting
from workbench.bench import saved_work
from workbench.compaction.summary_request import Answer, SummaryRequest
from workbench.formats.files import load
from workbench.summarizers import run_history
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.run_records import RunRecord
from workbench.tui.bench.saving import save_in_thread
from workbench.tui.screens.choose_summarizer import recorded_runs
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.run import RunScreen
from workbench.tui.screens.why import WhyScreen

HALF = "The user wants "


@contextmanager
def no_thread_free() -> Iterator[None]:
    """The only thread of the loop is at work until the loop ends its tasks, which it does last of all."""
    loop, ended = asyncio.get_running_loop(), threading.Event()
    loop.set_default_executor(ThreadPoolExecutor(1))

    async def until_all_end() -> None:
        try:
            await loop.create_future()
        finally:
            ended.set()

    to_the_end = loop.create_task(until_all_end())
    busy = loop.run_in_executor(None, ended.wait)
    yield
    assert not to_the_end.done()
    assert not busy.done()


def the_only_run() -> RunRecord:
    (entry,) = run_history.list_runs()
    return run_history.load_run(entry.id)


async def running(pilot: Pilot[None], name: SummarizerName) -> RunScreen:
    await settled(pilot)
    screen = await brought(pilot, RunScreen, "R")
    screen.writer = name
    await pilot.press("enter")
    return screen


@pytest.mark.parametrize("threads", ["free", "none free"])
def test_a_run_that_is_under_way(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def left() -> None:
        async with fake_api(stalling(HALF)) as api, app_of(story(rounds=3)).run_test() as pilot:
            client_talks_to(api, monkeypatch)
            screen = await running(pilot, SummarizerName("anthropic", MODEL))
            await until(lambda: any(call.text == HALF for call in screen.progress.calls))
            if threads == "free":
                pilot.app.exit()
                return
            with no_thread_free():
                pilot.app.exit()

    asyncio.run(left())
    kept = the_only_run()
    assert (kept.end, kept.calls[0].detail, kept.calls[0].text) == ("cancelled", "cancelled", HALF)


def test_a_run_whose_call_ends_when_the_screen_is_gone() -> None:
    async def left() -> None:
        gone = asyncio.get_running_loop().create_future()

        async def reluctant(request: SummaryRequest) -> Answer:
            try:
                return await asyncio.get_running_loop().create_future()
            finally:
                await asyncio.shield(gone)

        async with app_of(story(rounds=3)).run_test() as pilot:
            await settled(pilot)
            screen = await brought(pilot, RunScreen, "R")
            screen.writer = SummarizerName("command", "true")
            screen.summarizer = lambda: asyncio.sleep(0, reluctant)  # type: ignore[assignment, method-assign]
            await pilot.press("enter")
            await until(lambda: bool(screen.live.recorder.calls()))
            pilot.app.exit()
        assert not screen.is_attached
        gone.set_result(None)

    asyncio.run(left())
    assert the_only_run().end == "cancelled"


def test_a_run_that_has_just_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def left() -> None:
        async with fake_api(answer("The user wants it done.")) as api, app_of(story(rounds=3)).run_test() as pilot:
            client_talks_to(api, monkeypatch)
            screen = await running(pilot, SummarizerName("anthropic", MODEL))
            keep = screen.keep

            def kept(record: object) -> None:
                with no_thread_free():
                    keep(record)  # type: ignore[arg-type]
                    pilot.app.exit()

            screen.keep = kept  # type: ignore[method-assign, assignment]
            await until(lambda: pilot.app._exit)

    asyncio.run(left())
    assert the_only_run().end == "finished"


@pytest.mark.parametrize("how", ["the program ends", "discarded"])
def test_drafts_that_were_edited_and_not_committed(how: str) -> None:
    async def left() -> None:
        async with app_of(story(rounds=3)).run_test() as pilot:
            screen = await running(pilot, SummarizerName("extractive"))
            await until(lambda: screen.phase == "draft")
            await settled(pilot)
            await pilot.press("ctrl+home", "X", "Y")
            if how == "discarded":
                await pilot.press("escape", "escape")
                await until(lambda: not screen.is_attached)
            pilot.app.exit()

    asyncio.run(left())
    if how == "discarded":
        assert run_history.list_runs() == ()
        return
    run = the_only_run()
    assert (run.end, run.summarizer, run.calls[0].text[:2], run.calls[0].failure) == ("finished", "typed", "XY", None)
    assert [entry.id for entry in recorded_runs(story(rounds=3), run.session)] == [run.id]


def test_variants_that_are_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def left() -> None:
        async with fake_api(stalling(HALF), stalling(HALF)) as api, app_of(story(rounds=3)).run_test() as pilot:
            client_talks_to(api, monkeypatch)
            await settled(pilot)
            screen = await brought(pilot, CompareScreen, "C")
            waiting(screen, *[SummarizerName("anthropic", MODEL)] * 2)
            await pilot.press("r")
            await until(lambda: len([text for text in screen.rows.queue.written.values() if text]) == 2)
            with no_thread_free():
                pilot.app.exit()

    asyncio.run(left())
    assert [(entry.end, entry.calls) for entry in run_history.list_runs()] == [("cancelled", 1)] * 2


@pytest.mark.parametrize("changes", [1, 2])
def test_work_that_is_being_written_down(changes: int, tmp_path: Path) -> None:
    """Once more changed while the first change waits to be written, the second is what stands there."""
    file = story_file(tmp_path)

    async def left() -> None:
        async with app_of(file, memory=tmp_path / "state").run_test() as pilot:
            await settled(pilot)
            bench = bench_screen(pilot)
            with no_thread_free():
                await pilot.press("p")
                writing = asyncio.ensure_future(save_in_thread(bench))
                await asyncio.sleep(0)
                if changes == 2:
                    await pilot.press("down", "p")
                writing.cancel()
                pilot.app.exit()

    asyncio.run(left())
    work = saved_work.load_work(load(file), tmp_path / "state" / "sessions")
    assert work is not None
    assert len(work.pins) == changes


async def test_what_a_screen_draws_later_is_left_undone_once_it_is_closed() -> None:
    """Closed between the request to draw after the next refresh and that refresh, its widgets are gone."""
    async with app_of(story(rounds=3)).run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        why = await brought(pilot, WhyScreen, "O")
        assert why.found is not None
        found = why.found
        await press(pilot, "escape")
        compare = await brought(pilot, CompareScreen, "C")
        await press(pilot, "escape")
        help = await brought(pilot, HelpScreen, "question_mark")
        await press(pilot, "escape")
        for late in (partial(why._draw_again, found), compare._show_row, help._fill):
            late()
        assert pilot.app.screen is bench_screen(pilot)
