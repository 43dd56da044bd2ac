"""What the list of kept runs says of what they cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.test_spending import ENTRIES
from tests.tui.app import brought, on_bench, story
from tests.tui.every_screen import drawn
from workbench.summarizers import run_history
from workbench.tui.screens.run import RunScreen
from workbench.tui.screens.run_history import spent_line, sum_parts


def test_what_was_spent_is_told_beside_the_runs() -> None:
    assert spent_line(ENTRIES, "bb") == "spent $0.00 today, $0.10 here, $0.40 in all, 1 run of unknown price"
    assert [part.text.strip() for part in sum_parts(ENTRIES)] == [
        "by day",
        "$0.30  2016-05-23 · 3 runs, 1 of unknown price",
        "$0.10  2016-05-22 · 1 run",
        "",
        "by model",
        "$0.30  anthropic/opus · 2 runs",
        "$0.10  openai/gpt · 1 run",
        "$0.00  house/my · 1 run, 1 of unknown price",
        "",
        "by session",
        "$0.30  a.jsonl · 3 runs, 1 of unknown price",
        "$0.10  b.jsonl · 1 run",
    ]


async def test_in_a_wide_terminal_a_runs_line_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tuple(replace(one, summarizer="anthropic:claude-sonnet-4-5", strategy="exchange-summary") for one in ENTRIES)
    monkeypatch.setattr(run_history, "list_runs", lambda: kept)
    async with on_bench(story(), size=(200, 60)) as (pilot, _):
        screen = await brought(pilot, RunScreen, "R", "H")
        rows = drawn(screen).rows_of(screen.query_one("#history TextList"))
        assert [row.text for row in rows[: len(kept)] if "…" in row.text] == []
