"""Replay on the screen: a line and a row for each policy, the cursor, and the ways to the bench."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from textual.widgets import DataTable, Static

from tests.paths import SAMPLES
from tests.tui.app import brought, on_bench, press
from tests.tui.test_why import signs_on
from workbench.analysis.as_recorded import told_of_agent
from workbench.analysis.replay_table import replays_table
from workbench.cli import commands
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies import all_strategies
from workbench.tui.screens.choose_policies import ChoosePoliciesScreen
from workbench.tui.screens.replay import OWN, SAW, SHOWN, ReplayScreen, call_words
from workbench.tui.widgets.calls_plot import CallsPlot
from workbench.tui.widgets.rounds_list import RoundsList

CODEX = SAMPLES / "codex-two-compactions.jsonl"


def rows_of(table: DataTable[object]) -> list[list[str]]:
    return [[str(cell) for cell in table.get_row_at(at)] for at in range(table.row_count)]


async def test_policies_are_played_compared_and_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_bench(CODEX, preset="augment-example", window=6_000, size=(80, 24)) as (pilot, bench):
        screen = await brought(pilot, ReplayScreen, "A")
        table, plot = screen.query_one(DataTable), screen.query_one(CallsPlot)
        assert [one.name for one in screen.played] == [
            OWN, *(name for one in all_strategies() if (name := default_preset(one.id).id) != "augment-example"),
        ]  # fmt: skip
        assert [column.value for column in table.columns] == list(SHOWN)
        keys = [one.key for one in replays_table(()).columns]
        assert {*SHOWN} == {*keys, SAW}
        # The command's table has the same cells.
        run = CliRunner().invoke(
            commands, ["compare", "--over-session", str(CODEX), "--strategy", "trim", "--window", "6000", "--no-plot"]
        )
        mine = next(row for row in rows_of(table) if row[1] == "trim")
        line = next(line for line in run.output.splitlines() if " trim " in line)
        cells = {**dict(zip(SHOWN, mine, strict=True)), "sign": "A"}
        assert line.split() == " ".join(cells[key] for key in keys).split()
        # What the agent did stands there as the command says it.
        assert screen.course is not None
        words = str(screen.query_one("#recorded", Static).render())
        assert words == told_of_agent(screen.course)
        assert words in run.output
        # The line of the row at hand has no letter; with all of them each has its own.
        assert {"A", "B", "·"} & set(signs_on(plot)) == {"·"}
        await press(pilot, "o")
        assert {"A", "B"} <= set(signs_on(plot))
        await press(pilot, "d", "o")
        assert not {"A", "B", "·"} & set(signs_on(plot))
        saws = [row[2] for row in rows_of(table)]
        assert {len(saw) for saw in saws} == {min(24, plot.calls)}
        assert len(set(saws)) > 1
        # The cursor goes to the compactions of the row's policy, and to a message.
        first = next(n for n, one in enumerate(screen.played) if one.compacted)
        await press(pilot, *["down"] * first, "tab", "home", "n")
        made = screen.played[first].compacted[0]
        assert plot.call == made.call
        assert screen.course is not None
        words = call_words(screen.course, screen.played, plot.call, first, None).plain
        assert "fires" in words
        assert "→" in words
        await press(pilot, "enter")
        assert pilot.app.screen is bench
        assert bench.bench.messages[bench.query_one(RoundsList).index].id == made.message
        # Others are chosen, and a row opens on the bench.
        await brought(pilot, ChoosePoliciesScreen, "A", "a")
        again = await brought(pilot, ReplayScreen, "a", "a", "down", "space", "enter")
        assert len(again.played) == 2
        chosen = again.played[1].preset
        await press(pilot, "down", "enter")
        assert (bench.bench.strategy.id, bench.bench.preset) == (chosen.strategy, chosen.id)
