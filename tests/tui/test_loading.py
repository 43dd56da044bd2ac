"""How far a session is read, as the loading screen tells it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from tests.tui.app import app_of, bench_screen, settled, until
from tests.tui.bench.test_read_rest import lines
from workbench.formats import files
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.home import read_home
from workbench.tui.screens.loading import STEPS, in_steps
from workbench.tui.widgets.epochs_line import EpochsLine


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


async def test_of_a_large_session_the_newest_epochs_are_shown_and_then_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGE", 1)
    (path := tmp_path / "long.jsonl").write_bytes(lines())
    seen: list[tuple[bool, bool, str]] = []

    def look(screen: BenchScreen) -> None:
        title = str(screen.query_one("#title", Static).render())
        seen.append((bool(screen.bench.session.begins_at), screen.query_one(EpochsLine).display, title))

    async with app_of(path, memory=tmp_path / "memory").run_test(size=(140, 40)) as pilot:
        await until(lambda: isinstance(pilot.app.screen, BenchScreen) and pilot.app.screen.is_mounted)
        screen = bench_screen(pilot)
        screen.store.subscribe(lambda was, now: look(screen))
        await settled(pilot)
        look(screen)
    assert seen[0][:2] == (True, False)
    assert "the earlier ones are being read" in seen[0][2]
    assert seen[-1][:2] == (False, True)
    assert "epoch 4/5" in seen[-1][2]
    assert [(one.path, one.title) for one in read_home(tmp_path / "memory").recents] == [(str(path), "Do part z0.")]
    assert not (tmp_path / "memory" / "sessions").exists()
