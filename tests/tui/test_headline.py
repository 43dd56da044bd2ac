"""The two sentences at the top: what they say, and how much of them has room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.paths import SAMPLES
from tests.tui.app import on_bench, press, settled, story
from workbench.analysis.retention import FactCounts
from workbench.analysis.retention_report import brief_receipt, receipt
from workbench.bench import open_bench
from workbench.tokens import Counter
from workbench.tui.widgets.headline import Headline, HeadlineView, headline_cells, height_of, plans_of, wrap_lines

FACTS = FactCounts(1_200, 1_161, 0, 0, 0, 0, 0, 0.84, 0.84, 0.84)
NONE_LOST = replace(FACTS, full=1_200, share=1.0)
UNKNOWN = replace(FACTS, full=0, unknown=1_200, share=None)


@pytest.mark.parametrize(
    ("rules", "facts", "cost", "calls", "parts", "brief"),
    [
        ((10, 11), FACTS, "$0.60", 12,
         "keeps 10 of 11 rules · 84 % of 1 200 facts (39 lost) · summary $0.60, paid back after 12 calls",
         "10 of 11 rules · 39 of 1 200 facts lost · $0.60 · paid back after 12 calls"),
        ((0, 0), FACTS, "", 0,
         "keeps 84 % of 1 200 facts (39 lost) · paid back at once",
         "39 of 1 200 facts lost · paid back at once"),
        ((10, 11), NONE_LOST, "$0.60", None,
         "keeps 10 of 11 rules · 100 % of 1 200 facts · summary $0.60, never paid back",
         "10 of 11 rules · 0 of 1 200 facts lost · $0.60 · never paid back"),
        ((10, 11), UNKNOWN, "", 1,
         "keeps 10 of 11 rules · its summary cannot be read · paid back after 1 call",
         "10 of 11 rules · its summary cannot be read · paid back after 1 call"),
    ],
)  # fmt: skip
def test_what_the_receipt_says(
    rules: tuple[int, int], facts: FactCounts, cost: str, calls: int | None, parts: str, brief: str
) -> None:
    assert " · ".join(receipt(rules, facts, cost, calls)) == parts
    assert " · ".join(brief_receipt(rules, facts, cost, calls)) == brief


def drawn(headline: Headline, width: int, height: int) -> list[str]:
    return [
        "".join(text for text, _ in line).rstrip().replace("\u00a0", " ")
        for line in headline_cells(headline, width, height)
    ]


VERDICT = "API rejected the request at 197k. Largest cause: 82 Read calls, 85.9k (43 %)."
LONG = "Compacting now: 197k → 26.7k (−86 %). Keeps 8 of 8 rules, 72 % of 247 facts (59 lost). Summary $0.12."
BRIEF = ("Compacting now: 197k → 26.7k (−86 %) · 59 of 247 facts lost", "Compacting now: 197k → 26.7k (−86 %)")


@pytest.mark.parametrize(
    ("width", "lines", "says"),
    [
        (140, 40, [VERDICT + " " * 56 + "O  why", LONG + " " * 32 + "r  run"]),
        (80, 24, [VERDICT, BRIEF[0]]),
        (80, 30, [VERDICT, *(LONG[:79], LONG[80:])]),
        (50, 24, ["API rejected the request at 197k. Largest cause:", "82 Read calls, 85.9k (43 %).", BRIEF[1]]),
        (80, 19, [BRIEF[0]]),
        (30, 24, ["API rejected the request at", "197k. Largest cause: 82 Read …", "Compacting now: 197k → 26.7k …"]),
    ],
)  # fmt: skip
def test_both_sentences_are_as_long_as_there_is_room(width: int, lines: int, says: list[str]) -> None:
    headline = Headline(VERDICT, (LONG, *BRIEF))
    assert drawn(headline, width, height_of(headline, width, lines)) == says


def test_no_line_is_broken_in_a_figure_and_what_is_cut_says_so() -> None:
    assert wrap_lines("it took 12 345 tokens", 12, 3) == ["it took", "12\u00a0345", "tokens"]
    assert wrap_lines("one two three", 7, 1) == ["one tw…"]
    assert wrap_lines("", 7, 1) == []


async def test_the_sentences_of_the_sample() -> None:
    async with on_bench(SAMPLES / "claude-code-overflow.jsonl", size=(140, 42)) as (pilot, screen):
        view = screen.query_one(HeadlineView)
        said = view.text.replace("\u00a0", " ")
        assert said.startswith(VERDICT)
        assert "Compacting now: 197k → 26.7k (−87 %). Keeps 8 of 8 rules, 72 % of 247 facts (59 lost)." in said
        await press(pilot, "r")
        assert "Compacted: 197k → 26.7k (−87 %)." in view.text.replace("\u00a0", " ")
        assert "nothing" not in view.text
        await pilot.click(HeadlineView, offset=(3, 0))
        await settled(pilot)
        assert type(pilot.app.screen).__name__ == "WhyScreen", "a click asks for the reasons"


def test_where_nothing_becomes_smaller_the_plan_says_so() -> None:
    small = open_bench(story(rounds=1, calls=0), Counter(), preset="claude-code")
    assert plans_of(small, None)[0].startswith("A compaction would not make this smaller: ")
    whole = open_bench(story(rounds=1, calls=0), Counter(), preset="trim")
    assert plans_of(whole, None)[0].startswith("Nothing to compact: ")


async def test_on_a_low_screen_its_lines_are_the_settings_while_these_are_open() -> None:
    async with on_bench(story(), size=(80, 29)) as (pilot, screen):
        view = screen.query_one(HeadlineView)
        for size, shown in (((80, 29), False), ((80, 30), True)):
            await pilot.resize_terminal(*size)
            await press(pilot, "escape")
            assert view.display
            await press(pilot, "9")
            assert view.display is shown
