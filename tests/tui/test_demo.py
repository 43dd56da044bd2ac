"""The demonstration opens the run screen on a sample, plays by itself, is marked, and can be stopped."""

from __future__ import annotations

from contextlib import suppress

from textual.pilot import Pilot
from textual.widgets import Static
from textual.worker import WorkerCancelled, WorkerFailed

from tests.paths import SAMPLES
from tests.tui.app import settled
from workbench.summarizers import journal
from workbench.summarizers.recording import DEMO, load_recording
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.demo import DemoApp
from workbench.tui.screens.run import RunScreen


async def shown(pilot: Pilot[None]) -> RunScreen:
    """The run screen, once it says what would be sent; whatever else is at work is waited for."""
    for _ in range(500):
        await pilot.pause()
        screen = pilot.app.screen
        if isinstance(screen, RunScreen) and screen.quotes is not None:
            return screen
        for worker in [one for one in pilot.app.workers if not one.is_finished and one.group != "run"]:
            with suppress(WorkerCancelled, WorkerFailed):
                await worker.wait()
    raise AssertionError(f"the run screen does not come: {pilot.app.screen}")


async def test_the_recording_plays_and_can_be_stopped() -> None:
    recording = load_recording()
    sample = SAMPLES / recording.session
    before = sample.stat().st_mtime_ns
    app = DemoApp(DEMO, recording)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(pilot)
        assert [note.title for note in app._notifications] == ["A demonstration: nothing is sent"]
        if screen.phase == "ready":
            app.begin()
        await pilot.pause()
        assert screen.phase == "running"
        title = str(screen.query_one("#title", Static).content)
        assert "a prepared answer" in title
        app.begin()
        await pilot.press("escape")
        await settled(pilot)
        assert screen.phase == "ready"
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, BenchScreen)
        assert app.screen.bench.result is None
    assert journal.kept() == ()
    assert sample.stat().st_mtime_ns == before
