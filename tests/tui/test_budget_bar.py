"""The budget bar: every layer in it, marks where they belong."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from workbench.analysis.usage_check import Gap
from workbench.compaction.layers import Layer
from workbench.compaction.strategy import Trigger
from workbench.tokens.sizes import Basis, Size
from workbench.tokens.window import Window
from workbench.tui.bars import (
    BARE,
    ContextBars,
    after_cells,
    legend_cells,
    now_cells,
    tooltip_at,
    trigger_position,
)

LAYERS = (
    Layer("system", 10_000, Basis.CALIBRATED, "▒"),
    Layer("head", 100_000, Basis.CALIBRATED, "█"),
    Layer("pins", 1, Basis.CALIBRATED, "●"),
    Layer("tail", 40_000, Basis.CALIBRATED, "▓"),
)


def budget(window: int | None = 200_000, *triggers: Trigger) -> ContextBars:
    before = Size(300, 0, 150_001, Basis.CALIBRATED)
    limit = Window(window, "recorded") if window else None
    return ContextBars(LAYERS, LEFT, before, Size(30, 0, 50_000, Basis.ESTIMATE), limit, triggers)


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
    assert now.index("│") == after.index("│")
    assert max(len(now), len(after)) <= width


def test_one_scale_holds_for_both() -> None:
    # 100 cells: 2 000 tokens each.
    now, after = (text(cells)[7:107] for cells in (now_cells(budget(), 122), after_cells(budget(), 122)))
    assert [now.count(glyph) for glyph in "▒█●▓ "] == [5, 50, 1, 19, 24]
    assert [after.count(glyph) for glyph in "▒◆▓ "] == [5, 3, 17, 74]  # 2.5 cells are two or three
    assert (now[-1], after[-1]) == ("│", "│")


def test_an_outcome_that_is_larger_sets_the_scale() -> None:
    larger = replace(budget(100_000), after=Size(1, 0, 300_000, Basis.ESTIMATE))
    assert larger.scale == 300_000
    assert replace(larger, after_layers=()).scale == 150_001


@pytest.mark.parametrize(("filled", "cells"), [(0.0, 0), (0.5, 12), (1.0, 25)])
def test_the_second_bar_fills(filled: float, cells: int) -> None:
    drawn = text(after_cells(budget(), 122, filled))[7:107]
    assert 100 - drawn.count(" ") - drawn.count("│") == cells


def test_a_preview_is_dim_and_a_run_is_not() -> None:
    assert ("◆◆◆", "summaries dim") in after_cells(budget(), 122)
    assert ("◆◆◆", "summaries") in after_cells(replace(budget(), done=True), 122)


@pytest.mark.parametrize(
    ("width", "now", "after"), [(BARE, "≈150k 75 %", "~50.0k 25 %"), (BARE - 1, "≈150k", "~50.0k")]
)
def test_the_figures_stand_behind_the_bars(width: int, now: str, after: str) -> None:
    told = (text(cells).replace("\u00a0", " ") for cells in (now_cells(budget(), width), after_cells(budget(), width)))
    assert [" ".join(line.partition("│")[2].split()) for line in told] == [now, after]


def test_nothing_to_compact_has_no_second_bar() -> None:
    assert text(after_cells(replace(budget(), after_layers=()), 80)).split() == ["after", "nothing", "to", "compact"]


def test_a_context_beyond_its_window_marks_the_window_inside_the_bar() -> None:
    now = now_cells(budget(75_000), 122)
    assert text(now)[7:107].index("│") == 49
    assert now[-1][1] == "over"
    assert now_cells(budget(150_001), 122)[-1][1] == "bold"


def test_without_a_window_the_bar_is_the_context_and_the_legend_says_so() -> None:
    assert " " not in text(now_cells(budget(None), 122))[7:107]
    assert text(legend_cells(budget(None), 122)).endswith("window unknown: 9 sets it")


def test_a_trigger_in_tokens_lies_at_its_limit_and_one_in_characters_in_proportion() -> None:
    tokens = Trigger("tokens", 150_001, 160_000, "tokens", False)
    chars = Trigger("history", 400_000, 200_000, "characters", True)
    assert trigger_position(tokens, budget()) == 160_000
    assert trigger_position(chars, budget()) == round(10_000 + 140_001 / 2)
    assert trigger_position(Trigger("marker", 0, 0, "", True), budget()) is None
    assert trigger_position(Trigger("memories", 71, 51, "lines", True), budget()) is None
    legend = text(legend_cells(budget(200_000, tokens, chars), 140))
    assert legend.endswith("▲ trigger ≈80.0k   ▲ trigger 160k   │ window 200k")
    now = text(now_cells(budget(200_000, tokens, chars), 122))[7:107]
    assert [at for at, sign in enumerate(now) if sign in "▲│"] == [40, 80, 99]


def test_where_the_agent_itself_compacted_is_marked() -> None:
    assert "△ compacted 100k" in text(legend_cells(replace(budget(), compacted_at=100_000), 131))
    alike = Trigger("tokens", 150_001, 100_000, "tokens", True)
    legend = text(legend_cells(replace(budget(200_000, alike), compacted_at=100_100), 131))
    assert "▲ trigger, compacted 100k" in legend
    assert "compacted" not in text(legend_cells(replace(budget(), compacted_at=200_001), 131))


GAPS = (Gap(9, 9, 1, "a", 2_000), Gap(3, 9, 1, "b", -1_500))


SPELLED = "▒ system ≈10.0k   █ head ≈100k   ● pins ≈1   ▓ tail ≈40.0k   ◆ summaries ≈5.0k"
BRIEF = "▒ system 10.0k  █ head 100k  ● pins 1  ▓ tail 40.0k  ◆ summaries 5.0k"
BARELY = "▒system 10.0k █head 100k ●pins 1 ▓tail 40.0k ◆summaries 5.0k"

SIGNS = "▒system █head ●pins ▓tail ◆summaries"


@pytest.mark.parametrize(
    ("width", "says"),
    [
        (141, f"{SPELLED} │ window 200k ≠ billed +2.0k from call 9, 1 more"),
        (123, f"{SPELLED} │ window 200k ≠ billed +2.0k"),
        (107, f"{SPELLED} │ window 200k ≠"),
        (98, f"{BRIEF} │ window 200k ≠"),
        (89, f"{BRIEF} │ window 200k ≠"),
        (81, f"{BARELY} │ window 200k ≠"),
        (75, f"{BARELY} │window ≠"),
        (65, f"{SIGNS} │window ≠"),
        (31, "▒system 10.0k █head 100k …"),
    ],
)
def test_the_legend_says_what_has_room(width: int, says: str) -> None:
    drawn = text(legend_cells(replace(budget(), gaps=GAPS), width))
    assert drawn.split() == says.split()
    assert len(drawn) <= width


@pytest.mark.parametrize("width", [60, 78, 108, 136])
def test_the_legend_names_every_mark_that_is_drawn(width: int) -> None:
    due = Trigger("tokens", 150_001, 160_000, "tokens", False)
    marked = replace(budget(200_000, due), compacted_at=100_000)
    drawn = text(legend_cells(marked, width + 16))
    assert all(re.search(f"{sign} ?{name}", drawn) for sign, name in zip("△▲│", MARKS, strict=True)), drawn


MARKS = ("compacted", "trigger", "window")


def test_the_layer_that_no_file_records_is_named_by_what_it_holds() -> None:
    layer = Layer("system + tools (not recorded)", 18_000, Basis.CALIBRATED, "▒")
    assert "▒ system + tools ≈18.0k" in text(legend_cells(replace(budget(), layers=(layer,)), 120))
    assert "▒ not recorded ≈18.0k" in text(legend_cells(replace(budget(), layers=(LAYERS[0], layer)), 140))


# At 122 columns a bar's 100 cells begin in column 7; a cell is 2 000 tokens.
@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        (6, 0, ""),
        (7, 0, "▒ system ≈10.0k tokens: the system prompt"),
        (11, 0, "▒ system ≈10.0k tokens: the system prompt"),
        (12, 0, "█ head ≈100k tokens: what this compaction replaces"),
        (62, 0, "● pins ≈1 tokens: pinned, kept verbatim"),
        (81, 0, "▓ tail ≈40.0k tokens: the newest messages, kept as they are"),
        (82, 0, "free: 50.0k tokens"),
        (106, 0, "window 200k tokens (recorded)"),
        (107, 0, ""),
        (12, 1, "◆ summaries ≈5.0k tokens: summaries of earlier compactions"),
        (39, 1, "free: 150k tokens"),
        (39, 2, ""),
    ],
)
def test_the_pointer_is_told_what_it_rests_on(x: int, y: int, says: str) -> None:
    assert tooltip_at(budget(), 122, x, y) == says
