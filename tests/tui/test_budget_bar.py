"""The budget bar: every layer in it, marks where they belong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.analysis.bills import Gap
from workbench.analysis.receipt import Receipt
from workbench.compaction.layers import Layer
from workbench.compaction.strategy import Trigger
from workbench.tokens.sizes import Basis, Size
from workbench.tokens.window import Window
from workbench.tui.bars import (
    BARE,
    Budget,
    Told,
    after_cells,
    legend_cells,
    now_cells,
    receipt_cells,
    tick_cells,
    tick_of,
)
from workbench.tui.pointing import pointed

LAYERS = (
    Layer("system", 10_000, Basis.CALIBRATED, "▒"),
    Layer("head", 100_000, Basis.CALIBRATED, "█"),
    Layer("pins", 1, Basis.CALIBRATED, "●"),
    Layer("tail", 40_000, Basis.CALIBRATED, "▓"),
)


def budget(window: int | None = 200_000, *triggers: Trigger) -> Budget:
    before = Size(300, 0, 150_001, Basis.CALIBRATED)
    limit = Window(window, "recorded") if window else None
    return Budget(LAYERS, LEFT, before, Size(30, 0, 50_000, Basis.ESTIMATE), limit, triggers)


def text(cells: list[tuple[str, str]]) -> str:
    return "".join(part for part, _ in cells)


LEFT = (
    Layer("system", 10_000, Basis.CALIBRATED, "▒"),
    Layer("summaries", 5_000, Basis.CALIBRATED, "◆"),
    Layer("tail", 35_000, Basis.CALIBRATED, "▓"),
)


@pytest.mark.parametrize("width", [40, BARE - 1, BARE, 120, 200])
def test_both_bars_are_as_long_and_show_every_layer(width: int) -> None:
    now, after = text(now_cells(budget(), width)), text(after_cells(budget(), width))
    assert all(layer.glyph in now for layer in LAYERS)
    assert all(layer.glyph in after for layer in LEFT)
    assert (now.index("▕"), now.index("▏")) == (after.index("▕"), after.index("▏"))
    assert max(len(now), len(after)) <= width


def test_one_scale_holds_for_both() -> None:
    # 100 cells between the ends: 2 000 tokens each.
    now, after = (text(cells)[8:108] for cells in (now_cells(budget(), 131), after_cells(budget(), 131)))
    assert [now.count(glyph) for glyph in "▒█●▓░"] == [5, 50, 1, 19, 24]
    assert [after.count(glyph) for glyph in "▒◆▓░"] == [5, 3, 17, 74]  # 2.5 cells are two or three
    assert (now[-1], after[-1]) == ("│", "│")


def test_an_outcome_that_is_larger_sets_the_scale() -> None:
    larger = replace(budget(100_000), after=Size(1, 0, 300_000, Basis.ESTIMATE))
    assert larger.scale == 300_000
    assert replace(larger, after_layers=()).scale == 150_001


@pytest.mark.parametrize(("filled", "cells"), [(0.0, 0), (0.5, 12), (1.0, 25)])
def test_the_second_bar_fills(filled: float, cells: int) -> None:
    drawn = text(after_cells(budget(), 131, filled))[8:108]
    assert 100 - drawn.count("░") - drawn.count("│") == cells


def test_a_preview_is_dim_and_a_run_is_not() -> None:
    assert ("◆◆◆", "summaries dim") in after_cells(budget(), 131)
    assert ("◆◆◆", "summaries") in after_cells(replace(budget(), done=True), 131)


@pytest.mark.parametrize(
    ("width", "now", "after"),
    [
        (BARE, "≈150k 75 %", "~50.0k 25 % −67 %"),
        (BARE - 1, "≈150k", "~50.0k"),
    ],
)
def test_the_figures_stand_behind_the_bars(width: int, now: str, after: str) -> None:
    told = (text(cells).replace("\u00a0", " ") for cells in (now_cells(budget(), width), after_cells(budget(), width)))
    assert [" ".join(line.partition("▏")[2].split()) for line in told] == [now, after]


def test_nothing_to_compact_has_no_second_bar() -> None:
    assert text(after_cells(replace(budget(), after_layers=()), 80)).split() == ["after", "nothing", "to", "compact"]


def test_a_context_beyond_its_window_marks_the_limit_inside_the_bar() -> None:
    now = now_cells(budget(75_000), 131)
    assert text(now)[8:108].index("│") == 49
    assert now[-1][1] == "over"
    assert now_cells(budget(150_001), 131)[-1][1] == "bold"


def test_without_a_window_the_bar_is_the_context_and_says_so() -> None:
    assert "░" not in text(now_cells(budget(None), 104))
    assert "window unknown" in text(tick_cells(budget(None), 104))


RECEIPT = Receipt(11, 10, 1_200, 0.84, 39, False, "$0.60", 12)
WHOLE = "keeps 10 of 11 rules · keeps 84 % of 1 200 facts (39 lost) · summary $0.60, paid back after 12 calls"


@pytest.mark.parametrize(
    ("width", "says"),
    [
        (len(WHOLE) + 9, WHOLE),
        (len(WHOLE) + 8, "10 of 11 rules · 39 of 1 200 facts lost · $0.60 · paid back after 12 calls"),
        (80, "10 of 11 rules · 39 of 1 200 facts lost · $0.60 · paid back after 12 calls"),
        (40, "10 of 11 rules …"),
        (20, "10 of 11 rules …"),
        (12, "…"),
    ],
)
def test_of_the_receipt_there_is_as_much_as_has_room(width: int, says: str) -> None:
    drawn = text(receipt_cells(Told(RECEIPT, True), width))
    assert " ".join(drawn.split()) == says
    assert len(drawn) <= width


@pytest.mark.parametrize(
    ("receipt", "says"),
    [
        (replace(RECEIPT, rules=0, kept=0, summary_cost="", pays_off_after=0),
         "keeps 84 % of 1 200 facts (39 lost) · paid back at once"),
        (replace(RECEIPT, lost=0, held=1.0, pays_off_after=None),
         "keeps 10 of 11 rules · keeps 100 % of 1 200 facts · summary $0.60, never paid back"),
        (replace(RECEIPT, held=None, unknown=True, summary_cost="", pays_off_after=1),
         "keeps 10 of 11 rules · its summary cannot be read · paid back after 1 call"),
    ],
)  # fmt: skip
def test_what_the_receipt_says(receipt: Receipt, says: str) -> None:
    assert str(receipt) == says


def test_a_trigger_in_tokens_lies_at_its_limit_and_one_in_characters_in_proportion() -> None:
    tokens = Trigger("tokens", 150_001, 160_000, "tokens", False)
    chars = Trigger("history", 400_000, 200_000, "characters", True)
    assert tick_of(tokens, budget()) == 160_000
    assert tick_of(chars, budget()) == round(10_000 + 140_001 / 2)
    assert tick_of(Trigger("marker", 0, 0, "", True), budget()) is None
    assert tick_of(Trigger("memories", 71, 51, "lines", True), budget()) is None
    labels = text(tick_cells(budget(200_000, tokens, chars), 120))
    assert labels.index("▲≈80.0k trigger") < labels.index("▲160k trigger") < labels.index("▲200k limit (recorded)")


@pytest.mark.parametrize("width", [30, 60, 120])
def test_the_legend_names_what_has_room(width: int) -> None:
    drawn = text(legend_cells(budget(), width))
    assert "system" in drawn
    assert (" tail " in drawn) == (width > 30)
    assert drawn.endswith("…") == (width == 30)
    assert len(drawn) <= width


@pytest.mark.parametrize(
    ("width", "gaps", "says"),
    [
        (120, (Gap(57, 80, 1, "a", -12_000),), "≠ billed −12.0k from call 57"),
        (80, (Gap(9, 9, 1, "a", 2_000), Gap(3, 9, 1, "b", -1_500)), "≠ billed +2.0k from call 9, 1 more"),
        (79, (Gap(57, 80, 1, "a", -12_000),), "≠ billed −12.0k from call 57"),
        (40, (Gap(57, 80, 1, "a", -12_000),), "≠ billed −12.0k"),
        (36, (Gap(57, 80, 1, "a", -12_000),), "≠"),
        (120, (), ""),
    ],
)
def test_what_the_bills_say_against_the_context_stands_at_the_right(
    width: int, gaps: tuple[Gap, ...], says: str
) -> None:
    drawn = tick_cells(replace(budget(), gaps=gaps), width)
    assert text(drawn).rstrip().endswith(says or "(recorded)")
    assert len(text(drawn)) <= width
    if gaps:
        assert (drawn[-1], len(text(drawn))) == ((says, "over"), width - 1)


def test_what_the_bills_say_leaves_room_for_the_labels() -> None:
    crowded = budget(200_000, Trigger("tokens", 150_001, 195_000, "tokens", False))
    drawn = text(tick_cells(replace(crowded, gaps=(Gap(57, 80, 1, "a", -12_000),)), 90))
    assert "▲195k trigger ▲200k limit (recorded) ≠ billed −12.0k from call 57" in drawn
    assert len(drawn) == 89


def test_where_the_agent_itself_compacted_is_marked() -> None:
    labels = text(tick_cells(replace(budget(), compacted_at=100_000), 131))
    assert labels.index("▲100k compacted") == 8 + 50
    alike = Trigger("tokens", 150_001, 100_000, "tokens", True)
    labels = text(tick_cells(replace(budget(200_000, alike), compacted_at=100_100), 131))
    assert "▲100k trigger, compacted" in labels
    assert "compacted" not in text(tick_cells(replace(budget(), compacted_at=200_001), 131))


@pytest.mark.parametrize(("more", "says"), [(0, "from call 57"), (-1, " −12.0k"), (-13, " −12.0k"), (-14, "≠")])
def test_of_the_bills_the_least_is_said_where_the_labels_need_the_room(more: int, says: str) -> None:
    marked = replace(
        budget(200_000, Trigger("tokens", 150_001, 60_000, "tokens", True)),
        compacted_at=100_000,
        gaps=(Gap(57, 80, 1, "a", -12_000),),
    )
    whole = "▲60.0k trigger ▲100k compacted ▲200k limit (recorded)  ≠ billed −12.0k from call 57 "
    drawn = text(tick_cells(marked, len(whole) + more))
    assert drawn.endswith(says)
    assert len(drawn) < len(whole)


# At 131 columns a bar's 100 cells begin in column 8; a cell is 2 000 tokens.
@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        (7, 0, ""),
        (8, 0, "▒ system ≈10.0k tokens: the system prompt"),
        (12, 0, "▒ system ≈10.0k tokens: the system prompt"),
        (13, 0, "█ head ≈100k tokens: what this compaction replaces"),
        (63, 0, "● pins ≈1 tokens: kept word for word, for you pinned it"),
        (82, 0, "▓ tail ≈40.0k tokens: the newest messages, which stay as they are"),
        (83, 0, "free: 50.0k tokens"),
        (107, 0, "200k limit (recorded)"),
        (108, 0, ""),
        (13, 1, "◆ summaries ≈5.0k tokens: summaries of earlier compactions"),
        (40, 1, "free: 150k tokens"),
        (40, 2, ""),
    ],
)
def test_the_pointer_is_told_what_it_rests_on(x: int, y: int, says: str) -> None:
    assert pointed(budget(), 131, x, y) == says
