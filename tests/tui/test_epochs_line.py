"""The epochs in the header: what each says in what room, and where a click goes."""

from __future__ import annotations

import pytest

from tests.commands import document
from tests.paths import SAMPLES
from tests.tui.app import done, notes, on_bench, press, settled
from workbench.analysis.timeline import TimelineEpoch
from workbench.session import Compaction
from workbench.tui.widgets.epochs_line import EpochsLine, epoch_cells, epoch_under

STRETCHES = (
    TimelineEpoch(1, 156_700, Compaction("auto", time=1_760_000_000.0), 32, 6),
    TimelineEpoch(2, 155_200, Compaction("manual", time=1_760_003_600.0), 0, 0),
    TimelineEpoch(3, 62_700, None),
)


def texts(width: int, epoch: int = 1, epochs: tuple[TimelineEpoch, ...] = STRETCHES) -> list[str]:
    return [cell.text for cell in epoch_cells(epochs, width, epoch)]


WHOLE = [
    "1 · 157k auto 08:53, lost 32 facts, 6 × rework",
    "2 · 155k by hand 09:53, lost 0 facts, 0 × rework",
    "3 · 62.7k now",
]
TIMED = ["1 · 157k auto 08:53, lost 32, 6 × rework", "2 · 155k by hand 09:53", "3 · 62.7k"]
SHORT = ["1 · 157k auto, lost 32, 6 × rework", "2 · 155k by hand", "3 · 62.7k"]
BRIEF = ["1 · 157k auto −32 ↻6", "2 · 155k by hand", "3 · 62.7k"]
BARE = ["1 · 157k", "2 · 155k", "3 · 62.7k"]


def room(cells: list[str]) -> int:
    return 2 + sum(map(len, cells)) + 3 * (len(cells) - 1)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (room(WHOLE), WHOLE),
        (room(WHOLE) - 1, TIMED),
        (room(TIMED), TIMED),
        (room(TIMED) - 1, SHORT),
        (room(SHORT) - 1, BRIEF),
        (room(BRIEF), BRIEF),
        (room(BRIEF) - 1, BARE),
        (room(BARE), BARE),
        (room(BARE) - 1, ["1 · 157k", "2 · 155k", "…"]),
        (4, ["1 · 157k", "…"]),
    ],
)
def test_every_epoch_says_as_much_as_there_is_room_for(width: int, shown: list[str]) -> None:
    assert texts(width) == shown


def test_of_many_those_around_the_one_on_the_bench_are_shown() -> None:
    many = tuple(TimelineEpoch(number, 1_000, None) for number in range(1, 101))
    cells = epoch_cells(many, 60, 50)
    assert (cells[0].text, cells[-1].text) == ("…", "…")
    shown = [cell.epoch for cell in cells]
    assert 50 in shown
    assert shown == list(range(shown[0], shown[-1] + 1))
    assert sum(len(cell.text) for cell in cells) + 3 * (len(cells) - 1) + 2 <= 60


def test_a_click_is_on_the_epoch_that_is_drawn_there() -> None:
    width = room(BARE)
    assert [epoch_under(STRETCHES, width, 1, x) for x in (0, 1, 8, 9, 11, 12, 19, 23, 31, 32)] == [
        None, 1, 1, None, None, 2, 2, 3, 3, None,
    ]  # fmt: skip


async def test_the_line_is_there_where_there_are_epochs_and_says_what_came_of_each() -> None:
    async with on_bench(SAMPLES / "codex-two-compactions.jsonl", size=(120, 30)) as (pilot, screen):
        line = screen.query_one(EpochsLine)
        assert line.display
        assert [one.lost for one in line.epochs] == [3, None, None]  # the second summary is encrypted
        assert (line.epoch, screen.bench.epoch) == (2, 2)
        second = screen.view.verdict
        await press(pilot, "}")
        assert line.epoch == 3
        # The verdict is of the epoch that undo brings back.
        third = screen.view.verdict
        assert second != third
        await press(pilot, "u")
        assert (screen.bench.epoch, screen.view.verdict) == (2, second)
        await press(pilot, "U")
        assert (screen.bench.epoch, screen.view.verdict) == (3, third)
        await pilot.click(EpochsLine, offset=(3, 0))
        await settled(pilot)
        assert screen.bench.epoch == line.epoch == 1
        await done(pilot, "rescue")
        assert notes(pilot)[0] == "The agent resumes epoch 3, the newest: that one is rescued, not epoch 1."
        await press(pilot, *(["escape"] if pilot.app.screen is not screen else []))
        assert screen.bench.epoch == 3
        assert [one.lost for one in screen.view.epochs] == [3, None, None]


async def test_the_line_says_how_much_was_done_again_because_of_each() -> None:
    """As much as the command lists, also when sizes come later than it does."""
    file = SAMPLES / "augment-with-summary.json"
    counts = [len(one["items"]) for one in document("why", "--rework", file)["recorded_compactions"]]
    assert counts[0] == 3
    async with on_bench(file, size=(140, 42)) as (pilot, screen):
        assert [one.again for one in screen.view.epochs] == [*counts, None]
        line = screen.query_one(EpochsLine)
        assert ", 3 × rework" in epoch_cells(line.epochs, line.size.width, line.epoch)[0].text
        await press(pilot, "{", "}")  # the growth is looked for anew
        assert [one.again for one in screen.view.epochs] == [*counts, None]
