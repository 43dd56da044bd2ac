"""A story on the screen: stepped by hand, played by its timer, and then its session on the bench."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.color import Color
from textual.pilot import Pilot
from textual.widgets import Static

from tests.paths import SAMPLES
from tests.play.told import demo, small
from tests.tui.app import brought, done, notes, on_bench, press, session_of, story_file
from tests.tui.test_themes import contrast
from workbench.play.drawing import drawn
from workbench.play.frames import Story
from workbench.session import Message, Text
from workbench.summarizers import by_name, run_history
from workbench.summarizers.prepared_answer import DEMO, load_prepared_answer
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.demo_app import DemoApp
from workbench.tui.screens.play import PlayScreen, Stage
from workbench.tui.screens.run import RunScreen

SAMPLE = SAMPLES / load_prepared_answer().session


def three() -> Story:
    """Frames A, A and B, each of which stands for long enough that no timer ends in a test."""
    (frame,) = small().frames
    return replace(small(), frames=tuple(replace(frame, title=title, seconds=9_999.0) for title in "AAB"))


@asynccontextmanager
async def playing(story: Story, size: tuple[int, int] = (100, 30)) -> AsyncIterator[tuple[Pilot[None], PlayScreen]]:
    app = DemoApp(story, SAMPLE, preset=load_prepared_answer().preset, rehearses=DEMO, fresh=True)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        yield pilot, screen


def pace(screen: PlayScreen) -> str:
    return str(screen.query_one("#pace", Static).content)


async def test_a_step_pauses_and_space_goes_on() -> None:
    async with playing(three()) as (pilot, screen):
        assert pace(screen) == "▶ 1 of 3 · 1×"
        await pilot.press("right")
        assert pace(screen) == "⏸ 2 of 3 · 1×"
        screen.tick()
        assert screen.number == 1
        await pilot.press("left", "left")
        assert screen.number == 0
        await pilot.press("space")
        assert pace(screen) == "▶ 1 of 3 · 1×"
        screen.tick()
        assert screen.number == 1
        screen.tick()
        assert pace(screen) == "⏸ 3 of 3 · 1×"
        await pilot.press("right")
        assert screen.number == 2
        await pilot.press("space")
        assert pace(screen) == "▶ 1 of 3 · 1×"


async def test_speed_has_its_ends_and_scenes_their_beginnings() -> None:
    async with playing(three()) as (pilot, screen):
        await pilot.press(*["plus"] * 3)
        assert pace(screen).endswith("4×")
        await pilot.press(*["minus"] * 9)
        assert pace(screen).endswith("0.25×")
        await pilot.press("right", "pagedown")
        assert screen.number == 2
        await pilot.press("pageup")
        assert screen.number == 0
        await pilot.press("pagedown", "pagedown")
        assert screen.number == 2


async def test_the_timer_stands_as_long_as_the_frame_at_this_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with playing(three()) as (pilot, screen):
        asked: list[float] = []
        monkeypatch.setattr(screen, "set_timer", lambda seconds, _: asked.append(seconds))
        await pilot.press("plus", "minus", "minus")
        assert asked == [9_999 / 2, 9_999.0, 9_999 * 2]


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (200, 60), (20, 6)])
async def test_the_stage_shows_the_frame_as_it_is_drawn(size: tuple[int, int]) -> None:
    async with playing(demo(), size) as (pilot, screen):
        await pilot.press(*["right"] * 5)
        await pilot.pause()
        stage = screen.query_one(Stage)
        margins = 4 if size[0] >= 110 else 2
        rows = drawn(demo(), 5, stage.size.width, stage.size.height)
        assert stage.size == (size[0] - margins, size[1] - 2)
        assert [strip.text for strip in map(stage.render_line, range(stage.size.height))] == [
            "".join(text for text, _ in row) for row in rows
        ]


async def test_what_a_frame_says_can_be_read_on_light_ground_too() -> None:
    async with playing(demo()) as (pilot, screen):
        pilot.app.theme = "workbench-light"
        await pilot.press(*["right"] * 5)
        await pilot.pause()
        stage = screen.query_one(Stage)
        for row in (stage.render_line(y) for y in range(stage.size.height)):
            for text, style, _ in row:
                assert style is not None
                assert style.color is not None
                assert style.bgcolor is not None
                shown, ground = (Color(*one.get_truecolor()) for one in (style.color, style.bgcolor))
                assert not text.strip() or contrast(shown, ground) >= 4.5, (text, shown, ground)


async def test_q_leaves() -> None:
    for key in ("q", "escape"):
        async with playing(three()) as (pilot, _):
            await pilot.press(key)
            await pilot.pause()
            assert pilot.app._exit


@pytest.fixture
def answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = load_prepared_answer().model_copy(update={"first_token_s": 0.0, "words_per_s": 1e12})
    monkeypatch.setattr(by_name, "load_prepared_answer", lambda _: quick)


@pytest.mark.usefixtures("answered_at_once")
async def test_what_the_prepared_answer_leaves_is_committed_to_the_bench() -> None:
    before = SAMPLE.stat().st_mtime_ns
    async with playing(three(), (120, 40)) as (pilot, _):
        await press(pilot, "enter")
        bench = pilot.app.screen
        assert isinstance(bench, BenchScreen)
        assert "R, then enter, plays a live run." in notes(pilot)[-1]
        await press(pilot, "R", "enter")
        run = pilot.app.screen
        assert isinstance(run, RunScreen)
        assert run.phase == "draft"
        await press(pilot, "ctrl+s")
        assert pilot.app.screen is bench
        assert bench.bench.result is not None
        assert "Never log the refresh token" in bench.bench.outcome.messages[0].text
    assert run_history.list_runs() == ()
    assert SAMPLE.stat().st_mtime_ns == before


async def test_the_demonstration_waits_for_nobody() -> None:
    """From the first frame to the last by ticks alone."""
    async with playing(demo()) as (pilot, screen):
        for _ in range(len(demo().frames)):
            screen.tick()
        await pilot.pause()
        assert screen.number == len(demo().frames) - 1
        assert not screen.playing


async def test_the_bench_plays_its_session_and_takes_over_again(tmp_path: Path) -> None:
    async with on_bench(story_file(tmp_path), preset="trim") as (pilot, bench):
        await done(pilot, "play")
        screen = await brought(pilot, PlayScreen)
        assert screen.story.note == "Played offline, code writes, no model, sizes (~) are estimates: story.json"
        assert [lane.name for lane in screen.story.frames[-1].lanes] == ["trim", "ledger"]
        assert bench.view.running == ""
        await press(pilot, "q")
        assert pilot.app.screen is bench


async def test_a_session_without_a_call_is_not_played() -> None:
    asked = session_of([Message("m0", "user", (Text("Hello?"),))])
    async with on_bench(asked) as (pilot, bench):
        await done(pilot, "play")
        assert pilot.app.screen is bench
        assert "there is no call to play" in notes(pilot)[-1]
