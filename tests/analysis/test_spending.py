"""Cost of recorded runs: at the border of a day, with unknown prices, and without a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.analysis.run_reports import SpendingTotal, spending, total_spending
from workbench.summarizers.run_history import RunRow

MIDNIGHT = 1_463_961_600.0  # 2016-05-23
FIRST = RunRow(
    "r1", MIDNIGHT - 0.5, 1.0, "finished", "trim", "", "anthropic:opus", "opus", "aa", "/x/a.jsonl", "", 1, 100, 10, 0.1
)
ENTRIES = (
    FIRST,
    replace(FIRST, id="r2", began=MIDNIGHT, dollars=0.2, calls=3),
    replace(FIRST, id="r3", began=MIDNIGHT + 1, summarizer="openai:gpt", model="gpt", session="bb", file="/x/b.jsonl"),
    replace(FIRST, id="r4", began=MIDNIGHT + 2, summarizer="house:my", model="my", dollars=None, end="cancelled"),
    replace(FIRST, id="r5", began=MIDNIGHT + 3, summarizer="command:llm", model="", dollars=0.0),
)


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        (
            "day",
            [SpendingTotal("2016-05-23", 3, 5, 300, 30, 0.3, 1), SpendingTotal("2016-05-22", 1, 1, 100, 10, 0.1, 0)],
        ),
        (
            "model",
            [
                SpendingTotal("anthropic/opus", 2, 4, 200, 20, 0.3, 0),
                SpendingTotal("openai/gpt", 1, 1, 100, 10, 0.1, 0),
                SpendingTotal("house/my", 1, 1, 100, 10, 0.0, 1),
            ],
        ),
        (
            "session",
            [
                SpendingTotal("aa", 3, 5, 300, 30, 0.3, 1, "/x/a.jsonl"),
                SpendingTotal("bb", 1, 1, 100, 10, 0.1, 0, "/x/b.jsonl"),
            ],
        ),
    ],
)
def test_sums(by: str, rows: list[SpendingTotal]) -> None:
    found = spending(ENTRIES, by)  # type: ignore[arg-type]
    assert [replace(row, dollars=round(row.dollars, 9)) for row in found] == rows
    assert total_spending(ENTRIES).dollars == pytest.approx(0.4)
    assert (total_spending(ENTRIES).runs, total_spending(ENTRIES).unknown, total_spending(())) == (
        4,
        1,
        SpendingTotal("all", 0, 0, 0, 0, 0.0, 0),
    )
