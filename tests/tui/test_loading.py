"""How far a session is read, as the loading screen tells it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot

from tests.tui.app import app_of, at_rest, bench_screen, settled, story, until
from tests.tui.bench.test_read_rest import lines
from tests.tui.every_screen import drawn
from tests.tui.quiet import quiet
from workbench.bench import Bench
from workbench.formats import files
from workbench.tui.background import STEPS, in_steps
from workbench.tui.bench import planning
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.bench.store import BenchView
from workbench.tui.plan_words import title_end
from workbench.tui.screens.export import ExportScreen
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.loading import READ, Opening, open_on_bench
from workbench.tui.settings import read_home
from workbench.tui.widgets.cut_text import TwoEnds
from workbench.tui.widgets.epochs_line import EpochsLine
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_view import TextView


@pytest.mark.parametrize("told_of", [STEPS - 1, STEPS, STEPS + 1, 98])
def test_no_more_is_told_than_is_drawn_and_the_end_always(told_of: int) -> None:
    told: list[tuple[int, int]] = []
    progress = in_steps(lambda done, total: told.append((done, total)))
    for done in range(told_of + 1):
        progress(done, told_of)
    assert len(told) == min(told_of, STEPS)
    assert told[-1] == (told_of, told_of)
    progress(told_of, told_of)
    assert len(told) == min(told_of, STEPS)


def test_a_file_whose_size_is_not_known_is_told_of_when_it_is_read() -> None:
    told: list[tuple[int, int]] = []
    progress = in_steps(lambda done, total: told.append((done, total)))
    progress(0, 0)
    progress(1, 0)
    assert told == [(1, 0)]


def test_b14_the_share_is_of_all_the_work_and_not_of_reading_alone(tmp_path: Path) -> None:
    """It stood at 100 % for seconds while the session was laid out."""
    (path := tmp_path / "long.jsonl").write_bytes(lines())
    shares: list[float] = []
    read: list[float] = []
    opening = Opening(path)
    ready = open_on_bench(opening, lambda done, total: shares.append(done / total), lambda: read.extend(shares))
    assert ready.bench.messages
    assert shares == sorted(shares)
    assert max(read) == READ
    assert READ < shares[-1] < 1, "what follows the reading is told, too"


async def test_of_a_large_session_the_newest_epochs_are_shown_and_then_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGE", 1)
    (path := tmp_path / "long.jsonl").write_bytes(lines())
    memory = tmp_path / "memory"
    ready = open_on_bench(Opening(path, memory=memory), lambda done, total: None, lambda: None)
    screen = BenchScreen(ready.bench, ready.counter, ready.groups, mark=ready.mark, memory=memory)
    seen: list[tuple[bool, str]] = []

    def look(was: BenchView | None, now: BenchView) -> None:
        seen.append(
            (bool(now.bench.session.begins_at), title_end(now.shown, now.preset, now.counting, now.reading).plain)
        )

    screen.store.subscribe(look)
    async with at_rest("sessions", sources=[path], memory=memory, size=(140, 40)) as pilot:
        await pilot.app.push_screen(screen)
        await settled(pilot)
        assert screen.query_one(EpochsLine).display
        assert "epoch 4 of 5" in screen.query_one("#title", TwoEnds).text
    assert seen[0][0]
    assert all(("reading earlier epochs" in title) == is_end for is_end, title in seen)
    assert not seen[-1][0]
    assert [(one.path, one.title) for one in read_home(memory).recents] == [(str(path), "Do part z0.")]
    assert not (memory / "sessions").exists()


class Held:
    """The first plan, held back in its thread until `go`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self._planned = planning.plan_and_measure
        monkeypatch.setattr(planning, "plan_and_measure", self._wait)

    def _wait(self, bench: Bench) -> None:
        self.go.wait()
        self._planned(bench)


def is_listed(pilot: Pilot[None]) -> bool:
    return isinstance(pilot.app.screen, BenchScreen) and pilot.app.screen.query_one(TextView).key is not None


def status_of(screen: BenchScreen) -> str:
    return " ".join(text for row in drawn(screen).rows_of(screen.query_one("#status")) for text, _, _ in row)


async def test_messages_are_listed_and_read_before_the_plan_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    async with app_of(story()).run_test(size=(120, 40)) as pilot:
        await until(lambda: is_listed(pilot))
        screen = bench_screen(pilot)
        assert not any((screen.view.is_planned, screen.bench.is_planned, screen.view.shown.is_planned))
        rounds = screen.query_one(RoundsList)
        assert rounds.drawn is not None
        assert (rounds.drawn.outcome, rounds.drawn.split_at) == (None, None)
        assert rounds.index == rounds.drawn.groups.spans[-1].start, "nobody knows yet where the tail begins"
        assert "planning…" in screen.query_one(TextView).text
        assert "planning…" in status_of(screen)
        held.go.set()
        await settled(pilot)
        assert screen.view.shown is screen.bench
        assert screen.bench.is_planned
        assert rounds.index == screen.bench.outcome.split
        assert "planning…" not in screen.query_one(TextView).text
        assert "planning…" not in status_of(screen)


async def test_a_key_that_needs_the_plan_waits_for_it_and_the_cursor_stays_where_the_user_has_put_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = Held(monkeypatch)
    async with app_of(story()).run_test(size=(120, 40)) as pilot:
        await until(lambda: is_listed(pilot))
        screen, rounds = bench_screen(pilot), bench_screen(pilot).query_one(RoundsList)
        rounds.action_first()
        for key, front in (("space", HelpScreen), ("escape", BenchScreen), ("e", BenchScreen)):
            pilot.app.post_message(Key(key, None))
            await quiet()
            assert isinstance(pilot.app.screen, front), key
        held.go.set()
        await settled(pilot)
        assert isinstance(pilot.app.screen, ExportScreen)
        assert screen.bench.is_planned
        assert (rounds.index, rounds.on_header) == (0, True)
