"""How far a session is read, as the loading screen tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.app import at_rest, settled
from tests.tui.bench.test_read_rest import lines
from workbench.formats import files
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.bench.store import View
from workbench.tui.home import read_home
from workbench.tui.screens.loading import READ, STEPS, Opening, in_steps, open_on_bench
from workbench.tui.status_lines import title_end
from workbench.tui.widgets.epochs_line import EpochsLine
from workbench.tui.widgets.two_ends import TwoEnds


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
    """It stood at 100 % for seconds while the session was planned and counted."""
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

    def look(was: View | None, now: View) -> None:
        seen.append(
            (bool(now.bench.session.begins_at), title_end(now.shown, now.preset, now.counting, now.reading).plain)
        )

    screen.store.subscribe(look)
    async with at_rest("sessions", sources=[path], memory=memory, size=(140, 40)) as pilot:
        await pilot.app.push_screen(screen)
        await settled(pilot)
        assert screen.query_one(EpochsLine).display
        assert "epoch 4 of 5" in screen.query_one("#title", TwoEnds).told
    assert seen[0][0]
    assert all(("reading earlier epochs" in title) == is_end for is_end, title in seen)
    assert not seen[-1][0]
    assert [(one.path, one.title) for one in read_home(memory).recents] == [(str(path), "Do part z0.")]
    assert not (memory / "sessions").exists()
